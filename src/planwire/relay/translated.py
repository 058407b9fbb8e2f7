"""An agent's line about plans, in the dialect of its client."""

from collections.abc import Iterator

from planwire.acp.conversation import AGENT
from planwire.acp.messages import Extension, Reading
from planwire.acp.translate import Translator
from planwire.relay.actions import ToClient

__all__ = ["translated"]


def translated(line: bytes, reading: Reading, translator: Translator | None) -> Iterator[ToClient]:
    """The lines that the client gets for one. Before the two sides agreed on a dialect, there is no translator."""
    if translator is None:
        yield ToClient(line)
        return
    text = line.rstrip(b"\r\n")
    update = reading.updates[0]
    lines = translator.translate(text, AGENT, reading)
    if isinstance(update.body, Extension) and translator.dialect.operations:
        lines = (translator.spelled(text, update) or text,)  # who gets pieces of a text has asked for pieces
    if lines == (text,):
        yield ToClient(line)
    else:
        ending = line[len(text) :] or b"\n"
        yield from (ToClient(each + ending) for each in lines)
