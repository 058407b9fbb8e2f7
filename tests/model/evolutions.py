"""Labelled evolutions of plans: successive lists, and which of their entries are the same step.

`evolutions.json` holds them: real lists of agents and invented ones, each entry as [label, status, text]. Entries with
one label are the same step. Where people would differ, the labels that are as good stand side by side: `a|+` may be
step a, or a new one. The parts tell when an evolution was labelled: before the rules were tuned (`first`), while they
were (`second`), after that, and looked at since (`last`), at the very end (`blind`), or without sight of the rules
(`apart`).
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from planwire import BlockingPlanSession, Board
from tests.wire import entry, plan

__all__ = ["EVOLUTIONS", "WAYS", "Evolution", "Score", "by_set_plan", "by_wire", "judge"]


@dataclass(frozen=True)
class Evolution:
    """One evolution: its lists of [label, status, text]."""

    name: str
    kind: str
    part: str
    lists: list[list[list[str]]]


EVOLUTIONS = [Evolution(**each) for each in json.loads(Path(__file__).with_name("evolutions.json").read_text())]

#: Gives the step ids of each list of an evolution.
Way: TypeAlias = Callable[[Evolution], list[list[str]]]


def by_wire(evolution: Evolution) -> list[list[str]]:
    """The ids that a client's board gives to lists that an agent reports."""
    board = Board()
    found = []
    for entries in evolution.lists:
        board.apply(plan(*(entry(text, status) for _, status, text in entries)))
        found.append([step.id for step in board.sessions["s1"].plans[None].steps])
    return found


def by_set_plan(evolution: Evolution) -> list[list[str]]:
    """The ids that a model's calls of `set_plan` give."""
    found = []
    with BlockingPlanSession.open("memory:", "s1") as session:
        for number, entries in enumerate(evolution.lists):
            arguments: dict[str, Any] = {"entries": [{"content": text, "status": each} for _, each, text in entries]}
            answer = session.call("set_plan", arguments, f"call-{number}")
            assert not answer.is_error, answer
            found.append([step.id for step in session.state.plans["main"].state.steps])
    return found


WAYS: dict[str, Way] = {"wire": by_wire, "set_plan": by_set_plan}


@dataclass
class Score:
    """What a way got right. Entries whose text the list before had are left out, but for `wrong` and `lost`. An
    evolution without either is flawless."""

    right_links: int = 0
    links: int = 0
    expected_links: int = 0
    new: int = 0
    new_as_new: int = 0
    evolutions: int = 0
    flawless: int = 0
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right_links / self.links if self.links else 1.0

    @property
    def recall(self) -> float:
        return self.right_links / self.expected_links if self.expected_links else 1.0


def judge(evolutions: Iterable[Evolution], way: Way) -> Score:
    """Compare the ids that a way gives with the labels."""
    score = Score()
    for evolution in evolutions:
        flaws = len(score.wrong) + len(score.lost)
        _judge_one(score, evolution, way(evolution))
        score.evolutions += 1
        score.flawless += len(score.wrong) + len(score.lost) == flaws
    return score


def _judge_one(score: Score, evolution: Evolution, ids: list[list[str]]) -> None:
    label_of: dict[str, str] = {}
    before: set[str] = set()
    for number, (entries, step_ids) in enumerate(zip(evolution.lists, ids, strict=True)):
        known = {*label_of.values()}
        for (labels, _, text), step_id in zip(entries, step_ids, strict=True):
            likely, *others = labels.split("|")
            is_new, is_linked = likely not in known, step_id in label_of
            is_right = label_of[step_id] in {likely, *others} if is_linked else is_new or "+" in others
            if number and text not in before:
                score.links += is_linked
                score.right_links += is_linked and is_right
                score.expected_links += (not is_new and "+" not in others) or (is_linked and is_right)
                score.new += is_new and "+" not in others
                score.new_as_new += is_new and "+" not in others and not is_linked
            if not is_right:
                found = score.wrong if is_linked else score.lost
                found.append(f"{evolution.name}: {text}")
            label_of.setdefault(step_id, likely)
        before = {text for _, _, text in entries} or before
