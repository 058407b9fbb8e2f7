"""The demo's client: starts the agent behind the relay, prompts it twice, and hands on every line."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from planwire.cli.agent_client import AgentClient, AgentTrouble
from planwire.cli.recording import RecordedLine
from planwire.errors import InputError, reason
from planwire.journal.engines import default_path

__all__ = ["DemoConversation", "project_folder"]

PROMPTS: Final = ("Our nightly export drops rows with umlauts. Find out why and fix it.", "Go on.")
_AIR: Final = {"jetbrains": {"air": {"planContentDelta": True}}}
#: Longer than any demo takes.
_DAY: Final = 86_400


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
        with closing(AgentClient([*relay, "--", *agent], _DAY)) as client:
            try:
                yield from self._talk(client)
            except AgentTrouble:
                raise InputError("the demo agent ended early; its output is above") from None

    def _talk(self, client: AgentClient) -> Iterator[RecordedLine]:
        about = {"name": "planwire-demo", "title": "planwire demo", "version": "1.0"}
        hello = {"protocolVersion": 2, "info": about, "capabilities": {"_meta": _AIR}}
        yield from client.ask("initialize", hello)
        begun = yield from client.ask("session/new", {"cwd": str(self._folder), "mcpServers": []})
        self.session = str(begun.get("sessionId"))
        for prompt in PROMPTS:
            words = [{"type": "text", "text": prompt}]
            yield from client.ask("session/prompt", {"sessionId": self.session, "prompt": words})
            yield from client.until_idle(self.session)


def project_folder() -> Path:
    """The folder that the agent works in. It stays, since people look at the plan file in it after the demo, and every
    demo uses the same one."""
    folder = default_path().parent / "demo"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} can't be created: {reason(error)}") from None
    return folder
