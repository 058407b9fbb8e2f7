"""The messages that come into a session's chat: an author's own, and those of another chat with its plans.

A name that an author gave belongs to its message for good. Adding the message again, because the outcome of the first
time is unknown, adds nothing; another message of that name is refused.
"""

from collections.abc import Sequence
from typing import Any, Final

from planwire.chat.adopt import Adopted, adopted
from planwire.chat.formats import Format
from planwire.chat.markers import retired_ids
from planwire.chat.messages import EventMessage, Ordinary, Stored, read_message, write_message
from planwire.chat.roles import REMARK
from planwire.errors import BadMessage, FormatError
from planwire.journal import Once
from planwire.model.additions import addition
from planwire.model.events import Event, MessageAdded, PlanChanged, PlanRemoved, PlanSet, Recorded, SessionOpened
from planwire.model.names import is_made, made_name
from planwire.model.plan import Fields
from planwire.model.readers import LEAD
from planwire.model.records import SessionState
from planwire.session.child_plan import is_parent_line
from planwire.session.live_history import LiveHistory
from planwire.session.origin import placed

_UNNAMED: Final = "new"
#: The prefix of the keys that keep a named message from being added twice.
_SOURCE: Final = "message"


class ChatMessages:
    """Adds messages to the chat of a session's reader. Hold the lock of `view` around every call."""

    def __init__(self, view: LiveHistory, form: Format) -> None:
        self._view = view
        self._format = form

    def add(self, value: Any) -> str:
        """Add a message in the provider's format or in its stored shape. Returns its name."""
        named = isinstance(value, dict) and value.get("message_id") is not None
        message = read_message(value, None if named else _UNNAMED)
        if retired_ids(message) is not None:  # every export has one of the same name
            named = False

        def prepare(state: SessionState) -> Sequence[Event | Adopted]:
            if named and self._view.stream.holds(message.id) and not is_made(message.id):
                raise _taken(message.id)
            opening: Sequence[Event] = ()
            if isinstance(message, Ordinary):
                self.check_format(state)
                if self._view.reader == LEAD and (state.opened is None or state.opened.format is None):
                    about = addition(state, placed(SessionOpened(format=self._format.name)))
                    opening = (about,) if about is not None else ()
            if is_parent_line(message) and any(map(is_parent_line, self._view.stream.messages)):
                return opening  # of a child's chat that came from another session
            admitted = self._view.stream.admit(message)
            return (*opening, *(each for one in admitted for each in self._adopt(one, state, named, message)))

        once = Once(f"{_SOURCE}:{self._view.reader}:{message.id}", 0) if named else None
        written = self._view.write(prepare, once)
        if named:
            _refuse_another(message, written)
        return self._view.renamed(written) or (message.id if named else _name_of(written))

    def _adopt(self, each: Stored, state: SessionState, named: bool, message: Stored) -> list[Adopted]:
        is_named = named and each.id == message.id
        return adopted(each, state, named=is_named, reader=self._view.reader)

    def cancel_open_calls(self) -> None:
        """Record results for the calls that have none: they are cancelled for good."""

        def prepare(state: SessionState) -> Sequence[Adopted]:
            results = self._view.stream.unanswered()
            reader = self._view.reader
            return [each for result in results for each in adopted(result, state, named=False, reader=reader)]

        self._view.write(prepare)

    def check_format(self, state: SessionState) -> None:
        """Raise `FormatError` if the chat is in another format."""
        recorded = state.opened.format if state.opened and self._view.reader == LEAD else None
        if recorded is not None and recorded != self._format.name:
            raise FormatError(
                f"the messages of session {self._view.id!r} are in the format {recorded}, but it was opened as "
                f"{self._format.name}: open it as {recorded}, or begin another session"
            )


def _taken(name: str) -> BadMessage:
    return BadMessage(f"the chat already has a message with the `message_id` {name!r}: use another id")


def _stored(event: Event) -> Fields | None:
    match event:
        case MessageAdded(message=message):
            return message
        case PlanSet(origin=origin) | PlanChanged(origin=origin) | PlanRemoved(origin=origin):
            return origin
    return None


def _refuse_another(message: Stored, written: Sequence[Recorded]) -> None:
    """Raise `BadMessage` if another message was added under this name before."""
    stored = [fields for each in written if (fields := _stored(each.event)) and fields.get("message_id") == message.id]
    if isinstance(message, EventMessage) and message.subkind == REMARK:  # its remarks became events of their own
        return
    others = [each for each in written if not isinstance(each.event, SessionOpened)]
    if others and not stored:  # the name belongs to a message of another kind, which became other events
        raise _taken(message.id)
    is_late = any(fields.get("role") == "event" for fields in stored) and isinstance(message, Ordinary)
    if stored and not is_late and write_message(message) not in stored:
        raise _taken(message.id)


def _name_of(written: Sequence[Recorded]) -> str:
    """The name that the last of these events gave its message; empty if there was nothing to add."""
    return made_name(written[-1]) if written else ""
