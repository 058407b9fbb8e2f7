"""What one process knows of sessions whose journal is on a server: how far it has read them, and what is ahead of that.

It keeps the last events of each session, for one part of a process may be a few behind another. The rest of what it has
read is in its folds.
"""

from collections import deque
from typing import Final

from planwire.journal.provisional import AheadEvents
from planwire.model.events import Recorded

__all__ = ["KnownHere"]

#: The last events of a session that are kept.
TAIL: Final = 16


class KnownHere:
    """The sessions that this process has met. Its owner locks."""

    def __init__(self) -> None:
        self.ahead: dict[str, AheadEvents] = {}
        self._ends: dict[str, int] = {}
        self._tails: dict[str, deque[Recorded]] = {}

    def note(self, recorded: Recorded) -> None:
        """This process has an event."""
        session, seq = recorded.session, recorded.seq
        end = self._ends.get(session, 0)
        if seq > end or seq == 1:
            tail = self._tails.get(session)
            if tail is None or seq != end + 1:
                tail = self._tails[session] = deque(maxlen=TAIL)
            tail.append(recorded)
            self._ends[session] = seq

    def note_end(self, session: str, seq: int) -> None:
        """This process has a session up to a number, or knows that it has no events (0)."""
        if not seq or seq > self._ends.get(session, -1):
            self._ends[session] = seq
            self._tails.pop(session, None)

    def forget(self, *sessions: str) -> None:
        for each in sessions:
            self._ends.pop(each, None)
            self._tails.pop(each, None)

    def last(self, session: str) -> int | None:
        """The number of the last event; None if only the server knows."""
        ahead = self.ahead.get(session)
        return ahead.last if ahead is not None else self._ends.get(session)

    def read(self, session: str, after: int, upto: int | None) -> list[Recorded] | None:
        """The events behind a number; None if only the server has the first of them."""
        if (ahead := self.ahead.get(session)) is not None:
            return ahead.read(after, upto)
        end, tail = self._ends.get(session), self._tails.get(session, ())
        if end is None or (after < end and not (tail and after >= tail[0].seq - 1)):
            return None
        return [each for each in tail if after < each.seq and (upto is None or each.seq <= upto)]

    def go_ahead(self, session: str, expected_seq: int | None, at: int) -> AheadEvents:
        """Where to put events of a session that wait, behind what their writer knows of."""
        ahead = self.ahead.get(session)
        if ahead is None:
            base = self._ends.get(session, 0) if expected_seq is None else expected_seq
            ahead = self.ahead[session] = AheadEvents(session, base, self._tails.get(session, ()), at)
        return ahead

    def begin_without(self, session: str, at: int) -> None:
        """Take a session for one that has nothing but what waits here."""
        if (ahead := self.ahead.get(session)) is not None:
            ahead.base = 0
        else:
            self.ahead[session] = AheadEvents(session, 0, (), at)
