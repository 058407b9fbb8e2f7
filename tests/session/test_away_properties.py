"""Writers that work apart while the journal's server is away from some of them: whatever they do, ids stay true."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planwire import BlockingPlanSession
from planwire.errors import EngineAway, PlanError
from planwire.journal import Journal, load_state
from planwire.journal.away.journal import AwayJournal
from planwire.journal.memory import MemoryJournal
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.journal.outages import SAID
from tests.waiting import until

OPERATIONS = st.tuples(
    st.sampled_from(["here", "there", "online"]),
    st.sampled_from(["set", "add", "reword", "comment", "select", "tick", "withdraw"]),
    st.integers(0, 9),
)
WORDS = ("apple", "boat", "cloud", "drum", "eagle", "forge", "grape", "house", "igloo", "kite", "lemon", "olive")


class Line:
    """One machine's connection to a server, which can be cut, at once or after the next append was written."""

    def __init__(self, server: Journal) -> None:
        self._server = server
        self.is_cut = self.cuts_answer = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._server, name)
        return partial(self._call, found) if callable(found) else found

    def close(self) -> None:
        pass

    def _call(self, method: Any, *args: Any, **kwargs: Any) -> Any:
        if self.is_cut:
            raise EngineAway(SAID)
        given = method(*args, **kwargs)
        if self.cuts_answer and method.__name__ == "append" and given:
            self.is_cut = True
            raise EngineAway(SAID)
        return given


class Party:
    """An agent and a person on one machine: the texts that they `meant` each step to have, by its id, those that they
    have `seen`, and what they `said` of which steps, by the ids of remarks."""

    def __init__(self, name: str, journal: Journal) -> None:
        self.name = name
        self.journal = journal
        self.agent = BlockingPlanSession(journal, "s")
        self.seen: set[tuple[str, str]] = set()
        self.meant: set[tuple[str, str]] = set()
        self.born: list[str] = []
        self.said: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._count = 0

    def look(self) -> set[tuple[str, str]]:
        now = {(step.id, step.content) for step in self.agent.state.plans["main"].state.steps}
        self.seen |= now
        return now

    def do(self, what: str, pick: int) -> None:
        self._count += 1
        word = f"{WORDS[(pick + self._count) % len(WORDS)]} of {self.name} {'x' * self._count}"
        steps = self.agent.refresh().plans["main"].state.steps
        self.look()
        step = steps[pick % len(steps)] if steps else None
        match what:
            case "set":
                kept = [{"content": each.content} for each in steps[pick % 2 :: 2]]
                self._call("set_plan", {"entries": [*kept, {"content": word}]})
            case "add":
                self._call("update_plan", {"add": [{"content": word, "after": step.id if step else None}]})
            case "reword" if step:
                self._call("update_plan", {"reword": {step.id: word}})
            case "tick" if step:
                self._call("update_plan", {"steps": {step.id: "completed"}})
            case "comment" if step:
                self._act(Wanted("comment", step.id, text=word), word, (step.id,))
            case "select" if step:
                self._act(Wanted("select", steps=(step.id,)), "", (step.id,))
            case "withdraw" if self.said:
                self._act(Wanted("withdraw", sorted(self.said)[pick % len(self.said)]), "", ())

    def _call(self, tool: str, arguments: dict[str, Any]) -> None:
        answer = self.agent.call(tool, arguments)
        if not answer.is_error:
            self.born += answer.get("new_steps", ())
            changed = {*answer.get("new_steps", ()), *arguments.get("reword", ())}
            now = self.look()
            self.meant |= now if tool == "set_plan" else {each for each in now if each[0] in changed}

    def _act(self, wanted: Wanted, text: str, steps: tuple[str, ...]) -> None:
        with suppress(PlanError, EngineAway):  # an act that does not fit the plan, or can't wait
            if remark := steer(self.journal, "s", "main", wanted, self.name).remark:
                self.said[remark] = (text, steps)


@contextmanager
def apart() -> Iterator[tuple[dict[str, Party], dict[str, Line]]]:
    """Three parties on one session of a server. Two of them can be cut off."""
    with TemporaryDirectory() as folder, MemoryJournal() as server:
        lines = {name: Line(server) for name in ("here", "there")}
        online = Party("online", server)
        online._call("set_plan", {"entries": [{"content": each} for each in ("Read it", "Write it", "Send it")]})
        here, there = (AwayJournal(partial(_same, line), Path(folder) / name) for name, line in lines.items())
        with here, there:
            yield {"online": online, "here": Party("here", here), "there": Party("there", there)}, lines


def _same(line: Line) -> Line:
    return line


@given(
    first=st.lists(OPERATIONS, max_size=12),
    between=st.lists(OPERATIONS, max_size=4),
    last=st.lists(OPERATIONS, max_size=3),
    order=st.permutations(["here", "there"]),
    loses_answer=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_ids_that_were_given_apart_mean_the_same_steps_once_everything_is_delivered(
    first: list[tuple[str, str, int]],
    between: list[tuple[str, str, int]],
    last: list[tuple[str, str, int]],
    order: list[str],
    loses_answer: bool,
) -> None:
    with apart() as (parties, lines):
        for name, line in lines.items():
            line.cuts_answer = loses_answer
            if loses_answer:
                parties[name].do("add", 0)
            line.is_cut = True
        for name, what, pick in first:
            parties[name].do(what, pick)
        for name, operations in zip(order, (between, last), strict=True):
            lines[name].is_cut = lines[name].cuts_answer = False
            until(parties[name].journal.tend)  # type: ignore[attr-defined]
            for who, what, pick in operations:
                parties[who].do(what, pick)
        everyone, state = list(parties.values()), load_state(parties["online"].journal, "s")
        for party in everyone:
            assert party.agent.refresh() == state
            party.look()
        born = [each for party in everyone for each in party.born]
        assert len(set(born)) == len(born)
        assert {*born} >= {step.id for step in state.plans["main"].state.steps}
        meant = set[tuple[str, str]]().union(*(party.meant for party in everyone))
        for party in everyone:
            assert party.seen <= meant
            for remark, (text, steps) in party.said.items():
                found = state.remark(remark)
                assert found
                assert (found.text, found.steps or (found.step,), found.by) == (text, steps, party.name)
