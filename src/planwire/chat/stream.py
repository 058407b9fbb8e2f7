"""A chat in the order in which the model sees it, and the list of messages for its provider.

A stream only grows until a compaction: every request repeats the one before it, so that the provider's prompt cache
stays valid. A hidden message that comes while tool calls are open waits for all their results, since nothing may come
between a call and its result. So does a message with a role that the provider does not know.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final, TypeGuard

import msgspec

from planwire.chat.anthropic_blocks import BREAKPOINTS, has_breakpoint, with_breakpoint
from planwire.chat.calls import CallRef
from planwire.chat.formats import Format
from planwire.chat.markers import retired_ids
from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, Stored
from planwire.chat.open_calls import OpenCalls
from planwire.chat.render import block
from planwire.chat.roles import SYSTEM_NOTICE
from planwire.model.plan import Fields

#: The mark of a result that planwire made for an interrupted call.
_CANCELLED: Final = {"cancelled": True}


class ChatStream:
    """A chat in one provider's format. `messages` is the stream so far."""

    def __init__(self, form: Format, messages: Iterable[Stored] = ()) -> None:
        self.format = form
        self._placed: list[Stored] = []
        self._shown: list[Fields] = []
        self._waiting: list[Stored] = []
        self._open = OpenCalls(form)
        self._batch: list[Fields] = []
        self._holds_the_next = False
        self._breakpoints_left = BREAKPOINTS if form.has_breakpoints else 0
        self._retired: set[str] = set()
        self._ids: set[str] = set()
        for message in messages:
            self.add(message)

    @property
    def messages(self) -> list[Stored]:
        """All messages: those that have their place, and the hidden ones that still wait for it."""
        return [*self._placed, *self._waiting]

    def __len__(self) -> int:
        return len(self._placed) + len(self._waiting)

    @property
    def names(self) -> Set[str]:
        """The ids of all messages."""
        return self._ids

    def holds(self, message_id: str) -> bool:
        """Whether a message has this id."""
        return message_id in self._ids

    def message(self, message_id: str) -> Stored | None:
        """The message with this id, if there is one."""
        if not self.holds(message_id):
            return None
        return next((each for each in (*self._placed, *self._waiting) if each.id == message_id), None)

    def replace(self, message: Stored) -> None:
        """Replace the message with the same id. To the model both say the same; only the envelope differs."""
        self._placed = [message if each.id == message.id else each for each in self._placed]
        if not isinstance(message, Ordinary):
            self._waiting = [message if each.id == message.id else each for each in self._waiting]

    def add(self, message: Stored) -> None:
        """Append a message, or let it wait, together with those that `admit` puts in front of it."""
        for admitted in self.admit(message):
            self._ids.add(admitted.id)
            if self._is_own(admitted):
                if self._waiting and self._open.end_with(admitted.message):
                    self._show_waiting()
                self._place(admitted)
            else:
                self._waiting.append(admitted)
            if self._waiting and not self._open.calls and not self._holds_the_next:
                self._show_waiting()

    def admit(self, message: Stored) -> tuple[Stored, ...]:
        """The messages to store for this one. Results for the calls that it interrupts come before it. A result that
        comes too late, or for no call, becomes a notice; a cancellation made by planwire is dropped instead."""
        if not self._is_own(message):
            return (message,)
        fields = message.message
        if results := self.format.results(fields):
            return (message,) if self._open.are_answered_by(fields) else (_late(message, results),)
        if message.extra == _CANCELLED:
            return ()
        if not self._open.for_client or self.format.is_of_model(fields):  # another item of the answer with the calls
            return (message,)
        return (*self.unanswered(), message)

    def unanswered(self) -> tuple[Ordinary, ...]:
        """A result for every open call that the client answers, saying that the turn was interrupted."""
        return tuple(
            Ordinary(result_id, self.format.cancelled(call), {**_CANCELLED})
            for result_id, call in self._open.for_client.items()
        )

    def context(self) -> list[Fields]:
        """The messages for the provider. The stream shares them: copy one before you change it.

        An open call counts as cancelled here. Add `unanswered` before you send the messages, so that it stays
        cancelled. While the server owes an answer, hidden messages wait for it: they must not even come between its own
        requests.
        """
        if not self._open.for_client:
            return self._shown[:]
        rest = [result.message for result in self.unanswered()]
        is_all = len(rest) == len(self._open.calls)
        return [*self._shown, *self.format.answers([*self._batch, *rest]), *(self._blocks() if is_all else ())]

    def _is_own(self, message: Stored) -> TypeGuard[Ordinary]:
        """Whether a message is the author's, and the provider takes it."""
        return isinstance(message, Ordinary) and not self.format.is_foreign(message.message)

    def _place(self, message: Ordinary) -> None:
        fields = message.message
        self._placed.append(message)
        self._holds_the_next = self.format.holds_the_next(fields)
        if self._breakpoints_left and has_breakpoint(fields):
            self._breakpoints_left = 0
        if self._open.calls and self.format.results(fields):
            self._batch.append(fields)
        else:
            self._shown.append(self.format.own_fields(fields))
        self._open.take(fields, message.id)
        if self._batch and (not self._open.for_client or self.format.batch is None):
            self._shown += self.format.answers(self._batch)
            self._batch = []

    def _show_waiting(self) -> None:
        self._placed += self._waiting
        for message in self._waiting:
            past = retired_ids(message)
            if past is not None:
                self._retired.update((message.id, *past))
        self._shown += self._blocks()
        plans = sum(isinstance(message, PlanMessage) for message in self._waiting if message.id not in self._retired)
        self._breakpoints_left = max(0, self._breakpoints_left - plans)
        self._waiting = []

    def _blocks(self) -> Iterator[Fields]:
        """The messages that wait, rendered, without those about past plans."""
        left = self._breakpoints_left
        for message in self._waiting:
            if message.id in self._retired or (shown := sent(message, self.format)) is None:
                continue
            if left and isinstance(message, PlanMessage):
                shown, left = with_breakpoint(shown), left - 1
            yield shown


def sent(message: Stored, form: Format) -> Fields | None:
    """A message as the provider gets it; None if there is nothing for the model."""
    if isinstance(message, Ordinary) and not form.is_foreign(message.message):
        return form.taken(message.message)
    text = block(message)
    return form.context(text) if text else None


def _late(message: Ordinary, results: Iterable[CallRef]) -> EventMessage:
    payload = {"calls": [result.id or result.name for result in results]}
    event = {"subkind": SYSTEM_NOTICE, "source": "tool.late_result", "payload": payload}
    return EventMessage(message.id, msgspec.json.encode(message.message).decode(), event)


def units(messages: Sequence[Stored], form: Format) -> list[range]:
    """The stream as ranges of indexes that belong together: a call with its results, or the items of one answer."""
    found: list[range] = []
    start = 0
    open_calls = OpenCalls(form)
    follows_model = False
    for index, message in enumerate(messages):
        fields = message.message if isinstance(message, Ordinary) and not form.is_foreign(message.message) else None
        of_model = fields is not None and form.is_of_model(fields)
        ends = not open_calls.calls or (fields is not None and open_calls.end_with(fields))
        if index > start and ends and not (follows_model and of_model):
            found.append(range(start, index))
            start = index
        follows_model = of_model
        if fields is not None:
            open_calls.take(fields, message.id)
    if messages:
        found.append(range(start, len(messages)))
    return found
