"""The stage of the demo: the agent's plans, and below them what it says, what happens, and what a person can do.

In a terminal this is one changing picture; anywhere else every change is printed, and nothing is asked.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment

from planwire.readmodel.replay import Frame
from planwire.terminal.change_lines import report_line
from planwire.terminal.lines import BLANK, Line, folded, new_console
from planwire.terminal.play import board_view, print_change


def stage(address: str | None) -> "LiveStage | PrintedStage":
    """The stage for standard output. `address` is that of the board."""
    console = new_console()
    return LiveStage(console, address) if console.is_terminal else PrintedStage(console, address)


class LiveStage:
    """A changing picture, which is gone when the play is over."""

    def __init__(self, console: Console, address: str | None) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop", transient=True)
        self._address = address
        self._frame: Frame | None = None
        self._said = self._told = ""
        self._question: Sequence[str] = ()

    def playing(self) -> AbstractContextManager[object]:
        """The play is on."""
        return self._live

    def show(self, frame: Frame) -> None:
        """Show the plans after a line of the conversation, and the agent's words in it."""
        self._frame = frame
        if frame.said:
            self._said = frame.said
        if frame.change or frame.said:
            self._draw()

    def tell(self, words: str) -> None:
        """Tell what happens, in place of what was told before."""
        self._told = words
        self._draw()

    def ask(self, lines: Sequence[str]) -> None:
        """Show what a person can answer now, and for how long; without lines, the question is over."""
        if lines != self._question:
            self._question = lines
            self._draw()

    def _draw(self) -> None:
        below = [
            BLANK,
            *([_caption(self._said)] if self._said else []),
            *([Line(((self._told, "note"),))] if self._told and not self._question else []),
            *(Line(((each, "waiting"),)) for each in self._question),
            *([Line((("The board: ", "muted"), (self._address, "")))] if self._address else []),
        ]
        below = [line for each in below for line in folded(each, self._console.width)]
        room = self._console.height - len(below) - 1
        above = [_Cropped(board_view(self._frame, room), room)] if self._frame else []
        self._live.update(Group(*above, *below), refresh=True)


class _Cropped:
    """As much of a view as fits: many plans take more room than they are given, and what is below them must be seen."""

    def __init__(self, view: RenderableType, height: int) -> None:
        self._view = view
        self._height = max(height, 0)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._view, options, pad=False)
        left_out = len(lines) - self._height + 1 if len(lines) > self._height else 0
        for line in lines[: self._height - bool(left_out)]:
            yield from line
            yield Segment.line()
        if left_out and self._height:
            yield Line(((f"… {left_out} more lines: planwire show", "muted"),))


class PrintedStage:
    """Line by line, for a pipe or a file."""

    def __init__(self, console: Console, address: str | None) -> None:
        self._console = console
        self._changes = 0
        self._is_asked = False
        if address:
            self.tell(f"The board: {address}")

    def playing(self) -> AbstractContextManager[object]:
        """The play is on."""
        return nullcontext()

    def show(self, frame: Frame) -> None:
        """Show the plans after a line of the conversation, and the agent's words in it."""
        for report in frame.reports:
            self._console.print(report_line(report, frame.number))
        if frame.said:
            self._print(_caption(frame.said))
        if frame.change:
            self._changes += 1
            print_change(self._console, frame, self._changes)

    def tell(self, words: str) -> None:
        """Tell what happens."""
        if words:
            self._print(Line(((words, "note"),)))

    def ask(self, lines: Sequence[str]) -> None:
        """Print what a person can answer, once."""
        if lines and not self._is_asked:
            self._print(*(Line(((each, "waiting"),)) for each in lines))
        self._is_asked = bool(lines)

    def _print(self, *lines: Line) -> None:
        for line in lines:
            self._console.print(line)


def stay(frames: Iterable[Frame], last: str) -> None:
    """Print what the agent still says, above a line that stays the last one."""
    with Live(last, console=new_console(), auto_refresh=False) as live:
        live.refresh()
        for frame in frames:
            if frame.said:
                live.console.print(_caption(frame.said))
                live.refresh()


def _caption(words: str) -> Line:
    return Line((("agent: ", "muted"), (words, "emphasis")))
