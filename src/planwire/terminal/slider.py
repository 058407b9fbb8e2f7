"""A slider over the moments of a session, below a small chart of how far it was at each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message

from planwire.terminal.lines import Line
from planwire.terminal.lines_view import LinesView

_BLOCKS: Final = " ▁▂▃▄▅▆▇█"


class Slider(LinesView, can_focus=False):
    """A knob at `place`, a mark at `marked`, and a chart of how far the session was, from 0.0 to 1.0, at each place."""

    @dataclass
    class Slid(Message):
        """A person put the knob on another place."""

        place: int

    DEFAULT_CSS = """
    Slider { height: 2; padding: 0 1; overflow: hidden; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.place = 0
        self.marked: int | None = None
        self._shares: Sequence[float] = ()
        self._held = False

    def put(self, shares: Sequence[float], place: int, marked: int | None) -> None:
        """Show these, without a message."""
        self._shares, self.place, self.marked = tuple(shares), place, marked
        self.update_lines()

    def lines_for(self, _width: int) -> Sequence[Line]:
        width = self.size.width
        knob = self._column(self.place, width)
        mark = self._column(self.marked, width) if self.marked is not None else None
        chart, track = [], []
        for column in range(width):
            look = "past" if column <= knob else "future"
            share = self._shares[self._place(column, width)] if self._shares else 0.0
            chart.append((_BLOCKS[round(share * (len(_BLOCKS) - 1))], look))
            sign = ("◆", "odd strong") if column == mark else ("─", look)
            track.append(("●", "fresh") if column == knob else sign)
        return Line(tuple(chart)), Line(tuple(track))

    def _column(self, place: int, width: int) -> int:
        last = len(self._shares) - 1
        return round(place * (width - 1) / last) if last > 0 else width - 1

    def _place(self, column: int, width: int) -> int:
        last = max(len(self._shares) - 1, 0)
        return min(max(round(column * last / max(width - 1, 1)), 0), last)

    # -- the mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        self._held = True
        self.capture_mouse()
        self._slide(event)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._held:
            self._slide(event)

    def on_mouse_up(self, _event: MouseUp) -> None:
        self._held = False
        self.release_mouse()

    def _slide(self, event: MouseDown | MouseMove) -> None:
        place = self._place(event.get_content_offset_capture(self).x, self.size.width)
        if place != self.place and self._shares:
            self.put(self._shares, place, self.marked)
            self.post_message(self.Slid(place))
