"""Markers: messages that stand for others after a compaction, and the plans that one leaves out as past.

A plan is past once a newer version supersedes it or its author removes it. Past plans stay in the journal and in stored
streams. A marker names their ids, and from there on neither they nor the marker reach the model.
"""

import re
from collections.abc import Container, Iterable, Sequence
from typing import Final, TypeGuard

import msgspec

from planwire.chat.formats import Format
from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, Stored
from planwire.chat.roles import PLAN_DELTA, REMARK, SUMMARIZATION_MARKER
from planwire.model.plan import Fields
from planwire.model.records import TOOL, SessionState

__all__ = [
    "history_marker",
    "past_plans",
    "plan_messages",
    "renewed_remarks",
    "retired_ids",
    "retired_marker",
    "summary_marker",
    "told_in_answers",
]

SOURCE: Final = "planwire.compact"


def history_marker(messages: Sequence[Stored], source: str, subkind: str) -> EventMessage:
    """A marker that counts events of a source and subkind, in the place of the first."""
    first, count = _origin(messages[0]), sum(map(_counted, messages))
    payload = {"summarized_subkind": subkind, "count": count, "first_message_id": first}
    return _marker(f"history:{source}:{subkind}:{count}:{first}", payload, source=source)


def summary_marker(messages: Sequence[Stored], text: str | None) -> EventMessage:
    """A marker in the place of the first of several messages, with a summary of them if there is one."""
    first, count = _origin(messages[0]), sum(map(_counted, messages))
    payload = {"count": count, "first_message_id": first, "sources": [message.id for message in messages]}
    words = "1 earlier message was" if count == 1 else f"{count} earlier messages were"
    return _marker(f"summary:{count}:{first}", payload, f"{words} left out here" if text is None else text)


def past_plans(messages: Sequence[Stored], ended: Container[str] = ()) -> set[int]:
    """The indexes of past plans and of the changes to them. `ended` are the ids of proposals whose life has ended."""
    bases: dict[str, int] = {}
    versions: dict[str, int] = {}
    for index, message in enumerate(messages):
        if isinstance(message, PlanMessage) and message.version >= versions.get(message.plan_id, message.version):
            bases[message.plan_id] = index
            versions[message.plan_id] = message.version
    changes = [(index, each) for index, each in enumerate(messages) if _is_change(each)]
    removed = {
        each.plan_id for index, each in changes if each.payload.get("removed") and index > bases.get(each.plan_id, -1)
    }
    removed |= {plan_id for plan_id in bases if plan_id in ended}
    past = {index for index, each in changes if each.plan_id in removed or index < bases.get(each.plan_id, -1)}
    for index, message in enumerate(messages):
        if isinstance(message, PlanMessage) and (message.plan_id in removed or index != bases[message.plan_id]):
            past.add(index)
    return past


def plan_messages(messages: Sequence[Stored]) -> set[int]:
    """The indexes of all plans and of all changes to them."""
    return {index for index, each in enumerate(messages) if isinstance(each, PlanMessage) or _is_change(each)}


def renewed_remarks(
    messages: Iterable[Stored], session: str, fresh: EventMessage | None
) -> tuple[list[EventMessage], set[str]]:
    """What people said in a session, made anew: the message to write, if it says anything new, and the ids of those
    that it replaces. Those of another session came along with its chat, and are all that is left of it."""
    old = [
        each
        for each in messages
        if isinstance(each, EventMessage) and each.subkind == REMARK and each.payload.get("session") == session
    ]
    if fresh and len(old) == 1 and old[0].payload == fresh.payload:
        return [], set()
    return [fresh] if fresh else [], {each.id for each in old}


def told_in_answers(state: SessionState, messages: Iterable[Stored], form: Format) -> set[str]:
    """The ids of the remarks that a chat shows in the answer of a tool. They need no message of their own for as long
    as that answer is there."""
    tellings = [
        (each.told.request, each.id)
        for record in state.plans.values()
        for each in record.open_remarks
        if each.told and each.told.way == TOOL
    ]
    if not tellings:
        return set()
    results = (each.message for each in messages if isinstance(each, Ordinary) and form.results(each.message))
    text = "\n".join(msgspec.json.encode(each).decode() for each in results)
    return {remark for request, remark in tellings if re.search(rf"\b{re.escape(request)}\b", text)}


def retired_marker(ids: Iterable[str]) -> EventMessage:
    """A marker that names the plans that a compaction left out."""
    return _marker("retired-plans", {"retired": list(ids)})


def retired_ids(message: Stored) -> list[str] | None:
    """The ids that a `retired_marker` names; None for any other message."""
    match message:
        case EventMessage(subkind="summarization_marker", payload={"retired": list(ids)}):
            return [each for each in ids if isinstance(each, str)]
    return None


def _is_change(message: Stored) -> TypeGuard[EventMessage]:
    return isinstance(message, EventMessage) and message.subkind == PLAN_DELTA


def _counted(message: Stored) -> int:
    """The number of messages behind one: a marker stands for as many as it counts."""
    match message:
        case EventMessage(subkind="summarization_marker", payload={"count": int(count)}):
            return count
    return 1


def _origin(message: Stored) -> str:
    """The id of the first message behind one."""
    match message:
        case EventMessage(subkind="summarization_marker", payload={"first_message_id": str(first)}):
            return first
    return message.id


def _marker(message_id: str, payload: Fields, text: str = "", *, source: str = SOURCE) -> EventMessage:
    event = {"subkind": SUMMARIZATION_MARKER, "source": source, "payload": payload}
    return EventMessage(message_id, text, event)
