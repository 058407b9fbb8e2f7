"""What the script needs to let people steer a plan, and the buttons for the plan as a whole.

Rows hold little more than the id of their step: a page with thousands of them, for a thousand watchers, stays small.
"""

from typing import Final

from planwire.readmodel.answers import answers
from planwire.readmodel.card import PlanCard
from planwire.web.addresses import plan_address
from planwire.web.html import Attribute, el
from planwire.web.page_tree import Part, leaf

#: The buttons below a plan: the act, and its label there.
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
    """The revision on the page, with the names of the acts that it takes: a part of its own, since it differs after
    every change."""
    return leaf(f"{part_id}-at", "span", data_revision=card.revision, data_acts=" ".join(_acts(card)), hidden=True)


def _acts(card: PlanCard) -> list[str]:
    """The acts to offer. Nobody reviews a proposal that has ended, or adds to it: people reopen it first."""
    return [each for each in card.acts if not (card.ended and each in dict(_BUTTONS))]


def actions_part(part_id: str, card: PlanCard) -> Part:
    """The buttons for the plan as a whole, and a menu of the rest, all quiet: only answers are loud. The style sheet
    shows them once the script is there."""
    shown = [each for each in _BUTTONS if each[0] in _acts(card) and not (each[0] == "review" and answers(card))]
    shown += [("reopen", "Reopen")] if card.ended else []
    buttons = [el("button", label, type="button", data_act=name, class_="quiet") for name, label in shown]
    more = el("button", "More actions", type="button", data_menu=True, class_="quiet", aria_haspopup="menu")
    return leaf(f"{part_id}-steer", "div", *buttons, more, class_="steer", role="group", aria_label=card.title)
