"""A bare ACP client on an agent's pipes. It sends what it is told to and keeps every line of both sides.

It is written without the official SDK on purpose: a test decides what the client says of itself, and sees the agent's
lines as they were written, in whatever dialect.
"""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self, TypeVar

__all__ = [
    "Client",
    "Hello",
    "Line",
    "Policy",
    "Refused",
    "Silence",
    "Undecided",
    "allow_once",
    "leave_open",
    "reject_once",
]

Json = dict[str, Any]
RequestId = int | str
Policy = Callable[[Mapping[str, Any]], str | None]
"""Permission asked (the params of the request) to the id of the option chosen, or `None` for a cancelled request.
`Undecided` leaves the question open."""

T = TypeVar("T")
PATIENCE = 30.0
GRACE = 5.0
METHOD_NOT_FOUND = -32601


class Refused(Exception):
    """The agent answered a request with an error, which is `error`."""

    def __init__(self, method: str, error: Mapping[str, Any]) -> None:
        super().__init__(f"{method}: {json.dumps(error)}")
        self.error = error


class Silence(AssertionError):
    """What was waited for did not come in time, or the agent ended before it came."""


class Undecided(Exception):
    """A policy does not answer now: the test does, with `Client.choose`, or nobody ever does."""


@dataclass(frozen=True)
class Line:
    """One line of the conversation, as it was written, without its line feed."""

    sender: Literal["client", "agent"]
    text: str

    @property
    def message(self) -> Json:
        """The line as JSON, or an empty object where it isn't any."""
        try:
            value = json.loads(self.text)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True)
class Hello:
    """What the client says of itself in `initialize`."""

    version: int = 1
    capabilities: Mapping[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> Json:
        """Version 2 has other words for the same things."""
        me = {"name": "planwire-tests", "title": "planwire's tests", "version": "1"}
        mine = dict(self.capabilities)
        if self.version >= 2:
            return {"protocolVersion": self.version, "capabilities": mine, "info": me}
        return {"protocolVersion": self.version, "clientCapabilities": mine, "clientInfo": me}


def _first(kind: str) -> Policy:
    def policy(params: Mapping[str, Any]) -> str | None:
        return next((str(option["optionId"]) for option in params["options"] if option["kind"] == kind), None)

    return policy


allow_once = _first("allow_once")
reject_once = _first("reject_once")


def leave_open(_: Mapping[str, Any]) -> str | None:
    """The policy of somebody who is elsewhere: every question stays open."""
    raise Undecided


class Client:
    """One agent process and the conversation with it: `with Client(command, env, cwd) as client: …`."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path,
        *,
        hello: Hello = Hello(),
        policy: Policy = allow_once,
    ) -> None:
        self.hello = hello
        self.cwd = cwd
        self.lines: list[Line] = []
        self.agent: Json = {}
        """The agent's answer to `initialize`."""
        self._policy = policy
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._answers: dict[object, Json] = {}
        self._number = 0
        self._ended = False
        self._errors: list[str] = []
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=cwd,
            start_new_session=True,
        )
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._stdin: IO[bytes] = stdin
        self._threads = (
            threading.Thread(target=self._read, args=(stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(stderr,), daemon=True),
        )
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        try:
            self.agent = self.request("initialize", self.hello.params)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> int:
        """The protocol version that was agreed on: the agent's word counts."""
        return int(self.agent.get("protocolVersion", self.hello.version))

    @property
    def stderr(self) -> str:
        """What the agent has written on stderr so far."""
        return "".join(self._errors)

    def new_session(self, **more: Any) -> str:
        """`session/new` in the client's folder; the session's id."""
        return str(self.request("session/new", {"cwd": str(self.cwd), "mcpServers": [], **more})["sessionId"])

    def load_session(self, session: str) -> Json:
        """Have the agent tell a session's history again: `session/load`, or in version 2 `session/resume`."""
        params: Json = {"sessionId": session, "cwd": str(self.cwd), "mcpServers": []}
        if self.version >= 2:
            return self.request("session/resume", {**params, "replayFrom": {"type": "start"}})
        return self.request("session/load", params)

    def prompt(self, session: str, text: str, patience: float = PATIENCE) -> str:
        """One turn, until it has ended; the reason why it ended.

        In version 1 the answer ends the turn, in version 2 it only confirms the message, and an update ends the turn.
        Some agents agree to version 2 and go on in version 1: an answer with a reason ends the turn in any version.
        """
        start = len(self.lines)
        blocks = [{"type": "text", "text": text}]
        answer = self.request("session/prompt", {"sessionId": session, "prompt": blocks}, patience)
        if self.version < 2 or "stopReason" in answer:
            return str(answer["stopReason"])

        def idle() -> Json | None:
            found = self.updates("state_update", session=session, since=start)
            return next((update for update in found if update.get("state") == "idle"), None)

        return str(self.wait_for(idle, "the end of the turn", patience).get("stopReason"))

    def updates(self, *kinds: str, session: str | None = None, since: int = 0) -> list[Json]:
        """The `update`s that the agent sent, of these kinds (or all), from line number `since` on."""
        found = []
        for line in self.lines[since:]:
            message = line.message if line.sender == "agent" else {}
            if message.get("method") == "session/update":
                params = message["params"]
                if session in (None, params["sessionId"]) and (not kinds or params["update"]["sessionUpdate"] in kinds):
                    found.append(params["update"])
        return found

    def plans(self, session: str | None = None, since: int = 0) -> list[Json]:
        """The updates that tell of plans, in any dialect."""
        return self.updates("plan", "plan_update", "plan_removed", session=session, since=since)

    def said(self, session: str | None = None, since: int = 0) -> str:
        """The text of the agent's messages, put together."""
        chunks = self.updates("agent_message_chunk", session=session, since=since)
        return "".join(chunk["content"].get("text", "") for chunk in chunks)

    def questions(self) -> list[Json]:
        """The permission requests that came, whole."""
        return self._came("session/request_permission")

    def taken_back(self) -> list[object]:
        """The ids of the requests that the agent took back."""
        return [message["params"]["requestId"] for message in self._came("$/cancel_request")]

    def wait_for_question(self, number: int = 1, patience: float = PATIENCE) -> Json:
        """The permission request with this number, counted from 1."""
        return self.wait_for(lambda: self.questions()[number - 1 : number] or None, f"question {number}", patience)[0]

    def choose(self, question: Json, option: str) -> None:
        """Answer a question that was left open, with the id of an option."""
        picked = {"outcome": "selected", "optionId": option}
        self.send({"jsonrpc": "2.0", "id": question["id"], "result": {"outcome": picked}})

    def request(self, method: str, params: Mapping[str, Any], patience: float = PATIENCE) -> Json:
        """Ask, wait for the answer, and give its result; an error is raised as `Refused`."""
        number = self.ask(method, params)
        answer = self.wait_for(lambda: self.answer_to(number), f"the answer to {method}", patience)
        if "error" in answer:
            raise Refused(method, answer["error"])
        return answer.get("result") or {}

    def ask(self, method: str, params: Mapping[str, Any], named: str | None = None) -> RequestId:
        """Send a request without waiting; its id, which is the next number unless it is named."""
        self._number += 1
        request = named or self._number
        self.send({"jsonrpc": "2.0", "id": request, "method": method, "params": params})
        return request

    def begin(self, session: str, text: str) -> RequestId:
        """Send a prompt without waiting; its id."""
        return self.ask("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def end_of(self, prompt: RequestId, patience: float = PATIENCE) -> str:
        """The reason why the turn of a prompt of version 1 ended, once it has."""
        answer = self.wait_for(lambda: self.answer_to(prompt), "the end of the turn", patience)
        assert "result" in answer, answer
        return str(answer["result"]["stopReason"])

    def answer_to(self, id: RequestId) -> Json | None:
        """The agent's answer to a request, once it is there."""
        return self._answers.get(id)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Mapping[str, Any] | str) -> None:
        """Send a message, or a line just as it stands."""
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        with self._writing:
            with self._changed:
                self.lines.append(Line("client", text))
            self._stdin.write(text.encode() + b"\n")
            self._stdin.flush()

    def wait_for(self, look: Callable[[], T | None], what: str, patience: float = PATIENCE) -> T:
        """Look after every line until there is something to see; bounded, and over at once if the agent ends."""
        until = time.monotonic() + patience
        with self._changed:
            while (found := look()) is None:
                left = until - time.monotonic()
                if self._ended or left <= 0:
                    reason = "the agent ended" if self._ended else f"nothing in {patience:g} s"
                    last = "\n".join(f"  {line.sender}: {line.text[:300]}" for line in self.lines[-8:])
                    raise Silence(f"no sign of {what}: {reason}\n{last}\n  stderr: {self.stderr[-2000:]}")
                self._changed.wait(left)
        return found

    def close(self) -> int:
        """End the agent's input, and where that does not end it, the agent itself; the exit code.

        Children that it left behind are ended too, so that no test runs on into the next.
        """
        with suppress(OSError):  # the agent may have gone first, and left something unread
            self._stdin.close()
        for last_word in (signal.SIGTERM, signal.SIGKILL):
            try:
                self.process.wait(GRACE)
                break
            except subprocess.TimeoutExpired:
                self._signal(last_word)
        code = self.process.wait(GRACE)
        self._signal(signal.SIGKILL)
        for thread in self._threads:
            thread.join(GRACE)
        return code

    def _read(self, stdout: IO[bytes]) -> None:
        with stdout:
            for raw in stdout:
                line = Line("agent", raw.decode(errors="replace").rstrip("\n"))
                message = line.message
                with self._changed:
                    self.lines.append(line)
                    if "id" in message and "method" not in message:
                        self._answers[message["id"]] = message
                    self._changed.notify_all()
                if "id" in message and "method" in message:
                    self._serve(message)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _serve(self, message: Json) -> None:
        """Answer the agent's own requests: permissions by the policy, everything else is not offered here."""
        answer: Json = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "session/request_permission":
            try:
                chosen = self._policy(message["params"])
            except Undecided:
                return
            picked = {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}
            answer["result"] = {"outcome": picked}
        else:
            answer["error"] = {"code": METHOD_NOT_FOUND, "message": f"no {message['method']} here"}
        with suppress(OSError, ValueError):  # the agent may have ended, or we did, while it asked
            self.send(answer)

    def _came(self, method: str) -> list[Json]:
        messages = (line.message for line in self.lines if line.sender == "agent")
        return [message for message in messages if message.get("method") == method]

    def _read_errors(self, stderr: IO[bytes]) -> None:
        with stderr:
            for raw in stderr:
                self._errors.append(raw.decode(errors="replace"))

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # all may have gone
            os.killpg(self.process.pid, number)
