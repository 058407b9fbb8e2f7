"""The demo's client: starts the agent behind the relay, prompts it twice, and hands on every line."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from planwire.acp import AGENT, CLIENT
from planwire.cli.recording import RecordedLine
from planwire.errors import InputError
from planwire.model.plan import Fields

__all__ = ["DemoConversation"]

PROMPTS = ("Our nightly export drops rows with umlauts. Find out why and fix it.", "Go on.")
_AIR = {"jetbrains": {"air": {"planContentDelta": True}}}


class DemoConversation:
    """Every line between the client and the relay, while it happens. `folder` is the project of the agent.

    `session` is the agent's id of the session, once it has given one.
    """

    def __init__(self, speed: float, journal: str | None, folder: Path) -> None:
        self.session = ""
        self._journal = journal
        self._speed = speed
        self._folder = folder

    def __iter__(self) -> Iterator[RecordedLine]:
        relay = [sys.executable, "-m", "planwire", "relay", *(["--journal", self._journal] if self._journal else [])]
        agent = [sys.executable, "-m", "planwire.demo.agent", "--speed", str(self._speed)]
        command = [*relay, "--", *agent]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
            assert process.stdin is not None
            try:
                yield from self._talk(_DemoClient(process))
            finally:
                process.stdin.close()

    def _talk(self, client: "_DemoClient") -> Iterator[RecordedLine]:
        about = {"name": "planwire-demo", "title": "planwire demo", "version": "1.0"}
        yield from client.ask("initialize", protocolVersion=2, info=about, capabilities={"_meta": _AIR})
        yield from client.ask("session/new", cwd=str(self._folder), mcpServers=[])
        self.session = str(client.result.get("sessionId"))
        for prompt in PROMPTS:
            words = [{"type": "text", "text": prompt}]
            yield from client.ask("session/prompt", sessionId=self.session, prompt=words)
            yield from client.until(lambda message: _update(message).get("state") == "idle")


class _DemoClient:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._to_agent = process.stdin
        self._from_agent = process.stdout
        self._lines = 0
        self._asked = 0
        self.result: Fields = {}

    def ask(self, method: str, **params: Any) -> Iterator[RecordedLine]:
        """Send a request, and hand on every line up to its answer."""
        self._asked += 1
        request = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        line = msgspec.json.encode(request)
        self._to_agent.write(line + b"\n")
        self._to_agent.flush()
        yield self._numbered(line, CLIENT)
        yield from self.until(lambda message: message.get("id") == self._asked and "method" not in message)

    def until(self, is_last: Callable[[Fields], bool]) -> Iterator[RecordedLine]:
        for line in self._from_agent:
            yield self._numbered(line, AGENT)
            message = msgspec.json.decode(line)
            if is_last(message):
                self.result = message.get("result") or {}
                return
        raise InputError("the demo agent ended early: what it said stands above")

    def _numbered(self, line: bytes, sender: str) -> RecordedLine:
        self._lines += 1
        return RecordedLine(self._lines, line, sender)


def _update(message: Fields) -> Fields:
    update: Fields = (message.get("params") or {}).get("update") or {}
    return update
