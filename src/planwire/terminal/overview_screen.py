"""The overview: every session with its progress, current step, age and state, to search and to filter."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from time import time_ns
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Click, DescendantBlur, DescendantFocus
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Input

from planwire.errors import JournalError
from planwire.readmodel.facets import varied
from planwire.readmodel.overview import NEEDS_YOU, STATES, is_found, state_name, waiting_first
from planwire.terminal.cursor import CursorMoved
from planwire.terminal.keys import APP_KEYS, CURSOR_KEYS, KeyGroups, ScreenKey, bindings
from planwire.terminal.lines import Line, Part, cut
from planwire.terminal.lines_view import LinesView, RowList
from planwire.terminal.panel import PlanPanel
from planwire.terminal.plan_sheet import AGES
from planwire.terminal.session_lines import session_age, session_rows
from planwire.terminal.session_screen import SessionScreen
from planwire.terminal.trouble_bar import TroubleBar

if TYPE_CHECKING:
    from planwire.terminal.watch_app import WatchApp

_KEYS: Final = (
    ScreenKey(("Enter",), "open", "Open", shown=True),
    ScreenKey(("/",), "search", "Search", "agent, folder, title or step", shown=True),
    ScreenKey(("s",), "state", "State", "show only those in one state", shown=True),
    ScreenKey(("a",), "scope", "All / here", "all folders, or this one", shown=True),
    ScreenKey(("h",), "history", "History", shown=True),
    ScreenKey(("Esc",), "leave_search", "Clear", "show all sessions again"),
)
#: What stands between two states in the bar.
GAP: Final = "  "


class StateBar(LinesView):
    """How many sessions are in each state. A click on a state asks for those in it."""

    @dataclass
    class Clicked(Message):
        """A person wants the sessions in a state."""

        state: str

    DEFAULT_CSS = """
    StateBar { height: 1; width: 1fr; overflow: hidden; }
    """

    def __init__(self) -> None:
        super().__init__(id="states")
        self.counts: dict[str, int] = {}
        self.state = ""
        self.scope = ""

    def lines_for(self, width: int) -> Sequence[Line]:
        parts: list[Part] = [(" ", "")]
        for state, count in self.counts.items():
            urgent = "waiting" if state == NEEDS_YOU and count else "muted"
            parts += [(f"{_name(state)} {count:,}", "current" if state == self.state else urgent), (GAP, "")]
        return [Line(cut((*parts, (self.scope, "note")), width))]

    def on_click(self, event: Click) -> None:
        place = 1
        for state, count in self.counts.items():
            end = place + len(f"{_name(state)} {count:,}")
            if place <= event.x < end:
                self.post_message(self.Clicked(state))
            place = end + len(GAP)


def _name(state: str) -> str:
    return state_name(state) if state else "All"


class OverviewScreen(Screen[None]):
    """All sessions, or those of this folder. A wide terminal has room for the plans of the one under the cursor."""

    app: "WatchApp"
    AUTO_FOCUS = "#sessions"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012
    KEYS: ClassVar[KeyGroups] = {"Sessions": _KEYS, "Moving around": CURSOR_KEYS, "Everywhere": APP_KEYS}
    BINDINGS: ClassVar[list[BindingType]] = bindings(*_KEYS)
    DEFAULT_CSS = """
    OverviewScreen {
        & > #find { height: 1; margin: 1 1 0 1; border: none; background: $surface; padding: 0 1; }
        & > #states { margin: 0 0 1 0; }
        & > #beside { height: 1fr; }
        #sessions { width: 1fr; }
        #preview { display: none; width: 1fr; margin-left: 1; }
        &.-wide #preview { display: block; }
    }
    """

    def __init__(self, here: bool) -> None:
        super().__init__()
        self.here = here
        self._state = ""
        self._words = ""
        self._trouble = TroubleBar()
        self._find = Input(placeholder="/ to search: agent, folder, title, step", id="find", compact=True)
        self._bar = StateBar()
        self._rows = RowList(id="sessions")
        self._panel = PlanPanel(id="preview", empty="")

    def compose(self) -> ComposeResult:
        yield self._trouble
        yield self._find
        yield self._bar
        with Horizontal(id="beside"):
            yield self._rows
            yield self._panel
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.set_interval(AGES, self._rows.update_lines)
        self.update()

    def on_resize(self) -> None:
        self.call_after_refresh(self._preview)  # there may be room for it now

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self.update()
            self._preview()

    def sessions_changed(self, changed: Collection[str]) -> None:
        if not self.is_mounted:
            return
        self.update()
        if self._rows.key in changed:
            self._preview()

    def update(self) -> None:
        """Show the sessions as they are now."""
        self._trouble.say(self.app.sessions.problem)
        glances = [each for each in self.app.sessions.glances() if not self.here or self.app.is_here(each)]
        found = [each for each in glances if is_found(each, self._words)]
        bar = self._bar
        bar.counts = {"": len(found), **{state: sum(each.state == state for each in found) for state in STATES}}
        bar.state = self._state
        bar.scope = "this folder" if self.here else ""
        bar.update_lines()
        shown = waiting_first((each for each in found if self._state in ("", each.state)), time_ns() // 1_000_000)
        facets = varied(glances)
        nothing = Line(((f"  {self._nothing(bool(glances))}", "muted"),))

        def lines(width: int) -> list[Line]:
            now = time_ns() // 1_000_000
            rows = (session_rows(each, width, session_age(each, now), None, facets) for each in shown)
            return [line for row in rows for line in row] or [nothing]

        self._rows.show_lines(lines)

    def _nothing(self, some: bool) -> str:
        """Why the list is empty. `some`: there are sessions, but the filters hide them."""
        if self.app.sessions.loading:
            return "Reading the journal…"
        if some:
            return "No matches. Press Esc to see all."
        return "No sessions in this folder yet. Press a for all folders." if self.here else "No sessions yet."

    # -- people

    def filter_by(self, state: str) -> None:
        self.app.stay()
        self._state = state
        self.update()

    @on(StateBar.Clicked)
    def _state_clicked(self, event: StateBar.Clicked) -> None:
        self.filter_by(event.state)

    def action_search(self) -> None:
        self.app.stay()  # at once: the field has the focus only a moment later
        self._find.focus()

    @on(DescendantFocus, "#find")
    def _searching(self) -> None:
        self.app.stay()

    @on(DescendantBlur, "#find")
    def _searched(self) -> None:
        self.app.left_off()

    def action_state(self) -> None:
        states = ["", *STATES]
        self.filter_by(states[(states.index(self._state) + 1) % len(states)])

    def action_scope(self) -> None:
        self.app.stay()
        self.here = not self.here
        self.update()

    def action_leave_search(self) -> None:
        self._find.value = ""
        self.filter_by("")
        self._rows.focus()

    def action_history(self) -> None:
        if self._rows.key is not None:
            self.app.open_history(str(self._rows.key))

    @on(Input.Changed, "#find")
    def _look_for(self, event: Input.Changed) -> None:
        self._words = event.value
        self.update()

    @on(Input.Submitted, "#find")
    def _found(self) -> None:
        self._rows.focus()

    @on(RowList.Opened)
    def action_open(self) -> None:
        if self._rows.key is not None:
            self.app.stay()
            self.app.push_screen(SessionScreen(str(self._rows.key)))

    @on(CursorMoved)
    def _preview(self) -> None:
        if not self.has_class("-wide"):
            return
        name = str(self._rows.key) if self._rows.key is not None else None
        try:
            session = self.app.sessions.get(name) if name is not None else None
        except JournalError as error:
            self.app.complain(error)
            return
        if self._panel.session != name:
            self._panel.clear(name)
        self._panel.sheet.put(session.cards() if session else ())
