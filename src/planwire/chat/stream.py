"""A chat in the order in which the model sees it, and the list of messages for its provider.

A stream only grows until a compaction: every request repeats the one before it, so that the provider's cache of the
prompt holds. A hidden message that comes while tool calls are open waits for all their results, since nothing may stand
between a call and its result.
"""

from collections.abc import Iterable, Sequence

import msgspec

from planwire.chat.formats import BREAKPOINTS, CallRef, Format, has_breakpoint, still_open, with_breakpoint
from planwire.chat.markers import retired_ids
from planwire.chat.messages import EventMessage, Hidden, Ordinary, PlanMessage, Stored
from planwire.chat.render import block
from planwire.chat.roles import SYSTEM_NOTICE
from planwire.model.plan import Fields

__all__ = ["ChatStream", "units"]


class ChatStream:
    """A chat in one provider's format. `messages` are those of the stream so far."""

    def __init__(self, form: Format, messages: Iterable[Stored] = ()) -> None:
        self.format = form
        self._placed: list[Stored] = []
        self._shown: list[Fields] = []
        self._waiting: list[Hidden] = []
        self._open: dict[str, CallRef] = {}  # by the id of the result that would cancel the call
        self._batch: list[Fields] = []
        self._holds_the_next = False
        self._breakpoints_left = BREAKPOINTS if form.has_breakpoints else 0
        self._retired: set[str] = set()
        self._ids: set[str] = set()
        for message in messages:
            self.add(message)

    @property
    def messages(self) -> list[Stored]:
        """All messages: those that have their place, and the hidden ones that wait for it."""
        return [*self._placed, *self._waiting]

    def __len__(self) -> int:
        return len(self._placed) + len(self._waiting)

    def holds(self, message_id: str) -> bool:
        """Whether a message has this id."""
        return message_id in self._ids

    def message(self, message_id: str) -> Stored | None:
        """The message with this id, if there is one."""
        if not self.holds(message_id):
            return None
        return next((each for each in (*self._placed, *self._waiting) if each.id == message_id), None)

    def replace(self, message: Stored) -> None:
        """Put a message in the place of the one with its id, which says the same to the model: its envelope differs."""
        self._placed = [message if each.id == message.id else each for each in self._placed]
        if not isinstance(message, Ordinary):
            self._waiting = [message if each.id == message.id else each for each in self._waiting]

    def add(self, message: Stored) -> None:
        """Append a message, or let it wait, together with those that `admit` puts in front of it."""
        for admitted in self.admit(message):
            self._ids.add(admitted.id)
            if isinstance(admitted, Ordinary):
                self._place(admitted)
            else:
                self._waiting.append(admitted)
            if self._waiting and not self._open and not self._holds_the_next:
                self._show_waiting()

    def admit(self, message: Stored) -> tuple[Stored, ...]:
        """The messages to store for this one. Results for the calls that it interrupts come before it; a result that
        comes too late, or for no call, becomes a notice."""
        if not isinstance(message, Ordinary):
            return (message,)
        results = self.format.results(message.message)
        if results:
            is_awaited = len(still_open(self._open, results)) < len(self._open)
            return (message,) if is_awaited else (_late(message, results),)
        if not self._open or self.format.is_of_model(message.message):  # another item of the answer that made the calls
            return (message,)
        return (*self.unanswered(), message)

    def unanswered(self) -> tuple[Ordinary, ...]:
        """A result for every open call, saying that the turn was interrupted."""
        return tuple(
            Ordinary(result_id, self.format.cancelled(call), {"cancelled": True})
            for result_id, call in self._open.items()
        )

    def context(self) -> list[Fields]:
        """The messages for the provider. The stream shares them: copy one before you change it.

        An open call counts as cancelled here. Add `unanswered` before you send that, so that it stays so.
        """
        if not self._open:
            return self._shown[:]
        rest = (result.message for result in self.unanswered())
        return [*self._shown, *self.format.answers([*self._batch, *rest]), *self._blocks()]

    def _place(self, message: Ordinary) -> None:
        fields = message.message
        self._placed.append(message)
        self._holds_the_next = self.format.holds_the_next(fields)
        if self._breakpoints_left and has_breakpoint(fields):
            self._breakpoints_left = 0
        if self._open and (results := self.format.results(fields)):
            self._open = still_open(self._open, results)
            self._batch.append(fields)
        else:
            self._shown.append(fields)
        for number, call in enumerate(self.format.calls(fields), start=1):
            self._open[f"{message.id}-cancelled-{number}"] = call
        if self._batch and (not self._open or self.format.batch is None):
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

    def _blocks(self) -> Iterable[Fields]:
        """The hidden messages that wait, rendered, without those about past plans."""
        left = self._breakpoints_left
        for message in self._waiting:
            if message.id in self._retired:
                continue
            shown = self.format.context(block(message))
            if left and isinstance(message, PlanMessage):
                shown, left = with_breakpoint(shown), left - 1
            yield shown


def _late(message: Ordinary, results: Iterable[CallRef]) -> EventMessage:
    payload = {"calls": [result.id or result.name for result in results]}
    event = {"subkind": SYSTEM_NOTICE, "source": "tool.late_result", "payload": payload}
    return EventMessage(message.id, msgspec.json.encode(message.message).decode(), event)


def units(messages: Sequence[Stored], form: Format) -> list[range]:
    """The stream as ranges of indexes that belong together: a call and its results, the items of one answer."""
    found: list[range] = []
    start = 0
    calls: dict[tuple[int, int], CallRef] = {}
    follows_model = False
    for index, message in enumerate(messages):
        fields = message.message if isinstance(message, Ordinary) else None
        of_model = fields is not None and form.is_of_model(fields)
        results = form.results(fields) if calls and fields is not None else ()
        if calls and fields is not None and not of_model and not results:
            calls = {}  # interrupted
        if index > start and not calls and not (follows_model and of_model):
            found.append(range(start, index))
            start = index
        follows_model = of_model
        if results:
            calls = still_open(calls, results)
        if fields is not None:
            calls.update(((index, number), call) for number, call in enumerate(form.calls(fields)))
    if messages:
        found.append(range(start, len(messages)))
    return found
