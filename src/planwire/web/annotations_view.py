"""People's suggestions and remarks as HTML over an agent's steps, never as if the agent had said it."""

from typing import Final, NamedTuple

from planwire.model.fold import PlanRecord
from planwire.model.text import shortened
from planwire.readmodel.annotations import Remark, WishedChange, annotations
from planwire.web.html import Html, el, joined
from planwire.web.status_look import look, wording
from planwire.web.times import iso

__all__ = ["NOTHING_OVER", "Extra", "Ghost", "Over", "ghost_row", "over", "take_back"]

#: Length of the text in the name of a button.
LONG_NAME: Final = 80
#: Words before a suggestion, for people who can't see its place.
_SPOKEN: Final = {"reword": "reworded: ", "move": "moved ", "remove": "without it", "status": "", "priority": ""}


class Extra(NamedTuple):
    """Additions to one step: classes for its row, and HTML behind its words."""

    classes: str
    html: Html


class Ghost(NamedTuple):
    """A suggested step: its key within the plan, and the inside of its row."""

    key: str
    html: Html


class Over(NamedTuple):
    """Everything over the steps of a plan. `added` has the new ones, with the step that each goes behind."""

    steps: tuple[tuple[str, Extra], ...] = ()
    added: tuple[tuple[str | None, Ghost], ...] = ()


NOTHING_OVER: Final = Over()


def over(record: PlanRecord, *, steerable: bool) -> Over:
    """Everything over the steps of a plan, with buttons to withdraw suggestions where people can steer it."""
    if not record.wishes and not record.reviews:
        return NOTHING_OVER
    found = annotations(record)
    named = [*found.steps, *(step for step in found.remarks if step is not None and step not in found.steps)]
    steps = [(step, _extra(found.steps.get(step, ()), found.remarks.get(step, ()), steerable)) for step in named]
    added = [
        (after, Ghost(f"w{wish.wish}-{number}", _ghost(wish, steerable)))
        for number, (after, wish) in enumerate(found.added)
    ]
    return Over(tuple(steps), tuple(added))


def take_back(wish: int, what: str) -> Html:
    """The button that withdraws a suggestion."""
    label = f"Take back: {shortened(what, LONG_NAME)}"
    return el(
        "button", "×", type="button", class_="take-back", data_withdraw=wish, aria_label=label, title="Take it back"
    )


def ghost_row(part_id: str, ghost: Ghost, kind: str) -> Html:
    """The row of a suggested step."""
    return el("li", ghost.html, id=f"{part_id}-{ghost.key}", class_=f"{kind} ghost")


def _extra(wishes: tuple[WishedChange, ...], remarks: tuple[Remark, ...], steerable: bool) -> Extra:
    classes = "".join(f" wants-{kind}" for kind in dict.fromkeys(wish.kind for wish in wishes))
    return Extra(classes, joined(*(_wish(wish, steerable) for wish in wishes), *map(_remark, remarks)))


def _wish(wish: WishedChange, steerable: bool) -> Html:
    """A suggestion for a step. `data-wished` is for the script: to suggest the same once more withdraws it."""
    text = look(wish.value or "").word if wish.kind == "status" else wish.text
    spoken = el("span", f"wished by {wish.by}: {_SPOKEN.get(wish.kind, '')}", class_="unseen")
    shown = el("span", wording(text), class_="wish-text", dir="auto") if wish.kind == "reword" else text
    button = take_back(wish.wish, text) if steerable else None
    return el("span", spoken, shown, button, class_=f"wish wish-{wish.kind}", data_wished=wish.value)


def _ghost(wish: WishedChange, steerable: bool) -> Html:
    mark = el("span", el("span", "wished: ", class_="unseen"), class_="mark")
    words = el("span", wording(wish.text), class_="words", dir="auto")
    button = take_back(wish.wish, wish.text) if steerable else None
    return joined(
        mark, el("span", words, el("span", f"new, wished by {wish.by}", button, class_="wish"), class_="about")
    )


def _remark(remark: Remark) -> Html:
    origin = el("span", f" — {remark.by}", class_="origin", title=f"{iso(remark.at)[:16]}, revision {remark.revision}")
    return el("span", el("span", remark.text, class_="said", dir="auto"), origin, class_="comment")
