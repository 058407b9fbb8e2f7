"""Hands pending verdicts on once their authors can't take them back any more.

Any process that is at work on a session does this: the relay, a hook that waits, a `PlanSession`, the board, the
terminal app. So a verdict reaches its agent even if the page where it was given is closed, or the board dies. Handing
on is one append on the newest state, as taking back is: one of the two comes first, and no process hands on twice.
"""

import os
from contextlib import suppress
from time import monotonic, time
from typing import Final

from planwire.errors import InputError, JournalError
from planwire.journal import Journal, Stamped, catch_up
from planwire.journal.waiting import is_away
from planwire.model.records import PendingVerdict, SessionState
from planwire.model.verdicts import handing_on
from planwire.session.writer import append_latest, stamped

#: The environment variable with the seconds for which a verdict can be taken back, its default, and the most.
VARIABLE: Final = "PLANWIRE_UNDO_SECONDS"
SECONDS: Final = "5"
MOST_SECONDS: Final = 60
#: Seconds until the next try to hand on what is due.
RETRY: Final = 1.0


def undo_delay() -> int:
    """For how many milliseconds people can take a verdict back. Raises `InputError` if the setting makes no sense."""
    given = os.environ.get(VARIABLE) or SECONDS
    with suppress(ValueError):
        if 0 <= (seconds := float(given)) <= MOST_SECONDS:
            return round(seconds * 1_000)
    raise InputError(f"{VARIABLE} is {given!r}: set it to a number of seconds from 0 to {MOST_SECONDS}")


class PendingReviews:
    """The pending verdicts of a journal's sessions, as this process sees them.

    The delay begins when the verdict was given, by this machine's clock. Clocks differ, so it also begins when this
    process first sees the verdict, and the earlier end counts: nobody waits for longer than the delay.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen: dict[str, dict[int, float]] = {}  # when each was first seen, by session and number

    def pause(self, state: SessionState, most: float) -> float:
        """How many seconds to wait for other news of a session: until its next verdict is due, `most` at most."""
        return min([most, *(left or RETRY for _, left in self._pending(state))])

    def hand_on(self, state: SessionState, *, at_once: bool = False) -> bool:
        """Hand on what is due, or all `at_once`. Whether anything was written. While the journal can't be written, all
        stays pending, and can be taken back."""
        due = [each for each, left in self._pending(state) if at_once or not left]
        if not due or is_away(self._journal):
            return False
        written = False
        with suppress(JournalError):
            for each in due:
                written |= self._hand_on(state, each)
        return written

    def _pending(self, state: SessionState) -> list[tuple[PendingVerdict, float]]:
        """The pending verdicts of a session, with the seconds until each is due."""
        before, now = self._seen.pop(state.id, {}), monotonic()
        if not (pending := state.pending):
            return []
        seen = self._seen[state.id] = {each.seq: before.get(each.seq, now) for each in pending}
        left = (min(each.until / 1_000 - time(), each.event.delay / 1_000 + seen[each.seq] - now) for each in pending)
        return [(each, max(0.0, seconds)) for each, seconds in zip(pending, left, strict=True)]

    def _hand_on(self, state: SessionState, pending: PendingVerdict) -> bool:
        def latest() -> SessionState:
            nonlocal state
            state = catch_up(self._journal, state)
            return state

        def prepared(now: SessionState) -> list[Stamped]:
            return stamped(handing_on(now, pending), pending.by)

        return bool(append_latest(self._journal, latest, prepared))
