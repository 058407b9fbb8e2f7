"""Attributes and buttons of a plan for the script that lets people steer it: address, revision, and what is possible.

Rows hold little more than the id of their step: a page with thousands of them, for a thousand watchers, stays small.
"""

from typing import Final

from planwire.model.fold import AGENT, PlanRecord
from planwire.model.kinds import kind_of
from planwire.readmodel.history import plan_name
from planwire.web.addresses import plan_address
from planwire.web.html import Attribute, Html, el
from planwire.web.page_tree import Part, leaf

__all__ = ["actions_part", "edited_as", "revision_part", "steer_values"]

_REVIEW: Final = (
    ("approve", "Approve", "primary"),
    ("approve-with", "Approve with comments …", None),
    ("ask", "Ask for changes …", None),
    ("comment", "Comment …", None),
)
_EDIT: Final = (("add", "Add a step", "quiet"), ("choose", "Choose steps to run", "quiet"))


def edited_as(record: PlanRecord, *, in_file: bool) -> str | None:
    """The kind of a plan whose steps people can change; None for a file, which is its editor's, and for other kinds."""
    kind = kind_of(record.state.plan)
    return kind.name if kind.has_editable_steps and not in_file else None


def steer_values(session: str, record: PlanRecord, *, in_file: bool) -> dict[str, Attribute]:
    """The attributes of a plan that people can steer."""
    kind = kind_of(record.state.plan)
    return {
        "data-steer": plan_address(session, record.state.plan.id),
        "data-edit": edited_as(record, in_file=in_file),
        "data-priorities": kind.has_priorities,
        "data-multiline": not kind.is_text,
        "data-wish": record.owner == AGENT,
    }


def revision_part(part_id: str, revision: int) -> Part:
    """The revision on the page. It is a part of its own, since every change changes it."""
    return leaf(f"{part_id}-at", "span", data_revision=revision, hidden=True)


def actions_part(part_id: str, record: PlanRecord, *, in_file: bool) -> Part:
    """The buttons for the plan as a whole. The style sheet shows them once the script is there."""
    name = plan_name(record.state.plan.id)
    edits = edited_as(record, in_file=in_file)
    groups = [
        el("div", *(_button(*each) for each in _REVIEW), role="group", aria_label=f"review of {name}"),
        el("div", *(_button(*each) for each in _EDIT), role="group", aria_label=f"steps of {name}") if edits else None,
    ]
    return leaf(f"{part_id}-steer", "div", *groups, class_="steer")


def _button(do: str, name: str, kind: str | None) -> Html:
    return el("button", name, type="button", data_do=do, class_=kind)
