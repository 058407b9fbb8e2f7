"""A list of rows with a cursor, for the keyboard and the mouse. A row is some lines that are about the same."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message

from planwire.terminal.lines import Line
from planwire.terminal.lines_view import LinesView

__all__ = ["RowList"]


class RowList(LinesView, can_focus=True):
    """The rows of `rows_for`. The cursor stays on its row, wherever that goes."""

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, rows: "RowList", key: Hashable) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> "RowList":
            return self.rows

    class Chosen(Moved):
        """A row was chosen: with Enter, or with a click on the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "edge(0)", "First", show=False),
        Binding("end", "edge(-1)", "Last", show=False),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.keys: Sequence[Hashable] = ()
        self.cursor: Hashable | None = None
        self._starts: dict[Hashable, int] = {}

    def rows_for(self, width: int) -> "tuple[Sequence[Hashable], Sequence[Line]]":
        """The keys of all rows, and their lines, each of which names its key in `row`."""
        raise NotImplementedError

    def lines_for(self, width: int) -> Sequence[Line]:
        index = self.index
        self.keys, lines = self.rows_for(width)
        self._starts = {}
        for number, line in enumerate(lines):
            if line.row is not None:
                self._starts.setdefault(line.row[1], number)
        if self.cursor not in self._starts:
            self._put(self.keys[min(index, len(self.keys) - 1)] if self.keys else None)
        return lines

    @property
    def index(self) -> int:
        """Which row the cursor is on; 0 if it is on none."""
        return self.keys.index(self.cursor) if self.cursor in self._starts else 0

    def is_chosen(self, line: Line) -> bool:
        return line.row is not None and line.row[1] == self.cursor

    def go(self, key: Hashable) -> None:
        """Put the cursor on a row and bring it into sight."""
        if key not in self._starts:
            return
        if key != self.cursor:
            before = self.cursor
            self._put(key)
            for y, line in enumerate(self.in_sight()):
                if line.row is not None and line.row[1] in (before, key):
                    self.refresh_lines(self.scroll_offset.y + y)
        self.scroll_into_sight()

    def scroll_into_sight(self) -> None:
        """As little as it takes, so that the rows stay where they are while one walks along them."""
        if self.cursor not in self._starts or not self.container_size.height:
            return
        start = self._starts[self.cursor]
        last = start
        while last + 1 < len(self.lines) and self.is_chosen(self.lines[last + 1]):
            last += 1
        top, height = round(self.scroll_target_y), self.container_size.height
        if start < top:
            self.scroll_to(y=start if start > 2 else 0, animate=False, immediate=True, force=True)
        elif last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False, immediate=True, force=True)

    def resized(self) -> None:
        self.scroll_into_sight()

    def _put(self, key: Hashable | None) -> None:
        self.cursor = key
        if self.is_attached:
            self.post_message(self.Moved(self, key))

    def action_move(self, by: int) -> None:
        if self.keys:
            self.go(self.keys[min(max(self.index + by, 0), len(self.keys) - 1)])

    def action_page(self, way: int) -> None:
        per_row = max(len(self.lines) // max(len(self.keys), 1), 1)
        self.action_move(way * max(self.size.height // per_row - 1, 1))

    def action_edge(self, index: int) -> None:
        if self.keys:
            self.go(self.keys[index])

    def action_choose(self) -> None:
        if self.cursor is not None:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: Click) -> None:
        number = self.scroll_offset.y + event.y
        row = self.lines[number].row if 0 <= number < len(self.lines) else None
        if row is None:
            return
        if row[1] == self.cursor:
            self.action_choose()
        self.go(row[1])
