"""The kinds of plan: one table, one row a kind.

Whoever adds a kind adds a class in `plan`, a row here, and what the type checker then asks for: each `match` on a plan
ends in `assert_never`. What most modules want to know of a plan they ask the functions below, and match on nothing.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from planwire.model import markdown
from planwire.model.plan import MEDIUM, Fields, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan

__all__ = [
    "KINDS",
    "Draft",
    "Kind",
    "content_of",
    "drafts_of",
    "is_blank",
    "kind_named",
    "kind_of",
    "noun_of",
    "text_of",
    "title_of",
]


class Draft(Struct, frozen=True, gc=False):
    """A step that has no id yet. `depth` is its nesting in a markdown list."""

    content: str
    status: str
    priority: str = MEDIUM
    depth: int = 0


class Kind(Struct, frozen=True, kw_only=True):
    """One row. `name` is its tag in journals and its `type` on the wire, `noun` what people call it.

    `field` is where the wire has its content; None: its content is whatever fields it has. `has_editable_steps`: its
    steps can be changed one by one; `has_priorities`: they have priorities. `is_text`: its content is a markdown text.
    `text` is what there is to read of it besides steps, `title` what stands for all of it, `drafts` its steps.
    """

    name: str
    plan: type[Plan]
    field: str | None
    noun: str
    has_editable_steps: bool
    has_priorities: bool = False
    is_text: bool = False
    text: Callable[[Any], str]
    title: Callable[[Any], str]
    drafts: Callable[[Any], list[Draft]]


def _nothing(_plan: Plan) -> str:
    return ""


def _no_drafts(_plan: Plan) -> list[Draft]:
    return []


def _entries(plan: ItemsPlan) -> list[Draft]:
    return [Draft(entry.content, entry.status, entry.priority or MEDIUM) for entry in plan.entries]


def _content(plan: MarkdownPlan) -> str:
    return plan.content


def _heading(plan: MarkdownPlan) -> str:
    return markdown.parse(plan.content).title


def _tasks(plan: MarkdownPlan) -> list[Draft]:
    return [Draft(task.text, task.status, depth=task.depth) for task in markdown.parse(plan.content).tasks]


def _uri(plan: FilePlan) -> str:
    return plan.uri


def _as_json(plan: OtherPlan) -> str:
    value = {"type": plan.type, **plan.fields}
    return f"```json\n{msgspec.json.format(msgspec.json.encode(value), indent=2).decode()}\n```"


def _name(plan: OtherPlan) -> str:
    return plan.id or plan.type


_TABLE: Final = (
    Kind(
        name=ItemsPlan.kind,
        plan=ItemsPlan,
        field="entries",
        noun="list",
        has_editable_steps=True,
        has_priorities=True,
        text=_nothing,
        title=_nothing,
        drafts=_entries,
    ),
    Kind(
        name=MarkdownPlan.kind,
        plan=MarkdownPlan,
        field="content",
        noun="proposal",
        has_editable_steps=True,
        is_text=True,
        text=_content,
        title=_heading,
        drafts=_tasks,
    ),
    Kind(
        name=FilePlan.kind,
        plan=FilePlan,
        field="uri",
        noun="file",
        has_editable_steps=False,
        text=_uri,
        title=_uri,
        drafts=_no_drafts,
    ),
    Kind(
        name=OtherPlan.kind,
        plan=OtherPlan,
        field=None,
        noun="plan",
        has_editable_steps=False,
        text=_as_json,
        title=_name,
        drafts=_no_drafts,
    ),
)

#: The rows by the classes of their plans.
KINDS: Final = {row.plan: row for row in _TABLE}
_NAMED: Final = {row.name: row for row in _TABLE}


def kind_of(plan: Plan) -> Kind:
    """The row of a plan."""
    return KINDS[type(plan)]


def kind_named(name: object) -> Kind | None:
    """The row with this tag; None if there is no such kind."""
    return _NAMED.get(name) if isinstance(name, str) else None


def noun_of(plan: Plan) -> str:
    """What people call a plan like this. A kind that planwire does not know is called by its own name."""
    return plan.type if isinstance(plan, OtherPlan) else kind_of(plan).noun


def content_of(plan: Plan) -> Fields:
    """The content of a plan under the names that it has on the wire; entries are values, ready to be encoded."""
    field = kind_of(plan).field
    return plan.fields if isinstance(plan, OtherPlan) else {str(field): getattr(plan, str(field))}


def text_of(plan: Plan) -> str:
    """What there is to read of a plan besides its entries: its text, its URI, or its fields as JSON."""
    return kind_of(plan).text(plan)


def title_of(plan: Plan) -> str:
    """What stands for all of a plan in a line; "" for a list, which has no title."""
    return kind_of(plan).title(plan)


def drafts_of(plan: Plan) -> list[Draft]:
    """The steps of a plan, still without ids."""
    return kind_of(plan).drafts(plan)


def is_blank(plan: Plan) -> bool:
    """Whether a plan says nothing: no entries, or only blanks."""
    return not text_of(plan).strip() and not drafts_of(plan)
