"""People's words over the steps of a plan: suggestions, drawn where the plan would change, and comments on a step.

They never look as if the agent had said them, or as if they were steps of its plan.
"""

from typing import Final

from planwire.readmodel.annotations import RemarkCard, SuggestedChange
from planwire.readmodel.authors import author
from planwire.readmodel.card import Ghost, StepRow, status_look
from planwire.web.html import EMPTY, Html, el, joined
from planwire.web.remark_view import delivery_badge, remark_button, remark_words
from planwire.web.status_look import wording

#: The words before a change's text, for the kinds whose place or look does not say enough.
_NAMED: Final = {"status": "", "priority": "", "remove": "", "move": "move "}


def annotation_classes(row: StepRow) -> str:
    """The classes of a row for the kinds of its suggestions, and for the look that it would have with them."""
    kinds = [each.kind for each in row.suggestions]
    kinds += [f"look-{status_look(each.status).look}" for each in row.suggestions if each.kind == "status"]
    return "".join(f" wants-{kind}" for kind in dict.fromkeys(kinds))


def annotations_html(row: StepRow, *, steerable: bool) -> Html:
    """The suggestions and remarks after the words of a step, with buttons to undo them if it is `steerable`."""
    suggestions = (_suggestion(each, steerable) for each in row.suggestions)
    return joined(*suggestions, *(_remark(each, steerable) for each in row.remarks))


def ghost_row(
    part_id: str, ghost: Ghost, kind: str, step: StepRow | None = None, *, steerable: bool
) -> tuple[str, Html]:
    """The id and the row of a suggested step, or of the place where a `step` of the plan is to go."""
    change = ghost.change
    row_id = f"{part_id}-w{change.suggestion}-{change.number}"
    text = step.text if step else change.text
    spoken = "suggested place: " if step else "suggested: "
    mark = joined(el("i", class_="mark"), el("span", spoken, class_="unseen"))
    words = el("span", wording(text), class_="words", dir="auto")
    about = el("span", words, _note(change, text, "moves here" if step else "", steerable), class_="about")
    moved = " ghost-moved" if step else ""
    deep = f" deep-{min(ghost.depth, 6)}" if ghost.depth and kind == "step" else ""
    classes = f"{kind} ghost{moved}{deep}"
    usable = {"data_suggestion": change.suggestion, "data_after": ghost.after} if steerable and not step else {}
    return row_id, el("li", mark, about, id=row_id, class_=classes, **usable)


def _suggestion(change: SuggestedChange, steerable: bool) -> Html:
    named = _NAMED.get(change.kind)
    note = _note(change, change.text, "" if named is None else named + change.text, steerable)
    if change.kind != "reword":
        return note
    unseen = el("span", "suggested wording: ", class_="unseen")
    return joined(unseen, el("span", wording(change.text), class_="suggestion-text", dir="auto"), note)


def _note(change: SuggestedChange, name: str, becomes: str, steerable: bool) -> Html:
    """The author of a suggestion, how far it has come, and its *Undo* button."""
    replaced = f", replacing the one by {author(change.replaces)}" if change.replaces else ""
    return el(
        "span",
        el("span", f"Suggested by {author(change.by)}{replaced}{f': {becomes}' if becomes else ''}", class_="by"),
        delivery_badge(change.delivery, change.heard, change.told_at) if change.delivery else EMPTY,
        remark_button("withdraw", "Undo", change.suggestion, name) if steerable else None,
        class_=f"suggestion suggestion-{change.kind}",
    )


def _remark(remark: RemarkCard, steerable: bool) -> Html:
    return el("span", remark_words(remark, steerable=steerable), class_="comment")
