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

__all__ = ["play", "show", "walk"]

#: Seconds that a pause in a recording takes at most: agents think longer than people like to wait.
LONGEST_PAUSE: Final = 3.0


def show(lines: Iterable[RecordedMessage]) -> None:
    """Print the plans as they ended up, and what was wrong on the way."""
    console = new_console(wide=False)
    frame, reports = None, []
    for frame in replayed(lines):
        reports += [report_line(report, frame.number) for report in frame.reports]
    if frame is not None:
        console.print(_board_view(frame))
    for report in reports:
        console.print(report)


def walk(lines: Iterable[RecordedMessage], *, interactive: bool, captions: bool = False, ending: bool = True) -> None:
    """Print every change, in order, and at last the plans as they ended up, if the `ending` is wanted. On a terminal,
    wait for Enter between two changes. `captions` are the agent's words."""
    console = new_console(wide=False)
    frame, count = None, 0
    for frame in replayed(lines):
        for report in frame.reports:
            console.print(report_line(report, frame.number))
        if captions and frame.said:
            console.print(_caption(frame.said))
        if frame.change:
            count += 1
            _print_change(console, frame, count)
            if interactive and not _goes_on(console):
                return
    if ending and frame is not None:
        console.print(_board_view(frame))


def play(lines: Iterable[RecordedMessage], *, captions: bool = False, ending: bool = True) -> None:
    """Show the plans as they change, at the speed of the recording. Without a terminal, print every change at once.
    Without the `ending` nothing stays on the screen."""
    console = new_console(wide=False)
    if not console.is_terminal:
        walk(lines, interactive=False, captions=captions, ending=ending)
        return
    clock: float | None = None
    caption: Line | None = None
    frame = None
    with Live(console=console, auto_refresh=False, vertical_overflow="crop", transient=not ending) as live:
        for frame in replayed(lines):
            if frame.at is not None:
                if clock is not None:
                    time.sleep(min(max(0.0, frame.at - clock), LONGEST_PAUSE))
                clock = frame.at
            said = frame.said if captions else ""
            caption = _caption(said) if said else caption
            if frame.change or said:
                view = _board_view(frame, console.height - (2 if caption else 0))
                live.update(Group(view, caption) if caption else view, refresh=True)
        if ending and frame is not None:
            live.update(_board_view(frame), refresh=True)


def _goes_on(console: Console) -> bool:
    try:
        return console.input("[dim]Enter: next · q: stop [/]").strip().lower() != "q"
    except EOFError:
        console.print()
        return False


def _caption(words: str) -> Line:
    return Line((("agent: ", "muted"), (words, "emphasis")))


def _board_view(frame: Frame, height: int | None = None) -> RenderableType:
    """The plans after a frame: whole, or as much as fits a `height`, with marks on what changed."""
    if not frame.sessions:
        return Line((("no plans in this recording", "muted"),))
    if height is None:
        return Group(*(plans_view(session) for session in frame.sessions))
    fresh, share = changed_steps(frame.change), height // len(frame.sessions)
    return Group(*(plans_view(session, fresh, share) for session in frame.sessions))


def _print_change(console: Console, frame: Frame, count: int) -> None:
    when = "" if frame.at is None else f"  {frame.at:.1f} s"
    console.print(Line(((f"#{count}", "strong"), (when, "muted"))))
    for line in change_lines(frame.differences):
        console.print(line)
