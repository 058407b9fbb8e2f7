"""`planwire watch` on a terminal: every session, its plans and its history, live."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from threading import Lock
from time import time_ns
from typing import Any, ClassVar, Final

from planwire.errors import JournalError
from planwire.extras import missing_extra

try:
    import textual  # noqa: F401
except ImportError as error:
    raise missing_extra("watching on a terminal", "textual", error, ", or use --json") from error

from textual import on
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.timer import Timer
from textual.widgets import Input

from planwire.journal import Journal
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.overview import Overview
from planwire.readmodel.plain_text import printable
from planwire.readmodel.rationale import Reasons
from planwire.readmodel.sessions import Sessions
from planwire.readmodel.timeline import Timelines
from planwire.session.steering import USER
from planwire.terminal.dialogs import DecisionDialog, Dialog, DialogAnswer, KeysDialog
from planwire.terminal.history_screen import HistoryScreen
from planwire.terminal.keys import APP_KEYS, SESSION_KEYS, bindings, key_lines
from planwire.terminal.lines import Line, new_console
from planwire.terminal.overview_screen import OverviewScreen
from planwire.terminal.records import session_record_view
from planwire.terminal.review_drafts import ReviewDrafts
from planwire.terminal.session_screen import SessionScreen
from planwire.terminal.themes import DARK, LIGHT, theme_for_terminal
from planwire.terminal.write_queue import WriteQueue

#: Seconds between two redraws while changes come in.
BUSY: Final = 0.05
#: Textual's command that lists its own keys: `?` lists ours.
_TEXTUALS_KEYS: Final = "Keys"
_QUIT: Final = DialogAnswer("quit", "Quit without sending", "error", "y")
_STAY: Final = DialogAnswer("stay", "Stay", key="n")


def watch(
    journal: Journal, session: str | None, is_here: Callable[[Overview], bool] | None, by: str | None = USER
) -> int:
    """Run the app until the person quits it. `by` is their name: without one they may only look. Prints the last
    session as it ended up, and returns the exit code."""
    app = WatchApp(journal, session, is_here, theme_for_terminal(), by)
    app.run()
    if app.writes.is_writing:
        print("planwire: the journal is busy; waiting to save your change", file=sys.stderr)
    app.writes.close()
    for words in (*app.drafts.values(), *(each.text for each in app.reviews.all)):
        print(f"planwire: not sent: {printable(words)}", file=sys.stderr)
    shown = app.sessions.get(app.last_shown) if app.last_shown is not None else None
    if shown is not None:
        console = new_console()
        console.print(session_record_view(shown, time_ns() // 1_000_000, height=console.height - 2))
    return app.return_code or 0


class WatchApp(App[None]):
    """The app begins with a `session`, or with the latest that `is_here` accepts, or else with the overview.

    Until the person chooses what to look at, it switches to each new one that begins here.
    """

    class News(Message):
        """Something changed in the journal."""

    TITLE = "planwire"
    CSS = """
    ToastRack { dock: top; align: right top; margin: 0; }
    Toast { width: 64; max-width: 100%; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings(*APP_KEYS)

    def __init__(
        self,
        journal: Journal,
        session: str | None = None,
        is_here: Callable[[Overview], bool] | None = None,
        theme: str = DARK.name,
        by: str | None = USER,
    ) -> None:
        super().__init__()
        self.journal = journal
        self.is_here = is_here or (lambda glance: True)
        self.sessions = Sessions(journal, FilePlans(), self._heard)
        self.timelines = Timelines(journal, FilePlans().of)
        self.reasons = Reasons(journal)
        self.chosen = session
        self.last_shown = session
        self._following = is_here is not None and session is None
        self._everywhere = is_here is None
        self._youngest = 0
        self._first_theme = theme
        self._lock = Lock()
        self._news: set[str] = set()
        self._due: Timer | None = None
        self.writes = WriteQueue(journal, by)
        self.drafts: dict[tuple[object, ...], str] = {}
        self.reviews = ReviewDrafts()
        self.knows_suggestions = False
        self._left_off = asyncio.Event()  # set for an instant, to wake what waits

    def on_mount(self) -> None:
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = self._first_theme if self._first_theme in self.available_themes else DARK.name
        with suppress(NotImplementedError, RuntimeError):  # Windows has none; only the main thread may set one
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)
        self.screen_change_signal.subscribe(self, self._screen_changed)
        self.push_screen(OverviewScreen(here=not self._everywhere))
        self.sessions.start()
        if self.chosen is not None:
            self._open(self.chosen)

    def on_unmount(self) -> None:
        self.sessions.close()

    # -- news

    def _heard(self, session: str) -> None:
        """Note a change. Runs on the thread that follows the journal."""
        with self._lock:
            self._news.add(session)
            first = len(self._news) == 1
        if first:
            with suppress(RuntimeError):  # the app has ended
                self.post_message(self.News())

    @on(News)
    def _soon(self) -> None:
        if self._due is None:
            self._due = self.set_timer(BUSY, self._tell)

    def _tell(self) -> None:
        self._due = None
        with self._lock:
            news, self._news = self._news, set()
        if self._following:
            self._follow()
        for screen in reversed(self.screen_stack):  # behind a dialog, too
            if isinstance(screen, OverviewScreen | SessionScreen | HistoryScreen):
                screen.sessions_changed(news)
                break

    def _screen_changed(self, _screen: Screen[Any]) -> None:
        self.left_off()
        if self._following:
            self._soon()  # an act that the palette has just started comes first, and stops following

    def _follow(self) -> None:
        """Show the session that changed last here, and later the one that began last; once no dialog is open."""
        here = [each for each in self.sessions.glances() if self.is_here(each)]
        if self.sessions.loading or not here or isinstance(self.screen, ModalScreen):
            return
        youngest = max(here, key=lambda each: each.first_at)
        if self.chosen is None:
            self._open(max(here, key=lambda each: each.last_at).id)
        elif youngest.first_at > self._youngest:
            self._open(youngest.id)
        self._youngest = youngest.first_at

    def _open(self, session: str) -> None:
        self.chosen = self.last_shown = session
        if isinstance(self.screen, SessionScreen):
            self.screen.turn_to(session)
        else:
            self.push_screen(SessionScreen(session))

    def left_off(self) -> None:
        """Ask what waited to be decided: the person closed a dialog, or left a search field."""
        self._left_off.set()
        self._left_off.clear()

    async def decide(self, dialog: DecisionDialog, over: Screen[Any] | None) -> str | None:
        """Ask for a decision that may come late. It opens over the dialog that it belongs to, if any; while the person
        types in another one, or in a search field, it waits, or their next letter would be the answer."""
        while self.screen is not over and (isinstance(self.screen, ModalScreen) or isinstance(self.focused, Input)):
            await self._left_off.wait()
        return await asyncio.shield(self.push_screen(dialog, wait_for_dismiss=True))

    def complain(self, error: JournalError) -> None:
        """Say what is wrong with the journal, and leave the screen as it is."""
        self.notify(str(error), severity="error", markup=False)

    def clear_notifications(self) -> None:
        """Remove all messages, with their holders: Textual leaves those, and the next message would appear below
        them."""
        super().clear_notifications()
        for screen in self.screen_stack:
            screen.query("ToastHolder").remove()

    # -- people

    def stay(self) -> None:
        """Stop following new sessions: the person has chosen what to look at."""
        self._following = False

    def to_overview(self) -> None:
        self._following = False
        if len(self.screen_stack) > 2:
            self.pop_screen()

    def open_history(self, session: str) -> None:
        self._following = False
        self.last_shown = session
        self.push_screen(HistoryScreen(session))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer the acts on the plan under the cursor in the command palette, too."""
        yield from (each for each in super().get_system_commands(screen) if each.title != _TEXTUALS_KEYS)
        if isinstance(screen, SessionScreen):
            for key in (key for rows in SESSION_KEYS.values() for key in rows):
                yield SystemCommand(key.label, key.help, partial(screen.run_action, key.action))

    async def action_quit(self) -> None:
        """Leave an open dialog, or else the app: neither a half-written text nor an unsent review may get lost."""
        if isinstance(self.screen, Dialog):
            self.screen.action_leave()
        elif count := len(self.reviews.all):
            title = f"{count} comment{'s' * (count > 1)} of your review {'are' if count > 1 else 'is'} not sent"
            about = [Line(((printable(each.text), "muted"),)) for each in self.reviews.all]
            self.push_screen(DecisionDialog(title, about, [_QUIT, _STAY], _STAY.value), self._left)
        else:
            self.exit()

    def _left(self, answer: str | None) -> None:
        if answer == _QUIT.value:
            self.exit()

    def action_help(self) -> None:
        """List the keys of the screen."""
        screen = self.screen
        if isinstance(screen, OverviewScreen | SessionScreen | HistoryScreen):
            self.push_screen(KeysDialog(list(key_lines(screen.KEYS))))

    def action_theme(self) -> None:
        """Turn dark into light, and light into dark."""
        self.theme = LIGHT.name if self.current_theme.dark else DARK.name
