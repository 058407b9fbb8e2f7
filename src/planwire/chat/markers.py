"""Markers: messages that replace others in a compaction, and the past plans that it leaves out.

A plan is past once a newer version supersedes it or its author removes it. Past plans stay in the journal and in stored
streams. A marker names their ids, and from then on neither they nor the marker reach the model.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Final, TypeGuard

from planwire.chat.messages import EventMessage, PlanMessage, Stored
from planwire.chat.roles import PLAN_DELTA, SUMMARIZATION_MARKER
from planwire.model.plan import Fields

SOURCE: Final = "planwire.compact"


def history_marker(messages: Sequence[Stored], source: str, subkind: str) -> EventMessage:
    """A marker that counts events of a source and subkind, for the place of the first."""
    first, count = _origin(messages[0]), sum(map(counted, messages))
    payload = {"summarized_subkind": subkind, "count": count, "first_message_id": first}
    return _marker(f"history:{source}:{subkind}:{count}:{first}", payload, source=source)


def summary_marker(messages: Sequence[Stored], text: str | None, steps: Sequence[str] = ()) -> EventMessage:
    """A marker for the place of the first of several messages, with their summary if there is one. `steps` are the
    steps that all of them belong to."""
    first, count = _origin(messages[0]), sum(map(counted, messages))
    named = {"first_message_id": first, "sources": [message.id for message in messages]}
    return _summary(f"summary:{count}:{first}", count, text, steps, named)


def priced_marker(count: int, text: str | None, steps: Sequence[str]) -> EventMessage:
    """A marker that reads like the one for `count` messages, to find out what that one will cost."""
    return _summary("", count, text, steps, {})


def is_count(message: Stored) -> bool:
    """Whether a message is a marker that only counts others."""
    match message:
        case EventMessage(subkind="summarization_marker", source="planwire.compact", payload={"count": int(count)}):
            return message.content == _words(count)
    return False


def is_summary(message: Stored) -> bool:
    """Whether a message replaces others with a summary of them."""
    match message:
        case EventMessage(subkind="summarization_marker", payload={"sources": list()}):
            return not is_count(message)
    return False


def past_plans(messages: Sequence[Stored], ended: Container[str] = ()) -> set[int]:
    """The indexes of past plans and of the changes to them: the highest version is current. `ended` are the ids of
    proposals whose life has ended. A change that has the only copy of a note stays."""
    bases: dict[str, int] = {}
    newest: dict[str, PlanMessage] = {}
    for index, message in enumerate(messages):
        if isinstance(message, PlanMessage):
            other = newest.get(message.plan_id)
            if other is None or message.version >= other.version:
                bases[message.plan_id] = index
                newest[message.plan_id] = message
    changes = [(index, each) for index, each in enumerate(messages) if _is_change(each)]
    removed = {
        each.plan_id for index, each in changes if each.payload.get("removed") and index > bases.get(each.plan_id, -1)
    }
    removed |= {plan_id for plan_id in bases if plan_id in ended}
    past = {
        index
        for index, each in changes
        if each.plan_id in removed
        or (index < bases.get(each.plan_id, -1) and not _is_only_copy(each, newest[each.plan_id]))
    }
    for index, message in enumerate(messages):
        if isinstance(message, PlanMessage) and (message.plan_id in removed or index != bases[message.plan_id]):
            past.add(index)
    return past


def _is_only_copy(change: EventMessage, plan: PlanMessage) -> bool:
    """Whether a change has a note that a newer version neither repeats nor counts. Notes belong to the plan, but other
    programs don't put them into its message."""
    notes = plan.plan.get("notes")
    texts = [each.get("text") if isinstance(each, dict) else each for each in notes] if isinstance(notes, list) else []
    return bool(change.content) and change.content not in texts and not plan.plan.get("noted")


def plan_messages(messages: Sequence[Stored]) -> set[int]:
    """The indexes of all plans and of all changes to them."""
    return {index for index, each in enumerate(messages) if isinstance(each, PlanMessage) or _is_change(each)}


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


def counted(message: Stored) -> int:
    """The number of messages that one stands for: a marker for as many as it counts."""
    match message:
        case EventMessage(subkind="summarization_marker", payload={"count": int(count)}):
            return count
    return 1


def _words(count: int) -> str:
    return "1 earlier message was left out here" if count == 1 else f"{count} earlier messages were left out here"


def _summary(message_id: str, count: int, text: str | None, steps: Sequence[str], named: Fields) -> EventMessage:
    payload: Fields = {"count": count, **({"steps": list(steps)} if steps else {}), **named}
    return _marker(message_id, payload, _words(count) if text is None else text)


def _origin(message: Stored) -> str:
    """The id of the first message that one stands for."""
    match message:
        case EventMessage(subkind="summarization_marker", payload={"first_message_id": str(first)}):
            return first
    return message.id


def _marker(message_id: str, payload: Fields, text: str = "", *, source: str = SOURCE) -> EventMessage:
    event = {"subkind": SUMMARIZATION_MARKER, "source": source, "payload": payload}
    return EventMessage(message_id, text, event)
