"""What a process did to the files of a folder, as the system saw it, and what a power cut at any moment leaves.

`strace` records the calls of a process of Python's. What it prints is in the record, too: so it is known what was
acknowledged before each call. The folder must be empty at the beginning.
"""

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from tests.availability import or_skip
from tests.journal.simulated_disk import WrittenFile, left_of
from tests.programs import STRACE

__all__ = ["Cut", "cuts", "recorded"]

ROOT = Path(__file__).parents[2]
_CALLS: Final = (
    "open,openat,creat,close,dup,lseek,write,pwrite64,writev,pwritev,fsync,fdatasync,sync_file_range,ftruncate,truncate,"
    "fallocate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,copy_file_range,sendfile"
)
_LINE: Final = re.compile(rb"(\d+) +(.*)")
_CALL: Final = re.compile(rb"(\w+)\((.*)\) += (-?\d+)")
_HANDLE: Final = re.compile(rb"(\d+)<([^>]*)>")
_STRING: Final = re.compile(rb'"((?:\\x[0-9a-f]{2})*)"')


class _Call(NamedTuple):
    name: str
    arguments: bytes
    result: int


class Cut(NamedTuple):
    """The files after a power cut, by their paths in the folder, and what the process had said by then."""

    files: dict[str, bytes]
    said: list[str]

    def put(self, folder: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(content)


def recorded(arguments: Sequence[str], folder: Path, record: Path) -> bytes:
    """Run a module of Python's that changes files of a folder, and return the record of it."""
    command = [or_skip(STRACE.path), "-f", "-y", "-xx", "-s", str(1 << 24), "-e", f"trace={_CALLS}", "-o", str(record)]
    done = subprocess.run(
        [*command, sys.executable, "-m", *arguments],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr.decode()
    return record.read_bytes()


def cuts(record: bytes, folder: Path, draw: Random, count: int) -> Iterator[Cut]:
    """What is left of the folder after power cuts at random moments."""
    disk = _Disk(str(folder))
    calls = [each for each in _calls(record) if disk.concerns(each)]
    moments = sorted(draw.randrange(len(calls) + 1) for _ in range(count))
    done = 0
    for moment in moments:
        for call in calls[done:moment]:
            disk.take(call)
        done = moment
        yield Cut(disk.after_a_cut(draw), list(disk.said))


def _calls(record: bytes) -> Iterator[_Call]:
    """The calls in the order in which they returned."""
    begun: dict[bytes, bytes] = {}
    for text in record.splitlines():
        found = _LINE.fullmatch(text)
        assert found, text[:200]
        thread, line = found[1], found[2]
        if line.endswith(b"<unfinished ...>"):
            begun[thread] = line.removesuffix(b"<unfinished ...>").rstrip()
            continue
        if line.startswith(b"<... "):
            line = begun.pop(thread) + line.partition(b" resumed>")[2]
        if (call := _CALL.match(line)) and int(call[3]) >= 0:
            yield _Call(call[1].decode(), call[2], int(call[3]))


class _Disk:
    """A folder on a disk, as far as the calls so far tell."""

    def __init__(self, folder: str) -> None:
        self.said: list[str] = []
        self._folder = folder
        self._files: dict[str, WrittenFile] = {}
        #: Names that came, with their files, or went; by folder, with those that were synced.
        self._names: defaultdict[str, list[dict[str, WrittenFile | None]]] = defaultdict(list)
        self._synced: defaultdict[str, int] = defaultdict(int)
        self._places: dict[int, int | None] = {}

    def concerns(self, call: _Call) -> bool:
        """Whether a call is about the folder, or says something."""
        if call.name == "write" and call.arguments.startswith(b"1<"):
            return True
        return any(path.startswith(self._folder) for path in self._paths(call))

    def take(self, call: _Call) -> None:
        name, arguments = call.name, call.arguments
        handle = _HANDLE.match(arguments)
        path = os.fsdecode(_unescaped(handle[2])).removesuffix("(deleted)") if handle else ""
        file = self._files.get(path)
        match name:
            case "write" if handle and handle[1] == b"1":
                self.said += _data(arguments).decode().split()
            case "open" | "openat" | "creat":
                self._opened(call)
            case "write" if handle and file is not None:
                number = int(handle[1])
                place = self._places.get(number)
                size = max((at + len(data) for at, data in file.changes if data is not None), default=0)
                file.changes.append((size if place is None else place, _data(arguments)[: call.result]))
                if place is not None:
                    self._places[number] = place + call.result
            case "lseek" if handle:
                if self._places.get(int(handle[1])) is not None:
                    self._places[int(handle[1])] = call.result
            case "pwrite64" if file is not None:
                file.changes.append((int(arguments.rpartition(b",")[2]), _data(arguments)[: call.result]))
            case "ftruncate" if file is not None:
                file.changes.append((int(arguments.rpartition(b",")[2]), None))
            case "fsync" | "fdatasync":
                if file is not None:
                    file.synced = len(file.changes)
                else:
                    self._synced[path] = len(self._names[path])
            case "rename" | "renameat" | "renameat2":
                one, other = self._paths(call)
                moved = self._files.pop(one)
                self._files[other] = moved
                self._named({one: None, other: moved})
            case "link" | "linkat":
                one, other = self._paths(call)
                self._files[other] = self._files[one]
                self._named({other: self._files[one]})
            case "unlink" | "unlinkat":
                [gone] = self._paths(call)
                self._files.pop(gone, None)
                self._named({gone: None})
            case "close" | "dup" | "sync_file_range" | "lseek":
                pass
            case "write":
                pass  # to a file that has no name any more
            case _:
                raise AssertionError(f"what does {name}({arguments[:200]!r}) do?")

    def after_a_cut(self, draw: Random) -> dict[str, bytes]:
        there: dict[str, WrittenFile | None] = {}
        for folder, names in self._names.items():
            for named in names[: draw.randint(self._synced[folder], len(names))]:
                there.update(named)
        root = len(self._folder) + 1
        return {path[root:]: left_of(file, draw) for path, file in sorted(there.items()) if file is not None}

    def _opened(self, call: _Call) -> None:
        [path] = self._paths(call)
        flags = call.arguments.rpartition(b'"')[2]
        if path not in self._files:
            if b"O_CREAT" not in flags:
                return
            self._files[path] = WrittenFile()
            self._named({path: self._files[path]})
        if b"O_TRUNC" in flags:
            self._files[path].changes.append((0, None))
        self._places[call.result] = None if b"O_APPEND" in flags else 0

    def _named(self, named: dict[str, WrittenFile | None]) -> None:
        folders = {str(Path(path).parent) for path in named}
        assert len(folders) == 1, named
        self._names[folders.pop()].append(named)

    def _paths(self, call: _Call) -> list[str]:
        """The paths that a call names: those of its handles if it names none itself."""
        if "write" not in call.name and (found := _STRING.findall(call.arguments)):
            return [os.fsdecode(_unescaped(each)) for each in found]
        return [os.fsdecode(_unescaped(each[2])) for each in _HANDLE.finditer(call.arguments[:4_000])]


def _data(arguments: bytes) -> bytes:
    found = _STRING.search(arguments)
    assert found, arguments[:200]
    return _unescaped(found[1])


def _unescaped(text: bytes) -> bytes:
    return re.sub(rb"\\x([0-9a-f]{2})", lambda each: bytes([int(each[1], 16)]), text)
