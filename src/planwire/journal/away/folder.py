"""The folder on this machine where appends wait for a journal's server (`delivery` delivers them).

All processes of a user share it: one spool (`spool`), and files with what they know of the outage (`outage`).
"""

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from planwire.journal.away.outage import SharedOutage
from planwire.journal.protocol import Once
from planwire.journal.spool import ASIDE, SEALED, SEALED_LOSSES, Spool
from planwire.journal.spool_append import LATE, MOST, MOST_IN_A_RECORD, SPOOL, put
from planwire.journal.user_files import away_path
from planwire.journal.waiting import WaitingRecords

#: Bytes that a record may take in the spool besides its body.
_BESIDES: Final = 20_000
_BLOCK: Final = 1 << 20
_DELIVERED: Final = "delivered"


class WaitingAppend(Struct, frozen=True, array_like=True):
    """Events (time, author, text) of a session, to be written with the key `once`. Their writer knew the session up to
    the event `base`. If the append `is_lost`, the server may have it without that key: it did not answer."""

    session: str
    base: int
    rows: tuple[tuple[int, str, str], ...]
    once: Once
    is_lost: bool = False


_write_waiting: Final[Callable[[WaitingAppend], bytes]] = msgspec.msgpack.Encoder().encode
read_waiting: Final[Callable[[bytes], WaitingAppend]] = msgspec.msgpack.Decoder(WaitingAppend).decode


class AwayFolder:
    """A folder of waiting appends. It need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spool = Spool(path, in_order=True)
        self.outage = SharedOutage(path)
        self._counted: tuple[object, int] = ((), 0)

    def is_empty(self) -> bool:
        """Whether nothing waits. Cheap: it reads the names in one folder."""
        return self.spool.is_empty()

    def put(self, waiting: WaitingAppend) -> bool:
        """Have an append wait, synced to the disk. False if there is no room; then nothing is kept."""
        body = _write_waiting(waiting)
        most = 2 * len(body) + _BESIDES  # escaping can double it
        if len(body) > MOST_IN_A_RECORD or sum(size for _, size in self.sizes()) + most > MOST:
            return False
        note = {"session": waiting.session, "count": str(len(waiting.rows))}
        return self.spool.append(note, body, durable=True)

    def set_aside(self, session: str, key: Once, body: bytes) -> None:
        """Keep a record that can't be written, under a name that no delivery picks up."""
        with suppress(OSError):
            put(str(self.path), f"{_aside(session)}{key.source}-{key.n}", body)

    def delivered(self, segment: str) -> int:
        """How many records of a segment are known to be delivered (`note_delivered`)."""
        with suppress(OSError, ValueError):
            name, _, count = (self.path / _DELIVERED).read_text("ascii").partition(" ")
            return int(count) if name == segment else 0
        return 0

    def note_delivered(self, segment: str, count: int) -> None:
        """Note how many records of a segment are delivered, so that the next process need not ask for each of them."""
        with suppress(OSError):
            put(str(self.path), _DELIVERED, f"{segment} {count}".encode())

    def forget(self, *sessions: str) -> None:
        """Remove the records of sessions that were set aside."""
        names = tuple(map(_aside, sessions))
        with suppress(FileNotFoundError):
            for each in os.listdir(self.path) if names else ():  # noqa: PTH208  (names are all it takes)
                if each.removeprefix(".").startswith(names):  # with a dot: a draft
                    (self.path / each).unlink(missing_ok=True)

    def count(self) -> int:
        """How many records wait. It reads them only if something changed since the last time."""
        found = self.sizes()
        if found != self._counted[0]:
            self._counted = (found, sum(_records(self.path / name) for name, _ in found))
        return self._counted[1]

    def sizes(self) -> list[tuple[str, int]]:
        """The files in which records wait, with their sizes. They differ once anything changes."""
        with suppress(OSError):
            names = sorted(os.listdir(self.path))  # noqa: PTH208  (names are all it takes)
            there = [each for each in names if each == SPOOL or each.startswith((SEALED, SEALED_LOSSES, LATE))]
            return [(each, _size(self.path / each)) for each in there]
        return []


def waiting_here(url: str) -> WaitingRecords:
    """What waits for a journal that can't be opened."""
    folder = AwayFolder(away_path(url))
    outage = folder.outage.known()
    return WaitingRecords(folder.count(), why=outage.why if outage else "")


def file_name(session: str) -> str:
    """A name for the files of a session. It is a hash, because an id may contain anything."""
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _aside(session: str) -> str:
    """How the names of a session's set-aside files begin."""
    return f"{ASIDE}{file_name(session)}-"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _records(path: Path) -> int:
    """How many records a file has: each begins with a byte that occurs nowhere else in it. A file that can't be read
    counts as one, since it is not nothing."""
    count = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                count += block.count(b"\x1e")
    except FileNotFoundError:
        return 0
    except OSError:
        return 1
    return count
