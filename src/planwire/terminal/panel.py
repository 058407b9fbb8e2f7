"""PlanPanel: a session's plans as a widget for any Textual program.

panel = PlanPanel()
panel.apply(board.apply(line))       # a client: what a line of the connection changed
panel.show(board.sessions["s1"])     # all the plans of a session, from a board or a journal
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from planwire.errors import MissingExtra

try:
    import textual  # noqa: F401
except ImportError:
    raise MissingExtra("PlanPanel needs Textual: pip install 'planwire[terminal]'") from None

from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive

from planwire.acp.board import Change, SessionBoard
from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.model.steps import PlanState
from planwire.terminal.lines_view import LinesView
from planwire.terminal.plan_card import STEP, Card, cards_of
from planwire.terminal.plan_sheet import AGES, PlanSheet

__all__ = ["PlanPanel"]


class PlanPanel(LinesView, can_focus=True):
    """All the plans of one session: progress, the why, steps with the current one in sight, and rendered markdown.

    An update that changes nothing draws nothing, and any other only the lines that differ. Plans may be long: the panel
    draws what is in sight. Set `stopped` once the agent's turn is over: a step in progress then looks stopped.
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

    # -- plans

    def apply(self, change: Change) -> bool:
        """Take in what a line of the connection changed. Returns False for a change of another session than the
        panel's, which is that of the first change unless the constructor named one."""
        if not change or (self.session is not None and change.session != self.session):
            return False
        self.sheet.session = change.session
        cards = {card.id: card for card in self.cards}
        for each in change.plans:
            if each.after is None:
                cards.pop(each.id, None)
            else:
                cards[each.id] = Card(each.after, stopped=self.stopped)
        self.sheet.put(cards.values())
        return True

    def show(self, plans: SessionState | SessionBoard | Mapping[PlanId, PlanState] | PlanState) -> None:
        """Show these plans and no others."""
        if isinstance(plans, SessionState | SessionBoard) and plans.id != self.session:
            self.clear(plans.id)
        self.sheet.put(cards_of(plans))

    def clear(self, session: str | None = None) -> None:
        """Turn to another session: its plans are no change of those before."""
        self.sheet.clear(session)

    @property
    def session(self) -> str | None:
        return self.sheet.session

    @property
    def cards(self) -> tuple[Card, ...]:
        return self.sheet.cards

    # -- lines

    def watch_stopped(self, stopped: bool) -> None:
        self.sheet.put([replace(each, stopped=stopped) for each in self.cards])

    def on_mount(self) -> None:
        self.set_interval(AGES, self.sheet.grow_older)
        self.update_lines()

    # -- people

    def action_current(self) -> None:
        """Go to the current step, and along with it from now on."""
        self.sheet.follow()

    def action_look(self, way: str) -> None:
        """Scroll, and stay there."""
        self.looked_around()
        getattr(self, way)(animate=False)

    def on_click(self, event: Click) -> None:
        row = self.row_at(event)
        if row is not None and row[0] == STEP:
            self.post_message(self.StepClicked(self, *row[1:]))  # type: ignore[arg-type]
