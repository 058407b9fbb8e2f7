"""The demo's answer to the agent's question: by a key of the person in the terminal, or a yes after a while, like that
of an editor whose user takes a moment to read.

A person may be faster on the board. Then the relay gives the agent that answer, and takes the question back here.
"""

from collections.abc import Callable, Sequence
from math import ceil
from time import monotonic
from typing import Any, Final, Protocol

from msgspec import Struct

from planwire.acp.permissions import Option, allows, options_of, selection
from planwire.cli.agent_client import Message, declined
from planwire.demo.keys import Keys

#: The code of the answer to a request that was taken back.
_REQUEST_CANCELLED: Final = -32800
#: Keys for the options of each kind; an option of another kind can be chosen elsewhere only.
_KEYS: Final = {"allow_once": "y", "allow_always": "a", "reject_once": "n"}

_INVITATION: Final = "Comment on its list on the board now, or add a step."


class Narrator(Protocol):
    """Where the demo is seen: it tells what happens, and asks (without lines, the question is over)."""

    def tell(self, words: str) -> None: ...
    def ask(self, lines: Sequence[str]) -> None: ...


class _PendingReview(Struct, frozen=True):
    """A question: its id on the wire, its options, their keys, and the moment at which it is answered in any case."""

    request: Any
    title: str
    options: dict[str, Option]
    keys: dict[str, str]
    until: float


class Reviewer:
    """Answers the agent. `elsewhere` says which answer a person gave in another place."""

    def __init__(self, stage: Narrator, keys: Keys, seconds: float, elsewhere: Callable[[], str]) -> None:
        self._stage = stage
        self._keys = keys
        self._seconds = seconds
        self._elsewhere = elsewhere
        self._asked: _PendingReview | None = None

    def hear(self, message: Message) -> Message | None:
        match message:
            case {"method": "session/request_permission", "id": request, "params": dict(params)}:
                options = options_of(params)
                keys = {_KEYS[each.kind]: key for key, each in options.items() if each.kind in _KEYS}
                until = monotonic() + self._seconds
                self._asked = _PendingReview(request, str(params.get("title") or ""), options, keys, until)
                self._keys.forget()
                self._count_down(self._asked)
                return None
            case {"method": "$/cancel_request", "params": {"requestId": request}}:
                return self._take_back(request)
        return declined(message)

    def due(self) -> Message | None:
        """The answer by a key that was pressed, or at the end of the time."""
        asked = self._asked
        if asked is None:
            return None
        option = asked.keys.get(self._keys.pressed())
        if option is not None:
            return self._answer(asked, option, "You answered")
        if monotonic() >= asked.until:
            first = next((key for key, each in asked.options.items() if allows(each)), None)
            return self._answer(asked, first, "The demo answered")
        self._count_down(asked)
        return None

    def _count_down(self, asked: _PendingReview) -> None:
        left = max(1, ceil(asked.until - monotonic()))
        lines = [f"The agent asks: {asked.title}"]
        if self._keys.are_there:
            lines.append("   ".join(f"[{key}] {asked.options[option].name}" for key, option in asked.keys.items()))
            where = "Press a key, or answer on the board."
        else:
            lines.append("   ".join(each.name for each in asked.options.values()))
            where = "Answer on the board."
        lines.append(f"{where} In {left} s the demo says yes.")
        self._stage.ask(lines)

    def _answer(self, asked: _PendingReview, option: str | None, who: str) -> Message:
        chosen = asked.options.get(option or "")
        self._close(f"{who}: “{chosen.name}”." if chosen else f"{who}: nothing.")
        return {"jsonrpc": "2.0", "id": asked.request, "result": selection(option)}

    def _take_back(self, request: object) -> Message | None:
        if self._asked is None or self._asked.request != request:
            return None
        self._close(self._elsewhere())
        error = {"code": _REQUEST_CANCELLED, "message": "answered elsewhere"}
        return {"jsonrpc": "2.0", "id": request, "error": error}

    def _close(self, words: str) -> None:
        self._asked = None
        self._stage.ask(())
        self._stage.tell(f"{words} {_INVITATION}")
