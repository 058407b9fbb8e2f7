"""Compare: the plans of a session at two moments, the changed ones first, without what stayed the same."""

from collections.abc import Callable
from typing import Final

from planwire.readmodel.authors import author
from planwire.readmodel.compare import Comparison, compare_cards
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.timeline import Timeline
from planwire.web.addresses import session_address
from planwire.web.difference import comparison_view
from planwire.web.frame import action, top_line
from planwire.web.history_page import Then, entry_phrases
from planwire.web.html import Html, clock, el, void

#: Equal rows to show around each change.
AROUND: Final = 3
#: Phrases of an event beside its number.
MOST_PHRASES: Final = 2


def compare_page(name: str, session: str, timeline: Timeline, sides: tuple[Then, Then], *, whole: bool) -> Html:
    """The page: the two moments, and every plan of either one, with all of its rows if `whole`."""
    before, after = (side.entry for side in sides)
    assert before is not None
    assert after is not None
    old, new = ({card.id: card for card in side.session.cards()} for side in sides)
    both = [compare_cards(old.get(plan_id), new.get(plan_id)) for plan_id in {**old, **new}]
    own = session_address(session, "compare")
    more = None if whole else f"{own}?from={before.seq}&to={after.seq}&all=1"
    plans = [_compared(each, more) for each in sorted(both, key=lambda each: not each.differs)]
    links = action("Session", session_address(session)), action("History", session_address(session, "history"))
    top = top_line(el("div", el("h1", "Compare"), el("p", el("bdi", name), class_="of-session")), *links)
    return el(
        "main",
        el("header", top, _form(own, timeline, before, after), class_="page-head"),
        *(plans or [el("p", "There was no plan at either moment.", class_="nothing")]),
        id="content",
        class_="compare",
    )


def _form(own: str, timeline: Timeline, before: HistoryEntry, after: HistoryEntry) -> Html:
    return el(
        "form",
        _side("from", timeline, before, lambda seq: f"{own}?from={seq}&to={after.seq}"),
        _side("to", timeline, after, lambda seq: f"{own}?from={before.seq}&to={seq}"),
        el("button", "Compare", class_="compare-button"),
        method="get",
        action=own,
        class_="two",
    )


def _side(name: str, timeline: Timeline, entry: HistoryEntry, address: Callable[[int], str]) -> Html:
    """The choice of a moment: any one by its number, and the neighbours by a link."""
    numbers, at = timeline.numbers, timeline.index(entry.seq)
    first, last = numbers[0], numbers[-1]
    number = void("input", type="number", name=name, id=name, value=entry.seq, min=first, max=last, data_submit=True)
    earlier = _neighbour(numbers[at - 1] if at else None, address, "‹", f"{name}: one event earlier")
    later = _neighbour(numbers[at + 1] if entry.seq < last else None, address, "›", f"{name}: one event later")
    far = f" · {entry.done:,} / {entry.total:,}" if entry.total is not None else ""
    return el(
        "div",
        el("label", f"{name.capitalize()} event", for_=name),
        el("div", earlier, number, later, el("span", f"of {last:,}", class_="nothing"), class_="side-number"),
        el("p", clock(entry.at), " · ", el("bdi", author(entry.by)), far, class_="then-when"),
        el("ul", *entry_phrases(entry, MOST_PHRASES), class_="words-list"),
        class_="side",
    )


def _neighbour(seq: int | None, address: Callable[[int], str], sign: str, name: str) -> Html:
    if seq is None:
        return el("span", sign, class_="action", aria_hidden="true")
    return el("a", sign, href=address(seq), class_="action", aria_label=name, title=name)


def _compared(compared: Comparison, whole: str | None) -> Html:
    card = compared.after or compared.before
    assert card is not None
    tag = "new" if compared.before is None else "dismissed" if compared.after is None else None
    name = el("h2", el("bdi", card.title))
    head = el("header", name, el("span", tag, class_="tag") if tag else None, class_="plan-head")
    return el("article", head, comparison_view(compared, AROUND if whole else None, whole), class_="plan")
