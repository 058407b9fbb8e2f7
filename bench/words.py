"""People's words: whether the agent's next call brings them, and whether any are refused without a reason.

The board, the agent and the person are in processes of their own, with one journal in a file. A word counts as missed
if the board answered that it is written, and the first call of a plan tool after that does not bring it.

The person who steers looks at an old state of a plan: the agent has changed one of its steps again and again since.
What they say about the other steps still fits the plan, so none of it may be refused.
"""

import json
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.fanout import board, post_act
from bench.figure import Figure, at_most
from bench.progress import say
from bench.proof import prove
from bench.words_agent import STEPS
from planwire.journal import load_state, open_journal
from planwire.model.plan import PlanId
from planwire.model.records import SessionState
from planwire.model.step_changes import SetPriority
from planwire.session.moved_on import MovedOn
from planwire.session.steering import steer
from planwire.steering.wanted import Comment, Wanted

__all__ = ["measure"]

WORDS = 1_000
#: Each round has an agent and sessions of its own.
ROUNDS = 10
#: Acts of the person between a look at the plan and the act that follows from it.
LOOK_BACK = 25


class _Round(NamedTuple):
    """The number of refused acts, and the median of the events between a look at the plan and the act."""

    refused: int
    behind: float


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        say(f"{WORDS:,} words over the board, each before a call")
        yield Figure("words_missed_by_next_call", _missed(Path(folder) / "journal.db"), "", at_most(0))
        say(f"{WORDS:,} acts on plans whose agents work on another step")
        rounds = [_steer(Path(folder) / f"steered-{number}.db") for number in range(ROUNDS)]
        yield Figure("steer_conflicts_untouched", sum(each.refused for each in rounds), "", at_most(0))
        yield Figure("steer_events_since_seen", median(each.behind for each in rounds), "")


def _missed(path: Path) -> int:
    missed = 0
    with _agent("ask", path) as agent, board(path) as port:
        assert agent.stdin is not None
        assert agent.stdout is not None
        for number in range(WORDS):
            word = f"word {number}"
            act = {"act": "comment", "target": "s1", "text": word}
            prove(post_act(port, "/sessions/asked/plans/main", act), 200, "the answer to a comment")
            agent.stdin.write("call\n")
            agent.stdin.flush()
            missed += word not in json.loads(agent.stdout.readline())
    return missed


def _steer(path: Path) -> _Round:
    """Half of the acts are on a plan of the tools, half on one that the agent reports."""
    refused = 0
    behind: list[int] = []
    with _agent("work", path), open_journal(path) as journal:
        states = {session: load_state(journal, session) for session in ("tools", "wire")}
        looks = {session: deque([state], LOOK_BACK) for session, state in states.items()}
        for number in range(WORDS // ROUNDS):
            session, plan_id = (("tools", "main"), ("wire", None))[number % 2]
            seen = looks[session][0]
            try:
                states[session] = steer(journal, states[session], plan_id, _wanted(number // 2, seen, plan_id)).state
            except MovedOn:
                refused += 1
                states[session] = load_state(journal, session)
            looks[session].append(states[session])
            behind.append(states[session].seq - seen.seq)
    return _Round(refused, median(behind))


def _wanted(number: int, seen: SessionState, plan_id: PlanId) -> Wanted:
    """The act with this number, on a step that has not changed since it was seen."""
    revision = seen.plans[plan_id].revision
    step = f"s{2 + number % (STEPS - 1)}"
    about = (Comment(f"request {number}", step),)
    acts = (
        Wanted("comment", step, revision, text=f"comment {number}"),
        Wanted("reword", step, revision, text=f"Another text {number}"),
        Wanted("tick", step, revision),
        Wanted("suggest", seen=revision, changes=(SetPriority(step, ("high", "low")[number % 2]),)),
        Wanted("review", seen=revision, verdict="changes_requested", comments=about),
    )
    return acts[number % len(acts)]


@contextmanager
def _agent(doing: str, path: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "bench.words_agent", doing, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        prove(process.stdout.readline(), "ready\n", "the agent's beginning")
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(20)
