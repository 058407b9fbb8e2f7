"""What a plan asks of people: the agent's question about it, and what the script needs that lets people steer it.

An agent that asks through its client gets the answer there, and nowhere else. One that waits for a review gets it here.
Rows hold little more than the id of their step: a page with thousands of them, for a thousand watchers, stays small.
"""

from typing import Final

from planwire.readmodel.card import PlanCard
from planwire.steering.reviews import VERDICT_LABELS
from planwire.web.addresses import plan_address
from planwire.web.difference import difference_view
from planwire.web.html import Attribute, Html, el, moment
from planwire.web.page_tree import Part, leaf

__all__ = ["actions_part", "asked_part", "revision_part", "steer_values"]

#: Equal rows around each change of a plan that waits for a verdict.
AROUND: Final = 2
#: The buttons below a plan that nobody asks about: the act, and its label there.
_BUTTONS: Final = (("review", "Review"), ("add", "Add step"), ("select", "Select steps to run"))


def steer_values(session: str, card: PlanCard) -> dict[str, Attribute]:
    """The attributes of a plan that people can steer."""
    return {
        "data-steer": plan_address(session, card.id),
        "data-edit": card.can_change,
        "data-agent": card.is_of_agent,
        "data-asks": " ".join(filter(card.asks_first, card.acts)),
        "data-ended": bool(card.ended),
    }


def revision_part(part_id: str, card: PlanCard) -> Part:
    """The revision on the page, with the names of the acts that it takes: a part of its own, since every change changes
    it."""
    return leaf(f"{part_id}-at", "span", data_revision=card.revision, data_acts=" ".join(_acts(card)), hidden=True)


def _acts(card: PlanCard) -> list[str]:
    """The acts to offer. Nobody reviews a proposal that has ended, or adds to it: people reopen it first."""
    return [each for each in card.acts if not (card.ended and each in dict(_BUTTONS))]


def actions_part(part_id: str, card: PlanCard) -> Part:
    """The buttons for the plan as a whole, and a menu of the rest. Only an agent that waits for a review makes them
    loud. The style sheet shows them once the script is there."""
    shown = [each for each in _BUTTONS if each[0] in _acts(card) and not (each[0] == "review" and card.waits_here)]
    shown += [("reopen", "Reopen")] if card.ended else []
    buttons = [el("button", label, type="button", data_act=name, class_="quiet") for name, label in shown]
    more = el("button", "More actions", type="button", data_menu=True, class_="quiet", aria_haspopup="menu")
    return leaf(f"{part_id}-steer", "div", *buttons, more, class_="steer", role="group", aria_label=card.title)


def asked_part(part_id: str, card: PlanCard, before: PlanCard | None) -> Part | None:
    """The question, as a part of its plan; None if there is none. `before` is the plan that people knew."""
    if card.question is None:
        return None
    own = f"{part_id}-asked"
    return leaf(
        own,
        "section",
        el("h3", _who_asks(card), id=f"{own}-name"),
        _how_to_answer(card),
        None if card.is_file else _what_is_new(card, before),
        class_="question",
        aria_labelledby=f"{own}-name",
    )


def _who_asks(card: PlanCard) -> str:
    if card.waits_here:
        return "The agent is waiting for your review"
    return f"{card.client_name if card.client else 'Your editor'} asks for your approval"


def _how_to_answer(card: PlanCard) -> Html:
    question = card.question
    assert question is not None
    asked = el("span", " Asked ", moment(question.at), ".", class_="origin")
    if card.waits_here:
        (yes, approve_label), (no, change_label), _ = VERDICT_LABELS.items()
        approve = el("button", approve_label, type="button", data_act="review", data_verdict=yes, class_="primary")
        change = el("button", change_label, type="button", data_act="review", data_preset=no)
        buttons = el("div", approve, change, class_="steer answers")
        return el("div", el("p", "It will continue once you decide.", asked), buttons)
    offered = el("ul", *(el("li", each.name, dir="auto") for each in question.options), class_="offered")
    return el("div", el("p", f"Answer in {card.client_name}:", asked), offered)


def _what_is_new(card: PlanCard, before: PlanCard | None) -> Html:
    if before is None:
        words = "This is the first version." if card.is_first else "The version before was dismissed."
        return el("p", words, class_="nothing")
    since = "your last review" if before.version == card.version else f"version {before.version}"
    name = el("summary", f"What changed since {since}")
    return el("details", name, difference_view(before, card, AROUND), open=True)
