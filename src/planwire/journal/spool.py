"""A spool: a folder where records wait for a journal, in order, until a process drains them.

Any number of processes append, at any moment, to one file (`spool_append` says how). One process at a time drains: it
takes the file over under another name, as a *segment*, reads its records in order, and removes it when all of them are
where they belong. If it dies in between, the next drainer begins with the segment it left. So a record may be given
twice, each time with the same key, and a journal that appends under that key takes it once.

What can't be kept is reported as `Lost`: records that found no room, and those whose writer was killed halfway.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.folder_times import is_settled
from planwire.journal.protocol import Once
from planwire.journal.spool_append import HEAD, LATE, MOST, OVERFLOW, SPOOL, append, encode_note, locked, refill
from planwire.journal.spool_records import TornRecord, WholeRecord, pieces, read_piece

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


class Spooled(Struct, frozen=True):
    """A record: when it was appended (in milliseconds), its writer's note, its body and its key."""

    at: int
    note: dict[str, str]
    body: bytes
    key: Once


class Lost(Struct, frozen=True):
    """Records that are gone, and what is left of them: the first bytes of their bodies, if any. `at` is when the first
    of them was to be appended, if that is known."""

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
        if self.name.startswith(_SEALED[OVERFLOW]):
            yield from self._lost()
            return
        for n, found in self._read():
            key = Once(self.name, n)
            match found:
                case WholeRecord(at, note, body):
                    yield Spooled(at, note, body, key)
                case TornRecord(at, note, head):
                    yield Lost(at, note, head[:HEAD], 1, key)

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
        for n, each in self._read():
            head = each.body if isinstance(each, WholeRecord) else each.head
            first = found.get(head) or Lost(each.at, each.note, head, 0, Once(self.name, n))
            found[head] = replace(first, count=first.count + 1)
        yield from found.values()

    def _read(self) -> Iterator[tuple[int, WholeRecord | TornRecord]]:
        with suppress(FileNotFoundError), self._path.open("rb") as file:  # a person may remove the folder
            yield from enumerate(map(read_piece, pieces(file)))


class Spool:
    """The spool in a folder, which need not exist. With `in_order`, nothing is drained before what its writer appended
    earlier, but a writer that was stopped in the middle may hold up all others. Without it, the others go first."""

    def __init__(self, folder: Path, *, in_order: bool = False) -> None:
        self.folder = folder
        self._in_order = in_order
        self._empty_since = 0  # when the folder changed last, in nanoseconds, if it is empty since

    def append(self, note: Mapping[str, str], body: bytes, most: int = MOST, *, durable: bool = False) -> bool:
        """Append a record; returns whether it is kept. Never raises. `durable`: see `spool_append.append`."""
        return append(str(self.folder), encode_note(dict(note)), body, most, durable=durable)

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
        is_empty = not any(name in _SEALED or name.startswith(_SEGMENTS) for name in self._names())
        if is_empty and settled:
            self._empty_since = changed
        return is_empty

    def waiting(self) -> Iterator[Spooled]:
        """The records that wait, in order, without draining them. A drainer may take them meanwhile. What can't be read
        is passed over: the drainer says what is wrong with it."""
        for segment in (*self._named(SEALED), Segment(self.folder / SPOOL), *self._named(LATE)):
            with suppress(OSError):
                yield from (each for each in segment if isinstance(each, Spooled))

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
        path = self.folder / f"{_SEALED[name]}{time_ns():020d}-{os.urandom(4).hex()}"
        with suppress(FileNotFoundError):
            if (handle := locked(str(self.folder / name), patience=_PATIENCE)) is None:
                return
            try:
                if not os.fstat(handle).st_size:
                    (self.folder / name).unlink()
                    return
                (self.folder / name).rename(path)
            finally:
                os.close(handle)
            yield Segment(path)
