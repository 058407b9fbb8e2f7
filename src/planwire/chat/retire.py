"""Which plans in a stream are of the past: superseded by a newer version, or removed.

They stay stored. A compaction writes their ids into a marker, and from there on neither they nor the marker are shown.
"""

from collections.abc import Container, Iterable, Sequence
from typing import TypeGuard

from planwire.chat.messages import EventMessage, PlanMessage, Stored
from planwire.chat.roles import PLAN_DELTA, SUMMARIZATION_MARKER

__all__ = ["past_plans", "plan_messages", "retired_ids", "retired_marker"]


def past_plans(messages: Sequence[Stored]) -> set[int]:
    """The indexes of plans that are superseded or removed, and of the changes that were made to them.

    What a person wished for a plan outlives it: a wish is of the past once it is taken back, or the plan is removed.
    """
    bases: dict[str, int] = {}
    versions: dict[str, int] = {}
    for index, message in enumerate(messages):
        if isinstance(message, PlanMessage) and message.version >= versions.get(message.plan_id, 0):
            bases[message.plan_id] = index
            versions[message.plan_id] = message.version
    changes = [(index, each) for index, each in enumerate(messages) if _is_change(each)]
    removed = {
        each.plan_id for index, each in changes if each.payload.get("removed") and index > bases.get(each.plan_id, -1)
    }
    withdrawn = {(each.plan_id, repr(each.payload["withdrawn"])) for _, each in changes if "withdrawn" in each.payload}
    past = {
        index
        for index, each in changes
        if each.plan_id in removed or (index < bases.get(each.plan_id, -1) and not _is_wish(each, withdrawn))
    }
    for index, message in enumerate(messages):
        if isinstance(message, PlanMessage) and (message.plan_id in removed or index != bases[message.plan_id]):
            past.add(index)
    return past


def plan_messages(messages: Sequence[Stored]) -> set[int]:
    """The indexes of all plans and of all changes to them."""
    return {index for index, each in enumerate(messages) if isinstance(each, PlanMessage) or _is_change(each)}


def retired_marker(ids: Iterable[str]) -> EventMessage:
    """What a stream says of the plans that are not shown any more."""
    event = {"subkind": SUMMARIZATION_MARKER, "source": "planwire.compact", "payload": {"retired": list(ids)}}
    return EventMessage("retired-plans", "", event)


def retired_ids(message: Stored) -> list[str] | None:
    """The ids that such a marker names, or None if the message is something else."""
    match message:
        case EventMessage(subkind="summarization_marker", payload={"retired": list(ids)}):
            return [each for each in ids if isinstance(each, str)]
    return None


def _is_change(message: Stored) -> TypeGuard[EventMessage]:
    return isinstance(message, EventMessage) and message.subkind == PLAN_DELTA


def _is_wish(change: EventMessage, withdrawn: Container[tuple[str, str]]) -> bool:
    return bool(change.payload.get("wish")) and (change.plan_id, repr(change.payload.get("seq"))) not in withdrawn
