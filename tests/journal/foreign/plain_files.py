"""An engine over plain files: a log of what was done, which every process reads into memory."""

import fcntl
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Final

import msgspec

from planwire.journal.bell import Bell
from planwire.journal.engines import Engine
from planwire.journal.memory import MemoryStore
from planwire.journal.polling import polled
from planwire.journal.protocol import JournalFacts, Once, StoredEvent
from planwire.journal.store import (
    ANY,
    AnyValue,
    Append,
    Appended,
    KeySpan,
    SessionEnd,
    StoredPage,
    StoreEntry,
    TailPage,
)

__all__ = ["ENGINE", "FileStore"]

#: Bytes before a record that say how long it is.
_HEAD: Final = 8


class FileStore:
    """A `Store` in a folder. A record that was forgotten keeps its place, so that all processes count alike."""

    has_clock = False

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.where = str(folder)
        self.thoughts = str(folder / "thoughts.db")
        self.is_hasty = False
        self._folder, self._log = folder, folder / "log"
        self._lock, self._bell, self._closed = RLock(), Bell(), False
        self._locked: dict[str, int] = {}
        self._begin()

    def append(self, appends: Sequence[Append]) -> list[Appended | Exception]:
        with self._alone() as memory:
            outcomes = memory.append(appends)
            done = [a for a, outcome in zip(appends, outcomes, strict=True) if getattr(outcome, "is_written", False)]
            self._write(*[["append", a.session, [*map(msgspec.structs.astuple, a.rows)], _keys(a)] for a in done])
        self._bell.ring()
        return outcomes

    def read(self, end: SessionEnd, after: int, upto: int, *, keys: bool = False) -> StoredPage:
        with self._alone() as memory:
            return memory.read(end, after, upto, keys=keys)

    def tail(self, after: int | None) -> Generator[TailPage, None, None]:
        if after is None:
            after = self._last()
            yield TailPage([], after, is_end=True)
        yield from polled(after, self._look, self._glance, self._bell)

    def ends(self, session: str | None = None) -> list[SessionEnd]:
        with self._alone() as memory:
            return memory.ends(session)

    def delete(self, sessions: Sequence[str]) -> None:
        with self._alone():
            kept = [_without(record, sessions) for record in self._records]
            self._begin()
            draft = self._folder / "draft"
            draft.write_bytes(b"".join(map(_framed, kept)))
            draft.replace(self._log)

    def get(self, kind: str, session: str | None = None, name: str | None = None) -> list[StoreEntry]:
        with self._alone() as memory:
            return memory.get(kind, session, name)

    def put(
        self, kind: str, session: str, name: str, value: bytes | None, instead: bytes | AnyValue | None = ANY
    ) -> bool:
        with self._alone() as memory:
            if is_done := memory.put(kind, session, name, value, instead):
                self._write(["put", session, kind, name, value])
            return is_done

    def alive(self, holder: str, seconds: float | None = None) -> bool:
        path = self._folder / f"alive {holder}"
        if seconds and holder not in self._locked:
            self._locked[holder] = handle = os.open(path, os.O_CREAT | os.O_RDWR)
            fcntl.flock(handle, fcntl.LOCK_EX)
        elif seconds == 0 and holder in self._locked:
            os.close(self._locked.pop(holder))
        if holder in self._locked or not path.exists():
            return holder in self._locked
        handle = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def facts(self) -> JournalFacts:
        return JournalFacts("plain files", self.where, "an append is on the disk")

    def close(self) -> None:
        self._closed = True
        for holder in [*self._locked]:
            self.alive(holder, 0)
        self._bell.ring()

    def _begin(self) -> None:
        self._memory, self._read_to, self._file, self._records = MemoryStore(), 0, 0, list[Any]()

    @contextmanager
    def _alone(self) -> Iterator[MemoryStore]:
        """The state as all processes have left it, while no other changes it."""
        with self._lock, (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._catch_up()
            yield self._memory

    def _catch_up(self) -> None:
        if not self._log.exists():
            return
        if self._log.stat().st_ino != self._file:
            self._begin()
            self._file = self._log.stat().st_ino
        with self._log.open("rb") as log:
            log.seek(self._read_to)
            while len(head := log.read(_HEAD)) == _HEAD:
                body = log.read(int.from_bytes(head))
                if len(body) < int.from_bytes(head):
                    break
                self._read_to = log.tell()
                self._take(msgspec.msgpack.decode(body))

    def _take(self, record: Any) -> None:
        """Do again what a record says. What was forgotten is done, and undone."""
        self._records.append(record)
        match record:
            case ["append", session, rows, keys]:
                events = [StoredEvent(*row) for row in rows]
                spans = [KeySpan(after, last, Once(source, n)) for after, last, source, n in keys]
                found = self._memory.ends(session)
                self._memory.append(
                    [Append(session, events, found[0] if found else SessionEnd(session=session), spans)]
                )
            case ["put", session, kind, name, value]:
                self._memory.put(kind, session, name, value)
            case ["gone", count]:
                rows = [StoredEvent(seq, 0, "", b"", None) for seq in range(1, count + 1)]
                self._memory.append([Append("\ud800", rows, SessionEnd(session="\ud800"))] if rows else [])
                self._memory.delete(["\ud800"])

    def _write(self, *records: Any) -> None:
        with self._log.open("ab") as log:
            log.truncate(self._read_to)  # what a process wrote in part that was killed then
            log.write(b"".join(map(_framed, records)))
            log.flush()
            os.fsync(log.fileno())
            self._records += records
            self._read_to, self._file = log.tell(), os.fstat(log.fileno()).st_ino

    def _last(self) -> int:
        with self._alone() as memory:
            return next(memory.tail(None)).position

    def _look(self, after: int) -> TailPage | None:
        if self._closed:
            return None
        with self._alone() as memory:
            return memory._look(after)

    def _glance(self) -> object:
        return self._log.exists() and self._log.stat().st_size


def _keys(append: Append) -> list[tuple[int, int, str, int]]:
    return [(key.after, key.last, key.once.source, key.once.n) for key in append.keys]


def _framed(record: Any) -> bytes:
    body = msgspec.msgpack.encode(record)
    return len(body).to_bytes(_HEAD) + body


def _without(record: Any, sessions: Sequence[str]) -> Any:
    """A record without a trace of sessions."""
    if record[0] == "gone" or record[1] not in sessions:
        return record
    return ["gone", len(record[2]) if record[0] == "append" else 0]


ENGINE = Engine("files:/FOLDER", lambda rest, _: FileStore(Path(rest)), "files:{}".format)
