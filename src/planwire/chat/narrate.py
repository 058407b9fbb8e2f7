"""The hidden message that stands for an event in the chat.

A message depends only on the event and the states around it, so folding the journal again gives the same chat: the same
ids and the same words.
"""

from typing import Any

import msgspec

from planwire.chat.messages import EventMessage, Hidden, PlanMessage, Stored, read_message
from planwire.chat.render import LEFT_OUT, UNREAD, block, step_line
from planwire.chat.roles import PLAN_DELTA, REMARK
from planwire.errors import ChatError
from planwire.model.carried import carried_plan
from planwire.model.children import Children, children_of, parent_step, progress_below
from planwire.model.diff import compare
from planwire.model.events import (
    OFFERED,
    FileSeen,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanSet,
    Recorded,
    StepRef,
    Told,
)
from planwire.model.file_texts import ReadFile, address_of, no_files
from planwire.model.kinds import content_of, kind_of, text_of
from planwire.model.lineage import is_told_by_title
from planwire.model.names import id_number, made_name
from planwire.model.plan import PLANS_CAP, Fields, OtherPlan, PlanId
from planwire.model.readers import LEAD, plans_of
from planwire.model.records import AGENT, CONTEXT, PlanRecord, SessionState
from planwire.model.step_changes import AddStep, RemoveStep, RewordStep, SetStatus
from planwire.model.titles import plan_title
from planwire.model.unheard import Words, news


def message_for(recorded: Recorded, before: SessionState, after: SessionState) -> Stored | None:
    """The message of an event, or None if the event has none for the model."""
    match recorded.event:
        case MessageAdded(message=message):
            return _stored(message, made_name(recorded))
        case PlanSet(plan=plan, origin=origin):
            return _plan_set(after, after.plans[plan.id], origin)
        case PlanChanged() as event if event.plan_id in before.live():
            return _delta(recorded, event, before.plans[event.plan_id], after.plans[event.plan_id])
        case FileSeen(plan_id=plan_id) if plan_id in before.live():
            return _file_seen(recorded, before.plans[plan_id], after)
        case PlanRemoved(plan_id=plan_id, origin=origin) if plan_id in before.live():
            return _update(recorded, plan_id, {"removed": True}, origin=origin)
        case PlanReopened(plan_id=plan_id) if plan_id in before.plans and not before.plans[plan_id].is_living:
            return merged_plan(after.plans[plan_id], made_name(recorded), state=after)
        case Told(way=way, stage=stage) as told if way == CONTEXT and stage == OFFERED:
            return remark_message(made_name(recorded), recorded.session, _words_of(told, before))
    return None


def _stored(message: Fields, name: str) -> Stored | None:
    """The message stored in an event, under its own name or else `name`."""
    try:
        return read_message(message, message.get("message_id") or name)
    except ChatError:  # written under other rules
        return None


def _words_of(told: Told, state: SessionState) -> Words:
    """What a telling told."""
    others = frozenset(each.id for record in state.plans.values() for each in record.remarks) - frozenset(told.remarks)
    reader = LEAD if told.reader == AGENT else told.reader
    return news(state, since=told.since, without=others, edits=False, reader=reader)


def remark_message(message_id: str, session: str, words: Words) -> EventMessage:
    """The hidden message with what people said in a session."""
    payload = {"session": session, "items": list(words.items)}
    if words.besides:
        payload["besides"] = list(words.besides)
    return EventMessage(message_id, "", {"subkind": REMARK, "source": "planwire", "payload": _plain(payload)})


def merged_plans(state: SessionState, name: str, read: ReadFile = no_files, reader: str = LEAD) -> list[PlanMessage]:
    """The living plans of a reader as they are now. An old proposal that got no list is told by its title alone, and so
    is what exceeds `PLANS_CAP`: the plans with open remarks come first, then the newest."""
    children, records = children_of(state), [*plans_of(state, reader).values()]
    messages = [
        _by_title(state, record, f"{name}-{number}")
        if is_told_by_title(state, record)
        else _merged(record, f"{name}-{number}", read, state, children)
        for number, record in enumerate(records, start=1)
    ]
    room = PLANS_CAP
    for at in sorted(range(len(records)), key=lambda at: (not records[at].open_remarks, -records[at].revision)):
        size = len(block(messages[at]).encode())
        if size > room and room < PLANS_CAP:
            left_out = _by_title(state, records[at], messages[at].id)
            messages[at] = msgspec.structs.replace(left_out, plan={**left_out.plan, LEFT_OUT: True})
        else:
            room -= size
    return messages


def merged_plan(
    record: PlanRecord, message_id: str, read: ReadFile = no_files, state: SessionState | None = None
) -> PlanMessage:
    """A plan as it is now, with everything since its last version: one message instead of several. `read` returns the
    text of a plan file; `state` has the step that the plan works for, and the plans that work for its steps."""
    return _merged(record, message_id, read, state, children_of(state) if state else {})


def _merged(
    record: PlanRecord, message_id: str, read: ReadFile, state: SessionState | None, children: Children
) -> PlanMessage:
    message = _plan_message(state, record, message_id, record.message)
    merged = {"merged": record.numbered, **_in_file(record, read)}
    if below := progress_below(children, record):
        merged["below"] = {step: str(progress) for step, progress in below.items()}
    return msgspec.structs.replace(message, plan={**message.plan, **merged})


def _by_title(state: SessionState, record: PlanRecord, message_id: str) -> PlanMessage:
    message = _plan_message(state, record, message_id, record.message)
    return msgspec.structs.replace(message, plan={**message.plan, "title": plan_title(record.state.plan)})


def _plan_set(state: SessionState, record: PlanRecord, origin: Fields | None) -> PlanMessage:
    """The message of a version. A message that was carried over stays as it was, if it is the same version here."""
    carried = carried_plan(origin)
    if carried and origin and carried.version == record.version:
        message = _stored(origin, record.message)
        if isinstance(message, PlanMessage):
            return message
    return _plan_message(state, record, record.message, record.past_message)


def _plan_message(
    state: SessionState | None, record: PlanRecord, message_id: str, supersedes: str | None
) -> PlanMessage:
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
    if isinstance(plan, OtherPlan):
        metadata["type"] = plan.type
    if record.state.steps:
        metadata["steps"] = _plain(record.state.steps)
    authors = {step.id: record.authors[step.id] for step in record.state.steps if step.id in record.authors}
    if authors := {step: by for step, by in authors.items() if by != record.by}:
        metadata["authors"] = authors
    if record.summary:
        metadata["summary"] = record.summary
    return PlanMessage(message_id, _content(record), metadata | _past(record) | parent_fields(state, record.parent))


def _past(record: PlanRecord) -> Fields:
    """What a plan keeps from its earlier versions: the numbers of changes and steps so far, and its notes."""
    past: Fields = {}
    if record.numbered:
        past["deltas"] = record.numbered
    if record.state.born > max((id_number("s", step.id) for step in record.state.steps), default=0):
        past["last_step"] = record.state.born
    if record.notes:
        past["notes"] = [
            {"by": each.by, "text": each.text, "number": each.number, "at": each.at} for each in record.notes
        ]
    if record.noted > len(record.notes):
        past["noted"] = record.noted
    return past


def parent_fields(state: SessionState | None, parent: StepRef | None) -> Fields:
    """The step that a plan works for, with its text and its author; nothing if it is gone."""
    found = parent_step(state, parent) if state else None
    if found is None:
        return {}
    lead, step = found
    by = lead.authors.get(step.id, lead.by)
    return {"parent": {"plan_id": lead.state.plan.id, "step": step.id, "text": step.content, "by": by}}


def _content(record: PlanRecord) -> str:
    plan = record.state.plan
    if kind_of(plan).field is None:
        return msgspec.json.encode(content_of(plan)).decode()
    return text_of(plan) or "\n".join(step_line(step) for step in record.state.steps)


def _in_file(record: PlanRecord, read: ReadFile) -> Fields:
    """The text of a plan file, and whether it is from an earlier look. The content of its message is only the
    address."""
    uri = address_of(record.state.plan)
    if uri is None:
        return {}
    now = read(uri)
    text = record.file if record.file is not None else now
    return ({} if text is None else {"text": text}) | ({UNREAD: True} if now is None and read is not no_files else {})


def _file_seen(recorded: Recorded, before: PlanRecord, state: SessionState) -> Hidden:
    """The text of a plan file, once. From then on a change of the file is told by what it changes of the steps: whoever
    saves a file often must not fill the model's context with it."""
    after = state.plans[before.state.plan.id]
    if before.file is None:
        message = _plan_message(state, after, made_name(recorded), after.message)
        return msgspec.structs.replace(message, plan={**message.plan, "text": after.file})
    diff = compare(before.state, after.state)
    changes = [
        *(SetStatus(each.step.id, each.after) for each in diff.status),
        *(RewordStep(each.step.id, each.after) for each in diff.reworded),
        *(RemoveStep(each.step.id) for each in diff.removed),
        *(
            AddStep(
                each.step.content,
                after.state.steps[each.at - 1].id if each.at else "",
                status=each.step.status,
                id=each.step.id,
            )
            for each in diff.added
        ),
    ]
    payload = {"seq": after.numbered, "revision": after.revision, "changes": _plain(changes), "rewritten": True}
    return _update(recorded, before.state.plan.id, payload)


def _delta(recorded: Recorded, event: PlanChanged, before: PlanRecord, after: PlanRecord) -> EventMessage | None:
    if after.numbered == before.numbered:  # it fitted no plan
        return None
    payload: Fields = {
        "seq": after.numbered,
        "created_at_ms": after.changed_at,
        "changes": _plain(event.changes),
        "revision": after.revision,
    }
    return _update(recorded, event.plan_id, payload, event.note or "", event.origin)


def _update(
    recorded: Recorded, plan_id: PlanId, payload: Fields, note: str = "", origin: Fields | None = None
) -> EventMessage:
    """The message of a change. A message that was carried over stays as it was, if it has the same number here."""
    whole = {"plan_id": plan_id, "by": recorded.author, **payload}
    message = None if origin is None else _stored(origin, made_name(recorded))
    if isinstance(message, EventMessage):
        if message.payload.get("seq") == payload.get("seq"):
            return message
        return msgspec.structs.replace(message, event={**message.event, "payload": {**message.payload, **whole}})
    source = "tool.update_plan" if recorded.by == AGENT else recorded.author
    return EventMessage(made_name(recorded), note, {"subkind": PLAN_DELTA, "source": source, "payload": whole})


def _plain(value: Any) -> Any:
    """A value after a round trip through JSON, as the journal returns it."""
    return msgspec.json.decode(msgspec.json.encode(value))
