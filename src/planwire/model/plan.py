"""Plans as values: entries, and the four kinds of plan.

These values hold a sender's own words and nothing derived from them: step ids, progress and differences are views that
other modules make. Priorities and statuses are open, as on the newest wire: any string is kept and shown as it came.
`statuses` has a row for each status with a meaning in planwire, `kinds` one for each kind of plan.
"""

from typing import Any, ClassVar, Final, TypeAlias

from msgspec import Struct, field

#: The priorities of the protocol, the most important first.
PRIORITIES: Final = ("high", "medium", "low")
#: The priority of an entry whose sender names none.
MEDIUM: Final = "medium"

#: The most UTF-8 bytes of a plan, of a change to one, and of a remark.
BODY_CAP: Final = 96 * 1024
DELTA_CAP: Final = 16 * 1024
REMARK_CAP: Final = 4 * 1024
#: The most bytes of all plans of a session that a model is told at once: a proposal and the list that carries it out,
#: at their largest, are told whole, and plans fill no more than a quarter of a context of 200,000 tokens.
PLANS_CAP: Final = 2 * BODY_CAP
#: The bytes of notes that a plan's state holds, the newest first. Older notes stay in the journal.
NOTES_CAP: Final = DELTA_CAP

#: Fields of a JSON object that planwire carries without interpreting them: `_meta`, and siblings of known fields.
Fields: TypeAlias = dict[str, Any]

#: The identity of a plan within its session. None belongs to the v1 `plan` update, which has no identity.
PlanId: TypeAlias = str | None
#: The default plan id. Dialects that require an id use it for the plan without one (R27).
MAIN: Final = "main"
#: The id of a plan under review that its agent does not name: claude-agent-acp uses it for the plan later.
PLAN_MODE: Final = "plan-mode"


#: The key of `Entry.extra` in journals. It must never come from a wire or reach one.
EXTRA: Final = "\x7fextra"


class Entry(Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """One entry of an items plan.

    `priority` is None if the sender left it out: the entry shows as `medium` but remembers the gap.
    `extra` holds fields that the protocol does not define. Its stored key starts with a control character, so that a
    sender's own field "extra" stays a field like any other.
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
    """A text. Its checkboxes are its steps; a text without any is a proposal."""

    kind: ClassVar[str] = "markdown"
    id: PlanId
    content: str
    meta: Fields | None = None
    extra: Fields | None = None


class FilePlan(Struct, frozen=True, tag_field="kind", tag="file", omit_defaults=True):
    """A plan that lives in a file. The URI stays as it came; nothing in `model` opens it."""

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
