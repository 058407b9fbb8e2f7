"""A session's plans and its chat, folded together from the journal: what a `PlanSession` knows."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Struct

from planwire.chat.formats import Format
from planwire.chat.messages import Stored, read_message, write_message
from planwire.chat.narrate import told
from planwire.chat.stream import ChatStream
from planwire.errors import ChatError
from planwire.model.events import ContextCompacted, Recorded
from planwire.model.fold import SessionState, fold
from planwire.model.plan import Fields

__all__ = ["COMPACT", "REBASE", "History"]

#: Why planwire compacts a chat itself.
COMPACT: Final = "compact"
REBASE: Final = "rebase"

#: Counts the versions of what is kept and of how it is folded. A view that was kept by other rules is folded anew.
RULES = 3


class _Kept(Struct):
    rules: int
    format: str
    state: SessionState
    messages: list[Fields]


class History:
    """The state of a session and its chat stream, after the same event."""

    def __init__(self, session: str, form: Format) -> None:
        self.state = SessionState(session)
        self.stream = ChatStream(form)

    def apply(self, recorded: Recorded) -> Stored | None:
        """One more event. Returns the message that it put into the chat, if it put one there."""
        before, self.state = self.state, fold(self.state, recorded)
        if isinstance(recorded.event, ContextCompacted):
            self._compact(recorded.event)
            return None
        message = told(recorded, before, self.state)
        if message is not None:
            self.stream.add(message)
        return message

    def _compact(self, event: ContextCompacted) -> None:
        """An agent's own compaction, which only reports that it happened, names no messages: the chat is not ours."""
        if event.kept or event.reason in (COMPACT, REBASE):
            known = {message.id: message for message in [*self.stream.messages, *_read(event.written)]}
            kept = [known[message_id] for message_id in event.kept if message_id in known]
            self.stream = ChatStream(self.stream.format, kept)

    def keep(self) -> bytes:
        """The history in a form from which it can be restored."""
        messages = [write_message(message) for message in self.stream.messages]
        return msgspec.msgpack.encode(_Kept(RULES, self.stream.format.name, self.state, messages))

    @classmethod
    def restore(cls, data: bytes, session: str, form: Format) -> "History | None":
        """What was kept, if it was kept by the same rules."""
        with suppress(msgspec.MsgspecError, ValueError, ChatError, RecursionError):
            kept = msgspec.msgpack.decode(data, type=_Kept)
            if (kept.rules, kept.format, kept.state.id) == (RULES, form.name, session):
                history = cls(session, form)
                history.state = kept.state
                history.stream = ChatStream(form, map(read_message, kept.messages))
                return history
        return None


def _read(messages: Iterable[Any]) -> Iterable[Stored]:
    for message in messages:
        with suppress(ChatError):
            yield read_message(message)
