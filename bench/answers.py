"""How soon the agent has an answer that a person gave on the board.

The board, the relay and the agent are in processes of their own, with one journal in a file; this process is the client
and the person. An answer is timed from just before it is posted to the board, until the agent has read the line with
it. All of them are on one machine, whose monotonic clock they share.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.fanout import board, post_act
from bench.figure import Figure, at_most
from bench.progress import say
from bench.proof import prove
from planwire.journal import Journal, load_state, open_journal
from tests.agents.asking import SESSION

__all__ = ["measure"]

ANSWERS = 100
_AGENT = Path(__file__).parent.parent / "tests" / "agents" / "asking.py"
_PLAN = "plan-mode"


class _Client:
    """The client of a relay with an agent that asks."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._to, self._from = process.stdin, process.stdout
        self._sent = 1_000
        self.answer_of(self.send("initialize", protocolVersion=1, clientCapabilities={}))
        self.answer_of(self.send("session/new", cwd="/project", mcpServers=[]))

    def send(self, method: str, **params: Any) -> int:
        self._sent += 1
        message = {"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params}
        self._to.write(json.dumps(message).encode() + b"\n")
        self._to.flush()
        return self._sent

    def answer_of(self, number: int) -> Any:
        while True:
            message = json.loads(self._from.readline())
            if message.get("id") == number and "method" not in message:
                return message["result"]


def measure() -> Iterator[Figure]:
    say(f"{ANSWERS} answers over the board to an agent behind the relay")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        with open_journal(path) as journal, _relay(path) as client, board(path) as port:
            taken = [_answer(client, journal, port, number) * 1_000 for number in range(ANSWERS)]
    yield Figure("answer_from_board_ms", median(taken), "ms", at_most(50))
    yield Figure("answer_from_board_p99_ms", quantiles(taken, n=100)[98], "ms")


def _answer(client: _Client, journal: Journal, port: int, number: int) -> float:
    """Have the agent ask, and answer it. Returns the seconds until the agent had the answer."""
    prompt = [{"type": "text", "text": f"# Plan {number}\n\n- [ ] Read\n- [ ] Write\n"}]
    turn = client.send("session/prompt", sessionId=SESSION, prompt=prompt)
    question = _question(journal)
    start = time.monotonic()
    act = {"act": "review", "option": "yes", "question": question}
    status = post_act(port, f"/sessions/{SESSION}/plans/{_PLAN}", act)
    prove(status, 200, "the answer of the board")
    result = client.answer_of(turn)
    prove(result["answer"], {"outcome": "selected", "optionId": "yes"}, "the answer that the agent has")
    return float(result["readAt"]) - start


def _question(journal: Journal) -> str:
    """The question that is open and has no answer yet, once it is in the journal."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        record = load_state(journal, SESSION).plans.get(_PLAN)
        if record is not None and record.asked is not None and record.decision is None:
            return record.asked.id
        time.sleep(0.002)
    raise TimeoutError("the agent's question did not come into the journal")


@contextmanager
def _relay(path: Path) -> Iterator[_Client]:
    agent = [sys.executable, str(_AGENT)]
    command = [sys.executable, "-m", "planwire", "relay", "--journal", str(path), "--", *agent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield _Client(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(20)
