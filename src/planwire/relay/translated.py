"""An agent's lines about plans, in the dialect of its client, and what the client gets in addition."""

from collections.abc import Iterator

from planwire.acp.conversation import AGENT
from planwire.acp.messages import Extension, Reading
from planwire.acp.translate import Translator
from planwire.relay.actions import ToClient
from planwire.relay.wire_session import WireSession


def translated(line: bytes, reading: Reading, translator: Translator | None) -> Iterator[ToClient]:
    """The lines that the client gets for one of the agent's. Before the two sides agreed on a dialect, there is no
    translator."""
    if translator is None:
        yield ToClient(line)
        return
    text = line.rstrip(b"\r\n")
    update = reading.updates[0]
    lines = translator.translate(text, AGENT, reading)
    if isinstance(update.body, Extension) and translator.dialect.operations:
        lines = (translator.spelled(text, update) or text,)  # a client that gets pieces has asked for them
    if lines == (text,):
        yield ToClient(line)
    else:
        ending = line[len(text) :] or b"\n"
        yield from (ToClient(each + ending) for each in lines)


def blank_line(session_id: str, translator: Translator | None) -> list[ToClient]:
    """The blank line between the text of a plan that the client got and the agent's words after it."""
    return [ToClient(each + b"\n") for each in translator.close(session_id)] if translator is not None else []


def whole_list(session_id: str, translator: Translator | None) -> list[ToClient]:
    """The list, if it still lacks the last line of a text that streamed in and is whole now."""
    return [ToClient(each + b"\n") for each in translator.complete(session_id)] if translator is not None else []


def followed(session: WireSession, translator: Translator | None) -> Iterator[ToClient]:
    """The lines for a client now that the journal knows more of its plans: their order, and which have ended."""
    if translator is None or translator.dialect.operations or session.memory is None:
        return
    plans = {plan_id: record.state.plan for plan_id, record in session.memory.state.plans.items()}
    if session.plans.is_plain and len(plans) < 2:
        return
    ended = {plan_id for plan_id, record in session.state().plans.items() if record.ended}
    yield from (ToClient(line + b"\n") for line in translator.follow(session.id, plans, ended))
