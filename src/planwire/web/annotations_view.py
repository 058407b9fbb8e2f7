"""Words about a plan: the agent's reasons above its steps, people's suggestions and remarks over and below them.

They never look as if the agent had said them, or as if they were steps of its plan.
"""

from typing import Final

from planwire.readmodel.annotations import Remark, SuggestedChange
from planwire.readmodel.authors import author
from planwire.readmodel.card import Ghost, OpenSuggestion, PlanCard, ReviewCard, StepRow
from planwire.readmodel.plain_text import shortened
from planwire.web.html import EMPTY, Html, el, escaped, iso, joined, moment
from planwire.web.page_tree import Part, leaf
from planwire.web.status_look import wording

__all__ = ["annotation_classes", "annotations_html", "ghost_row", "said_part", "why_part"]

#: Length of the text in the name of a button.
LONG_NAME: Final = 80
#: Words before a suggestion, for people who can't see its place.
_SPOKEN: Final = {"reword": "reworded: ", "move": "moved "}

#: Notes and reviews on the page, the newest first. The history has them all.
NOTES: Final = 3
REVIEWS: Final = 4
#: Names of steps to run, before a number stands for the rest.
NAMED: Final = 6
LONG_LINE: Final = 160


def annotation_classes(row: StepRow) -> str:
    """The classes of a row for the kinds of suggestions over it."""
    return "".join(f" wants-{kind}" for kind in dict.fromkeys(each.kind for each in row.suggestions))


def annotations_html(row: StepRow, *, steerable: bool) -> Html:
    """The suggestions and remarks behind the words of a step, with buttons to withdraw where people can steer it."""
    suggestions = (_suggestion(each, steerable) for each in row.suggestions)
    return joined(*suggestions, *map(_remark, row.remarks))


def ghost_row(part_id: str, ghost: Ghost, kind: str, *, steerable: bool) -> tuple[str, Html]:
    """The id and the row of a suggested step."""
    change = ghost.change
    row_id = f"{part_id}-w{change.suggestion}-{change.number}"
    mark = joined(el("i", class_="mark"), el("span", "suggested: ", class_="unseen"))
    words = el("span", wording(change.text), class_="words", dir="auto")
    button = _withdraw_button(change.suggestion, change.text) if steerable else None
    origin = el("span", f"suggested by {author(change.by)}", button, class_="suggestion")
    about = el("span", words, origin, class_="about")
    usable = {"data_suggestion": change.suggestion, "data_after": ghost.after} if steerable else {}
    return row_id, el("li", mark, about, id=row_id, class_=f"{kind} ghost", **usable)


def _withdraw_button(suggestion: int, what: str) -> Html:
    label = f"Withdraw: {shortened(what, LONG_NAME)}"
    return el(
        "button", "×", type="button", class_="take-back", data_withdraw=suggestion, aria_label=label, title="Withdraw"
    )


def _suggestion(suggestion: SuggestedChange, steerable: bool) -> Html:
    text = suggestion.text
    spoken = el("span", f"suggested by {author(suggestion.by)}: {_SPOKEN.get(suggestion.kind, '')}", class_="unseen")
    shown = el("span", wording(text), class_="suggestion-text", dir="auto") if suggestion.kind == "reword" else text
    button = _withdraw_button(suggestion.suggestion, text) if steerable else None
    return el("span", spoken, shown, button, class_=f"suggestion suggestion-{suggestion.kind}")


def _remark(remark: Remark) -> Html:
    origin = el(
        "span", f" — {author(remark.by)}", class_="origin", title=f"{iso(remark.at)[:16]}, revision {remark.revision}"
    )
    return el("span", el("span", remark.text, class_="said", dir="auto"), origin, class_="comment")


def why_part(part_id: str, card: PlanCard) -> Part | None:
    """The agent's reasons as a part of a plan; None if there are none."""
    rows = []
    if card.why:
        rows.append(_reason("Why", escaped(card.why)))
    if card.thinking:
        rows.append(_reason("Thinking", _folded(card.thinking)))
    rows += [_reason("Note", escaped(each.text), _origin(each.by, each.at)) for each in card.notes[: -NOTES - 1 : -1]]
    return leaf(f"{part_id}-why", "dl", *rows, class_="why") if rows else None


def said_part(part_id: str, card: PlanCard, *, steerable: bool) -> Part | None:
    """What people suggested and decided, as a part of a plan; None if they did neither. It belongs below the steps:
    above them, it would move them under the pointer of the person who just said something."""
    rows = [_suggestions(card.suggestions, steerable)] if card.suggestions else []
    rows += [_review(review) for review in card.shown_reviews[: -REVIEWS - 1 : -1]]
    return leaf(f"{part_id}-said", "dl", *rows, class_="why said-of-plan") if rows else None


def _reason(name: str, text: Html, origin: Html | None = None, kind: str = "") -> Html:
    words = el("dd", el("span", text, dir="auto"), origin)
    return el("div", el("dt", name), words, class_=f"reason {kind}".strip())


def _origin(by: str, at: int) -> Html:
    return el("span", " — ", author(by), " ", moment(at), class_="origin")


def _folded(text: str) -> Html:
    """A long text with its first line in sight."""
    first, _, rest = text.partition("\n")
    if len(first) > LONG_LINE:
        first, rest = shortened(first, LONG_LINE), text
    return el("details", el("summary", first), rest) if rest else escaped(first)


def _suggestions(suggestions: tuple[OpenSuggestion, ...], steerable: bool) -> Html:
    """The suggestions that the agent's list does not contain yet, also those for steps out of sight."""
    shown = [_open_suggestion(each, steerable) for each in suggestions]
    inside = shown[0]
    if len(shown) > 1:
        count = el("summary", f"{len(shown)} changes that the agent has not adopted yet")
        inside = el("details", count, el("ul", *(el("li", each) for each in shown)))
    return el("div", el("dt", "Suggested"), el("dd", inside), class_="reason suggestion-list")


def _open_suggestion(suggestion: OpenSuggestion, steerable: bool) -> Html:
    button = _withdraw_button(suggestion.number, suggestion.text) if steerable else None
    return joined(el("span", suggestion.text, dir="auto"), _origin(suggestion.by, suggestion.at), button)


def _review(review: ReviewCard) -> Html:
    words = [] if review.is_comment else [review.words]
    if review.to_run is not None:
        words.append(f"to run: {_names(review.to_run)}")
    is_old = review.stale and not review.is_comment
    text = joined(
        " · ".join([*words, *review.comments]), el("span", "plan changed since", class_="tag") if is_old else EMPTY
    )
    name = "Comment" if review.is_comment else "Review"
    return _reason(name, text, _origin(review.by, review.at), f"verdict-{review.verdict.replace('_', '-')}")


def _names(steps: tuple[str, ...]) -> str:
    more = [f"and {len(steps) - NAMED} more"] if len(steps) > NAMED else []
    return ", ".join([*steps[:NAMED], *more]) or "nothing"
