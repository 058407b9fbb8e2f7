"""The plans of a session as the lines of a view, which points at news and follows the current step."""

from collections.abc import Callable, Iterable
from itertools import dropwhile, takewhile
from time import time_ns
from typing import Final

from textual.timer import Timer

from planwire.readmodel.card import PlanCard, PlanId, Step
from planwire.readmodel.plan_tree import forest
from planwire.steering.wanted import Comment
from planwire.terminal.lines import BLANK, Line, Row
from planwire.terminal.lines_view import LinesView
from planwire.terminal.nested_plans import Below, nested_lines, nesting
from planwire.terminal.plan_lines import card_lines
from planwire.terminal.rows import CLOSED, FOLD, PLAN, STEP
from planwire.terminal.step_lines import Shown

#: Seconds for which the sheet points at a change, and between two updates of ages. Every view updates its ages as
#: often, so that two ages of one event on a screen agree.
FRESH: Final = 3.0
AGES: Final = 15.0
#: Stands for no plan, since None is the id of a plan without one.
_NONE: Final = object()


class PlanSheet:
    """The plans of a session on a view. `empty` are the words to show without any, `marked` the chosen steps of one of
    them, and `drafts_of` gives the comments on a plan that wait for a review. While the view `follows`, the current
    step stays in sight."""

    def __init__(self, view: LinesView, session: str | None, empty: str) -> None:
        self.session = session
        self.cards: tuple[PlanCard, ...] = ()
        self.empty = empty
        self.marked: tuple[PlanId, frozenset[str]] = (None, frozenset())
        self._view = view
        view.follows = True
        self._fresh: dict[tuple[PlanId, str], int] = {}
        self._gone: dict[tuple[PlanId, Step], tuple[str, int]] = {}  # removed steps: behind which one, and since when
        self._known: dict[PlanId, tuple[Step, ...]] = {}
        self._unfolded: frozenset[tuple[PlanId, str]] = frozenset()
        self._forgetting: Timer | None = None
        self._counting: Timer | None = None
        self.drafts_of: Callable[[PlanId], tuple[Comment, ...]] = lambda _plan: ()
        view.show_lines(self.lines, self.show_current)

    def clear(self, session: str | None = None) -> None:
        """Switch to another session: its plans are not shown as changes."""
        self.session = session
        self.cards = ()
        self.marked = (None, frozenset())
        self._known, self._fresh, self._gone, self._unfolded = {}, {}, {}, frozenset()
        self._view.follows = True
        self._view.update_lines()

    def put(self, cards: Iterable[PlanCard], *, fresh: bool = True, empty: str | None = None) -> None:
        """Show these plans and no others. `fresh`: point at what changed. `empty` are other words to show without any
        plan."""
        before = self.cards, self.empty
        self.cards, self.empty = tuple(cards), self.empty if empty is None else empty
        if before == (self.cards, self.empty):
            return
        self._notice(fresh)
        self._view.update_lines()
        self.show_current()
        if self._counting is None and any(card.pending for card in self.cards):
            self._count_down()

    def _count_down(self) -> None:
        """Draw the seconds anew for as long as a verdict is pending."""
        is_pending = self._view.is_attached and any(card.pending for card in self.cards)
        self._counting = self._view.set_timer(1, self._count_down) if is_pending else None
        self._view.update_lines()

    @property
    def current(self) -> Row | None:
        """The row to look at: a plan that waits for a person, the step in progress, or else the first open one."""
        asked = next((card.id for card in self.cards if card.needs_you and not card.ended), _NONE)
        if asked is not _NONE:
            return PLAN, asked
        found = [(card.id, card.focus) for card in self.cards if card.focus and not card.ended]
        found.sort(key=lambda each: not each[1].is_current)
        return (STEP, found[0][0], found[0][1].id) if found else None

    def follow(self) -> None:
        """Follow the current step from now on."""
        self._view.follows = True
        self.show_current()

    def show_current(self) -> None:
        """Bring the current step into sight, while the view follows it."""
        current = self.current
        if not self._view.follows or current is None or not self._view.size.height:
            return
        line = next((number for number, line in enumerate(self._view.lines) if line.row == current), None)
        if line is not None:
            self._view.scroll_to_line(line)

    # -- lines

    def lines(self, width: int) -> list[Line]:
        """Draw the plans."""
        now = time_ns() // 1_000_000
        lines: list[Line] = [Line(((f"  {self.empty}", "muted"),))] if not self.cards else []
        for top in forest(self.cards):

            def draw(card: PlanCard, room: int, below: Below, root: PlanCard = top.card) -> Iterable[Line]:
                return card_lines(card, room, now, self._shown(card), below, alone=card is root)

            drawn = nested_lines(top, width, draw)
            lines += [BLANK] if lines and not (_is_ended(lines[-1]) and _is_ended(drawn[0])) else []
            lines += drawn
        return lines

    def unseen(self, card: PlanCard) -> int:
        """How many lines of a plan, as it is now, were never on the screen."""
        shown = Shown(unfold=frozenset(row.id for row in card.rows), whole=True)
        width = self._view.text_width
        lines = card_lines(card, width - nesting(card, width), 0, shown)
        return len({(line.row, line.words) for line in lines if line.words} - self._view.seen)

    def _shown(self, card: PlanCard) -> Shown:
        return Shown(
            frozenset(step for plan_id, step in self._fresh if plan_id == card.id),
            self.marked[1] if self.marked[0] == card.id else frozenset(),
            self._to_unfold(card),
            self.drafts_of(card.id),
            (card.id, CLOSED) in self._unfolded,
            (card.id, PLAN) in self._unfolded,
            tuple((after, step) for (plan_id, step), (after, _) in self._gone.items() if plan_id == card.id),
        )

    def _to_unfold(self, card: PlanCard) -> frozenset[str] | None:
        """The finished steps that do not fold: those that a person unfolded, and the one under the cursor. None where
        there is no cursor to unfold any with."""
        if self._view.cursor is None:
            return None
        row = self._view.cursor.row
        here = {str(row[2])} if row and row[:2] == (STEP, card.id) else set()
        return frozenset(here | {step for plan_id, step in self._unfolded if plan_id == card.id})

    def unfold(self, row: Row) -> None:
        """Show the folded steps from now on; or a plan that ended, or closed remarks, until this is called again."""
        if row[2] in (CLOSED, PLAN):
            self._unfolded ^= {(str(row[1]) if row[1] is not None else None, str(row[2]))}
        for card in (card for card in self.cards if card.id == row[1]):
            later = dropwhile(lambda each: each.id != row[2], card.rows)
            self._unfolded |= {(card.id, each.id) for each in takewhile(lambda each: not each.is_open, later)}
        self._view.update_lines()

    # -- news

    def _notice(self, point: bool) -> None:
        now = time_ns()
        for card in self.cards:
            known = self._known.get(card.id)
            if known is not None and point and known is not card.state.steps:
                old, ids = set(known), {step.id for step in card.state.steps}
                self._fresh |= {(card.id, step.id): now for step in card.state.steps if step not in old}
                behind = ""
                for step in known:
                    behind = step.id if step.id in ids else behind
                    self._gone |= {(card.id, step): (behind, now)} if step.id not in ids else {}
        self._known = {card.id: card.state.steps for card in self.cards}
        rows = {row.id for card in self.cards if card.id == self.marked[0] for row in card.rows if row.is_open}
        self.marked = (self.marked[0], self.marked[1] & rows)
        if (self._fresh or self._gone) and self._forgetting is None and self._view.is_attached:
            self._forgetting = self._view.set_timer(FRESH, self._forget)

    def _forget(self) -> None:
        """Stop pointing at what was new a while ago."""
        self._forgetting = None
        limit = time_ns() - int(FRESH * 0.9e9)
        self._fresh = {key: since for key, since in self._fresh.items() if since > limit}
        self._gone = {key: place for key, place in self._gone.items() if place[1] > limit}
        if self._fresh or self._gone:
            self._forgetting = self._view.set_timer(FRESH, self._forget)
        self._view.update_lines()


def _is_ended(line: Line) -> bool:
    """Whether a line stands for a whole plan that ended."""
    return line.row is not None and (line.row[0], line.row[-1]) == (FOLD, PLAN)
