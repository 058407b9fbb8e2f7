"""A real agent at work behind the relay, a client whose dialogs stay open, and a board from which a person acts."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from planwire.web.addresses import encode_id
from tests.peers.agents import Agent
from tests.peers.client import Client, Hello, Policy, leave_open
from tests.peers.model_server import ScriptedModel
from tests.peers.relayed import TEE, Make, relay_command
from tests.peers.script import Step
from tests.waiting import until
from tests.web.board import Running, running_board
from tests.web.steering import Here

__all__ = ["Desk", "Scene", "at_desk", "at_work"]

Json = dict[str, Any]


@dataclass
class Desk:
    """An agent behind the relay, its model, and a board on the relay's journal. A test starts the agent's client."""

    agent: Agent
    model: ScriptedModel
    board: Running
    kept: Path

    @property
    def session(self) -> str:
        """The only session, once the board knows it."""
        until(lambda: self.board.json("/sessions.json")["sessions"])
        [glance] = self.board.json("/sessions.json")["sessions"]
        return str(glance["id"])

    @property
    def state(self) -> str:
        """The state of the session on the board."""
        return str(self.board.json(f"/sessions/{self.session}.json")["state"])

    @property
    def heard(self) -> list[Json]:
        """What the agent was told, by anybody."""
        return [json.loads(line) for line in (self.kept / "in").read_text(encoding="utf-8").splitlines()]

    @property
    def answers(self) -> list[Json]:
        """What the agent was told in answer to its questions."""
        results = [each["result"] for each in self.heard if "method" not in each and "result" in each]
        return [result["outcome"] for result in results if "outcome" in result]

    @property
    def plans(self) -> list[Json]:
        """The plans on the board, once there are some."""
        address = f"/sessions/{self.session}.json"
        until(lambda: self.board.json(address)["plans"])
        return list(self.board.json(address)["plans"])

    def hears(self, words: str) -> list[bool]:
        """Whether the model was told the words, by its main requests."""
        return [words in request.text for request in self.model.main]

    def asked(self, plan_id: str) -> Json:
        """The plan on the board, once a person is asked about it there."""
        until(lambda: any(plan["id"] == plan_id and plan["question"] for plan in self.plans))
        return next(plan for plan in self.plans if plan["id"] == plan_id)

    def act(self, name: str, plan_id: str | None, **body: Any) -> None:
        """What a person does on the board, which it must accept."""
        answer = Here(self.board, self.session).act(name, encode_id(plan_id), **body)
        assert answer.status_code == 200, answer.text

    def events(self, *kinds: str) -> list[Json]:
        """What the journal has of these kinds, with the author of each as `by`."""
        events = [{"by": each.by, **to_builtins(each.event)} for each in self.board.journal.read(self.session)]
        return [event for event in events if event["event"] in kinds]


@dataclass
class Scene:
    """A desk, and a client that is in a session with the agent."""

    desk: Desk
    client: Client
    session: str


@contextmanager
def at_desk(make: Make, home: Path, script: Iterable[Step], *options: str) -> Iterator[Desk]:
    """An agent of this make on a model that follows the script."""
    home.mkdir(parents=True, exist_ok=True)
    journal, kept = home / "journal.db", home / "kept"
    kept.mkdir()
    with ScriptedModel(script) as model, running_board(str(journal)) as board:
        agent = make(model.url, home).behind(sys.executable, str(TEE), str(kept))
        yield Desk(agent.behind(*relay_command(journal, *options)), model, board, kept)


@contextmanager
def at_work(
    make: Make, home: Path, script: Iterable[Step], policy: Policy = leave_open, hello: Hello = Hello()
) -> Iterator[Scene]:
    """The same with a client in a new session. The relay says nothing and ends well."""
    with at_desk(make, home, script) as desk:
        with desk.agent.start(hello, policy) as client:
            yield Scene(desk, client, client.new_session())
        assert "planwire:" not in client.stderr
        assert client.process.returncode == 0, client.stderr
