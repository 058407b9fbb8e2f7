"""A session in print, as its journal has it: what it is about, then each plan in a box."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from planwire.model.fold import SessionState
from planwire.model.kinds import text_of
from planwire.model.plan import PlanId
from planwire.model.steps import PlanState
from planwire.readmodel.history import plan_name
from planwire.readmodel.overview import Overview
from planwire.readmodel.plain_text import one_line
from planwire.terminal.lines import Drawing, Line, cut, folded
from planwire.terminal.plan_card import Card
from planwire.terminal.plan_lines import BRIEF, FRAME, boxed_lines
from planwire.terminal.session_lines import heading_lines

__all__ = ["plans_view", "session_record_view"]


def session_record_view(
    state: SessionState,
    glance: Overview,
    now: int,
    height: int | None = None,
    chosen: PlanId = None,
    *,
    only: bool = False,
) -> Drawing:
    """The heading and every live plan, or `only` the chosen one. `height` bounds the lines of all of it."""
    records = [state.plans[chosen]] if only else list(state.live().values())
    cards = [Card(record.state, record, state.stopped is not None) for record in records]
    gone = [plan_name(plan_id) for plan_id, record in state.plans.items() if record.removed and not only]
    words = f"removed: {', '.join(map(one_line, gone))}  (see them with --plan)" if gone and height is None else ""
    below = "no plans yet" if not state.plans else "no plans any more" if not cards else ""
    ends = [Line(((each, "muted"),)) for each in (below, words) if each]
    return _view(heading_lines(glance, now), cards, ends, height, now)


def plans_view(
    session: str, plans: Mapping[PlanId, PlanState], fresh: Collection[str] = (), height: int | None = None
) -> Drawing:
    """The plans of a session that no journal knows. `height` bounds the lines of all of it."""
    heading = Line((("session ", "muted"), (one_line(session) or "(none)", "strong")))
    ends = [] if plans else [Line((("  no plans any more", "muted"),))]
    return _view([heading], [Card(state) for state in plans.values()], ends, height, fresh=fresh)


def _view(
    heading: Sequence[Line],
    cards: Sequence[Card],
    ends: Sequence[Line],
    height: int | None,
    now: int = 0,
    fresh: Collection[str] = (),
) -> Drawing:
    share = height
    if height is not None:
        room = height - len(heading)
        share = room if sum(map(_needed, cards)) <= room else room // max(len(cards), 1)

    def lines(width: int) -> Iterator[Line]:
        for line in heading:
            yield from folded(line, width) if height is None else [Line(cut(line.parts, width))]
        for card in cards:
            yield from boxed_lines(card, width, now, fresh, share)
        for line in ends:
            yield from folded(line, width)

    return Drawing(lines)


def _needed(card: Card) -> int:
    """About how many lines a plan takes in full."""
    steps = card.state.steps
    text = 1 if steps else text_of(card.state.plan).count("\n") + 1
    why = 2 if card.record and card.record.summary else 0
    return FRAME + (BRIEF if card.record else 0) + max(len(steps), text) + why
