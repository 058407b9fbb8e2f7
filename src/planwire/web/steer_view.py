"""What a plan asks of people: the agent's question about it, and what the script needs that lets people steer it.

An agent that asks through its client gets the answer there, and nowhere else. One that waits for a review gets it here.
Rows hold little more than the id of their step: a page with thousands of them, for a thousand watchers, stays small.
"""

from typing import Final

from planwire.model.fold import AGENT, OpenQuestion, PlanRecord
from planwire.model.kinds import kind_of
from planwire.readmodel.history import plan_name
from planwire.web.addresses import plan_address
from planwire.web.difference import difference_view
from planwire.web.html import Attribute, Html, el, moment
from planwire.web.page_tree import Part, leaf

__all__ = ["actions_part", "asked_part", "revision_part", "steer_values"]

_REVIEW: Final = (
    ("approve", "Approve", "primary"),
    ("approve-with", "Approve with comments …", None),
    ("ask", "Ask for changes …", None),
    ("comment", "Comment …", None),
)
_EDIT: Final = (("add", "Add a step", "quiet"), ("choose", "Choose steps to run", "quiet"))
#: Equal rows around each change of a plan that waits for a verdict.
AROUND: Final = 2


def _edited_as(record: PlanRecord, *, in_file: bool) -> str | None:
    """The kind of a plan whose steps people can change; None for a file, which is its editor's, and for other kinds."""
    kind = kind_of(record.state.plan)
    return kind.name if kind.has_editable_steps and not in_file else None


def steer_values(session: str, record: PlanRecord, *, in_file: bool) -> dict[str, Attribute]:
    """The attributes of a plan that people can steer."""
    kind = kind_of(record.state.plan)
    return {
        "data-steer": plan_address(session, record.state.plan.id),
        "data-edit": _edited_as(record, in_file=in_file),
        "data-priorities": kind.has_priorities,
        "data-multiline": not kind.is_text,
        "data-suggestion": record.owner == AGENT,
    }


def revision_part(part_id: str, revision: int) -> Part:
    """The revision on the page. It is a part of its own, since every change changes it."""
    return leaf(f"{part_id}-at", "span", data_revision=revision, hidden=True)


def actions_part(part_id: str, record: PlanRecord, *, in_file: bool) -> Part:
    """The buttons for the plan as a whole. The style sheet shows them once the script is there."""
    name = plan_name(record.state.plan.id)
    edits = _edited_as(record, in_file=in_file)
    groups = [
        el("div", *(_button(*each) for each in _REVIEW), role="group", aria_label=f"review of {name}"),
        el("div", *(_button(*each) for each in _EDIT), role="group", aria_label=f"steps of {name}") if edits else None,
    ]
    return leaf(f"{part_id}-steer", "div", *groups, class_="steer")


def _button(do: str, name: str, kind: str | None) -> Html:
    return el("button", name, type="button", data_do=do, class_=kind)


def asked_part(
    part_id: str, record: PlanRecord, before: PlanRecord | None, client: str | None, *, in_file: bool
) -> Part | None:
    """The question, as a part of its plan; None if there is none. `before` is the plan that people knew."""
    asked = record.asked
    if asked is None:
        return None
    own = f"{part_id}-asked"
    return leaf(
        own,
        "section",
        el("h3", _who_asks(asked, client), id=f"{own}-name"),
        _how_to_answer(part_id, asked),
        None if in_file else _what_is_new(record, before),
        class_="question",
        aria_labelledby=f"{own}-name",
    )


def _who_asks(asked: OpenQuestion, client: str | None) -> str:
    if not asked.options:
        return "The agent waits for your review"
    name, _, version = (client or "The editor").rpartition(" ")
    return f"{name if name and version[:1].isdigit() else client or 'The editor'} asks for your approval"


def _how_to_answer(part_id: str, asked: OpenQuestion) -> Html:
    since = el("span", " Since ", moment(asked.at), ".", class_="origin")
    if not asked.options:
        here = el("a", "Approve it or ask for changes", href=f"#{part_id}-steer")
        return el("p", here, ": it goes on when you have decided.", since)
    offered = el("ul", *(el("li", name, dir="auto") for name in asked.options), class_="offered")
    return el("div", el("p", "The answer is given there. It is one of these:", since), offered)


def _what_is_new(record: PlanRecord, before: PlanRecord | None) -> Html:
    if before is None:
        words = "This is the first version." if record.supersedes is None else "The version before was dismissed."
        return el("p", words, class_="nothing")
    since = "your last review" if before.version == record.version else f"version {before.version}"
    name = el("summary", f"What has changed since {since}")
    return el("details", name, difference_view(before, record, AROUND), open=True)
