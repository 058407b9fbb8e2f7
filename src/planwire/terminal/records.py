"""A session in print: what it is about, then each plan in a box."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence

from planwire.readmodel.card import PlanCard, PlanId
from planwire.readmodel.cards import Plans, cards_of, session_of
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.plan_tree import forest
from planwire.readmodel.shown import ShownSession
from planwire.steering.reach import TELL
from planwire.terminal.lines import Drawing, Line, cut, folded
from planwire.terminal.nested_plans import Below, nested_lines
from planwire.terminal.plan_lines import FRAME, FRAMED, boxed_lines
from planwire.terminal.plan_remarks import BRIEF
from planwire.terminal.session_lines import heading_lines


def session_record_view(
    session: ShownSession,
    now: int,
    height: int | None = None,
    chosen: PlanId = None,
    *,
    only: bool = False,
    everything: bool = False,
    name: str = "",
    thinking: Mapping[PlanId, str] | None = None,
) -> Drawing:
    """The heading and every plan that has not ended, or `only` the chosen one. `everything` adds ended proposals and
    closed remarks. `height` bounds the lines of all of it. The `name` of the session adds the commands that answer its
    questions; `thinking` adds what its agent thought to each plan."""
    one = session.card(chosen, thinking) if only else None
    cards = (one,) if one is not None else session.cards(thinking)
    ended = [card for card in cards if card.ended and one is None and not everything]
    cards = tuple(card for card in cards if card not in ended)
    gone = [] if only else [card.title for card in session.dismissed()]
    words = []
    if height is None:
        words += [f"{_earlier(len(ended))}: planwire show --all"] if ended else []
        words += [_unheard(session, name)] if name and session.unheard and TELL in session.reach.can else []
        words += [f"dismissed: {', '.join(map(one_line, gone))}  (see them with --plan)"] if gone else []
    words[:0] = [] if cards else ["no plans left"] if gone or ended else ["no plans yet"]
    ends = [Line(((each, "muted"),)) for each in words]
    return _view(heading_lines(session.glance, now), cards, ends, height, now, closed=everything, name=name)


def _unheard(session: ShownSession, name: str) -> str:
    sign = "=" if name.startswith("-") else " "  # or else it is taken for another option
    command = f"planwire tell --session{sign}{shlex.quote(one_line(name))}"
    return f"not heard by the agent yet: {session.unheard:,}   ({command})"


def _earlier(count: int) -> str:
    return f"{count} earlier proposal{'s' * (count > 1)}"


def plans_view(plans: Plans, fresh: Collection[str] = (), height: int | None = None) -> Drawing:
    """The plans of a session that no journal knows. `height` bounds the lines of all of it."""
    heading = Line((("session ", "muted"), (one_line(session_of(plans) or "") or "(none)", "strong")))
    cards = cards_of(plans)
    ends = [] if cards else [Line((("  no plans left", "muted"),))]
    return _view([heading], cards, ends, height, fresh=fresh)


def _view(
    heading: Sequence[Line],
    cards: Sequence[PlanCard],
    ends: Sequence[Line],
    height: int | None,
    now: int = 0,
    fresh: Collection[str] = (),
    *,
    closed: bool = False,
    name: str = "",
) -> Drawing:
    share = height
    if height is not None:
        cards = [card for card in cards if not card.level or card.needs_you]
        room = height - len(heading)
        share = room if sum(map(_needed, cards)) <= room else room // max(len(cards), 1)

    def lines(width: int) -> Iterator[Line]:
        for line in heading:
            yield from folded(line, width) if height is None else [Line(cut(line.parts, width))]
        for top in forest(cards):

            def draw(card: PlanCard, room: int, below: Below, root: PlanCard = top.card) -> Iterator[Line]:
                look = now, fresh, share
                return boxed_lines(card, room, *look, closed=closed, session=name, below=below, alone=card is root)

            yield from nested_lines(top, width, draw, FRAMED + 1)
        for line in ends:
            yield from folded(line, width)

    return Drawing(lines)


def _needed(card: PlanCard) -> int:
    """About how many lines a plan takes in full."""
    text = 1 if card.rows else card.text.count("\n") + 1
    return FRAME + (BRIEF + 1 if card.record else 0) + max(len(card.rows), text)
