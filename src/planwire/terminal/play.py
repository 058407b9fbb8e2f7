"""Three ways to see a recording: where it ended, every change on the way, and as it happened."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec
from rich.console import Console, Group, RenderableType
from rich.live import Live

from planwire.acp.board import Board, Change
from planwire.readmodel.plain_text import one_line
from planwire.terminal.change_lines import change_lines, fresh_steps, report_line
from planwire.terminal.lines import Line, new_console
from planwire.terminal.records import plans_view

if TYPE_CHECKING:
    from planwire.cli.recording import RecordedLine

__all__ = ["play", "show", "walk"]

#: Seconds that a pause in a recording takes at most: agents think longer than people like to wait.
LONGEST_PAUSE: Final = 3.0


def show(lines: "Iterable[RecordedLine]") -> None:
    """Print the plans as they ended up, and what was wrong on the way."""
    console = new_console(wide=False)
    board = Board(keep=0)
    reports: list[Line] = []
    number = 0
    for line in lines:
        number = line.number
        change = board.apply(line.line, line.sender, line.at)
        reports += [report_line(report, number) for report in change.reports]
    reports += [report_line(report, number) for report in board.close().reports]
    console.print(_board_view(board))
    for report in reports:
        console.print(report)


def walk(lines: "Iterable[RecordedLine]", *, interactive: bool, captions: bool = False) -> None:
    """Print every change, in order. On a terminal, wait for Enter between two. `captions` are the agent's words."""
    console = new_console(wide=False)
    board = Board(keep=0)
    count = number = 0
    for line in lines:
        number = line.number
        change = board.apply(line.line, line.sender, line.at)
        for report in change.reports:
            console.print(report_line(report, number))
        if captions and (words := _words(line.line)):
            console.print(_caption(words))
        if change:
            count += 1
            _print_change(console, change, count, line.at)
            if interactive and not _goes_on(console):
                return
    last = board.close()
    for report in last.reports:
        console.print(report_line(report, number))
    if last:
        _print_change(console, last, count + 1, None)
    console.print(_board_view(board))


def play(lines: "Iterable[RecordedLine]", *, captions: bool = False) -> None:
    """Show the plans as they change, at the speed of the recording. Without a terminal, print every change at once."""
    console = new_console(wide=False)
    if not console.is_terminal:
        walk(lines, interactive=False, captions=captions)
        return
    board = Board(keep=0)
    clock: float | None = None
    caption: Line | None = None
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for line in lines:
            if line.at is not None:
                if clock is not None:
                    time.sleep(min(max(0.0, line.at - clock), LONGEST_PAUSE))
                clock = line.at
            change = board.apply(line.line, line.sender, line.at)
            words = _words(line.line) if captions else None
            caption = _caption(words) if words else caption
            if change or words:
                view = _board_view(board, change, console.height - (2 if caption else 0))
                live.update(Group(view, caption) if caption else view, refresh=True)
        board.close()
        live.update(_board_view(board), refresh=True)


def _goes_on(console: Console) -> bool:
    try:
        return console.input("[dim]Enter: next · q: stop [/]").strip().lower() != "q"
    except EOFError:
        console.print()
        return False


def _words(line: bytes) -> str | None:
    """What the agent says to the person, if the line is about that."""
    if b'"agent_message_chunk"' not in line:
        return None
    try:
        text = msgspec.json.decode(line)["params"]["update"]["content"]["text"]
    except (msgspec.DecodeError, LookupError, TypeError):
        return None
    return one_line(text) if isinstance(text, str) else None


def _caption(words: str) -> Line:
    return Line((("agent: ", "muted"), (words, "emphasis")))


def _board_view(board: Board, change: Change | None = None, height: int | None = None) -> RenderableType:
    sessions = [session for session in board.sessions.values() if session.updates]
    if not sessions:
        return Line((("no plans in this recording", "muted"),))
    fresh = fresh_steps(change) if change else ()
    share = None if height is None else height // len(sessions)
    return Group(*(plans_view(session.id, session.plans, fresh, share) for session in sessions))


def _print_change(console: Console, change: Change, count: int, at: float | None) -> None:
    when = "" if at is None else f"  {at:.1f} s"
    console.print(Line(((f"#{count}", "strong"), (when, "muted"))))
    for line in change_lines(change):
        console.print(line)
