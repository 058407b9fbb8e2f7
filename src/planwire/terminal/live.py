"""Plans as they change: on a terminal the plans themselves, without one a line a change."""

from contextlib import suppress
from time import monotonic, time_ns
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.watching import Watched, Watcher
from planwire.terminal.console import new_console
from planwire.terminal.history_lines import moment_line
from planwire.terminal.records import session_record_view

__all__ = ["follow_in_lines", "watch_live"]

#: Seconds between two pictures while changes come in, and when it is quiet: then only the ages change.
BUSY: Final = 0.05
QUIET: Final = 1.0
#: Lines below which a session is not worth showing.
LEAST: Final = 12
#: Seconds for which a change is pointed at.
FRESH: Final = 3.0


def watch_live(watcher: Watcher, most: int) -> None:
    """The plans on a screen of their own, until Ctrl-C. They are left on the terminal as they ended up.

    `most` sessions are shown, those that changed last.
    """
    console = Console(highlight=False)
    with suppress(KeyboardInterrupt), Live(console=console, screen=True, auto_refresh=False) as live:
        fresh: dict[str, float] = {}
        while True:
            live.update(_screen(watcher.sessions[-most:], frozenset(fresh), console.height), refresh=True)
            next_picture = monotonic() + BUSY
            for moment in watcher.news(timeout=QUIET):
                fresh |= dict.fromkeys(_steps(moment), monotonic())
                break
            while (left := next_picture - monotonic()) > 0:
                for moment in watcher.news(timeout=left):
                    fresh |= dict.fromkeys(_steps(moment), monotonic())
            fresh = {step: since for step, since in fresh.items() if monotonic() - since < FRESH}
    console.print(_sessions(watcher.sessions[-most:], frozenset(), None))


def follow_in_lines(watcher: Watcher, *, several: bool) -> None:
    """A line for each change, as soon as it happens, until Ctrl-C."""
    console = new_console()
    with suppress(KeyboardInterrupt):
        for moment in watcher.news():
            console.print(moment_line(moment, session=moment.session if several else None))
            console.file.flush()


def _screen(sessions: list[Watched], fresh: frozenset[str], height: int) -> RenderableType:
    fitting = sessions[-max(1, height // LEAST) :]
    return Group(_sessions(fitting, fresh, height - 1), Text("Ctrl-C ends this", "dim"))


def _sessions(sessions: list[Watched], fresh: frozenset[str], height: int | None) -> RenderableType:
    if not sessions:
        return Text("waiting for a plan …", "dim")
    now = time_ns() // 1_000_000
    share = None if height is None else height // len(sessions)
    return Group(*(_session(each, fresh, now, share) for each in reversed(sessions)))


def _session(each: Watched, fresh: frozenset[str], now: int, height: int | None) -> RenderableType:
    prefix = f"{each.state.id}\n"
    steps = {step.removeprefix(prefix) for step in fresh if step.startswith(prefix)}
    return session_record_view(each.state, each.overview, now, steps, height)


def _steps(moment: HistoryEntry) -> list[str]:
    """The steps that a moment is about. Steps of two sessions may have the same id."""
    return [f"{moment.session}\n{word.step}" for word in moment.words if word.step]
