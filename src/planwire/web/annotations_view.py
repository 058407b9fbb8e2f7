"""Words about a plan: the agent's reasons above its steps, people's suggestions and remarks over and below them.

They never look as if the agent had said them, or as if they were steps of its plan.
"""

from typing import Final, NamedTuple

from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED
from planwire.model.fold import Delta, PlanRecord, Review
from planwire.model.text import shortened
from planwire.readmodel.annotations import Remark, SuggestedChange, annotations, suggestion_sentence
from planwire.readmodel.history import verdict_words
from planwire.web.html import EMPTY, Html, el, escaped, iso, joined, moment
from planwire.web.page_tree import Part, leaf
from planwire.web.status_look import look, wording

__all__ = ["NO_ANNOTATIONS", "Extra", "StepAnnotations", "ghost_row", "said_part", "step_annotations", "why_part"]

#: Length of the text in the name of a button.
LONG_NAME: Final = 80
#: Words before a suggestion, for people who can't see its place.
_SPOKEN: Final = {"reword": "reworded: ", "move": "moved ", "remove": "", "status": "", "priority": ""}

#: Notes, verdicts and comments on the page, the newest first. The history has them all.
NOTES: Final = 3
VERDICTS: Final = 2
COMMENTS: Final = 3
#: Names of steps to run, before a number stands for the rest.
NAMED: Final = 6
LONG_LINE: Final = 160

_KINDS: Final = {APPROVED: "approved", CHANGES_REQUESTED: "asked", COMMENTED: "comment-on-plan"}


class Extra(NamedTuple):
    """Additions to one step: classes for its row, and HTML behind its words."""

    classes: str
    html: Html


class StepAnnotations(NamedTuple):
    """All annotations of the steps of a plan. `added` has the new ones: the step that each goes behind, its key within
    the plan, and the inside of its row."""

    steps: tuple[tuple[str, Extra], ...] = ()
    added: tuple[tuple[str | None, str, Html], ...] = ()


NO_ANNOTATIONS: Final = StepAnnotations()


def step_annotations(record: PlanRecord, *, steerable: bool) -> StepAnnotations:
    """All annotations of the steps of a plan, with buttons to withdraw suggestions where people can steer it."""
    if not record.suggestions and not record.reviews:
        return NO_ANNOTATIONS
    found = annotations(record)
    named = [*found.steps, *(step for step in found.remarks if step is not None and step not in found.steps)]
    steps = [(step, _extra(found.steps.get(step, ()), found.remarks.get(step, ()), steerable)) for step in named]
    added = [
        (after, f"w{suggestion.suggestion}-{suggestion.number}", _ghost(suggestion, steerable))
        for after, suggestion in found.added
    ]
    return StepAnnotations(tuple(steps), tuple(added))


def _take_back(suggestion: int, what: str) -> Html:
    """The button that withdraws a suggestion."""
    label = f"Withdraw: {shortened(what, LONG_NAME)}"
    return el(
        "button",
        "×",
        type="button",
        class_="take-back",
        data_withdraw=suggestion,
        aria_label=label,
        title="Withdraw",
    )


def ghost_row(row_id: str, html: Html, kind: str) -> Html:
    """The row of a suggested step."""
    return el("li", html, id=row_id, class_=f"{kind} ghost")


def _extra(suggestions: tuple[SuggestedChange, ...], remarks: tuple[Remark, ...], steerable: bool) -> Extra:
    classes = "".join(f" wants-{kind}" for kind in dict.fromkeys(suggestion.kind for suggestion in suggestions))
    return Extra(
        classes, joined(*(_suggestion(suggestion, steerable) for suggestion in suggestions), *map(_remark, remarks))
    )


def _suggestion(suggestion: SuggestedChange, steerable: bool) -> Html:
    """A suggestion for a step. `data-suggested` is for the script: to suggest the same once more withdraws it."""
    text = look(suggestion.value or "").word if suggestion.kind == "status" else suggestion.text
    spoken = el("span", f"suggested by {suggestion.by}: {_SPOKEN.get(suggestion.kind, '')}", class_="unseen")
    shown = el("span", wording(text), class_="suggestion-text", dir="auto") if suggestion.kind == "reword" else text
    button = _take_back(suggestion.suggestion, text) if steerable else None
    return el(
        "span",
        spoken,
        shown,
        button,
        class_=f"suggestion suggestion-{suggestion.kind}",
        data_suggested=suggestion.value,
    )


def _ghost(suggestion: SuggestedChange, steerable: bool) -> Html:
    mark = joined(el("i", class_="mark"), el("span", "suggested: ", class_="unseen"))
    words = el("span", wording(suggestion.text), class_="words", dir="auto")
    button = _take_back(suggestion.suggestion, suggestion.text) if steerable else None
    return joined(
        mark,
        el("span", words, el("span", f"suggested by {suggestion.by}", button, class_="suggestion"), class_="about"),
    )


def _remark(remark: Remark) -> Html:
    origin = el("span", f" — {remark.by}", class_="origin", title=f"{iso(remark.at)[:16]}, revision {remark.revision}")
    return el("span", el("span", remark.text, class_="said", dir="auto"), origin, class_="comment")


def why_part(part_id: str, record: PlanRecord, thinking: str | None) -> Part | None:
    """The agent's reasons as a part of a plan; None if there are none."""
    rows = []
    if record.summary:
        rows.append(_reason("Why", escaped(record.summary), None, None))
    if thinking:
        rows.append(_reason("Thinking", _folded(thinking), None, None))
    notes = [each for each in reversed(record.deltas) if each.note]
    rows += [_reason("Note", escaped(each.note or ""), each.by, each.at) for each in notes[:NOTES]]
    return leaf(f"{part_id}-why", "dl", *rows, class_="why") if rows else None


def said_part(part_id: str, record: PlanRecord, *, steerable: bool) -> Part | None:
    """What people suggested and decided, as a part of a plan; None if they did neither. It belongs below the steps:
    above them, it would move them under the pointer of the person who just said something."""
    rows = [_suggestions(record, steerable)] if record.suggestions else []
    rows += [_review(record, review) for review in _shown_reviews(record)]
    return leaf(f"{part_id}-said", "dl", *rows, class_="why said-of-plan") if rows else None


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


def _suggestions(record: PlanRecord, steerable: bool) -> Html:
    """The suggestions that the agent's list does not contain yet, also those for steps out of sight."""
    suggestions = [_open_suggestion(record, suggestion, steerable) for suggestion in record.suggestions]
    inside = suggestions[0]
    if len(suggestions) > 1:
        count = el("summary", f"{len(suggestions)} changes that the agent has not adopted yet")
        inside = el("details", count, el("ul", *(el("li", suggestion) for suggestion in suggestions)))
    return el("div", el("dt", "Suggested"), el("dd", inside), class_="reason suggestion-list")


def _open_suggestion(record: PlanRecord, suggestion: Delta, steerable: bool) -> Html:
    sentence = suggestion_sentence(record, suggestion)
    origin = el("span", " — ", suggestion.by, " ", moment(suggestion.at), class_="origin")
    button = _take_back(suggestion.seq, sentence) if steerable else None
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
    text = joined(" · ".join(words), el("span", "plan changed since", class_="tag") if old else None)
    name = "Comment" if review.verdict == COMMENTED else "Review"
    return _reason(name, text, review.by, review.at, _KINDS.get(review.verdict, ""))


def _names(record: PlanRecord, steps: tuple[str, ...]) -> str:
    texts = {step.id: step.content for step in record.state.steps}
    named = [texts.get(step, step) for step in steps[:NAMED]]
    more = [f"and {len(steps) - NAMED} more"] if len(steps) > NAMED else []
    return ", ".join([*named, *more]) or "nothing"
