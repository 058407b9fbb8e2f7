"""What an agent still knows after a compaction: the share of the evidence for its open steps that the context holds.

A session of 400 messages works on 12 steps in turn, one to three at a time. When 8 are completed it is compacted once,
to a quarter of its tokens, without a summariser. Evidence is a string, in a message of any author, that a still open
step needs: nine of ten are planted while that step is in progress, one before. Messages sent while such steps are in
progress are less than a fifth of all, spread over the whole session.

The sessions also differ in how much people say, how long tool output is, how many calls a batch has, and how many steps
are in progress at once. For comparison, there is the usual way: keep the newest messages that fit.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from bench.figure import Figure, at_least
from bench.progress import say
from planwire import BlockingPlanSession
from planwire.chat import about_tokens

__all__ = ["measure"]

MESSAGES: Final = 400
STEPS: Final = tuple(f"s{number}" for number in range(1, 13))
OPEN: Final = 4
SEEDS: Final = 20
EVIDENCE: Final = 60
SHARE: Final = 4
WORDS: Final = tuple("the parser reads a token then it checks that every table of the config has a name".split())  # noqa: SIM905


def measure() -> Iterator[Figure]:
    say(f"{SEEDS} sessions of {MESSAGES} messages")
    kept, oldest = zip(*(_kept(_Session(Random(seed))) for seed in range(SEEDS)), strict=True)
    ratios = [ours / max(theirs, 1 / EVIDENCE) for ours, theirs in zip(kept, oldest, strict=True)]
    yield Figure("compaction_evidence_kept", min(kept), "", at_least(0.8))
    yield Figure("compaction_evidence_vs_oldest", min(ratios), "x", at_least(2))
    yield Figure("compaction_evidence_oldest", sum(oldest) / SEEDS, "")


def _kept(session: "_Session") -> tuple[float, float]:
    """The share of the evidence in the context of a session after its compaction, and in the newest that fit."""
    with BlockingPlanSession.open("memory:", "bench") as plans:
        session.play(plans)
        before = plans.context()
        budget = sum(map(about_tokens, before)) // SHARE
        plans.compact(budget)
        after = plans.context()
    assert sum(map(about_tokens, after)) <= budget, "it fits"
    newest: list[Any] = []
    for message in reversed(before):
        budget -= about_tokens(message)
        if budget < 0:
            break
        newest.append(message)
    return session.share(after), session.share(newest)


@dataclass
class _Said:
    """A message still to be said: its author, its length, and the steps that are in progress then."""

    author: str
    words: int
    current: frozenset[str]
    evidence: list[str] = field(default_factory=list)

    def text(self, chance: Random) -> str:
        parts = [*chance.choices(WORDS, k=self.words)]
        for each in self.evidence:
            parts.insert(chance.randrange(len(parts) + 1), each)
        return " ".join(parts)


class _Session:
    """A random session: stretches of work, each with its steps in progress, and evidence in the messages."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.batch = chance.randint(1, 4)
        self.at_once = chance.randint(1, 3)
        people, tools = chance.uniform(0.03, 0.33), chance.uniform(0.3, 0.6)
        self.shares = (people, tools, max(0.1, 1 - people - tools))
        self.lengths = {
            "user": chance.randint(10, 80),
            "tool": chance.randint(80, 400),
            "assistant": chance.randint(30, 120),
        }
        self.open = frozenset(chance.sample(STEPS, OPEN))
        self.stretches = [*self._stretches()]
        self.now: frozenset[str] = frozenset()
        self.evidence = [*self._plant()]

    def share(self, context: list[Any]) -> float:
        text = json.dumps(context)
        return sum(each in text for each in self.evidence) / len(self.evidence)

    def play(self, plans: BlockingPlanSession) -> None:
        """Say it all, in a session that keeps its messages."""
        plans.add({"role": "system", "content": "You are a careful engineer."})
        plans.add({"role": "user", "content": "Port the parser to the new format. " * 4})
        _tell(plans, "set_plan", {"entries": [f"Step {number} of the port" for number in range(1, 13)]})
        left = [step for stretch, _ in self.stretches for step in stretch]
        for stretch, said in self.stretches:
            for step in stretch:
                left.remove(step)
            done = {step for step in self.now if step not in self.open and step not in left and step not in stretch}
            moves = (("in_progress", stretch - self.now), ("completed", done), ("pending", self.now - stretch - done))
            if changes := {step: status for status, steps in moves for step in sorted(steps)}:
                _tell(plans, "update_plan", {"steps": changes})
            self.now = stretch
            self._say(plans, said)
        left = [step.id for step in plans.state.plans["main"].state.steps if not step.is_done]
        _tell(plans, "update_plan", {"steps": dict.fromkeys(sorted({*left} - self.open), "completed")})
        steps = plans.state.plans["main"].state.steps
        assert sum(step.is_done for step in steps) == len(STEPS) - OPEN

    def _say(self, plans: BlockingPlanSession, said: list[_Said]) -> None:
        """Say the messages of a stretch. Tool results come in batches, after their calls."""
        waiting: list[_Said] = []
        for each in [*said, None]:
            if each and each.author == "tool":
                waiting.append(each)
            if waiting and (each is None or each.author != "tool" or len(waiting) == self.batch):
                names = [f"c{plans.state.seq}-{number}" for number in range(len(waiting))]
                function = {"name": "read", "arguments": '{"path": "src/parser.py"}'}
                calls = [{"id": name, "type": "function", "function": function} for name in names]
                plans.add({"role": "assistant", "content": None, "tool_calls": calls})
                for name, output in zip(names, waiting, strict=True):
                    plans.add({"role": "tool", "tool_call_id": name, "content": output.text(self.chance)})
                waiting = []
            if each and each.author != "tool":
                plans.add({"role": each.author, "content": each.text(self.chance)})

    def _stretches(self) -> Iterator[tuple[frozenset[str], list[_Said]]]:
        """Stretches of work. Those with open steps are spread over the whole session, and are short."""
        chance, closed = self.chance, [step for step in STEPS if step not in self.open]
        chance.shuffle(closed)
        turns = chance.randint(18, 30)
        every = chance.randint(2, 3)
        with_open = {min(turns - 2, start + chance.randrange(every)) for start in range(0, turns, every)}
        opened = [*sorted(self.open), *chance.choices(sorted(self.open), k=len(with_open) - OPEN)]
        chance.shuffle(opened)
        length = MESSAGES * 0.58 / (turns - len(with_open))
        brief = MESSAGES * 0.1 / len(with_open)
        for turn in range(turns):
            number = chance.randint(1, self.at_once)
            first = min(len(closed) - number, turn * len(closed) // turns)
            current = {*closed[first : first + number]}
            if turn in with_open:
                current = {opened.pop(), *chance.sample(sorted(current), chance.randint(0, len(current)))}
            size = round((brief if turn in with_open else length) * chance.uniform(0.7, 1.2))
            steps = frozenset(current)
            yield steps, [self._said(steps) for _ in range(max(2, size))]

    def _said(self, steps: frozenset[str]) -> _Said:
        [author] = self.chance.choices(("user", "tool", "assistant"), self.shares)
        return _Said(author, max(5, round(self.lengths[author] * self.chance.uniform(0.3, 2))), steps)

    def _plant(self) -> Iterator[str]:
        everything = [each for _, said in self.stretches for each in said]
        during = [each for each in everything if each.current & self.open]
        for number in range(EVIDENCE):
            place = self.chance.choice(during)
            [step, *_] = sorted(place.current & self.open)
            first = next(at for at, each in enumerate(everything) if step in each.current)
            if number % 10 == 9 and first:
                place = everything[self.chance.randrange(first)]
            evidence = f"EV-{number}-{self.chance.randrange(10**9)}"
            place.evidence.append(evidence)
            yield evidence


def _tell(plans: BlockingPlanSession, tool: str, arguments: dict[str, Any]) -> None:
    """A call of a plan tool, as it stands in the chat."""
    name = f"p{plans.state.seq}"
    call = {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    plans.add({"role": "assistant", "content": None, "tool_calls": [call]})
    answer = plans.call(tool, arguments)
    assert "error" not in answer, answer
    plans.add({"role": "tool", "tool_call_id": name, "content": str(answer)})
