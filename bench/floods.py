"""Floods: an agent sends more than can be recorded and ends its turn, and its client leaves at once.

Whatever is left out in between, the journal must have the last list, the end of the turn and the name of the agent.
Relay and agent share one core, where the kernel allows it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.figure import Figure, at_least
from bench.flood_agent import entries_of_list
from bench.progress import say
from planwire.journal import load_state, open_journal

__all__ = ["measure"]

ROUNDS: Final = 20
_ROOT: Final = Path(__file__).parent.parent


class Flood(NamedTuple):
    """Lists of so many steps, at a pace (see `flood_agent`). With `joined`, another session begins among them."""

    lists: int
    steps: int
    rate: float
    anew: bool
    joined: bool = False
    odd: bool = False


_JOINING: Final = Flood(1, 20, 0, anew=True)
FLOODS: Final = {
    "300 lists at once": Flood(300, 20, 0, anew=True),
    "1,000 a second": Flood(200, 20, 1_000, anew=True),
    "40 long ones a second": Flood(8, 100, 40, anew=True),
    "3,000 a second, one step of each new": Flood(600, 20, 3_000, anew=False),
    "1,000 a second, another session among them": Flood(200, 20, 1_000, anew=True, joined=True),
}


def measure() -> Iterator[Figure]:
    say(f"{ROUNDS} rounds of {len(FLOODS)} floods")
    with tempfile.TemporaryDirectory() as folder:
        right = [
            _is_right(Path(folder) / f"{number}-{kind}.db", flood._replace(odd=number % 10 == 9))
            for number in range(ROUNDS)
            for kind, flood in enumerate(FLOODS.values())
        ]
    yield Figure("relay_flood_last_state", sum(right) / len(right), "share", at_least(1.0))


def _is_right(path: Path, flood: Flood) -> bool:
    """Whether the journal ends as the agent did, in each of its sessions."""
    command = [sys.executable, "-m", "planwire", "relay", "--journal", str(path), "--"]
    with subprocess.Popen(
        [*command, sys.executable, "-m", "bench.flood_agent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_ROOT,
    ) as relay:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(relay.pid, {0})
        sessions = _drive(relay, flood)
        assert relay.stdin is not None
        relay.stdin.close()
        relay.wait(60)
    return all(_ends_with(path, session, sent) for session, sent in sessions.items())


def _drive(relay: "subprocess.Popen[bytes]", flood: Flood) -> dict[str, Flood]:
    """Flood until all turns have ended. Returns the sessions, and what was sent in each."""
    client = _Client(relay)
    client.wait_for(client.ask("initialize", protocolVersion=1, clientCapabilities={}))
    sent = {client.begin(): flood}
    turns = [client.prompt(session, flood) for session in sent]
    if flood.joined:
        client.read()
        sent[other := client.begin()] = _JOINING
        turns.append(client.prompt(other, _JOINING))
    for turn in turns:
        client.wait_for(turn)
    return sent


class _Client:
    """The client's end of a relay. It reads everything that comes, and looks at the answers."""

    def __init__(self, relay: "subprocess.Popen[bytes]") -> None:
        assert relay.stdin is not None
        assert relay.stdout is not None
        self._to, self._from = relay.stdin, relay.stdout
        self._asked = 0
        self._answers: dict[int, Any] = {}

    def ask(self, method: str, **params: Any) -> int:
        self._asked += 1
        self._to.write(json.dumps({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}).encode())
        self._to.write(b"\n")
        self._to.flush()
        return self._asked

    def read(self) -> None:
        line = self._from.readline()
        if not line:
            raise EOFError("the relay ended")
        if b'"result"' in line:
            answer = json.loads(line)
            self._answers[answer["id"]] = answer["result"]

    def wait_for(self, number: int) -> Any:
        while number not in self._answers:
            self.read()
        return self._answers[number]

    def begin(self) -> str:
        return str(self.wait_for(self.ask("session/new", cwd="/project", mcpServers=[]))["sessionId"])

    def prompt(self, session: str, flood: Flood) -> int:
        asked = {name: value for name, value in flood._asdict().items() if name != "joined"}
        return self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": json.dumps(asked)}])


def _ends_with(path: Path, session: str, sent: Flood) -> bool:
    with open_journal(path) as journal:
        state = load_state(journal, session)
    last = [each["content"] for each in entries_of_list(sent.lists - 1, sent.steps, anew=sent.anew, odd=sent.odd)]
    is_known = state.opened is not None and state.opened.cwd == "/project" and state.opened.agent is not None
    steps = state.plans[None].state.steps if None in state.plans else ()
    return is_known and [step.content for step in steps] == last and state.stopped is not None
