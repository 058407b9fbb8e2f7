"""A session: its head, which stays in sight, and all its plans."""

import os
import shlex
import subprocess
from collections.abc import Collection, Mapping, Sequence
from time import time_ns
from typing import ClassVar, Final

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType

from planwire.errors import JournalError, PlanError
from planwire.model.plan import PlanId
from planwire.readmodel.as_markdown import plan_markdown
from planwire.readmodel.overview import Overview
from planwire.readmodel.sessions import ShownSession as Session
from planwire.terminal.footer import KeysFooter
from planwire.terminal.lines import Line
from planwire.terminal.lines_view import LinesView
from planwire.terminal.plan_card import MINUTE, Card
from planwire.terminal.session_lines import head_lines
from planwire.terminal.steering import SteeringScreen
from planwire.terminal.steps_panel import StepsPanel

__all__ = ["SessionHead", "SessionScreen", "session_cards"]

#: Seconds after which plan files are looked at again, and ages.
FILES: Final = 1.0
AGES: Final = 15.0
#: What the footer leaves out where it has no room, the first of these first.
SPARE: Final = ("run", "mark", "history", "add", "comment", "reword", "review", "back")


def session_cards(session: Session, said: Mapping[PlanId, str] | None = None) -> list[Card]:
    """All the plans of a session, with what is known about each."""
    stopped = session.state.stopped is not None
    cards = []
    for plan_id, record in session.state.live().items():
        file = session.files.get(plan_id)
        words = (said or {}).get(plan_id)
        problem, uri = (file.problem, file.uri) if file is not None else (None, None)
        cards.append(Card(record.state, record, stopped, words, problem, uri, session.glance.client))
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


class SessionScreen(SteeringScreen):
    """One session, live."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Sessions", key_display="Esc"),
        Binding("h", "history", "History"),
        Binding("y", "copy", "Copy", show=False, tooltip="all plans, as markdown"),
    ]

    def compose(self) -> ComposeResult:
        yield SessionHead()
        yield StepsPanel(self.session)
        yield KeysFooter(SPARE)

    def on_mount(self) -> None:
        self.app.last_shown = self.session
        self.query_one(StepsPanel).focus()
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
            self.query_one(StepsPanel).clear()
            self.query_one(StepsPanel).session = session
            self.update()

    def update(self) -> None:
        """Show what is there now."""
        try:
            session = self.app.sessions.get(self.session)
            said = self.app.reasons.of(session.journalled) if session else {}
        except JournalError as error:
            self.app.complain(error)
            return
        panel = self.query_one(StepsPanel)
        self.query_one(SessionHead).show(session.glance if session else None)
        if session is None:
            panel.say("this session is not in the journal any more")
            return
        panel.empty = "no plans any more" if session.state.plans else "no plan yet"
        panel.show_cards(session_cards(session, said))

    # -- what people do

    def action_back(self) -> None:
        self.app.to_overview()

    def action_history(self) -> None:
        self.app.open_history(self.session)

    def action_copy(self) -> None:
        """All plans as markdown, for whatever is to be told of them elsewhere."""
        cards = self.query_one(StepsPanel).cards
        self.app.copy_to_clipboard("\n".join(plan_markdown(card.state) for card in cards))
        self.notify(f"{len(cards)} plan{'' if len(cards) == 1 else 's'} copied as markdown", timeout=2, markup=False)

    def open_file(self, plan_id: PlanId) -> None:
        """Only a file that can be read is opened: no other is inside the session's folder."""
        session = self.app.sessions.get(self.session)
        file = session.files.get(plan_id) if session else None
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        if file is None or file.path is None or file.problem is not None or not editor:
            raise PlanError(file.problem.rstrip(".") if file and file.problem else "there is no such file here")
        try:
            with self.app.suspend():
                command = [*editor, "--", file.path] if editor[0] == "vi" else [*editor, file.path]
                subprocess.run(command, check=False)  # noqa: S603
        except (OSError, SuspendNotSupported) as error:
            self.notify(f"{editor[0]} can't be started: {error}. Set VISUAL or EDITOR.", severity="error", markup=False)
