"""The screen of a session: its head, which stays in sight, and all its plans, live."""

from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer

from planwire.errors import JournalError, PlanError
from planwire.readmodel.as_markdown import plan_markdown
from planwire.readmodel.card import PlanId
from planwire.readmodel.plain_text import counted
from planwire.terminal.cursor import CursorMoved
from planwire.terminal.keys import APP_KEYS, CURSOR_KEYS, SESSION_KEYS, KeyGroups, bindings
from planwire.terminal.lines_view import LinesView
from planwire.terminal.plan_sheet import AGES
from planwire.terminal.session_lines import head_lines
from planwire.terminal.steering import PlanActs
from planwire.terminal.steps_panel import StepsPanel
from planwire.terminal.trouble_bar import TroubleBar

if TYPE_CHECKING:
    from planwire.terminal.watch_app import WatchApp

#: Seconds between two looks at plan files.
FILES: Final = 1.0
#: What the footer leaves out where it has no room, in this order.
SPARE: Final = ("Run", "Select", "History", "Add", "Comment", "Reword", "Review", "Sessions")


class SessionScreen(Screen[None]):
    """One session, live. `acts` does what a person wants with its plans."""

    app: "WatchApp"
    KEYS: ClassVar[KeyGroups] = {**SESSION_KEYS, "Moving around": CURSOR_KEYS, "Everywhere": APP_KEYS}
    BINDINGS: ClassVar[list[BindingType]] = bindings(*(key for rows in SESSION_KEYS.values() for key in rows))
    DEFAULT_CSS = """
    SessionScreen > #head { height: 3; overflow: hidden; margin: 1 0; }
    """

    def __init__(self, session: str) -> None:
        super().__init__()
        self.session = session
        self.trouble = TroubleBar()
        self.head = LinesView(id="head")
        self.panel = StepsPanel(session)
        self.panel.sheet.drafts_of = lambda plan_id: self.app.reviews.of(self.session, plan_id)
        self.acts = PlanActs(self)

    def compose(self) -> ComposeResult:
        yield self.trouble
        yield self.head
        yield self.panel
        yield KeysFooter()

    def on_mount(self) -> None:
        self.app.last_shown = self.session
        self.panel.focus()
        self.set_interval(FILES, lambda: self.app.sessions.look_at_files(self.session))
        self.set_interval(AGES, self.head.update_lines)
        self.update()

    def on_screen_resume(self) -> None:
        if self.is_mounted:  # the first one comes before there is anything on the screen
            self.update()

    def sessions_changed(self, changed: Collection[str]) -> None:
        if not self.is_mounted:
            return
        self.trouble.say(self.app.sessions.away)
        if self.session in changed:
            self.update()

    def turn_to(self, session: str) -> None:
        """Switch to another session."""
        self.session = session
        if self.is_mounted:
            self.panel.turn_to(session)
            self.update()

    def update(self) -> None:
        """Show the session as it is now."""
        self.trouble.say(self.app.sessions.away)
        try:
            session = self.app.sessions.get(self.session)
            said = self.app.reasons.of(session.journalled) if session else {}
        except JournalError as error:
            self.app.complain(error)
            return
        glance = session.glance if session else None
        self.head.show_lines(lambda width: head_lines(glance, width) if glance else ())
        empty = "this session is no longer in the journal"
        if session is not None:
            empty = "no plans left" if session.dismissed() else "no plan yet"
        self.panel.sheet.put(session.cards(said) if session else (), empty=empty)

    # -- people

    def action_act(self, name: str, gesture: int = 0) -> None:
        self.acts.do(name, gesture)

    @on(StepsPanel.ActAsked)
    def _asked(self, event: StepsPanel.ActAsked) -> None:
        self.acts.do(event.act, after=event.after)

    def action_current(self) -> None:
        self.panel.go_to_current()

    @on(CursorMoved)
    def _moved(self, event: CursorMoved) -> None:
        if event.by_hand:
            self.app.stay()

    def action_back(self) -> None:
        self.app.to_overview()

    def action_history(self) -> None:
        self.app.open_history(self.session)

    def action_copy(self) -> None:
        """Copy all plans as markdown."""
        cards = self.panel.sheet.cards
        self.app.copy_to_clipboard("\n".join(plan_markdown(card, remarks=False) for card in cards))
        self.notify(f"{counted(len(cards), 'plan')} copied as markdown", timeout=2, markup=False)

    def open_file(self, plan_id: PlanId) -> None:
        """Open a plan file in the person's editor, if it can be read: no other is inside the session's folder."""
        session = self.app.sessions.get(self.session)
        file = session.files.get(plan_id) if session else None
        if file is None or file.path is None or file.problem is not None:
            raise PlanError(file.problem.rstrip(".") if file and file.problem else "there is no such file here")
        self.acts.commander.open_file(file.path)


class KeysFooter(Footer):
    """A footer that never cuts a key off: without room for all, it leaves out `SPARE` ones. `?` lists them all."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._shown: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        self._shown = self._fitting()
        yield from (key for key in super().compose() if getattr(key, "action", None) in self._shown)

    async def recompose(self) -> None:
        """Recompose only if a key differs: Textual calls this whenever a dialog comes or goes."""
        if not self.children or self._fitting() != self._shown:
            await super().recompose()

    def on_resize(self, _event: Resize) -> None:
        self.call_after_refresh(self.recompose)

    def _fitting(self) -> dict[str, str]:
        """The words and keys that fit, by their actions."""
        shown: dict[str, str] = {}
        names: dict[str, str] = {}
        for _, binding, enabled, _ in self.screen.active_bindings.values():
            if binding.show and enabled:
                shown.setdefault(binding.action, f"{self.app.get_key_display(binding)} {binding.description}")
                names[binding.description] = binding.action
        for name in SPARE:
            if cell_len(" ".join(shown.values())) <= (self.size.width or self.app.size.width):
                break
            shown.pop(names.get(name, ""), None)
        return shown
