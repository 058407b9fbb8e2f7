"""The hidden message that stands for an event in the chat, and the event that brings in a message of another stream.

A message depends on the event and the states around it, so folding the journal again gives the same chat: the same ids
and the same words.
"""

from collections.abc import Iterator
from typing import Any, TypeGuard

import msgspec

from planwire.chat.messages import EventMessage, PlanMessage, Stored, read_message, write_message
from planwire.chat.render import message_steps, step_line
from planwire.chat.roles import PLAN_DELTA, REMARK
from planwire.errors import ChatError, PlanError
from planwire.model.changes import apply_changes
from planwire.model.events import (
    DISMISSED,
    OFFERED,
    AddStep,
    Event,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Recorded,
    StepChange,
    Told,
)
from planwire.model.file_texts import ReadFile, no_files, with_text
from planwire.model.kinds import content_of, kind_named, kind_of, text_of
from planwire.model.lineage import is_told_by_title
from planwire.model.plan import Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, Plan, PlanId
from planwire.model.records import AGENT, CONTEXT, PlanRecord, SessionState
from planwire.model.titles import plan_title
from planwire.model.unheard import Words, items_of_review, news

__all__ = ["adopted", "merged_plan", "merged_plans", "message_for", "remark_message"]


def message_for(recorded: Recorded, before: SessionState, after: SessionState) -> Stored | None:
    """The message of an event, or None if it says nothing to the model."""
    match recorded.event:
        case MessageAdded(message=message):
            try:
                return read_message(message, message.get("message_id") or f"m{recorded.seq}")
            except ChatError:  # written under other rules
                return None
        case PlanSet(plan=plan):
            return _plan_set(recorded.seq, after.plans[plan.id])
        case PlanChanged() as event if event.plan_id in before.live():
            return _delta(recorded, event, before.plans[event.plan_id], after.plans[event.plan_id])
        case PlanRemoved(plan_id=plan_id) if plan_id in before.live():
            return _update(recorded, plan_id, {"removed": True})
        case PlanReopened(plan_id=plan_id) if plan_id in before.plans and not before.plans[plan_id].is_living:
            return merged_plan(after.plans[plan_id], _plan_name(recorded.seq))
        case PlanReviewed(via="", plan_id=plan_id) as event if plan_id in before.plans and event.verdict != DISMISSED:
            words = Words(tuple(items_of_review(event, recorded.by)))
            return remark_message(f"delta-{recorded.seq}", recorded.session, words)
        case Told(way=way, stage=stage) as told if way == CONTEXT and stage == OFFERED:
            return remark_message(f"told-{recorded.seq}", recorded.session, _words_of(told, before))
    return None


def _words_of(told: Told, state: SessionState) -> Words:
    """The words that a telling told."""
    others = frozenset(each.id for record in state.plans.values() for each in record.remarks) - frozenset(told.remarks)
    return news(state, since=told.since, without=others, edits=False)


def remark_message(message_id: str, session: str, words: Words) -> EventMessage:
    """What people said, as a hidden message of the session that it was said in."""
    payload = {"session": session, "items": list(words.items)}
    if words.besides:
        payload["besides"] = list(words.besides)
    return EventMessage(message_id, "", {"subkind": REMARK, "source": "planwire", "payload": _plain(payload)})


def merged_plans(state: SessionState, name: str, read: ReadFile = no_files) -> list[PlanMessage]:
    """The living plans of a session as they are now. An old proposal that got no list is told by its title."""
    return [
        _by_title(record, f"{name}-{number}")
        if is_told_by_title(state, record)
        else merged_plan(record, f"{name}-{number}", read)
        for number, record in enumerate(state.living().values(), start=1)
    ]


def merged_plan(record: PlanRecord, message_id: str, read: ReadFile = no_files) -> PlanMessage:
    """A plan as it is now, with everything since its last version: one message instead of several. `read` gives the
    text of a plan file."""
    message = _plan_message(record, message_id, _plan_name(record.base))
    merged = {"merged": record.numbered, **_notes(record), **_in_file(record.state.plan, read)}
    return msgspec.structs.replace(message, plan={**message.plan, **merged})


def _notes(record: PlanRecord) -> Fields:
    """The notes of a plan, whichever version they came with, and the number of those that its state no longer has."""
    older = record.noted - len(record.notes)
    notes = [{"by": note.by, "text": note.text} for note in record.notes]
    return {"notes": notes, **({"older_notes": older} if older > 0 else {})}


def _by_title(record: PlanRecord, message_id: str) -> PlanMessage:
    message = _plan_message(record, message_id, _plan_name(record.base))
    return msgspec.structs.replace(message, plan={**message.plan, "title": plan_title(record.state.plan)})


def _plan_name(seq: int) -> str:
    return f"plan-{seq}"


def _plan_set(seq: int, record: PlanRecord) -> PlanMessage:
    earlier = None if record.supersedes is None else _plan_name(record.supersedes)
    return _plan_message(record, _plan_name(seq), earlier)


def _plan_message(record: PlanRecord, message_id: str, supersedes: str | None) -> PlanMessage:
    plan = record.state.plan
    metadata: Fields = {
        "id": plan.id,
        "mode": record.mode,
        "version": record.version,
        "created_at_ms": record.changed_at,
        "supersedes": supersedes,
        "revision": record.revision,
        "kind": plan.kind,
        "by": record.by,
    }
    if record.state.steps:
        metadata["steps"] = _plain(record.state.steps)
    authors = {step.id: record.authors[step.id] for step in record.state.steps if step.id in record.authors}
    if authors := {step: by for step, by in authors.items() if by != record.by}:
        metadata["authors"] = authors
    if record.summary:
        metadata["summary"] = record.summary
    return PlanMessage(message_id, _content(record), metadata)


def _content(record: PlanRecord) -> str:
    plan = record.state.plan
    if kind_of(plan).field is None:
        return msgspec.json.encode(content_of(plan)).decode()
    return text_of(plan) or "\n".join(step_line(step) for step in record.state.steps)


def _in_file(plan: Plan, read: ReadFile) -> Fields:
    """The text of a plan file. The content of its message is the address."""
    shown = with_text(plan, read)
    return {} if shown is plan else {"text": text_of(shown)}


def _delta(recorded: Recorded, event: PlanChanged, before: PlanRecord, after: PlanRecord) -> EventMessage | None:
    if len(after.deltas) == len(before.deltas):  # a suggestion of an older journal, which is a remark
        return None
    known = {step.id for step in before.state.steps}
    added = (step.id for step in after.state.steps if step.id not in known)
    new = iter(sorted(added, key=lambda step: int(step.removeprefix("s"))))
    changes = [_with_id(change, new) for change in event.changes]
    payload: Fields = {"seq": after.numbered, "changes": changes, "revision": after.revision}
    return _update(recorded, event.plan_id, payload, event.note or "")


def _with_id(change: StepChange, new: Iterator[str]) -> Fields:
    """A change in its stored form, with the id of a step that it added."""
    fields: Fields = _plain(change)
    if isinstance(change, AddStep) and (step := next(new, None)):
        fields["id"] = step
    return fields


def _update(recorded: Recorded, plan_id: PlanId, payload: Fields, note: str = "") -> EventMessage:
    source = "tool.update_plan" if recorded.by == AGENT else recorded.by
    whole = {"plan_id": plan_id, "by": recorded.by, **payload}
    return EventMessage(f"delta-{recorded.seq}", note, {"subkind": PLAN_DELTA, "source": source, "payload": whole})


def _plain(value: Any) -> Any:
    """A value after a round trip through JSON, as the journal gives it back."""
    return msgspec.json.decode(msgspec.json.encode(value))


def adopted(message: Stored, state: SessionState, *, named: bool) -> Event:
    """The event that brings a message into the session, with the id of the message if its author `named` it.

    A plan in it becomes a plan of the session. A change that does not fit the plan here, a suggestion and a review stay
    messages: the model sees them as they were, and they change nothing.
    """
    match message:
        case PlanMessage():
            summary = message.plan.get("summary")
            mode = message.plan.get("mode")
            return PlanSet(
                _plan(message),
                summary if isinstance(summary, str) else None,
                mode=mode if isinstance(mode, str) else "",
            )
        case EventMessage(subkind=kind, plan_id=plan_id) if kind == PLAN_DELTA and plan_id in state.live():
            if message.payload.get("removed") is True:
                return PlanRemoved(plan_id)
            if change := _change(message, state.plans[plan_id]):
                return change
    fields = write_message(_without_ids(message) if _is_foreign(message, state) else message)
    if not named:
        del fields["message_id"]
    return MessageAdded(fields)


def _is_foreign(message: Stored, state: SessionState) -> TypeGuard[EventMessage]:
    """Whether a message holds what people said in another session."""
    return (
        isinstance(message, EventMessage) and message.subkind == REMARK and message.payload.get("session") != state.id
    )


def _without_ids(message: EventMessage) -> EventMessage:
    """A message with what people said elsewhere: nobody here knows those remarks by their ids, and others have them."""
    items = message.payload.get("items")
    if not isinstance(items, list):
        return message
    plain = [{key: word for key, word in each.items() if key != "id"} for each in items if isinstance(each, dict)]
    return msgspec.structs.replace(message, event={**message.event, "payload": {**message.payload, "items": plain}})


def _plan(message: PlanMessage) -> Plan:
    kind = kind_named(message.plan.get("kind"))
    if kind and kind.plan is FilePlan:
        return FilePlan(message.plan_id, message.content)
    steps = message_steps(message)
    if steps and ((kind and kind.has_priorities) or not message.content):
        entries = (Entry(step.content, step.priority, step.status) for step in steps)
        return ItemsPlan(message.plan_id, tuple(entries))
    return MarkdownPlan(message.plan_id, message.content)


def _change(message: EventMessage, record: PlanRecord) -> PlanChanged | None:
    if message.payload.get("wish"):
        return None
    try:
        changes = msgspec.convert(message.payload.get("changes") or [], tuple[StepChange, ...])
        apply_changes(record.state, changes)
    except (msgspec.ValidationError, PlanError):
        return None
    note = message.content or None
    return PlanChanged(message.plan_id, note, changes) if note or changes else None
