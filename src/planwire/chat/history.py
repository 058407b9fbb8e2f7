"""A session's plans and its chat, folded together from the journal."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from planwire.chat.belonging import CurrentSteps, with_pin, with_steps
from planwire.chat.formats import Format
from planwire.chat.messages import Stored, read_message, stored_message, write_message
from planwire.chat.narrate import message_for
from planwire.chat.remark_messages import made_here
from planwire.chat.stream import ChatStream
from planwire.errors import ChatError
from planwire.model.events import ContextCompacted, MessageAdded, MessagePinned, Recorded
from planwire.model.fold import fold
from planwire.model.names import free_name
from planwire.model.plan import Fields
from planwire.model.readers import LEAD, reader_of_event
from planwire.model.records import SessionState

#: Reasons for a compaction by planwire itself.
COMPACT: Final = "compact"
REBASE: Final = "rebase"

#: The version of the snapshot and of the rules of folding. A snapshot of another version is ignored.
RULES = 10


class _KeptHistory(Struct):
    rules: int
    format: str
    reader: str
    state: SessionState
    messages: list[Fields]


class ChatHistory:
    """The state of a session and the chat stream of one of its readers, after the same event."""

    def __init__(self, session: str, form: Format, reader: str = LEAD) -> None:
        self.state = SessionState(session)
        self.stream = ChatStream(form)
        self.reader = reader
        #: The names of messages whose usual name was taken, by the number of their event.
        self.renamed: dict[int, str] = {}
        self._current = CurrentSteps(reader)

    def apply(self, recorded: Recorded) -> Stored | None:
        """Take in one more event. Returns the message that it put into the chat, if any."""
        before, self.state = self.state, fold(self.state, recorded)
        if reader_of_event(recorded.event, self.state) != self.reader:
            return None
        if isinstance(recorded.event, ContextCompacted):
            self._compact(recorded.event)
            return None
        if isinstance(recorded.event, MessagePinned):
            self._pin(recorded.event)
            return None
        message = message_for(recorded, before, self.state)
        if message is not None and isinstance(recorded.event, MessageAdded):
            message = with_steps(message, self._current.of(before))
        if message is not None:
            message = self._with_free_name(message, recorded)
            self.stream.add(message)
        return message

    def _with_free_name(self, message: Stored, recorded: Recorded) -> Stored:
        """A message under a name that is unique in the chat, since a compaction keeps messages by name."""
        name = free_name(message.id, self.stream.names)
        if name == message.id:
            return message
        self.renamed[recorded.seq] = name
        return replace(message, id=name)

    def _pin(self, event: MessagePinned) -> None:
        message = self.stream.message(event.message_id)
        if message is not None:
            self.stream.replace(with_pin(message, event.is_pinned))

    def _compact(self, event: ContextCompacted) -> None:
        """Keep the messages that a compaction names. An agent that compacted its own chat names none."""
        if event.kept or event.reason in (COMPACT, REBASE):
            written = (made_here(message, self.state.id) for message in _read(event.written))
            messages = [*self.stream.messages, *written]
            known = {message.id: message for message in messages}
            kept = [known[message_id] for message_id in event.kept if message_id in known]
            self.stream = ChatStream(self.stream.format, kept)

    def keep(self) -> bytes:
        """A snapshot of the history, for `restore`."""
        messages = [write_message(message) for message in self.stream.messages]
        kept = _KeptHistory(RULES, self.stream.format.name, self.reader, self.state, messages)
        return msgspec.msgpack.encode(kept)

    @classmethod
    def restore(cls, data: bytes, session: str, form: Format, reader: str = LEAD) -> "ChatHistory | None":
        """The history in a snapshot; None if the snapshot follows other rules."""
        with suppress(msgspec.MsgspecError, ValueError, ChatError, RecursionError):
            kept = msgspec.msgpack.decode(data, type=_KeptHistory)
            if (kept.rules, kept.format, kept.reader, kept.state.id) == (RULES, form.name, reader, session):
                history = cls(session, form, reader)
                history.state = kept.state
                history.stream = ChatStream(form, map(stored_message, kept.messages))
                return history
        return None


def _read(messages: Iterable[Any]) -> Iterable[Stored]:
    for message in messages:
        with suppress(ChatError):
            yield read_message(message)
