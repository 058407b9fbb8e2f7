"""A session in print, as its journal has it: what it is about, then each plan in a box."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from planwire.model.fold import PlanRecord, SessionState
from planwire.model.kinds import text_of
from planwire.model.plan import PlanId
from planwire.model.steps import PlanState
from planwire.readmodel.history import plan_name
from planwire.readmodel.overview import RUNNING, Overview
from planwire.readmodel.plain_text import one_line
from planwire.terminal.lines import Drawing, Line, cut, folded
from planwire.terminal.plan_card import Card
from planwire.terminal.plan_lines import BRIEF, FRAME, boxed_lines
from planwire.terminal.session_lines import heading_lines

__all__ = ["plans_view", "session_record_view"]

#: Lines of a session's heading.
HEADING: Final = 2


def session_record_view(
    state: SessionState,
    glance: Overview,
    now: int,
    fresh: Collection[str] = (),
    height: int | None = None,
    chosen: PlanId | None = None,
    *,
    only: bool = False,
) -> Drawing:
    """The heading and every live plan, or `only` the chosen one. `height` bounds the lines of all of it."""
    records = {chosen: state.plans[chosen]} if only else state.live()

    def lines(width: int) -> Iterator[Line]:
        for line in heading_lines(glance, now):
            yield from folded(line, width) if height is None else [Line(cut(line.parts, width))]
        if not records:
            yield Line((("no plans yet" if not state.plans else "no plans any more", "muted"),))
        share = _share(records, height)
        for record in records.values():
            card = Card(record.state, record, glance.state != RUNNING)
            yield from boxed_lines(card, width, now, fresh, share)
        gone = [plan_name(plan_id) for plan_id, record in state.plans.items() if record.removed and not only]
        if gone and height is None:
            names = ", ".join(one_line(name) for name in gone)
            yield from folded(Line(((f"removed: {names}  (see them with --plan)", "muted"),)), width)

    return Drawing(lines)


def _share(records: Mapping[PlanId, PlanRecord], height: int | None) -> int | None:
    """The lines that each plan may take, of `height` for all."""
    if height is None:
        return None
    room = height - HEADING
    needed = sum(map(_needed, records.values()))
    return room if needed <= room else room // max(len(records), 1)


def _needed(record: PlanRecord) -> int:
    """About how many lines a plan takes in full."""
    text = 1 if record.state.steps else text_of(record.state.plan).count("\n") + 1
    return FRAME + BRIEF + max(len(record.state.steps), text) + (2 if record.summary else 0)


def plans_view(
    session: str, plans: Mapping[PlanId, PlanState], fresh: Collection[str] = (), height: int | None = None
) -> Drawing:
    """The plans of a session that no journal knows. `height` bounds the lines of all of it."""

    def lines(width: int) -> Iterator[Line]:
        yield Line((("session ", "muted"), (one_line(session) or "(none)", "strong")))
        if not plans:
            yield Line((("  no plans any more", "muted"),))
        share = None if height is None else (height - 1) // max(len(plans), 1)
        for state in plans.values():
            yield from boxed_lines(Card(state), width, 0, fresh, share)

    return Drawing(lines)
