"""The stored form of a reminder: the relay retold an agent its plans, with a mark and a reason.

The relay writes such a message and recognises it after a restart, and `readmodel.history` shows its reason to people.
The shape is defined only here, so that rewording what an agent reads breaks neither.
"""

from typing import Final

from msgspec import Struct

from planwire.chat.messages import EventMessage, write_message
from planwire.chat.roles import SYSTEM_NOTICE
from planwire.model.plan import Fields

#: The name of the element around a reminder, by which its echo can be found.
ELEMENT: Final = "planwire-context"

#: The reason to tell an agent about the plan tools: its model may not see them.
HAS_TOOLS: Final = "This session has plan tools."

_SOURCE: Final = "relay"


class Reminder(Struct, frozen=True):
    """`text` is the block with its `mark`, `why` a sentence, `gap` the whitespace at the end of the person's own text,
    to which an agent that joins both texts adds. A separate event (`Told`) says what the block told."""

    mark: str
    text: str
    why: str
    gap: str = ""


def write_reminder(reminder: Reminder) -> Fields:
    """The hidden message for a reminder."""
    payload = {"mark": reminder.mark, "why": reminder.why, **({"gap": reminder.gap} if reminder.gap else {})}
    event = {"subkind": SYSTEM_NOTICE, "source": _SOURCE, "payload": payload}
    return write_message(EventMessage(f"planwire-{reminder.mark}", reminder.text, event))


def read_reminder(message: Fields) -> Reminder | None:
    """The reminder in a stored message; None if the message is something else."""
    match message:
        case {
            "role": "event",
            "content": str(text),
            "extra": {"event": {"source": source, "payload": {"mark": str(mark), "why": str(why)} as payload}},
        } if source == _SOURCE:
            gap = payload.get("gap")
            return Reminder(mark, text, why, gap if isinstance(gap, str) else "")
    return None
