"""A reminder in its stored form: that the relay told an agent its plans again, under which mark, and why.

The relay writes such a message, recognises it after a restart, and `readmodel.history` shows its reason to people. The
shape has one home, so that rewording what an agent reads changes neither. Journals from before the reason was data have
it only in the text, as the first sentence of the block.
"""

from typing import Final

from msgspec import Struct

from planwire.chat.messages import EventMessage, write_message
from planwire.chat.roles import SYSTEM_NOTICE
from planwire.model.plan import Fields

__all__ = ["ELEMENT", "Reminder", "read_reminder", "write_reminder"]

#: The name of the element around a reminder, by which its echo can be found.
ELEMENT: Final = "planwire-context"

_SOURCE: Final = "relay"


class Reminder(Struct, frozen=True):
    """`text` is the block with its `mark`, `why` a sentence. An event of its own says what the block told (`Told`)."""

    mark: str
    text: str
    why: str


def write_reminder(reminder: Reminder) -> Fields:
    """The hidden message for a reminder."""
    payload = {"mark": reminder.mark, "why": reminder.why}
    event = {"subkind": SYSTEM_NOTICE, "source": _SOURCE, "payload": payload}
    return write_message(EventMessage(f"planwire-{reminder.mark}", reminder.text, event))


def read_reminder(message: Fields) -> Reminder | None:
    """The reminder in a stored message; None if the message is something else."""
    match message:
        case {
            "role": "event",
            "content": str(text),
            "extra": {"event": {"source": source, "payload": {"mark": str(mark)} as payload}},
        } if source == _SOURCE:
            why = payload.get("why")
            first_sentence = text.partition("\n")[2].partition(". ")[0] + "."
            return Reminder(mark, text, why if isinstance(why, str) else first_sentence)
    return None
