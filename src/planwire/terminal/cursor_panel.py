"""Plans with a cursor, which is on a step, the head of a plan, or a wish that stands alone.

It never moves by itself: what somebody is about to press a key for stays under it, wherever an update puts it.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.message import Message

from planwire.model.plan import PlanId
from planwire.terminal.lines import Line
from planwire.terminal.panel import PlanPanel
from planwire.terminal.plan_card import PLAN, WISH, Card, Row, step_row

__all__ = ["CursorPanel"]

#: Lines beyond the edge from which the cursor comes at once. What is farther away is scrolled to, line by line, so that
#: a text between two rows can be read.
NEAR: Final = 3


class CursorPanel(PlanPanel, inherit_bindings=False):
    """A `PlanPanel` with a cursor, for the keyboard."""

    class Moved(Message):
        """Somebody looks around."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("home,g", "edge(0)", "Top", show=False),
        Binding("end,G", "edge(-1)", "End", show=False),
        Binding("pageup,b", "page(-1)", "Page up", show=False),
        Binding("pagedown,f", "page(1)", "Page down", show=False),
        Binding("full_stop", "current", "Current step", show=False, key_display="."),
    ]

    def __init__(self, session: str | None = None, *, empty: str = "no plan yet", id: str | None = None) -> None:
        super().__init__(session, empty=empty, id=id)
        self.cursor: Row | None = None
        self._rows: list[Row] = []
        self._starts: list[int] = []
        self._index: dict[Row, int] = {}

    # -- what is shown

    def clear(self) -> None:
        super().clear()
        self.cursor = None

    def lines_for(self, width: int) -> Sequence[Line]:
        lines = super().lines_for(width)
        before = self._index.get(self.cursor, 0) if self.cursor else 0
        self._rows, self._starts = [], []
        for number, line in enumerate(lines):
            if line.row is not None and (not self._rows or line.row != self._rows[-1]):
                self._rows.append(line.row)
                self._starts.append(number)
        self._index = {row: place for place, row in enumerate(self._rows)}
        if self.cursor not in self._index:
            current = self.current if self.cursor is None else None
            row = step_row(*current) if current else None
            there_is = self._rows[min(before, len(self._rows) - 1)] if self._rows else None
            self.cursor = row if row in self._index else there_is
        return lines

    def update_lines(self) -> None:
        """The row under the cursor stays where it is on the screen, whatever comes or goes above it."""
        place, cursor = self._place(), self.cursor
        offset = place - self.scroll_offset.y if place is not None and self.cursor_is_in_sight else None
        super().update_lines()
        if self.cursor != cursor:  # its step is gone
            self.refresh()
        place = self._place()
        if offset is None or place is None or self.follow or (not self.scroll_offset.y and self._in_sight(place)):
            return
        if place - offset != self.scroll_offset.y:
            self._scroll(place - offset)

    def is_chosen(self, line: Line) -> bool:
        return line.row is not None and line.row == self.cursor

    # -- what the cursor is on

    @property
    def chosen(self) -> Card | None:
        """The plan under the cursor."""
        return next((card for card in self.cards if self.cursor and card.id == self.cursor[1]), None)

    @property
    def cursor_is_in_sight(self) -> bool:
        """Whether any of the lines under it is on the screen."""
        return self.cursor is not None and any(line.row == self.cursor for line in self.in_sight())

    def is_first_line(self, number: int) -> bool:
        """Whether this is the first line under the cursor."""
        return number == self._place()

    def _place(self) -> int | None:
        """The first line under the cursor."""
        index = self._index.get(self.cursor) if self.cursor else None
        return None if index is None else self._starts[index]

    def _in_sight(self, line: int) -> bool:
        top = self.scroll_offset.y
        return top + self._covered(top) <= line < top + self.size.height

    def _covered(self, top: int) -> int:
        """Lines on top that the head of a plan covers."""
        return 1 if self.pinned(top) is not None else 0

    # -- moving it

    def go(self, row: Row) -> None:
        """Put the cursor on a row, and bring that into sight."""
        if row not in self._index:
            return
        self.follow = False
        if row != self.cursor:
            before, self.cursor = self.cursor, row
            for y, line in enumerate(self.in_sight()):
                if line.row in (before, row):
                    self.refresh_lines(self.scroll_offset.y + y)
        self.show_cursor()
        self.post_message(self.Moved())

    def go_to_wish(self, plan_id: PlanId, wish: int) -> None:
        """Put the cursor on a wish that stands alone."""
        for row in self._rows:
            if row[:3] == (WISH, plan_id, wish):
                self.go(row)
                return

    def show_cursor(self) -> None:
        """Bring the row under the cursor into sight, by as little as it takes."""
        index = self._index.get(self.cursor) if self.cursor else None
        height = self.size.height
        if index is None or not height:
            return
        first = self._starts[index]
        last = first
        while last + 1 < len(self.lines) and self.lines[last + 1].row == self.cursor:
            last += 1
        last = min(last, first + height - 2)
        top = round(self.scroll_target_y)
        if first < top + self._covered(top):
            self._scroll(first - 1 if index and self._rows[index][0] != PLAN else first)
        elif last >= top + height:
            self._scroll(last - height + 1)

    def _scroll(self, top: int) -> None:
        self.scroll_to(y=max(top, 0), animate=False, immediate=True, force=True)

    def action_move(self, by: int) -> None:
        """To the next row; where a text is in between, it goes by first."""
        self.follow = False
        target = self._next(by)
        if target is None:
            self._scroll(self.scroll_offset.y + by)
            self.post_message(self.Moved())
        else:
            self.go(target)

    def _next(self, by: int) -> Row | None:
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        if self.cursor_is_in_sight and self.cursor:
            index = self._index[self.cursor] + by
            near = 0 <= index < len(self._rows) and top - NEAR <= self._starts[index] < bottom + NEAR
            return self._rows[index] if near else None
        inside = [place for place, start in enumerate(self._starts) if self._in_sight(start)]
        return self._rows[inside[0 if by > 0 else -1]] if inside else None

    def action_page(self, way: int) -> None:
        """A page on: the cursor stays at its height on the screen, as far as there is a row."""
        self.follow = False
        place = self._place()
        before = self.scroll_offset.y
        height = place - before if place is not None and self.cursor_is_in_sight else self.size.height // 2
        self._scroll(min(before + way * max(self.size.height - 2, 1), self.max_scroll_y))
        if self.scroll_offset.y == before:
            self.action_edge(0 if way < 0 else -1)
            return
        wanted = self.scroll_offset.y + height
        index = min(bisect_left(self._starts, wanted), len(self._starts) - 1)
        near = [at for at in (index, index - 1) if at >= 0 and self._in_sight(self._starts[at])]
        if near:
            self.go(self._rows[near[0]])

    def action_edge(self, index: int) -> None:
        self.follow = False
        if self._rows:
            self.go(self._rows[index])
        self._scroll(0 if index == 0 else self.max_scroll_y)

    def action_current(self) -> None:
        """To the current step, and along with it from now on."""
        current = self.current
        if current is not None:
            self.go(step_row(*current))
        super().action_current()
