"""What the relay does about updates that are not plans: turns, compactions, titles, tool calls, echoes."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeAlias

from planwire.acp.splice import Unspliceable, replace_value
from planwire.acp.words import COMPACTION_COMPLETED, COMPACTION_UPDATES
from planwire.acp.write import write_update
from planwire.chat.reminder import ELEMENT
from planwire.model.events import ContextCompacted, SessionOpened
from planwire.model.plan import Fields
from planwire.model.stop_reasons import STOP_END_TURN
from planwire.relay.actions import BY_RELAY, Action, Record, ToClient
from planwire.relay.connection import Connection
from planwire.relay.echoes import Echoes, blocks_in
from planwire.relay.envelope import text_of
from planwire.relay.titles import without_block
from planwire.relay.wire_session import WireSession

#: A line, the update on it, its session, and both sides of the connection.
Handler: TypeAlias = Callable[[bytes, Fields, WireSession, Connection], list[Action]]


def _state_changed(line: bytes, update: Fields, session: WireSession, _sides: Connection) -> list[Action]:
    """The end of a turn in version 2. A replay ends with such an update too (R40)."""
    if update.get("state") != "idle" or session.plans.is_retold:
        return [ToClient(line)]
    return [ToClient(line), *session.end_turn(text_of(update, "stopReason") or STOP_END_TURN)]


def _compacted(line: bytes, update: Fields, session: WireSession, sides: Connection) -> list[Action]:
    actions: list[Action] = []
    is_done = update.get("sessionUpdate") == "compaction_update" and update.get("status") == COMPACTION_COMPLETED
    compaction = text_of(update, "compactionId") or None
    if is_done and not session.plans.is_retold and session.compactions.report(compaction):
        session.context.is_compacted = True
        actions.append(Record(session.id, ContextCompacted(reason="reported by the agent")))
    if sides.capabilities is None or sides.capabilities.compaction:
        return [ToClient(line), *actions]
    lowered = session.shown_compactions.lower(update)
    return actions if lowered is None else [ToClient(write_update(session.id, lowered) + b"\n"), *actions]


def _used(line: bytes, update: Fields, session: WireSession, _sides: Connection) -> list[Action]:
    used = update.get("used")
    if not isinstance(used, (int, float)):
        return [ToClient(line)]
    before = session.compactions.use(used, counts=not session.plans.is_retold)
    if before is None:
        return [ToClient(line)]
    session.context.is_compacted = True
    reason = f"the used context fell from {before:g} to {used:g}"
    return [ToClient(line), Record(session.id, ContextCompacted(reason=reason), BY_RELAY)]


def _informed(line: bytes, update: Fields, session: WireSession, _sides: Connection) -> list[Action]:
    """A title. Some agents make it from the prompt or its beginning: the relay's block is cut out."""
    said = text_of(update, "title")
    has_blocks = session.context.known_marks or session.context.trusts_echoes
    title = without_block(said) if has_blocks else said
    if title != said:
        with suppress(Unspliceable):
            line = replace_value(line, ("params", "update", "title"), title)
    if not title:
        return [ToClient(line)]
    session.has_title = True
    return [ToClient(line), Record(session.id, SessionOpened(title=title))]


def _called(line: bytes, update: Fields, session: WireSession, sides: Connection) -> list[Action]:
    proposed = sides.questions.hear_tool_call(session.id, update)
    return [ToClient(line), *(session.hear_proposal(proposed) if proposed else ())]


def _advertised(line: bytes, update: Fields, session: WireSession, _sides: Connection) -> list[Action]:
    session.signs.advertise(update)
    return [ToClient(line)]


def _echoed(line: bytes, update: Fields, session: WireSession, sides: Connection) -> list[Action]:
    """The user's words as the agent echoes them, without what the relay put into the prompt."""
    if ELEMENT.encode() not in line:
        return [ToClient(line)]
    if session.plans.is_retold:
        session.context.hear_echo(blocks_in(update))
    ways = sides.ways
    # A relay that was killed may have sent a block that no journal knows.
    trust = session.plans.is_retold or session.context.trusts_echoes
    echoes = Echoes(session.context.known_marks, trust, ways.joiner, ways.wrapping)
    remaining = echoes.without_in_line(line, update)
    return [ToClient(remaining)] if remaining else []


HANDLERS: Final[dict[str, Handler]] = {
    "state_update": _state_changed,
    "usage_update": _used,
    "session_info_update": _informed,
    "available_commands_update": _advertised,
    "tool_call": _called,
    "tool_call_update": _called,
    "user_message": _echoed,
    "user_message_chunk": _echoed,
    **dict.fromkeys(COMPACTION_UPDATES, _compacted),
}
