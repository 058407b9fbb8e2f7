"""Following a PostgreSQL journal: look, and look again when a notice comes, or nothing has been heard for a while.

A notice only says that there may be something. What there is, and in which order, the looks find out (see
`postgres_order`).
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from planwire.journal.polling import Found
from planwire.journal.postgres_order import Holders, PositionGap, unbroken
from planwire.journal.postgres_rows import MOST, followed

__all__ = ["GLANCE", "SETTLING", "TRUST", "PositionFollower", "Source"]

#: Seconds after which a follower looks whatever notices say: a writer may have died before its own.
TRUST: Final = 1.0
#: Seconds between two looks at whether it shall stop, and at whether slower writers are done.
GLANCE: Final = 0.022
SETTLING: Final = 0.002


class Source(NamedTuple):
    """What a follower asks the server: events behind a position up to another, and who is writing now."""

    behind: Callable[[int, int], list[Any]]
    holders: Callable[[], Holders]


class PositionFollower:
    """One follower of all sessions: where it is, and what it waits for."""

    def __init__(self) -> None:
        self.gap: PositionGap | None = None

    def look(self, after: int, asked: Source) -> Found:
        """The events that are right behind a position, in order. None of them while `gap` says who may come between."""
        page = asked.behind(after, MOST)
        whole = unbroken(after, (row[0] for row in page))
        if whole == len(page) or whole:
            self.gap = None
            page = page[:whole]
            return Found(followed(page), page[-1][0] if page else after)
        if self.gap is None or self.gap.after != after:
            self.gap = PositionGap(after, page[-1][0], asked.holders())
        elif self.gap.holders:
            self.gap = self.gap._replace(holders=self.gap.holders & asked.holders())
        if self.gap.holders:
            return Found([], after)
        page, end = asked.behind(after, self.gap.end), self.gap.end
        self.gap = None
        return Found(followed(page), page[-1][0] if page else end)
