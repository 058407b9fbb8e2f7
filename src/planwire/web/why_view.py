"""The reasons for a plan: its author's words, notes since, open suggestions, and what people said."""

from typing import Final

from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED
from planwire.model.fold import Delta, PlanRecord, Review
from planwire.model.text import shortened
from planwire.readmodel.annotations import wish_sentence
from planwire.readmodel.history import verdict_words
from planwire.web.annotations_view import take_back
from planwire.web.html import EMPTY, Html, el, escaped, joined
from planwire.web.page_tree import Part, leaf
from planwire.web.times import moment

__all__ = ["why_part"]

#: Notes, verdicts and comments on the page, the newest first. The history has them all.
NOTES: Final = 3
VERDICTS: Final = 2
COMMENTS: Final = 3
#: Names of steps to run, before a number stands for the rest.
NAMED: Final = 6
LONG_LINE: Final = 160

_KINDS: Final = {APPROVED: "approved", CHANGES_REQUESTED: "asked", COMMENTED: "comment-on-plan"}


def why_part(part_id: str, record: PlanRecord, thinking: str | None, *, steerable: bool) -> Part | None:
    """The reasons as a part of a plan; None if there are none."""
    rows = []
    if record.summary:
        rows.append(_reason("Why", escaped(record.summary), None, None))
    if thinking:
        rows.append(_reason("Thinking", _folded(thinking), None, None))
    notes = [each for each in reversed(record.deltas) if each.note]
    rows += [_reason("Note", escaped(each.note or ""), each.by, each.at) for each in notes[:NOTES]]
    if record.wishes:
        rows.append(_wishes(record, steerable))
    rows += [_review(record, review) for review in _shown_reviews(record)]
    return leaf(f"{part_id}-why", "dl", *rows, class_="why") if rows else None


def _reason(name: str, text: Html, by: str | None, at: int | None, kind: str = "") -> Html:
    origin = joined(" — ", by, " ", moment(at)) if by is not None and at is not None else EMPTY
    words = el("dd", el("span", text, dir="auto"), el("span", origin, class_="origin") if origin else None)
    return el("div", el("dt", name), words, class_=f"reason {kind}".strip())


def _folded(text: str) -> Html:
    """A long text with its first line in sight."""
    first, _, rest = text.partition("\n")
    if len(first) > LONG_LINE:
        first, rest = shortened(first, LONG_LINE), text
    return el("details", el("summary", first), rest) if rest else escaped(first)


def _wishes(record: PlanRecord, steerable: bool) -> Html:
    """The suggestions that the agent's list does not contain yet, also those for steps out of sight."""
    wishes = [_wish(record, wish, steerable) for wish in record.wishes]
    if len(wishes) == 1:
        return el("div", el("dt", "Wished"), el("dd", *wishes), class_="reason wish-list")
    count = el("summary", f"{len(wishes)} changes that are not in the agent's list yet")
    inside = el("details", count, el("ul", *(el("li", wish) for wish in wishes)))
    return el("div", el("dt", "Wished"), el("dd", inside), class_="reason wish-list")


def _wish(record: PlanRecord, wish: Delta, steerable: bool) -> Html:
    sentence = wish_sentence(record, wish)
    origin = el("span", " — ", wish.by, " ", moment(wish.at), class_="origin")
    button = take_back(wish.seq, sentence) if steerable else None
    return joined(el("span", sentence, dir="auto"), origin, button)


def _shown_reviews(record: PlanRecord) -> list[Review]:
    """The last verdicts, and the last comments on the plan. Those on steps stand at their steps."""
    newest = record.reviews[::-1]
    verdicts = [each for each in newest if each.verdict != COMMENTED][:VERDICTS]
    comments = [each for each in newest if each.verdict == COMMENTED and _on_plan(each)][:COMMENTS]
    return sorted([*verdicts, *comments], key=lambda each: -each.seq)


def _on_plan(review: Review) -> list[str]:
    return [comment.text for comment in review.comments if comment.step is None]


def _review(record: PlanRecord, review: Review) -> Html:
    words = [] if review.verdict == COMMENTED else [verdict_words(review)]
    if review.selected is not None:
        words.append(f"to run: {_names(record, review.selected)}")
    words += _on_plan(review)
    old = review.verdict != COMMENTED and record.is_stale(review)
    text = joined(" · ".join(words), el("span", "the plan has changed since", class_="tag") if old else None)
    name = "Comment" if review.verdict == COMMENTED else "Review"
    return _reason(name, text, review.by, review.at, _KINDS.get(review.verdict, ""))


def _names(record: PlanRecord, steps: tuple[str, ...]) -> str:
    texts = {step.id: step.content for step in record.state.steps}
    named = [texts.get(step, step) for step in steps[:NAMED]]
    more = [f"and {len(steps) - NAMED} more"] if len(steps) > NAMED else []
    return ", ".join([*named, *more]) or "nothing"
