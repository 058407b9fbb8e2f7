"""The folder on this machine where appends wait for a journal's server (`away_delivery` brings them there).

All processes of a user share it: one spool (`spool`). A file beside it tells all of them since when the server is away,
and when somebody last tried: who comes after that need not wait for the same answer.
"""

import os
from contextlib import suppress
from pathlib import Path
from time import time, time_ns
from typing import Final

from planwire.journal.away_records import WaitingAppend, write_waiting
from planwire.journal.spool import SEALED, SEALED_LOSSES, Spool
from planwire.journal.spool_append import LATE, MOST, MOST_IN_A_RECORD, SPOOL, make_folder, put

__all__ = ["AwayFolder"]

#: Seconds for which nobody asks a server again that did not answer somebody else.
_LATELY: Final = 2.0
_AWAY: Final = "away"
#: What a record takes in the spool besides its body.
_BESIDES: Final = 20_000
_BLOCK: Final = 1 << 20


class AwayFolder:
    """What waits in a folder, which need not be there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spool = Spool(path)
        self._counted: tuple[object, int] = ((), 0)

    def is_empty(self) -> bool:
        """Whether nothing waits. Cheap: it reads the names in one folder."""
        return self.spool.is_empty()

    def put(self, waiting: WaitingAppend) -> bool:
        """Have an append wait, safe from a crash of the machine. False if there is no room, and nothing is kept."""
        body, spool = write_waiting(waiting), self.path / SPOOL
        if len(body) > MOST_IN_A_RECORD or _size(spool) + 2 * len(body) + _BESIDES > MOST:  # escaping can double it
            return False
        is_kept = self.spool.append({"session": waiting.session, "count": str(len(waiting.rows))}, body)
        with suppress(OSError):  # another process may just have taken it to deliver it
            handle = os.open(spool, os.O_RDWR)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        return is_kept

    def count(self) -> int:
        """How many records wait. It reads them only if something changed since the last time."""
        found: list[tuple[str, int]] = []
        with suppress(OSError):
            there = [(each.name, _size(each)) for each in sorted(self.path.iterdir())]
            found = [each for each in there if each[0] == SPOOL or each[0].startswith((SEALED, SEALED_LOSSES, LATE))]
        if found != self._counted[0]:
            self._counted = (found, sum(_records(self.path / name) for name, _ in found))
        return self._counted[1]

    def note_away(self, why: str) -> int:
        """Tell the other processes that the server did not answer. Returns since when it is away, in milliseconds."""
        known = self._noted()
        since = known[0] if known else time_ns() // 1_000_000
        with suppress(OSError):
            make_folder(str(self.path))
            put(str(self.path), _AWAY, f"{since}\n{why}".encode("utf-8", "replace"))
        return since

    def note_back(self) -> None:
        """Tell them that it answers."""
        with suppress(OSError):
            (self.path / _AWAY).unlink()

    def away_lately(self) -> tuple[int, str] | None:
        """Since when the server is away, and why, if somebody has just found out."""
        try:
            is_recent = abs(time() - (self.path / _AWAY).stat().st_mtime) < _LATELY
        except OSError:
            return None
        return self._noted() if is_recent else None

    def _noted(self) -> tuple[int, str] | None:
        with suppress(OSError, ValueError):
            since, _, why = (self.path / _AWAY).read_text("utf-8", "replace").partition("\n")
            return int(since), why
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _records(path: Path) -> int:
    """The records in a file: each begins with the one byte that none has inside."""
    count = 0
    with suppress(OSError), path.open("rb") as file:
        while block := file.read(_BLOCK):
            count += block.count(b"\x1e")
    return count
