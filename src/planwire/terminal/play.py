"""Three ways to see a recording: where it ended, every change on the way, and as it happened."""

import time
from collections.abc import Iterable
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live

from planwire.readmodel.differences import changed_steps
from planwire.readmodel.replay import Frame, RecordedMessage, replayed
from planwire.terminal.change_lines import change_lines, report_line
from planwire.terminal.lines import Line, new_console
from planwire.terminal.records import plans_view

#: The most seconds of a pause in a recording: agents think longer than people like to wait.
LONGEST_PAUSE: Final = 3.0


def show(lines: Iterable[RecordedMessage]) -> None:
    """Print the plans as they ended up, and what was wrong on the way."""
    console = new_console()
    frame, reports = None, []
    for frame in replayed(lines):
        reports += [report_line(report, frame.number) for report in frame.reports]
    if frame is not None:
        console.print(board_view(frame))
    for report in reports:
        console.print(report)


def walk(lines: Iterable[RecordedMessage], *, interactive: bool) -> None:
    """Print every change in order, then the plans as they ended up. On a terminal, wait for Enter between two
    changes."""
    console = new_console()
    frame, count = None, 0
    for frame in replayed(lines):
        for report in frame.reports:
            console.print(report_line(report, frame.number))
        if frame.change:
            count += 1
            print_change(console, frame, count)
            if interactive and not _goes_on(console):
                return
    if frame is not None:
        console.print(board_view(frame))


def play(lines: Iterable[RecordedMessage]) -> None:
    """Show the plans as they change, at the speed of the recording. Without a terminal, print every change at once."""
    console = new_console()
    if not console.is_terminal:
        walk(lines, interactive=False)
        return
    clock: float | None = None
    frame = None
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for frame in replayed(lines):
            if frame.at is not None:
                if clock is not None:
                    time.sleep(min(max(0.0, frame.at - clock), LONGEST_PAUSE))
                clock = frame.at
            if frame.change:
                live.update(board_view(frame, console.height), refresh=True)
        if frame is not None:
            live.update(board_view(frame), refresh=True)


def _goes_on(console: Console) -> bool:
    try:
        return console.input("[dim]Enter: next · q: stop [/]").strip().lower() != "q"
    except EOFError:
        console.print()
        return False


def board_view(frame: Frame, height: int | None = None) -> RenderableType:
    """The plans after a frame: whole, or as much as fits a `height`, with marks on what changed."""
    if not frame.sessions:
        return Line((("no plans in this recording", "muted"),))
    if height is None:
        return Group(*(plans_view(session) for session in frame.sessions))
    fresh, share = changed_steps(frame.change), height // len(frame.sessions)
    return Group(*(plans_view(session, fresh, share) for session in frame.sessions))


def print_change(console: Console, frame: Frame, count: int) -> None:
    """Print what a frame changed. `count` is its number among the changes."""
    when = "" if frame.at is None else f"  {frame.at:.1f} s"
    console.print(Line(((f"#{count}", "strong"), (when, "muted"))))
    for line in change_lines(frame.differences):
        console.print(line)
