"""What the relay does about updates that are not plans: turns, compactions, titles, tool calls, echoes."""

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from planwire.acp.write import write_update
from planwire.model.events import ContextCompacted, SessionOpened, TurnEnded
from planwire.model.plan import Fields
from planwire.relay.actions import BY_RELAY, Action, Record, ToClient
from planwire.relay.capabilities import Capabilities
from planwire.relay.compaction import COMPACTION_UPDATES
from planwire.relay.envelope import text_of
from planwire.relay.questions import Approvals
from planwire.relay.reminder import marks_in, without_echo_in_line
from planwire.relay.wire_session import WireSession

__all__ = ["HANDLERS", "Settled"]


class Settled(Struct, frozen=True):
    """What holds for the whole connection: the capabilities, once they are agreed, and the questions about plans."""

    capabilities: Capabilities | None
    approvals: Approvals


#: A line, the update on it, its session, and what is settled.
Handler: TypeAlias = Callable[[bytes, Fields, WireSession, Settled], list[Action]]


def _state_changed(line: bytes, update: Fields, session: WireSession, _settled: Settled) -> list[Action]:
    """The end of a turn in version 2. History that is retold ends with such an update too (R40)."""
    if update.get("state") != "idle" or session.is_retold:
        return [ToClient(line)]
    session.end_turn()
    return [ToClient(line), Record(session.id, TurnEnded(text_of(update, "stopReason") or "end_turn"))]


def _compacted(line: bytes, update: Fields, session: WireSession, settled: Settled) -> list[Action]:
    actions: list[Action] = []
    if update.get("sessionUpdate") == "compaction_update" and update.get("status") == "completed":
        if session.compacted(text_of(update, "compactionId")):
            actions.append(Record(session.id, ContextCompacted(reason="reported by the agent")))
    if settled.capabilities is None or settled.capabilities.compaction:
        return [ToClient(line), *actions]
    lowered = session.compactions.lower(update)
    return actions if lowered is None else [ToClient(write_update(session.id, lowered) + b"\n"), *actions]


def _used(line: bytes, update: Fields, session: WireSession, _settled: Settled) -> list[Action]:
    used = update.get("used")
    before = session.uses(used) if isinstance(used, (int, float)) else None
    if before is None:
        return [ToClient(line)]
    reason = f"the used context fell from {before:g} to {used:g}"
    return [ToClient(line), Record(session.id, ContextCompacted(reason=reason), BY_RELAY)]


def _informed(line: bytes, update: Fields, session: WireSession, _settled: Settled) -> list[Action]:
    title = text_of(update, "title")
    if not title:
        return [ToClient(line)]
    session.titled = True
    return [ToClient(line), Record(session.id, SessionOpened(title=title))]


def _called(line: bytes, update: Fields, session: WireSession, settled: Settled) -> list[Action]:
    settled.approvals.hear_tool_call(session.id, update)
    return [ToClient(line)]


def _echoed(line: bytes, update: Fields, session: WireSession, _settled: Settled) -> list[Action]:
    """What the user said, as the agent tells it back: without what the relay put into the prompt."""
    if b"planwire-context" not in line:
        return [ToClient(line)]
    marks = {**(session.known.marks if session.known else {}), **session.marks}
    session.hear_echo(marks_in(update))
    remaining = without_echo_in_line(line, update, marks, trust=session.known is None and session.attached)
    return [ToClient(remaining)] if remaining else []


HANDLERS: Final[dict[str, Handler]] = {
    "state_update": _state_changed,
    "usage_update": _used,
    "session_info_update": _informed,
    "tool_call": _called,
    "tool_call_update": _called,
    "user_message": _echoed,
    "user_message_chunk": _echoed,
    **dict.fromkeys(COMPACTION_UPDATES, _compacted),
}
