"""Words about a plan as a whole: the agent's reasons above its steps, people's remarks and verdicts below them.

People's words are below the steps: above, a new one would move the steps under the pointer of the person who just said
it.
"""

import json
from collections.abc import Container
from typing import Final

import msgspec

from planwire.readmodel.annotations import RemarkCard
from planwire.readmodel.authors import author
from planwire.readmodel.card import OpenSuggestion, PlanCard, ReviewCard
from planwire.readmodel.plain_text import shortened
from planwire.web.html import EMPTY, Html, el, escaped, joined, moment, time_of_day
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.remark_view import delivery_badge, remark_button, remark_words

#: Notes and verdicts on the page, the newest first. The history has them all.
NOTES: Final = 3
REVIEWS: Final = 4
LONG_LINE: Final = 160


def why_part(part_id: str, card: PlanCard) -> Part | None:
    """The agent's reasons as a part of a plan; None if there are none."""
    rows = []
    if card.why:
        rows.append(_reason("Why", escaped(card.why)))
    if card.thinking:
        rows.append(_reason("Thinking", folded_words(card.thinking)))
    rows += [_reason("Note", escaped(each.text), _origin(each.by, each.at)) for each in card.notes[: -NOTES - 1 : -1]]
    return leaf(f"{part_id}-why", "dl", *rows, class_="why") if rows else None


def said_part(part_id: str, card: PlanCard, drawn: Container[str], *, steerable: bool) -> Part | None:
    """What people said of a plan and decided about it, as a part of it; None if they did neither. `drawn` are the ids
    of the suggestions that are drawn at the steps."""
    own = f"{part_id}-said"
    out_of_sight = [each for each in card.suggestions if not each.has_place or each.id not in drawn]
    requested = {each.review for each in card.remarks if each.kind == "request"}
    verdicts = [each for each in card.reviews[: -REVIEWS - 1 : -1] if each.seq not in requested or each.answer]
    rows = [
        *(_suggestion(f"{own}-{each.id}", each, steerable) for each in reversed(out_of_sight)),
        *(_remark(f"{own}-{each.id}", each, steerable) for each in reversed(card.remarks)),
        *(_verdict(f"{own}-v{each.seq}", each) for each in verdicts),
    ]
    if card.closed_remarks:
        rows.append(_closed(f"{own}-closed", card.closed_remarks, steerable))
    return branch(own, "dl", rows, class_="why said-of-plan") if rows else None


def _reason(name: str, text: Html, origin: Html | None = None) -> Html:
    words = el("dd", el("span", text, dir="auto"), origin)
    return el("div", el("dt", name), words, class_="reason")


def _origin(by: str, at: int) -> Html:
    return el("span", " — ", author(by), " ", moment(at), class_="origin")


def folded_words(text: str) -> Html:
    """A long text with its first line in sight."""
    first, _, rest = text.partition("\n")
    if len(first) > LONG_LINE:
        first, rest = shortened(first, LONG_LINE), text
    return el("details", el("summary", first), rest) if rest else escaped(first)


def _remark(row_id: str, remark: RemarkCard, steerable: bool) -> Part:
    words = el("dd", remark_words(remark, steerable=steerable, named=True))
    kind = f"reason remark remark-{remark.kind}"
    passage = json.dumps(msgspec.to_builtins(remark.passage)) if remark.passage else None
    return leaf(row_id, "div", el("dt", remark.label), words, class_=kind, data_passage=passage)


def _suggestion(row_id: str, suggestion: OpenSuggestion, steerable: bool) -> Part:
    """A suggestion that has no place among the rows on the page."""
    badge = delivery_badge(suggestion.delivery, suggestion.heard, None)
    button = remark_button("withdraw", "Undo", suggestion.id, suggestion.text) if steerable else None
    origin = el("span", "— ", author(suggestion.by), " ", moment(suggestion.at), badge, button, class_="origin")
    words = el("dd", el("span", suggestion.text, class_="said", dir="auto"), origin)
    return leaf(row_id, "div", el("dt", "Suggestion"), words, class_="reason remark remark-suggestion")


def _verdict(row_id: str, review: ReviewCard) -> Part:
    stale = el("span", "plan changed since", class_="tag") if review.stale else None
    words = el("dd", el("span", review.words), stale, _origin(review.by, review.at), _how_far(review))
    kind = f"reason verdict-{review.verdict.replace('_', '-')}"
    return leaf(row_id, "div", el("dt", "Review"), words, class_=kind)


def _how_far(review: ReviewCard) -> Html | None:
    """How far the answer to a question has come, and when the agent got it."""
    if not review.delivery:
        return None
    told = joined(" ", time_of_day(review.told_at)) if review.told_at is not None and not review.late else EMPTY
    kind = "late" if review.late else review.delivery.lower()
    return joined(" ", el("span", review.delivery, told, class_=f"delivery delivery-{kind}"))


def _closed(row_id: str, remarks: tuple[RemarkCard, ...], steerable: bool) -> Part:
    items = (
        el("li", el("b", each.label), " ", remark_words(each, steerable=steerable, named=True), class_="closed-remark")
        for each in reversed(remarks)
    )
    fold = el("details", el("summary", f"{len(remarks)} closed"), el("ul", *items))
    return leaf(row_id, "div", el("dt", "Closed"), el("dd", fold), class_="reason")
