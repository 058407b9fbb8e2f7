"""PlanPanel: a session's plans as a widget for any Textual program.

panel = PlanPanel()
panel.apply(board.apply(line))       # a client: what a line of the connection changed
panel.show(board.sessions["s1"])     # all the plans of a session, from a board or a journal
"""

from dataclasses import dataclass
from typing import ClassVar

from planwire.extras import missing_extra

try:
    import textual  # noqa: F401
except ImportError as error:
    raise missing_extra("PlanPanel", "textual", error) from error

from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive

from planwire.readmodel.card import PlanCard, PlanId
from planwire.readmodel.cards import ChangedPlans, Plans, cards_of, changed_plans, session_of
from planwire.terminal.lines_view import LinesView
from planwire.terminal.plan_sheet import AGES, PlanSheet
from planwire.terminal.rows import STEP


class PlanPanel(LinesView, can_focus=True):
    """All the plans of one session: progress, the why, steps with the current one in sight, and rendered markdown.

    An update draws only the lines that differ, and the panel only those in sight: plans may be long. Set `stopped` once
    the agent's turn is over: a step in progress then looks stopped.
    """

    @dataclass
    class StepClicked(Message):
        """A person clicked on a step."""

        panel: "PlanPanel"
        plan_id: PlanId
        step: str

        @property
        def control(self) -> "PlanPanel":
            return self.panel

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "look('scroll_up')", "Up", show=False),
        Binding("down,j", "look('scroll_down')", "Down", show=False),
        Binding("home,g", "look('scroll_home')", "Top", show=False),
        Binding("end,G", "look('scroll_end')", "End", show=False),
        Binding("pageup,b", "look('scroll_page_up')", "Page up", show=False),
        Binding("pagedown,space", "look('scroll_page_down')", "Page down", show=False),
        Binding("c", "current", "Current step"),
    ]
    stopped: reactive[bool] = reactive(False, init=False)

    def __init__(
        self,
        session: str | None = None,
        *,
        empty: str = "no plan yet",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.sheet = PlanSheet(self, session, empty)
        self._plans: Plans = {}

    # -- plans

    def apply(self, change: ChangedPlans) -> bool:
        """Apply what a line of the connection changed. Returns False if it changed nothing, or another session than the
        panel's: the one that the constructor named, or that of the first change."""
        if not change or (self.session is not None and change.session != self.session):
            return False
        self.sheet.session = change.session
        self._put(changed_plans(self._plans, change))
        return True

    def show(self, plans: Plans) -> None:
        """Show these plans and no others."""
        session = session_of(plans)
        if session is not None and session != self.session:
            self.clear(session)
        self._put(plans)

    def clear(self, session: str | None = None) -> None:
        """Switch to another session: its plans are not shown as changes."""
        self._plans = {}
        self.sheet.clear(session)

    def _put(self, plans: Plans) -> None:
        self._plans = plans
        self.sheet.put(cards_of(plans, stopped=self.stopped))

    @property
    def session(self) -> str | None:
        return self.sheet.session

    @property
    def cards(self) -> tuple[PlanCard, ...]:
        return self.sheet.cards

    # -- lines

    def watch_stopped(self) -> None:
        self._put(self._plans)

    def on_mount(self) -> None:
        self.set_interval(AGES, self.update_lines)
        self.update_lines()

    # -- people

    def action_current(self) -> None:
        """Go to the current step, and follow it from now on."""
        self.sheet.follow()

    def action_look(self, way: str) -> None:
        """Scroll, and stay there."""
        self.looked_around()
        getattr(self, way)(animate=False, force=True)  # the scrollbar may be drawn only later

    def on_click(self, event: Click) -> None:
        row = self.row_at(event)
        if row is not None and row[0] == STEP:
            self.post_message(self.StepClicked(self, *row[1:]))  # type: ignore[arg-type]
