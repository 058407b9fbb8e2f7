"""The kinds of plan: one table, one row per kind.

A new kind is a new class in `plan`, a new row here, and whatever the type checker then asks for, since each `match` on
a plan ends in `assert_never`. Most modules match on nothing: they ask the functions below.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from planwire.model import markdown
from planwire.model.plan import MEDIUM, Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan

__all__ = [
    "KINDS",
    "Draft",
    "Kind",
    "content_of",
    "drafts_of",
    "entries_of",
    "is_blank",
    "is_prose",
    "kind_named",
    "kind_of",
    "noun_of",
    "prose_of",
    "text_of",
    "title_of",
]


class Draft(Struct, frozen=True, gc=False):
    """A step without an id yet. `depth` is its nesting in a markdown list."""

    content: str
    status: str
    priority: str = MEDIUM
    depth: int = 0


class Kind(Struct, frozen=True, kw_only=True):
    """One row.

    - `name`: its tag in journals and its `type` on the wire. `noun`: its name for people.
    - `field`: the wire's field for its content; None if all of its fields are.
    - `has_editable_steps`: people can change single steps. `has_priorities`: its steps have priorities.
    - `text`: its text besides steps. `title`: one line that stands for all of it. `drafts`: its steps.
    - `is_text`: its content is a markdown text. `prose`: whether it has more to read than steps.
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
    prose: Callable[[Any], bool]


def _nothing(_plan: Plan) -> str:
    return ""


def _no_drafts(_plan: Plan) -> list[Draft]:
    return []


def _never(_plan: Plan) -> bool:
    return False


def _always(_plan: Plan) -> bool:
    return True


def _entries(plan: ItemsPlan) -> list[Draft]:
    return [Draft(entry.content, entry.status, entry.priority or MEDIUM) for entry in plan.entries]


def _content(plan: MarkdownPlan) -> str:
    return plan.content


def _heading(plan: MarkdownPlan) -> str:
    return markdown.parse(plan.content).title


def _tasks(plan: MarkdownPlan) -> list[Draft]:
    return [Draft(task.text, task.status, depth=task.depth) for task in markdown.parse(plan.content).tasks]


def _has_words(plan: MarkdownPlan) -> bool:
    document = markdown.parse(plan.content)
    return document.prose or not document.tasks


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
        prose=_never,
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
        prose=_has_words,
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
        prose=_always,
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
        prose=_always,
    ),
)

#: The rows by class of plan.
KINDS: Final = {row.plan: row for row in _TABLE}
_NAMED: Final = {row.name: row for row in _TABLE}


def kind_of(plan: Plan) -> Kind:
    """The row of a plan."""
    return KINDS[type(plan)]


def kind_named(name: object) -> Kind | None:
    """The row with this tag; None if there is no such kind."""
    return _NAMED.get(name) if isinstance(name, str) else None


def noun_of(plan: Plan) -> str:
    """The name of a plan's kind for people. A kind that planwire does not know goes by the name its sender gave it."""
    return plan.type if isinstance(plan, OtherPlan) else kind_of(plan).noun


def content_of(plan: Plan) -> Fields:
    """The content of a plan under its names on the wire; entries are values, ready for the encoder."""
    field = kind_of(plan).field
    return plan.fields if isinstance(plan, OtherPlan) else {str(field): getattr(plan, str(field))}


def text_of(plan: Plan) -> str:
    """A plan's text besides its entries: its content, its URI, or its fields as JSON."""
    return kind_of(plan).text(plan)


def entries_of(plan: object) -> tuple[Entry, ...] | None:
    """The entries of an items plan; None for everything else."""
    return plan.entries if isinstance(plan, ItemsPlan) else None


def prose_of(plan: object) -> str | None:
    """The text of a markdown plan; None for everything else."""
    return plan.content if isinstance(plan, MarkdownPlan) else None


def title_of(plan: Plan) -> str:
    """One line that stands for all of a plan; "" for a list, which has no title."""
    return kind_of(plan).title(plan)


def is_prose(plan: Plan) -> bool:
    """Whether a plan has more to read than its steps."""
    return kind_of(plan).prose(plan)


def drafts_of(plan: Plan) -> list[Draft]:
    """The steps of a plan, still without ids."""
    return kind_of(plan).drafts(plan)


def is_blank(plan: Plan) -> bool:
    """Whether a plan says nothing: it has no entries, or only blanks."""
    return not text_of(plan).strip() and not drafts_of(plan)
