"""The calls of a chat that wait for their results, tracked from message to message.

A call for the client ends with its result, or when something else interrupts it. A call that the server answers may
span several answers of the model: a program on the server makes calls for the client, and ends after their results. So
it ends with its result, with a new turn, or when the model goes on without it: from then on nothing waits for the
result, but a late one is still accepted.
"""

from collections.abc import Sequence

from planwire.chat.calls import CallRef, still_open
from planwire.chat.formats import Format
from planwire.model.plan import Fields


class OpenCalls:
    """The open calls of one chat, by the ids of the results that would cancel them."""

    def __init__(self, form: Format) -> None:
        self.calls: dict[str, CallRef] = {}
        self._format = form
        self._given_up: dict[str, CallRef] = {}  # the server's calls whose results nothing waits for
        self._is_resumed = False  # the client sent results since the server last called or answered

    @property
    def for_client(self) -> dict[str, CallRef]:
        if not self.calls:
            return self.calls
        return {result_id: call for result_id, call in self.calls.items() if not call.is_hosted}

    def are_answered_by(self, fields: Fields) -> bool:
        """Whether a message with results answers one of the calls."""
        known = {**self._given_up, **self.calls}
        return len(still_open(known, self._format.results(fields))) < len(known)

    def take(self, fields: Fields, message_id: str) -> None:
        """Take in the next message of the chat: what it answers, what it ends, and what it calls."""
        made = self._format.calls(fields)
        if self.calls:
            self._answer(fields, made)
        for number, call in enumerate(made, start=1):
            self.calls[f"{message_id}-cancelled-{number}"] = call
            if call.is_hosted:
                self._is_resumed = False

    def end_with(self, fields: Fields) -> bool:
        """Whether a message ends the wait for these calls: a new turn, or another answer of the model after its calls
        for the client."""
        form = self._format
        if not self.calls or form.results(fields):
            return False
        return not form.is_by_model(fields) or (not form.in_items and len(self.for_client) == len(self.calls))

    def _answer(self, fields: Fields, made: Sequence[CallRef]) -> None:
        form = self._format
        if self.end_with(fields):
            self._give_up()
            self.calls = {}
            return
        answered = (*form.results(fields), *form.answered_by_server(fields))
        self.calls = still_open(self.calls, answered)
        if not form.is_by_model(fields):
            self._is_resumed = True
            return
        owed = {call.id for call in self.calls.values() if call.is_hosted}
        if answered or any(call.caller in owed for call in made):
            self._is_resumed = False
        elif (self._is_resumed or not form.in_items) and not form.holds_the_next(fields):
            self._give_up()
        if not form.in_items:  # no call for the client outlives the next answer
            self.calls = {result_id: call for result_id, call in self.calls.items() if call.is_hosted}

    def _give_up(self) -> None:
        """Stop waiting for the results that the server owes."""
        self._given_up |= {result_id: call for result_id, call in self.calls.items() if call.is_hosted}
        self.calls = self.for_client
