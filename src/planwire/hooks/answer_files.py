"""The answers that hooks wait for, as files: written by the drainer of the spool, taken by the hook that asked.

`answers/ID` is an answer. The hook takes it by renaming it, says it, and leaves `ID.told`. A hook that gave up leaves
the answer where it is, and the drainer takes it back in the same way. So exactly one of the two has it, and the journal
learns which. `ID.offer` is the drainer's own note of what is told to whom. A hook that was killed while it spoke leaves
`ID.taken`: whether it was heard is not known, so the journal keeps it as offered, and it is told again.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Final

import msgspec
from msgspec import Struct

from planwire.journal.spool_append import make_folder, put
from planwire.model.events import REFUSED, TOLD, Told

#: Seconds after which an untaken answer is taken back: no hook waits that long.
_PATIENCE: Final = 3.0


class OfferedTelling(Struct, frozen=True):
    """A telling that a hook is about to make, and its session."""

    session: str
    told: Told


class Settled(Struct, frozen=True):
    """What became of an offer: the telling as it ended, or None if that is not known."""

    session: str
    told: Told | None
    name: str


class AnswerFiles:
    """The answers in the folder of hooks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "answers"

    def write(self, name: str, answer: bytes, offer: OfferedTelling | None) -> None:
        """Answer a hook, maybe with an empty answer. If that fails, the hook gives up by itself."""
        with suppress(OSError):
            make_folder(str(self._folder))
            if offer is not None:
                put(str(self._folder), f"{name}.offer", msgspec.json.encode(offer))
            put(str(self._folder), name, answer)

    @property
    def are_any(self) -> bool:
        """Whether there may be answers to settle."""
        return bool(self._names())

    def under_way(self, session: str) -> list[Told]:
        """The tellings of a session that hooks are about to make."""
        offers = map(self._offer, self._offers())
        return [each.told for each in offers if each is not None and each.session == session]

    def settle(self) -> Iterator[Settled]:
        """What became of the offers since the last look. Each one's files are removed once the caller takes the
        next."""
        names = self._names()
        for name in names:
            bare, _, ending = name.partition(".")
            is_over = ending == "told" or self._age(name) > _PATIENCE
            if is_over and f"{bare}.offer" not in names:  # there is nothing to record
                self._remove(name)
        for name in self._offers():
            if (settled := self._settled(name, names)) is not None:
                yield settled
                for each in (f"{name}.offer", f"{name}.told", f"{name}.taken", f"{name}.refused"):
                    self._remove(each)

    def _settled(self, name: str, names: set[str]) -> Settled | None:
        """The end of an offer; None while it is under way."""
        offer = self._offer(name)
        if offer is None:
            self._remove(f"{name}.offer")
            return None
        told, session = offer.told, offer.session
        if f"{name}.told" in names:
            return Settled(session, msgspec.structs.replace(told, stage=TOLD), name)
        if self._age(f"{name}.offer") <= _PATIENCE:
            return None
        with suppress(FileNotFoundError):
            (self._folder / name).rename(self._folder / f"{name}.refused")
        if (self._folder / f"{name}.refused").exists():  # taken back just now, or by a drainer that was stopped then
            return Settled(session, msgspec.structs.replace(told, stage=REFUSED, remarks=()), name)
        if (self._folder / f"{name}.told").exists():
            return Settled(session, msgspec.structs.replace(told, stage=TOLD), name)
        return Settled(session, None, name)

    def _offer(self, name: str) -> OfferedTelling | None:
        try:
            return msgspec.json.decode((self._folder / f"{name}.offer").read_bytes(), type=OfferedTelling)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def _offers(self) -> list[str]:
        return sorted(name.removesuffix(".offer") for name in self._names() if name.endswith(".offer"))

    def _names(self) -> set[str]:
        try:
            return set(os.listdir(self._folder))  # noqa: PTH208  (names are all it takes)
        except OSError:
            return set()

    def _age(self, name: str) -> float:
        try:
            return abs(time() - (self._folder / name).stat().st_mtime)  # a clock may be set back
        except OSError:
            return 0.0

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / name).unlink()
