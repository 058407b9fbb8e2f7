"""The cursor of a view of lines. It is on a row: one line, or several about the same thing.

The cursor never moves by itself. A person may be about to press a key for the row under it, so an update keeps the
cursor on that row, and the row in its place on the screen. There are two exceptions: if the row is gone, the cursor
goes to its neighbour; and lines added to the first row while it is in sight, such as a question of the agent's, push
the others down.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.message import Message

from planwire.terminal.lines import Line, Row

if TYPE_CHECKING:
    from planwire.terminal.lines_view import LinesView

#: How many lines beyond the edge the cursor goes to a row at once. A text between two rows that are farther apart
#: scrolls by line by line, so that it can be read.
NEAR: Final = 3


@dataclass
class CursorMoved(Message):
    """The cursor of a view is on another row. `by_hand`: a person moved it, or scrolled with it."""

    by_hand: bool


class Cursor:
    """The cursor of a view. `first` gives the row to begin with, if that is not the first one."""

    def __init__(self, view: "LinesView", first: Callable[[], Row | None] = lambda: None) -> None:
        self.row: Row | None = None
        self.rows: list[Row] = []
        self._view = view
        self._first = first
        self._starts: list[int] = []
        self._index: dict[Row, int] = {}
        self._pushed = 0  # lines by which the first row grew with the last update

    # -- lines

    def take(self, lines: Sequence[Line]) -> bool:
        """Find the rows of new lines. Returns whether the cursor had to leave its row."""
        before, place, first_row = self.row, self.index, self._first_row
        self.rows, self._starts = [], []
        for number, line in enumerate(lines):
            if line.row is not None and (not self.rows or line.row != self.rows[-1]):
                self.rows.append(line.row)
                self._starts.append(number)
        self._index = {row: place for place, row in enumerate(self.rows)}
        self._pushed = self._first_row[1] - first_row[1] if self._first_row[0] == first_row[0] else 0
        if before not in self._index:
            first = self._first() if before is None else None
            near = self.rows[min(place, len(self.rows) - 1)] if self.rows else None
            self.row = first if first in self._index else near
        if self.row != before and self._view.is_attached:
            self._view.post_message(CursorMoved(by_hand=False))
        return self.row != before

    @property
    def _first_row(self) -> tuple[Row | None, int]:
        """The first row, and the number of the line where the second one begins."""
        return (self.rows[0], self._starts[1]) if len(self.rows) > 1 else (None, 0)

    @property
    def index(self) -> int:
        """The number of its row; 0 without one."""
        return self._index.get(self.row, 0) if self.row else 0

    @property
    def line(self) -> int | None:
        """The number of the first line under it."""
        return self._starts[self._index[self.row]] if self.row in self._index else None

    @property
    def is_in_sight(self) -> bool:
        """Whether any of the lines under it is on the screen."""
        return self.row is not None and any(line.row == self.row for line in self._view.in_sight())

    def height_on_screen(self) -> int | None:
        """Lines between the upper edge of the view and the cursor; None if it is out of sight."""
        line = self.line
        return line - self._view.scroll_offset.y if line is not None and self.is_in_sight else None

    def stay_at(self, height: int) -> None:
        """Scroll so that the cursor is as high on the screen as it was before an update."""
        line, top = self.line, self._view.scroll_offset.y
        height += 0 if top else self._pushed
        if line is not None and line - height != top:
            self._view.jump(line - height)

    def _in_sight(self, line: int) -> bool:
        top = self._view.scroll_offset.y
        return top + self._covered(top) <= line < top + self._view.size.height

    def _covered(self, top: int) -> int:
        """How many lines a pinned head would cover if `top` were the first in sight."""
        return 1 if self._view.pinned(top) is not None else 0

    # -- moving it

    def go(self, row: Row) -> None:
        """Put the cursor on a row, and bring the row into sight."""
        if row in self._index:
            self._put(row)
            self.show()

    def _put(self, row: Row) -> None:
        self._view.looked_around()
        if row != self.row:
            before, self.row = self.row, row
            for y, line in enumerate(self._view.in_sight()):
                if line.row in (before, row):
                    self._view.refresh_lines(self._view.scroll_offset.y + y)
        self._view.post_message(CursorMoved(by_hand=True))

    def show(self) -> None:
        """Scroll just enough to bring the row under the cursor into sight."""
        first, height, lines = self.line, self._view.size.height, self._view.lines
        if first is None or not height:
            return
        last = first
        while last + 1 < len(lines) and lines[last + 1].row == self.row:
            last += 1
        last = min(last, first + height - 2)
        top = round(self._view.scroll_target_y)
        if first < top + self._covered(top):
            self._view.jump(first - self._covered(first))
        elif last >= top + height:
            self._view.jump(last - height + 1)

    def move(self, by: int) -> None:
        """Go to the next row. A text between the two rows scrolls by first."""
        self._view.looked_around()
        target = self._next(by)
        if target is None:
            self._view.jump(self._view.scroll_offset.y + by)
            self._view.post_message(CursorMoved(by_hand=True))
        else:
            self.go(target)

    def _next(self, by: int) -> Row | None:
        top, bottom = self._view.scroll_offset.y, self._view.scroll_offset.y + self._view.size.height
        if self.is_in_sight:
            index = self.index + by
            near = 0 <= index < len(self.rows) and top - NEAR <= self._starts[index] < bottom + NEAR
            return self.rows[index] if near else None
        inside = [place for place, start in enumerate(self._starts) if self._in_sight(start)]
        return self.rows[inside[0 if by > 0 else -1]] if inside else None

    def page(self, way: int) -> None:
        """Scroll by a page, and no further: no line is left out. The cursor keeps its height on the screen if there is
        a row near it."""
        self._view.looked_around()
        before, size = self._view.scroll_offset.y, self._view.size.height
        height = self.height_on_screen()
        self._view.jump(min(before + way * max(size - 2, 1), self._view.max_scroll_y))
        if self._view.scroll_offset.y == before:
            self.to_edge(0 if way < 0 else -1)
            return
        wanted = self._view.scroll_offset.y + (size // 2 if height is None else height)
        index = min(bisect_left(self._starts, wanted), len(self._starts) - 1)
        near = [at for at in (index, index - 1) if at >= 0 and self._in_sight(self._starts[at])]
        if near:
            self._put(self.rows[near[0]])

    def to_edge(self, index: int) -> None:
        """Go to the first row (0) or the last one (-1)."""
        self._view.looked_around()
        if self.rows:
            self.go(self.rows[index])
        self._view.jump(0 if index == 0 else self._view.max_scroll_y)
