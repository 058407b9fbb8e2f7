"""A client that starts an agent, talks to it and ends it, with a limit on every wait."""

import os
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Thread
from time import monotonic
from typing import Any, BinaryIO, Final, Protocol, TypeAlias

import msgspec

from planwire.acp.conversation import AGENT, CLIENT, value_of
from planwire.acp.read import MAX_LINE_BYTES
from planwire.cli.recording import RecordedLine
from planwire.relay.process import not_started
from planwire.session.agent_environment import agent_environment

Message: TypeAlias = dict[str, Any]

#: Seconds for the agent to end after its input did, and again after SIGTERM.
_GRACE: Final = 2.0
#: Longer lines are cut here, since the checker does not read on either.
_LONGEST_LINE: Final = MAX_LINE_BYTES + 1
#: Bounds the lines that wait in each direction.
_WAITING: Final = 10_000
_METHOD_NOT_FOUND: Final = -32601
#: Seconds between two looks at what is due, while the agent says nothing.
_MOMENT: Final = 0.05
#: Moments of silence after which nothing more is expected.
_SILENCE: Final = 3


class AgentTrouble(Exception):
    """The agent broke off the conversation. `code` is the checker's rule against that. The command catches it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class AgentRefusal(AgentTrouble):
    """The agent answered a request with an error."""


class Replies(Protocol):
    """Answers to the agent's own requests, at once or later."""

    def hear(self, message: Message) -> Message | None:
        """The agent says something: the answer, if there is one by now."""

    def due(self) -> Message | None:
        """An answer that is due while the agent says nothing."""


def declined(message: Message) -> Message | None:
    """The answer to a request that this client can't fulfil; None if it is no request."""
    if "method" not in message or "id" not in message:
        return None
    error = {"code": _METHOD_NOT_FOUND, "message": "this client offers nothing of the kind"}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


class AgentClient:
    """One agent and the conversation with it: every line of both sides, in the order in which this side saw them.

    The agent has `seconds` for all of it. `replies` answers its requests. `environment` is added to our own; None
    removes a variable. `close` ends it.
    """

    def __init__(
        self,
        command: Sequence[str],
        seconds: float,
        replies: Replies,
        environment: Mapping[str, str | None] | None = None,
    ) -> None:
        self._command = command
        self._environment = environment
        self._seconds = seconds
        self._deadline = monotonic() + seconds
        self._replies = replies
        self._numbers = 0
        self._asked = 0
        self._begin()

    def _begin(self) -> None:
        self._heard: Queue[bytes | None] = Queue(_WAITING)
        self._to_say: Queue[bytes | None] = Queue(_WAITING)
        self._agent = _start(self._command, self._environment or {})
        for work, pipe, lines in (
            (_listen, self._agent.stdout, self._heard),
            (_speak, self._agent.stdin, self._to_say),
        ):
            Thread(target=work, args=(pipe, lines), name="planwire client", daemon=True).start()

    def restart(self) -> None:
        """End the agent and start it again. The counts of lines and requests go on, and so does the time limit."""
        self.close()
        self._begin()

    @property
    def last_number(self) -> int:
        """The number of the last line."""
        return self._numbers

    def ask(self, method: str, params: Message) -> Generator[RecordedLine, None, Message]:
        """Send a request, hand on every line up to its answer, and return the result."""
        self._asked += 1
        yield self._say({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        answer = yield from self._until(
            lambda message: message.get("id") == self._asked and "method" not in message,
            f"`{method}` was not answered",
        )
        if "error" in answer:
            raise AgentRefusal("refused", f"`{method}` was refused: {_said(answer['error'])}")
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    def until_idle(self, session: str) -> Iterator[RecordedLine]:
        """Hand on every line of a turn that the agent ends with an update."""
        yield from self._until(lambda message: _is_idle(message, session), "the turn did not end with a `state_update`")

    def settle(self) -> Iterator[RecordedLine]:
        """Hand on the remaining lines, until the agent is silent for some moments."""
        silent = 0
        while silent < _SILENCE and monotonic() < self._deadline:
            before = self._numbers
            yield from self._hear("it was listened to")
            silent = silent + 1 if self._numbers == before else 0

    def listen(self, is_over: Callable[[], bool]) -> Iterator[RecordedLine]:
        """Hand on every line until it `is_over`, which is asked every moment."""
        while not is_over():
            yield from self._hear("it was listened to")

    def close(self) -> None:
        """End the agent's input, then the agent if it stays, then what it left behind."""
        with suppress(Full):
            self._to_say.put_nowait(None)
        for last_word in (signal.SIGTERM, _KILL):
            with suppress(subprocess.TimeoutExpired):
                self._agent.wait(_GRACE)
                break
            self._signal(last_word)
        self._signal(_KILL)
        self._agent.wait()

    def _until(self, is_last: Callable[[Message], bool], otherwise: str) -> Generator[RecordedLine, None, Message]:
        """Hand on the agent's lines, and answer its own requests, up to the message that `is_last`. Returns that one.

        Raises `AgentTrouble` at the end of the time or of the agent.
        """
        while True:
            for message in filter(is_last, (yield from self._hear(otherwise))):
                return message
            if monotonic() > self._deadline:
                raise AgentTrouble("no-answer", f"{otherwise} within {self._seconds:g} seconds")

    def _hear(self, otherwise: str) -> Generator[RecordedLine, None, list[Message]]:
        """Hand on the agent's next line, if it comes within a moment, and answer it. Returns its messages."""
        try:
            line = self._heard.get(timeout=min(_MOMENT, max(0.0, self._deadline - monotonic())))
        except Empty:
            yield from self._reply(self._replies.due())
            return []
        if line is None:
            raise AgentTrouble("ended-early", f"{otherwise}: the agent ended {self._how_it_ended()}")
        yield self._numbered(line, AGENT)
        messages = _messages(line)
        for message in messages:
            yield from self._reply(self._replies.hear(message))
        return messages

    def _reply(self, answer: Message | None) -> Iterator[RecordedLine]:
        if answer is not None:
            yield self._say(answer)

    def _say(self, message: Message) -> RecordedLine:
        line = msgspec.json.encode(message)
        try:
            self._to_say.put_nowait(line + b"\n")
        except Full:
            raise AgentTrouble("no-answer", "the agent does not read its input") from None
        return self._numbered(line, CLIENT)

    def _numbered(self, line: bytes, sender: str) -> RecordedLine:
        self._numbers += 1
        return RecordedLine(self._numbers, line, sender)

    def _how_it_ended(self) -> str:
        try:
            code = self._agent.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return "its output and goes on"
        return f"with exit code {code}" if code >= 0 else f"by signal {-code}"

    def _signal(self, number: int) -> None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._agent.pid, number)
            else:
                self._agent.send_signal(number)


_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)


def _start(command: Sequence[str], changes: Mapping[str, str | None]) -> "subprocess.Popen[bytes]":
    """Start the agent in a process group of its own, so that none of its children stay. It shares our standard
    error."""
    pipe = subprocess.PIPE
    changed = {**agent_environment(), **changes}
    environment = {name: value for name, value in changed.items() if value is not None}
    try:
        return subprocess.Popen(list(command), stdin=pipe, stdout=pipe, start_new_session=True, env=environment)  # noqa: S603
    except (OSError, ValueError) as error:
        raise not_started(command, error) from None


def _listen(output: BinaryIO, heard: "Queue[bytes | None]") -> None:
    is_rest = False
    with output:
        while piece := output.readline(_LONGEST_LINE):
            text = piece.rstrip(b"\r\n")
            if text and not is_rest:
                heard.put(text)
            is_rest = not piece.endswith(b"\n")
    heard.put(None)


def _speak(given: BinaryIO, to_say: "Queue[bytes | None]") -> None:
    with suppress(OSError, ValueError):  # the agent may have ended
        while line := to_say.get():
            given.write(line)
            given.flush()
    with suppress(OSError, ValueError):
        given.close()


def _said(error: Any) -> str:
    """The message of an error, with the details that some agents add to it."""
    if not isinstance(error, dict):
        return str(error)
    data = error.get("data")
    details = data.get("details", data.get("message")) if isinstance(data, dict) else data
    return f"{error.get('message')} ({details})" if isinstance(details, str) else str(error.get("message"))


def _messages(line: bytes) -> list[Message]:
    """The messages on a line: none if it is not JSON, several if it is a batch."""
    value = value_of(line)
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]


def _is_idle(message: Message, session: str) -> bool:
    match message:
        case {"params": {"sessionId": str(of), "update": {"sessionUpdate": "state_update", "state": "idle"}}}:
            return of == session
    return False
