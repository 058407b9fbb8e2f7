"""The writer: an update in, the line that says it in the peer's dialect out.

Raises `CannotCarry` for anything that the dialect has no form for; `lower` finds a form. Entries always fit: the writer
replaces a word that would make the reader drop the entry. A plan of a type that the reader would refuse goes out as a
text, which replaces what the reader has under its id.
"""

from collections.abc import Sequence
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from planwire.acp.dialects import Dialect
from planwire.acp.messages import PLAIN, Body, Envelope, Extension, Removal, Update
from planwire.errors import CannotCarry
from planwire.model.kinds import text_of
from planwire.model.plan import MAIN, MEDIUM, Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.statuses import DEFAULT_STATUS, status_of

_encode = msgspec.json.Encoder().encode


def write(update: Update, dialect: Dialect) -> bytes:
    """The line that says an update in a dialect, envelope included, without a line feed."""
    body, envelope = update.body, update.envelope
    if isinstance(body, ItemsPlan) and body.id is None and envelope is PLAIN and dialect.baseline:
        if body.meta is None and body.extra is None:  # by far the most frequent line: a struct is faster than a dict
            written = _WrittenList(_wire_entries(body.entries, dialect))
            return _encode(_WrittenLine("2.0", "session/update", _WrittenParams(update.session, written)))
    fields = update_fields(body, dialect)
    if envelope.update:
        fields = fields | envelope.update | fields  # in this order, and planwire's own win
    return write_update(update.session, fields, envelope)


def write_update(session: str | None, update: Fields, envelope: Envelope = PLAIN) -> bytes:
    """The line that carries an update given as its JSON fields."""
    if envelope.bare:
        return _encode(update)
    if not (envelope.params or envelope.message):
        return _encode(_WrittenLine("2.0", "session/update", _WrittenParams(session, update)))
    params = {"sessionId": session, "update": update} | (envelope.params or {})
    return _encode({"jsonrpc": "2.0", "method": "session/update", "params": params} | (envelope.message or {}))


class _WrittenList(Struct, tag_field="sessionUpdate", tag="plan"):
    entries: Sequence[Any]


class _WrittenParams(Struct, rename="camel"):
    session_id: str | None
    update: Fields | _WrittenList


class _WrittenLine(Struct):
    jsonrpc: str
    method: str
    params: _WrittenParams


def fitted(entry: Entry, dialect: Dialect) -> Entry:
    """The entry as readers of the dialect keep it. Words that they don't know move to `_meta`."""
    if dialect.keeps(entry):
        return entry
    content, priority, status = entry.content, entry.priority or MEDIUM, entry.status
    words: Fields = {}
    if dialect.closed and status not in dialect.statuses:
        words["status"] = status
        row = status_of(status)
        if row is None:
            status = DEFAULT_STATUS
        else:
            content, status = f"{row.v1_prefix}{content}", row.v1 or row.word
    if dialect.closed and priority not in dialect.priorities:
        words["priority"] = priority
        priority = MEDIUM
    meta = {**(entry.meta or {}), "planwire": words} if words else entry.meta
    return Entry(content, priority, status, meta, entry.extra)


def update_fields(body: Body, dialect: Dialect) -> Fields:
    """The JSON fields of an update in a dialect."""
    if isinstance(body, ItemsPlan) and body.id is None and dialect.baseline:
        return _put_content({"sessionUpdate": "plan"}, body, dialect)
    if body is None or isinstance(body, Extension):
        what = "an update that could not be read" if body is None else "a piece of text that extends a plan"
        raise CannotCarry(f"{what} has no form of its own in {dialect.name}: write the whole plan")
    if isinstance(body, Removal):
        if not dialect.operations:
            raise CannotCarry(f"{dialect.name} has no removal of plans: send the plans that remain")
        return {"sessionUpdate": "plan_removed", **_ids(body.id, dialect)}
    if not dialect.operations:
        raise CannotCarry(f"{dialect.name} has no form for a plan with an id or of kind {body.kind!r}: lower it first")
    if not dialect.knows(body):
        body = MarkdownPlan(body.id, text_of(body))
    plan_type = body.type if isinstance(body, OtherPlan) else body.kind
    plan = {"type": plan_type, **_ids(MAIN if body.id is None else body.id, dialect)}
    return {"sessionUpdate": "plan_update", "plan": _put_content(plan, body, dialect)}


def _ids(plan_id: str, dialect: Dialect) -> Fields:
    return dict.fromkeys(dialect.id_keys, plan_id)


def _put_content(fields: Fields, plan: Plan, dialect: Dialect) -> Fields:
    """Add a plan's content to the fields that identify it."""
    if isinstance(plan, ItemsPlan):
        fields["entries"] = _wire_entries(plan.entries, dialect)
    elif isinstance(plan, MarkdownPlan):
        fields["content"] = plan.content
    elif isinstance(plan, FilePlan):
        fields["uri"] = plan.uri
    elif isinstance(plan, OtherPlan):
        return plan.fields | fields
    else:
        assert_never(plan)
    if plan.meta is not None:
        fields["_meta"] = plan.meta
    return plan.extra | fields if plan.extra else fields


def _wire_entries(entries: tuple[Entry, ...], dialect: Dialect) -> Sequence[Any]:
    """The entries ready for the encoder: unchanged if each of them fits and has no fields outside the protocol."""
    priorities, statuses = dialect.priorities, dialect.statuses
    for entry in entries:
        if entry.status not in statuses or entry.priority not in priorities or entry.extra is not None:
            return [_wire_entry(fitted(each, dialect)) for each in entries]
    return entries


def _wire_entry(entry: Entry) -> Any:
    if not entry.extra:
        return entry
    fields: Fields = {"content": entry.content, "priority": entry.priority, "status": entry.status}
    if entry.meta is not None:
        fields["_meta"] = entry.meta
    return {**entry.extra, **fields}
