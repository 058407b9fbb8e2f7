"""What a plan is: entries, and the four kinds of plan.

These are values. They hold what a sender said and nothing derived from it: ids of steps, progress and differences are
views, made in other modules. Priorities and statuses are open, as they are on the newest wire: any string is kept and
shown as it is. `statuses` has a row for each status that means something here, `kinds` one for each kind of plan.
"""

from typing import Any, ClassVar, TypeAlias

from msgspec import Struct, field

__all__ = [
    "MEDIUM",
    "PRIORITIES",
    "Entry",
    "Fields",
    "FilePlan",
    "ItemsPlan",
    "MarkdownPlan",
    "OtherPlan",
    "Plan",
    "PlanId",
]

PRIORITIES = ("high", "medium", "low")
#: The priority of an entry whose sender names none.
MEDIUM = "medium"

#: JSON object fields that planwire carries without giving them a meaning: `_meta`, and siblings of known fields.
Fields: TypeAlias = dict[str, Any]

#: The identity of a plan within its session. None belongs to the v1 `plan` update, which has no identity.
PlanId: TypeAlias = str | None


#: What `Entry.extra` is called where entries are stored. It must never come from a wire or reach one.
EXTRA = "\x7fextra"


class Entry(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """One entry of an items plan.

    `priority` is None when the sender left it out: such an entry is shown as `medium` and remembered as it came.
    `extra` holds fields that the protocol does not define. Its name is one that nobody uses, so that a field which
    happens to be called "extra" is kept like any other.
    """

    content: str
    priority: str | None
    status: str
    meta: Fields | None = field(name="_meta", default=None)
    extra: Fields | None = field(name=EXTRA, default=None)


class ItemsPlan(Struct, frozen=True, tag_field="kind", tag="items", omit_defaults=True):
    """A list of entries: a checklist."""

    kind: ClassVar[str] = "items"
    id: PlanId
    entries: tuple[Entry, ...]
    meta: Fields | None = None
    extra: Fields | None = None


class MarkdownPlan(Struct, frozen=True, tag_field="kind", tag="markdown", omit_defaults=True):
    """A text. Its task-list checkboxes, if it has any, are its steps; without them it is a proposal."""

    kind: ClassVar[str] = "markdown"
    id: PlanId
    content: str
    meta: Fields | None = None
    extra: Fields | None = None


class FilePlan(Struct, frozen=True, tag_field="kind", tag="file", omit_defaults=True):
    """A plan that lives in a file. The URI is kept as it came and never opened here."""

    kind: ClassVar[str] = "file"
    id: PlanId
    uri: str
    meta: Fields | None = None
    extra: Fields | None = None


class OtherPlan(Struct, frozen=True, tag_field="kind", tag="other", omit_defaults=True):
    """A custom or future kind, kept whole: `fields` is everything but its type and its id."""

    kind: ClassVar[str] = "other"
    id: PlanId
    type: str
    fields: Fields


Plan: TypeAlias = ItemsPlan | MarkdownPlan | FilePlan | OtherPlan
