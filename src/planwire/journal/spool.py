"""A spool: a folder where records wait for a journal, in order, until a process drains them.

Any number of processes append, at any moment, to one file (`spool_append` says how). One process at a time drains: it
takes the file over under another name, as a *segment*, reads its records in order, and removes it when all of them are
where they belong. If it dies in between, the next drainer begins with the segment it left. So a record may be given
twice, each time with the same key, and a journal that appends under that key takes it once.

What can't be kept is reported as `Lost`: records that found no room, those whose writer was killed halfway, and those
that are damaged or missing. A damaged record costs only itself: reading goes on at the next whole one, and the numbers
tell how many are missing in between. A record that is there twice is given once.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Final, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.folder_times import is_settled
from planwire.journal.protocol import Once
from planwire.journal.spool_append import (
    COUNT,
    HEAD,
    LATE,
    MOST,
    OVERFLOW,
    SPOOL,
    append,
    encode_note,
    locked,
    put,
    read_head,
    read_mark,
    refill,
    write_mark,
)

#: How the names of segments begin, by the file that they were before.
SEALED: Final = "sealed-"
SEALED_LOSSES: Final = "lost-"
_SEALED: Final = {SPOOL: SEALED, OVERFLOW: SEALED_LOSSES}
#: How the names of all segments begin, those of writers whose turn did not come included.
_SEGMENTS: Final = (*_SEALED.values(), LATE)
#: Seconds to wait for a writer. If it needs longer, its file is drained the next time.
_PATIENCE: Final = 0.1
#: Put before the name of a segment that is set aside.
ASIDE: Final = "aside-"
#: The file that says how far a drainer is in a segment.
_DRAINED: Final = "drained"
_BLOCK: Final = 1 << 20


class Spooled(Struct, frozen=True):
    """A record: when it was appended (in milliseconds), its writer's note, its body and its key."""

    at: int
    note: dict[str, str]
    body: bytes
    key: Once


class Lost(Struct, frozen=True):
    """Records that are gone, and what is left of them: the first bytes of their bodies, if any. `at` is when the first
    of them was to be appended, if that is known. Without a note, nobody knows whose they were."""

    at: int | None
    note: dict[str, str]
    head: bytes
    count: int
    key: Once


_Given: TypeAlias = Spooled | Lost


class Segment:
    """Records that were taken over, in order. The segment stays until it is `done`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.is_done = False

    @property
    def name(self) -> str:
        return self._path.name

    def __iter__(self) -> Iterator[_Given]:
        """What is in it, without what is noted as drained."""
        source, drained = read_mark(str(self._path.parent), _DRAINED) or (b"", 0)
        given = self._lost() if self.name.startswith(SEALED_LOSSES) else self._read()
        return (each for each in given if each.key.source != source.decode() or each.key.n > drained)

    def notes(self) -> Iterator[dict[str, str]]:
        """The notes of all records in it, whether they are drained or not."""
        return (each.note for each in self._read() if each.note)

    def note_drained(self, given: Spooled | Lost) -> None:
        """Note that this one and all before it are where they belong: the next drainer need not ask."""
        if not self.name.startswith(SEALED_LOSSES):  # these come in another order
            last = given.key.n + (given.count - 1 if isinstance(given, Lost) else 0)
            write_mark(str(self._path.parent), _DRAINED, given.key.source.encode(), last)

    def done(self) -> None:
        """Remove the segment: everything in it is where it belongs."""
        self._path.unlink(missing_ok=True)
        self.is_done = True

    def set_aside(self) -> None:
        """Keep the segment under a name that is never drained: something in it can't be understood."""
        self._path.rename(self._path.with_name(f"{ASIDE}{self.name}"))
        self.is_done = True

    def _lost(self) -> Iterator[Lost]:
        """The lost records, those with equal heads as one, with their count."""
        found: dict[bytes, Lost] = {}
        for each in self._read():
            head, count = (each.body, 1) if isinstance(each, Spooled) else (each.head, each.count)
            first = found.get(head) or Lost(each.at, each.note, head, 0, each.key)
            found[head] = replace(first, count=first.count + count)
        yield from found.values()

    def _read(self) -> Iterator[_Given]:
        """All that is there, each number once, and what is missing by its number."""
        last, is_anything = dict[str, int](), self.name.startswith(LATE)
        with suppress(FileNotFoundError), self._path.open("rb") as file:  # a person may remove the folder
            for piece in _pieces(file):
                is_anything = is_anything or bool(piece.strip(b"\0"))
                if (each := _read_piece(piece)) is None:
                    continue
                before = last.get(each.key.source, 0)
                if each.key.n > before:
                    yield from _missing(each.key.source, before, each.key.n - 1)
                    last[each.key.source] = each.key.n
                    yield each
            source, count = self._counted(is_anything=is_anything)
            if source in last or not last:
                yield from _missing(source, last.get(source, 0), count)

    def _counted(self, *, is_anything: bool) -> tuple[str, int]:
        """The source and the number of the last record that was acknowledged. If that is not known, but there was
        `anything`, it was at least one."""
        if self.name.startswith(SEALED):
            *_, source, count = self.name.split("-")
            if count.isdecimal() and int(count):
                return source, int(count)
        return self.name, int(is_anything)


def _holds_records(name: str) -> bool:
    return name in _SEALED or name.startswith(_SEGMENTS)


def _missing(source: str, after: int, last: int) -> Iterator[Lost]:
    if last > after:
        yield Lost(None, {}, b"", last - after, Once(source, after + 1))


class _Readable(Protocol):
    """A file to read from."""

    def read(self, size: int, /) -> bytes: ...


def _pieces(file: _Readable) -> Iterator[bytes]:
    """What stands between the bytes that begin records. A longer piece is read in longer blocks, so that the time stays
    proportional to the length."""
    rest = b""
    while block := file.read(max(_BLOCK, len(rest))):
        *whole, rest = (rest + block).split(b"\x1e")
        yield from whole
    yield rest


def _read_piece(piece: bytes) -> _Given | None:
    """The record that a piece begins with, or what is left of it; None if that is nothing."""
    head = read_head(piece)
    if head is None:
        return None
    note, key = read_note(_plain(head.note)), Once(head.source.decode(), head.number)
    body = piece[head.body_at : head.body_at + head.body_length]
    if head.is_of(body):
        return Spooled(head.at, note, _plain(body), key)
    return Lost(head.at, note, _plain(body)[:HEAD], 1, key)


def read_note(line: bytes) -> dict[str, str]:
    """A note, as `encode_note` wrote it."""
    fields = (field.partition("=") for field in line.decode("utf-8", "replace").split("\t"))
    return {key: value for key, sign, value in fields if sign}


def _plain(data: bytes) -> bytes:
    return data.replace(b"\x1f^", b"\x1e").replace(b"\x1f_", b"\x1f")


class Spool:
    """The spool in a folder, which need not exist. With `in_order`, nothing is drained before what its writer appended
    earlier, but a writer that was stopped in the middle may hold up all others. Without it, the others go first."""

    def __init__(self, folder: Path, *, in_order: bool = False) -> None:
        self.folder = folder
        self._in_order = in_order
        self._counted: tuple[object, int] = ((), 0)
        self._empty_since = 0  # when the folder changed last, in nanoseconds, if it is empty since

    def append(self, note: Mapping[str, str], body: bytes, most: int = MOST, *, durable: bool = False) -> bool:
        """Append a record; returns whether it is kept. Never raises. `durable`: see `spool_append.append`."""
        return append(str(self.folder), encode_note(dict(note)), body, most, durable=durable)

    def sizes(self) -> list[tuple[str, int]]:
        """The files in which records wait, with their sizes. They differ once anything changes."""
        with suppress(OSError), os.scandir(self.folder) as found:
            return sorted((each.name, each.stat().st_size) for each in found if _holds_records(each.name))
        return []

    def is_empty(self) -> bool:
        """Whether there is nothing to drain. This is asked a hundred times a second, so it is cheap: it reads the names
        in the folder only if one has come or gone since it was empty."""
        try:
            changed = os.stat(self.folder).st_mtime_ns  # noqa: PTH116  (a Path takes twice as long)
        except OSError:
            return True
        if changed == self._empty_since:
            return True
        settled = is_settled(changed)  # before the names are read: one that comes after that shows another time
        is_empty = not any(map(_holds_records, self._names()))
        if is_empty and settled:
            self._empty_since = changed
        return is_empty

    def waiting(self) -> Iterator[Spooled]:
        """The records that wait, in order, without draining them. A drainer may take them meanwhile. What can't be read
        is passed over: the drainer says what is wrong with it."""
        for segment in self._waiting():
            with suppress(OSError):
                yield from (each for each in segment if isinstance(each, Spooled))

    def count(self) -> int:
        """How many records wait. It reads them only if something changed since the last time. A file that can't be read
        counts as one, since it is not nothing."""
        if (sizes := self.sizes()) != self._counted[0]:
            count = 0
            for segment in self._waiting():
                try:
                    count += sum(1 for _ in segment)
                except OSError:
                    count += 1
            self._counted = (sizes, count)
        return self._counted[1]

    def set_aside(self, owner: str, given: Spooled | Lost) -> None:
        """Keep what can't be understood of an `owner` under a name that is never drained."""
        body = given.body if isinstance(given, Spooled) else given.head
        with suppress(OSError):
            put(str(self.folder), f"{ASIDE}{owner}-{given.key.source}-{given.key.n}", body)

    def forget_aside(self, *owners: str) -> None:
        """Remove what was set aside of some owners, and drafts of that."""
        names = tuple(f"{ASIDE}{each}-" for each in owners)
        for each in self._names():
            if each.removeprefix(".").startswith(names):
                (self.folder / each).unlink(missing_ok=True)

    def drainer_lock(self) -> DrainerLock:
        """The lock to acquire before draining."""
        return DrainerLock(self.folder)

    def drain(self, lock: DrainerLock) -> Iterator[Segment]:
        """The segments to drain: those that others left, then what was appended since. Ends at a segment that its
        caller has not called `done`, so that order is kept, and a spool that can't be drained stays within its
        bound."""
        for segment in self._segments(lock):
            if not lock.is_held:
                return
            yield segment
            if not segment.is_done:
                return
        refill(str(self.folder))

    def _segments(self, lock: DrainerLock) -> Iterator[Segment]:
        yield from self._named(*_SEALED.values())
        if lock.is_held:
            yield from self._sealed(SPOOL)
        if self._in_order and (self.folder / SPOOL).exists():
            return
        yield from self._named(LATE)
        if lock.is_held:
            yield from self._sealed(OVERFLOW)

    def _waiting(self) -> Iterator[Segment]:
        yield from self._named(SEALED)
        yield Segment(self.folder / SPOOL)
        yield from self._named(LATE)

    def _named(self, *beginnings: str) -> Iterator[Segment]:
        """The segments that are there, oldest first."""
        found = [name for name in self._names() if name.startswith(beginnings)]
        for name in sorted(found, key=lambda name: name.split("-")[1:]):
            yield Segment(self.folder / name)

    def _names(self) -> list[str]:
        try:
            return os.listdir(self.folder)  # noqa: PTH208  (names are all it takes)
        except OSError:
            return []

    def _sealed(self, name: str) -> Iterator[Segment]:
        """Take a file over while holding its lock, unless a writer is in the middle of writing to it."""
        with suppress(FileNotFoundError):
            if (handle := locked(str(self.folder / name), patience=_PATIENCE)) is None:
                return
            try:
                counted = read_mark(str(self.folder), COUNT) if name == SPOOL else None
                if counted is None and not os.fstat(handle).st_size:
                    (self.folder / name).unlink()
                    return
                source, count = counted or (os.urandom(8).hex().encode(), 0)
                path = self.folder / f"{_SEALED[name]}{time_ns():020d}-{source.decode()}-{count}"
                if name == SPOOL:  # first: behind another file it would count what was never in that
                    (self.folder / COUNT).unlink(missing_ok=True)
                (self.folder / name).rename(path)
            finally:
                os.close(handle)
            yield Segment(path)
