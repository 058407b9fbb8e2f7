"""The kinds of plan: one table, one row per kind.

To add a kind, add a class to `plan` and a row here; the type checker then finds the rest, since each `match` on a plan
ends in `assert_never`. Most modules don't match on kinds: they ask the functions below.
"""

from typing import Final, assert_never

import msgspec
from msgspec import Struct

from planwire.model import markdown
from planwire.model.plan import MEDIUM, Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan


class Draft(Struct, frozen=True, gc=False):
    """A step without an id yet. `depth` is its nesting in a markdown list. An item of a numbered list has no status."""

    content: str
    status: str
    priority: str = MEDIUM
    depth: int = 0


class Kind(Struct, frozen=True):
    """One row.

    - `plan`: its class. `field`: the wire's field for its content; None if all of its fields are.
    - `noun`: its name for people.
    - `has_editable_steps`: people can change single steps. `has_priorities`: its steps have priorities.
    - `is_text`: its content is a markdown text.
    """

    plan: type[Plan]
    field: str | None
    noun: str
    has_editable_steps: bool
    has_priorities: bool
    is_text: bool

    @property
    def name(self) -> str:
        """Its tag in journals and its `type` on the wire."""
        return self.plan.kind


_TABLE: Final = (
    # plan, field, noun, has_editable_steps, has_priorities, is_text
    Kind(ItemsPlan, "entries", "list", True, True, False),
    Kind(MarkdownPlan, "content", "proposal", True, False, True),
    Kind(FilePlan, "uri", "file", False, False, False),
    Kind(OtherPlan, None, "plan", False, False, False),
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
    """The name of a plan's kind for people. An unknown kind goes by its sender's name for it."""
    return plan.type if isinstance(plan, OtherPlan) else kind_of(plan).noun


def content_of(plan: Plan) -> Fields:
    """The content of a plan under its wire names; entries are values, ready for the encoder."""
    field = kind_of(plan).field
    return plan.fields if isinstance(plan, OtherPlan) else {str(field): getattr(plan, str(field))}


def entries_of(plan: object) -> tuple[Entry, ...] | None:
    """The entries of an items plan; None for everything else."""
    return plan.entries if isinstance(plan, ItemsPlan) else None


def address_of(plan: Plan) -> str | None:
    """The URI of a plan file; None for everything else."""
    return plan.uri if isinstance(plan, FilePlan) else None


def prose_of(plan: object) -> str | None:
    """The text of a markdown plan; None for everything else."""
    return plan.content if isinstance(plan, MarkdownPlan) else None


def text_of(plan: Plan) -> str:
    """A plan's text besides its entries: its content, its URI, or its fields as JSON."""
    match plan:
        case ItemsPlan():
            return ""
        case MarkdownPlan(content=text) | FilePlan(uri=text):
            return text
        case OtherPlan(type=plan_type, fields=fields):
            value = msgspec.json.encode({"type": plan_type, **fields})
            return f"```json\n{msgspec.json.format(value, indent=2).decode()}\n```"
        case _:
            assert_never(plan)


def drafts_of(plan: Plan) -> list[Draft]:
    """The steps of a plan, still without ids."""
    match plan:
        case ItemsPlan(entries=entries):
            return [Draft(entry.content, entry.status, entry.priority or MEDIUM) for entry in entries]
        case MarkdownPlan(content=text):
            return [Draft(task.text, task.status, depth=task.depth) for task in markdown.parse(text).steps]
        case FilePlan() | OtherPlan():
            return []
        case _:
            assert_never(plan)


def is_prose(plan: Plan) -> bool:
    """Whether a plan has more to read than its steps."""
    text = prose_of(plan)
    if text is None:
        return not isinstance(plan, ItemsPlan)
    document = markdown.parse(text)
    return document.prose or not document.tasks


def is_blank(plan: Plan) -> bool:
    """Whether a plan is empty: no entries, and no text but blanks."""
    return not text_of(plan).strip() and not drafts_of(plan)
