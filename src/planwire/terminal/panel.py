"""PlanPanel: a session's plans as a widget for any Textual program.

panel = PlanPanel()
panel.apply(board.apply(line))       # a client: what a line of the connection changed
panel.show(board.sessions["s1"])     # all the plans of a session, however it is known
"""

from collections.abc import Iterable, Mapping, Sequence
from time import time_ns
from typing import ClassVar, Final, NamedTuple

from planwire.errors import MissingExtra

try:
    import textual  # noqa: F401
except ImportError:
    raise MissingExtra("PlanPanel needs Textual: pip install 'planwire[terminal]'") from None

from msgspec.structs import replace
from textual import on
from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message
from textual.reactive import reactive
from textual.scrollbar import ScrollTo
from textual.timer import Timer

from planwire.acp.board import Change, SessionBoard
from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, meaning
from planwire.model.steps import PlanState, Step
from planwire.terminal.lines import BLANK, Line
from planwire.terminal.lines_view import LinesView
from planwire.terminal.plan_card import MINUTE, STEP, Card, step_row
from planwire.terminal.plan_lines import card_lines

__all__ = ["PlanPanel", "cards_of"]

#: Seconds for which a change is pointed at, and after which ages are looked at again.
FRESH: Final = 3.0
AGES: Final = 15.0


def cards_of(plans: "SessionState | SessionBoard | Mapping[PlanId, PlanState] | PlanState") -> list[Card]:
    """What is to be shown of a session, whichever way it is known."""
    match plans:
        case SessionState():
            stopped = plans.stopped is not None
            client = plans.opened.client if plans.opened else None
            return [Card(record.state, record, stopped, client=client) for record in plans.live().values()]
        case PlanState():
            return [Card(plans)]
        case SessionBoard():
            return [Card(state) for state in plans.plans.values()]
    return [Card(state) for state in plans.values()]


class _Made(NamedTuple):
    """The lines of a plan, and what they were made of."""

    card: Card
    facts: tuple[object, ...]
    lines: list[Line]

    def is_of(self, card: Card, facts: tuple[object, ...]) -> bool:
        return self.card.state is card.state and self.card.record is card.record and self.facts == facts


class PlanPanel(LinesView, can_focus=True):
    """All the plans of one session: progress, the why, steps with the current one in sight, and rendered markdown.

    An update that changes nothing draws nothing, and any other only the lines that differ. Plans may be long: only what
    is in sight is drawn. Set `stopped` when the agent's turn is over: steps in progress are then shown as stopped.
    """

    class StepClicked(Message):
        """A step was clicked on."""

        def __init__(self, panel: "PlanPanel", plan_id: PlanId, step: str) -> None:
            super().__init__()
            self.panel = panel
            self.plan_id = plan_id
            self.step = step

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
    DEFAULT_CSS = """
    PlanPanel { height: 1fr; }
    """

    stopped: reactive[bool] = reactive(False, init=False)
    follow: reactive[bool] = reactive(True, init=False)
    empty: reactive[str] = reactive("no plan yet", init=False)

    def __init__(
        self,
        session: str | None = None,
        *,
        empty: str = "no plan yet",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.session = session
        self.set_reactive(PlanPanel.empty, empty)
        self.cards: tuple[Card, ...] = ()
        self._fresh: dict[tuple[PlanId, str], int] = {}
        self._known: dict[PlanId, tuple[Step, ...]] = {}
        self._made: dict[PlanId, _Made] = {}
        self._heads: list[tuple[int, Card]] = []
        self._minute = 0
        self._forgetting: Timer | None = None

    # -- what is shown

    def apply(self, change: Change) -> bool:
        """Take in what a line of the connection changed. Changes of other sessions than the panel's are not its
        business: it is that of the first change, unless another was named."""
        if not change or (self.session is not None and change.session != self.session):
            return False
        self.session = change.session
        cards = {card.id: card for card in self.cards}
        for each in change.plans:
            if each.after is None:
                cards.pop(each.id, None)
            else:
                cards[each.id] = Card(each.after, stopped=self.stopped)
        self.show_cards(cards.values())
        return True

    def show(self, plans: "SessionState | SessionBoard | Mapping[PlanId, PlanState] | PlanState") -> None:
        """Show these plans and no others."""
        if isinstance(plans, SessionState | SessionBoard) and plans.id != self.session:
            self.clear()
            self.session = plans.id
        self.show_cards(cards_of(plans))

    def clear(self) -> None:
        """Forget what was shown: what comes next is not a change of it."""
        self.session = None
        self.cards = ()
        self._known = {}
        self._fresh = {}
        self._made = {}
        self.follow = True

    def say(self, words: str) -> None:
        """Show no plan, but these words."""
        self.cards = ()
        self.empty = words

    def show_cards(self, cards: Iterable[Card], *, fresh: bool = True) -> None:
        """The same, with all that is known about each plan. `fresh` points at what changed."""
        before = self.cards
        self.cards = tuple(cards)
        if before == self.cards:
            return
        self._notice(fresh)
        self.update_lines()
        if self.follow:
            self._to_current()

    @property
    def current(self) -> tuple[PlanId, str] | None:
        """The step that is worked on, or else the first that is still to do: its plan and its id."""
        steps = [(card.id, step) for card in self.cards for step in card.state.steps]
        for wanted in ((IN_PROGRESS,), None):
            for plan_id, step in steps:
                known = meaning(step.status)
                if known in wanted if wanted else known not in (COMPLETED, CANCELLED):
                    return plan_id, step.id
        return None

    # -- lines

    def lines_for(self, width: int) -> Sequence[Line]:
        now = time_ns() // 1_000_000
        self._minute = now // MINUTE
        lines: list[Line] = [Line(((f"  {self.empty}", "muted"),))] if not self.cards else []
        made: dict[PlanId, _Made] = {}
        self._heads = []
        for card in self.cards:
            fresh = frozenset(step for plan_id, step in self._fresh if plan_id == card.id)
            marked = self.marks_of(card.id)
            said = card.stopped, card.said, card.problem, card.uri, card.client
            facts = (width, self._minute, fresh, marked, *said)
            known = self._made.get(card.id)
            if known is None or not known.is_of(card, facts):
                known = _Made(card, facts, list(card_lines(card, width, now, fresh, marked)))
            made[card.id] = known
            if lines:
                lines.append(BLANK)
            self._heads.append((len(lines), card))
            lines += known.lines
        self._made = made
        return lines

    def marks_of(self, _plan_id: PlanId) -> frozenset[str]:
        """The steps of a plan that were chosen, where they can be."""
        return frozenset()

    def pinned(self, first: int) -> Line | None:
        """The head of the plan whose middle is in sight."""
        above = [head for head, _ in self._heads if head < first]
        return self.lines[above[-1]] if above and first < len(self.lines) and self.lines[first].fill != "head" else None

    def _notice(self, point: bool) -> None:
        now = time_ns()
        for card in self.cards:
            known = self._known.get(card.id)
            if known is not None and point and known is not card.state.steps:
                old = set(known)
                self._fresh |= {(card.id, step.id): now for step in card.state.steps if step not in old}
        self._known = {card.id: card.state.steps for card in self.cards}
        if self._fresh and self._forgetting is None and self.is_attached:
            self._forgetting = self.set_timer(FRESH, self._forget)

    def _forget(self) -> None:
        """What was new a while ago is new no more."""
        self._forgetting = None
        limit = time_ns() - int(FRESH * 0.9e9)
        self._fresh = {key: since for key, since in self._fresh.items() if since > limit}
        if self._fresh:
            self._forgetting = self.set_timer(FRESH, self._forget)
        self.update_lines()

    def _grow_older(self) -> None:
        if time_ns() // 1_000_000 // MINUTE != self._minute:
            self.update_lines()

    # -- what people do

    def action_current(self) -> None:
        """To the current step, and along with it from now on."""
        self.follow = True
        self._to_current()

    def on_mount(self) -> None:
        self.set_interval(AGES, self._grow_older)
        self.update_lines()

    def watch_empty(self) -> None:
        if not self.cards:
            self.update_lines()

    def watch_stopped(self, stopped: bool) -> None:
        self.show_cards([replace(each, stopped=stopped) for each in self.cards])

    def on_click(self, event: Click) -> None:
        row = self._line_at(event.get_content_offset_capture(self).y).row
        if row is not None and row[0] == STEP:
            self.post_message(self.StepClicked(self, *row[1:]))  # type: ignore[arg-type]

    def action_look(self, way: str) -> None:
        """Look around: from now on the panel stays where it is."""
        self.follow = False
        getattr(self, way)(animate=False)

    @on(MouseScrollUp)
    @on(MouseScrollDown)
    @on(ScrollTo)
    def _looks_around(self) -> None:
        self.follow = False

    def resized(self) -> None:
        if self.follow:
            self._to_current()

    def _to_current(self) -> None:
        current = self.current
        row = step_row(*current) if current else None
        line = next((number for number, line in enumerate(self.lines) if line.row == row), None) if row else None
        if line is not None and self.size.height:
            self.scroll_to_line(line)
