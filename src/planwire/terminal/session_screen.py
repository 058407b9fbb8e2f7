"""A session: its head, which stays in sight, and all its plans."""

import os
import shlex
import subprocess
from collections.abc import Collection, Mapping, Sequence
from time import time_ns
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer

from planwire.errors import JournalError
from planwire.overview import Overview
from planwire.plan import PlanId
from planwire.sight.export import plan_markdown
from planwire.sight.sessions import Session
from planwire.terminal.lines import Line
from planwire.terminal.lines_view import LinesView
from planwire.terminal.panel import PlanPanel
from planwire.terminal.plan_lines import MINUTE, Card
from planwire.terminal.session_lines import head_lines

if TYPE_CHECKING:
    from planwire.terminal.watch_app import WatchApp

__all__ = ["SessionHead", "SessionScreen", "session_cards"]

#: Seconds after which plan files are looked at again, and ages.
FILES: Final = 1.0
AGES: Final = 15.0


def session_cards(session: Session, said: Mapping[PlanId, str] | None = None) -> list[Card]:
    """All the plans of a session, with what is known about each."""
    stopped = session.state.stopped is not None
    cards = []
    for plan_id, record in session.state.live().items():
        file = session.files.get(plan_id)
        words = (said or {}).get(plan_id)
        problem, uri = (file.problem, file.uri) if file is not None else (None, None)
        cards.append(Card(record.state, record, stopped, words, problem, uri))
    return cards


class SessionHead(LinesView):
    """What a session is about, who works where, how far it is."""

    DEFAULT_CSS = """
    SessionHead { height: 3; overflow: hidden; margin: 1 0; }
    """

    def __init__(self) -> None:
        super().__init__(id="head")
        self._glance: Overview | None = None

    def show(self, glance: Overview | None) -> None:
        self._glance = glance
        self.update_lines()

    def lines_for(self, width: int) -> Sequence[Line]:
        minute = time_ns() // 1_000_000 // MINUTE + 1
        return head_lines(self._glance, width, minute) if self._glance else ()


class SessionScreen(Screen[None]):
    """One session, live."""

    app: "WatchApp"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Sessions", key_display="Esc"),
        Binding("h", "history", "History"),
        Binding("y", "copy", "Copy"),
        Binding("e", "edit", "Edit file"),
    ]

    def __init__(self, session: str) -> None:
        super().__init__()
        self.session = session
        self._path: str | None = None  # of a plan file that can be read: only one inside the session's folder ever is

    def compose(self) -> ComposeResult:
        yield SessionHead()
        yield PlanPanel(self.session)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.app.last_shown = self.session
        self.query_one(PlanPanel).focus()
        self.set_interval(FILES, lambda: self.app.sessions.look_at_files(self.session))
        self.set_interval(AGES, self.query_one(SessionHead).update_lines)
        self.update()

    def on_screen_resume(self) -> None:
        if self.is_mounted:  # it may come before there is anything on the screen
            self.update()

    def sessions_changed(self, changed: Collection[str]) -> None:
        if self.session in changed and self.is_mounted:
            self.update()

    def turn_to(self, session: str) -> None:
        """Show another session from now on."""
        self.session = session
        if self.is_mounted:
            self.query_one(PlanPanel).clear()
            self.query_one(PlanPanel).session = session
            self.update()

    def update(self) -> None:
        """Show what is there now."""
        try:
            session = self.app.sessions.get(self.session)
            said = self.app.reasons.of(session.journalled) if session else {}
        except JournalError as error:
            self.app.complain(error)
            return
        panel = self.query_one(PlanPanel)
        self.query_one(SessionHead).show(session.glance if session else None)
        if session is None:
            panel.say("this session is not in the journal any more")
            return
        panel.empty = "no plans any more" if session.state.plans else "no plan yet"
        panel.show_cards(session_cards(session, said))
        path = next((file.path for file in session.files.values() if file.problem is None and file.path), None)
        if path != self._path:
            self._path = path
            self.refresh_bindings()

    # -- what people do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._path is not None if action == "edit" else True

    def action_back(self) -> None:
        self.app.to_overview()

    def action_history(self) -> None:
        self.app.open_history(self.session)

    def action_copy(self) -> None:
        """All plans as markdown, for whatever is to be told of them elsewhere."""
        cards = self.query_one(PlanPanel).cards
        self.app.copy_to_clipboard("\n".join(plan_markdown(card.state) for card in cards))
        self.notify(f"{len(cards)} plan{'' if len(cards) == 1 else 's'} copied as markdown", timeout=2, markup=False)

    def action_edit(self) -> None:
        """Open the session's plan file in the editor that the user has chosen."""
        path = self._path
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        if path is None or not editor:
            return
        try:
            with self.app.suspend():
                subprocess.run([*editor, "--", path] if editor[0] == "vi" else [*editor, path], check=False)  # noqa: S603
        except (OSError, SuspendNotSupported) as error:
            self.notify(f"{editor[0]} can't be started: {error}. Set VISUAL or EDITOR.", severity="error", markup=False)
        self.app.sessions.look_at_files(self.session)
