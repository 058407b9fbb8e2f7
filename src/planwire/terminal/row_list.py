"""A list of rows with a cursor: sessions, or the moments of one."""

from typing import ClassVar

from textual.binding import BindingType
from textual.events import Click
from textual.message import Message

from planwire.terminal.cursor import CURSOR_KEYS, Cursor
from planwire.terminal.lines_view import LinesView

__all__ = ["RowList"]


class RowList(LinesView, can_focus=True):
    """Lines, each of which is about a row, and a cursor on one of these."""

    class Opened(Message):
        """A person clicked on the row under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*CURSOR_KEYS]
    cursor: Cursor

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.cursor = Cursor(self)

    @property
    def key(self) -> object:
        """What the row under the cursor is about; None without a row."""
        return self.cursor.row[1] if self.cursor.row else None

    def on_click(self, event: Click) -> None:
        row = self.row_at(event)
        if row is not None and row == self.cursor.row:
            self.post_message(self.Opened())
        elif row is not None:
            self.cursor.go(row)
