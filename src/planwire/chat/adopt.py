"""The events that bring a message of another chat into a session.

A plan becomes a plan of the session, with its history, which `model.carried` reads from the message. What people said
becomes their remarks, under their names. A change that does not fit the plan here, and words on a plan that is not here
stay messages: the model sees them as they were, and they change nothing.

The caps of the tools are for calls, not for what another program allowed: its plans and notes are kept as they are, up
to `MOST_BYTES`, and refused in words beyond that.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from planwire.chat.messages import EventMessage, PlanMessage, Stored, write_message
from planwire.chat.render import message_steps
from planwire.chat.roles import PLAN_DELTA, REMARK
from planwire.errors import BadMessage, PlanError
from planwire.model.authors import authored
from planwire.model.carried import carried_plan
from planwire.model.changes import apply_changes
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    REQUEST,
    SELECTION,
    SUGGESTION,
    Event,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    RemarkClosed,
    Remarked,
    SessionOpened,
    StepRef,
    Told,
)
from planwire.model.kinds import kind_named
from planwire.model.plan import Entry, Fields, FilePlan, ItemsPlan, MarkdownPlan, Plan
from planwire.model.readers import LEAD, told_as
from planwire.model.records import AGENT, PlanRecord, SessionState
from planwire.model.sizes import plan_bytes
from planwire.model.step_changes import StepChange

#: The most bytes of a plan or a note from another program: more than Refact allows (96 Ki characters) in any language.
MOST_BYTES: Final = 512 * 1024
#: A count of remarks that no chat can reach: a greater one is not believed.
MOST_REMARKS: Final = 1_000_000_000
#: The way of a verdict that came with a chat.
IMPORTED: Final = "import"

_REMARKS: Final = frozenset((COMMENT, REQUEST, SELECTION, SUGGESTION))
_VERDICTS: Final = frozenset((APPROVED, CHANGES_REQUESTED))


class Adopted(Struct, frozen=True):
    """An event to write, and its author, if that is not the session's own."""

    event: Event
    by: str | None = None


def adopted(message: Stored, state: SessionState, *, named: bool, reader: str = LEAD) -> list[Adopted]:
    """The events that bring a message into a reader's chat. If its author `named` it, it keeps its name."""
    origin = write_message(message)
    if not named:
        del origin["message_id"]
    match message:
        case PlanMessage():
            plan = _plan(message)
            _refuse_larger("plan", plan_bytes(plan))
            summary, mode = message.plan.get("summary"), message.plan.get("mode")
            why = summary if isinstance(summary, str) else None
            mode = mode if isinstance(mode, str) else ""
            parent = _parent(message)
            ids = carried.ids(plan) if (carried := carried_plan(origin)) else ()
            return [Adopted(PlanSet(plan, why, mode=mode, parent=parent, reader=reader, origin=origin, ids=ids))]
        case EventMessage(subkind=kind, plan_id=plan_id) if kind == PLAN_DELTA and plan_id in state.live():
            if message.payload.get("removed") is True:
                return [Adopted(PlanRemoved(plan_id, origin))]
            if change := _change(message, state.plans[plan_id], origin):
                return [Adopted(change)]
        case EventMessage(subkind=kind) if kind == REMARK:
            return [*_words(message, state, named=named, reader=reader)]
    return [Adopted(MessageAdded(origin, reader))]


def _plan(message: PlanMessage) -> Plan:
    kind = kind_named(message.plan.get("kind"))
    if kind and kind.plan is FilePlan:
        return FilePlan(message.plan_id, message.content)
    steps = message_steps(message)
    if steps and ((kind and kind.has_priorities) or not message.content):
        entries = (Entry(step.content, step.priority, step.status) for step in steps)
        return ItemsPlan(message.plan_id, tuple(entries))
    return MarkdownPlan(message.plan_id, message.content)


def _refuse_larger(what: str, size: int) -> None:
    if size > MOST_BYTES:
        raise BadMessage(f"the {what} has {size:,} bytes, and at most {MOST_BYTES:,} can be imported: make it shorter")


def _parent(message: PlanMessage) -> StepRef | None:
    """The step that the plan works for."""
    match message.plan.get("parent"):
        case {"plan_id": str() | None as plan_id, "step": str(step)}:
            return StepRef(plan_id, step)
    return None


def _change(message: EventMessage, record: PlanRecord, origin: Fields) -> PlanChanged | None:
    try:
        changes = msgspec.convert(message.payload.get("changes") or [], tuple[StepChange, ...])
        after = apply_changes(record.state, changes)
    except (msgspec.ValidationError, PlanError):
        return None
    _refuse_larger("plan", plan_bytes(after.plan))
    _refuse_larger("note", len(message.content.encode()))
    note = message.content or None
    return PlanChanged(message.plan_id, note, changes, origin=origin) if note or changes else None


def _words(message: EventMessage, state: SessionState, *, named: bool, reader: str) -> Iterator[Adopted]:
    """What people said, as their remarks here; the rest of it as a message."""
    items = message.payload.get("items")
    rest: list[Fields] = []
    match message.payload.get("remarked"):
        case int(count) if state.remarked < count < MOST_REMARKS:
            yield Adopted(SessionOpened(remarked=count))
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            events = [*_word(item, state, reader)]
            yield from events
            if not events:
                rest.append({key: word for key, word in item.items() if key != "id"})
    if rest or not isinstance(items, list):
        payload = {**message.payload, "items": rest} if rest else message.payload
        payload = {key: word for key, word in payload.items() if key not in ("besides", "remarked")}
        left = write_message(replace(message, event={**message.event, "payload": payload}))
        if not named:
            del left["message_id"]
        yield Adopted(MessageAdded(left, reader))


def _word(item: Fields, state: SessionState, reader: str) -> Iterator[Adopted]:
    """The events of one thing that a person said, if its plan is here."""
    record = state.plans.get(item.get("plan_id"))
    by, kind = item.get("by"), item.get("said")
    if record is None or not isinstance(by, str) or by == AGENT:
        return
    by = authored(by, item["way"]) if isinstance(item.get("way"), str) else by
    if kind == "verdict" and item.get("verdict") in _VERDICTS:
        answer = item.get("answer")
        given = answer if isinstance(answer, str) else None
        plan_id, verdict = record.state.plan.id, str(item["verdict"])
        yield Adopted(PlanReviewed(plan_id, record.revision, verdict, answer=given, via=IMPORTED), by)
    elif kind == "closed" and isinstance(whole := item.get("remark"), dict):
        yield from _word({**whole, "told": item.get("told")}, state, reader)
        how, text = str(item.get("how")), str(item.get("text") or "")
        yield Adopted(RemarkClosed(record.state.plan.id, str(item.get("id")), how, text), by)
    elif kind in _REMARKS and (remark := _remark(item, record)):
        yield Adopted(remark, by)
        match item:
            case {"told": {"way": str(way), "request": str(request)}} if remark.carried and not state.remark(remark.id):
                steps = item["told"].get("stale")
                stale = {remark.id: tuple(map(str, steps))} if isinstance(steps, list) and steps else {}
                yield Adopted(Told(way, 0, 0, (remark.id,), request, reader=told_as(reader), stale=stale))


def _remark(item: Fields, record: PlanRecord) -> Remarked | None:
    fields: dict[str, Any] = {
        "plan_id": record.state.plan.id,
        "kind": item["said"],
        "text": item.get("text") or "",
        "revision": record.revision,
        "step": item.get("step"),
        "passage": item.get("passage") or ({"text": item["quote"]} if item.get("quote") else None),
        "steps": item.get("steps") or (),
        "changes": item.get("changes") or (),
        "kept": bool(item.get("in_force")),
        "about": item.get("about") or {},
        "id": item.get("id") or "",
        "carried": bool(item.get("id")),
    }
    try:
        return msgspec.convert({"event": "remarked", **fields}, Remarked)
    except msgspec.ValidationError:
        return None
