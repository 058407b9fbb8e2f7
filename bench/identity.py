"""How well steps are told apart and found again, over labelled evolutions of plans, and how long a long list takes.

Each figure is the lower one of two ways: a list that an agent reports over the wire, and a model's calls of `set_plan`.
Only entries whose text the list before did not have count: a text that stays is easy.
"""

import random
from collections.abc import Iterator
from statistics import median
from time import thread_time
from typing import Final

from bench.figure import Figure, at_least, at_most
from bench.progress import say
from bench.proof import prove
from planwire.model.identity import step_ids, track
from planwire.model.likeness import read
from planwire.model.plan import Entry, ItemsPlan
from tests.model.evolutions import EVOLUTIONS, WAYS, judge

__all__ = ["measure"]

STEPS: Final = 2_000
ROUNDS: Final = 7
WORDS: Final = ("read", "write", "parser", "config", "test", "file", "module", "user", "board", "ship", "docs", "cache")


def measure() -> Iterator[Figure]:
    say(f"{len(EVOLUTIONS)} labelled evolutions, over the wire and by set_plan")
    scores = [judge(EVOLUTIONS, way) for way in WAYS.values()]
    for score in scores:
        prove(score.evolutions, len(EVOLUTIONS), "evolutions followed")
    yield Figure("identity_precision_changed", min(score.precision for score in scores), "", at_least(0.95))
    yield Figure("identity_recall_changed", min(score.recall for score in scores), "", at_least(0.78))
    yield Figure("identity_new_as_new", min(score.new_as_new / score.new for score in scores), "", at_least(0.95))
    yield Figure("identity_flawless", min(score.flawless / score.evolutions for score in scores), "", at_least(0.9))
    say(f"{STEPS:,} steps against {STEPS:,} changed ones, hostile texts among them")
    yield Figure("match_2000_ms", max(_milliseconds(*lists) for lists in _lists().values()), "ms", at_most(50))


def _milliseconds(before: list[str], after: list[str]) -> float:
    """The median time to give a list its ids, by a process that never read any of its texts."""
    state, plan = track(_plan(before)), _plan(after)
    taken = []
    for _ in range(ROUNDS):
        read.cache_clear()
        start = thread_time()
        found = step_ids(plan, state)
        taken.append((thread_time() - start) * 1_000)
        prove(len({*found}), STEPS, "steps with ids of their own")
    return median(taken)


def _plan(texts: list[str]) -> ItemsPlan:
    return ItemsPlan(None, tuple(Entry(text, "medium", "pending") for text in texts))


def _lists() -> dict[str, tuple[list[str], list[str]]]:
    """Lists and what becomes of them: plain tasks under other names, and texts that are made to be slow."""
    numbers = range(STEPS)
    tasks = [f"{_words(number)} {number}" for number in numbers]
    return {
        "begun": (tasks, [f"Working on {task}" for task in tasks]),
        "unrelated": ([_words(number) for number in numbers], [_words(-number - 1) for number in numbers]),
        "near": (
            [f"Port module {number}" for number in numbers],
            [f"Port module {number + STEPS}" for number in numbers],
        ),
        "equal": (["Run the tests"] * STEPS, [*["Run the tests!"] * (STEPS - 1), "Run the tests"]),
        "letters": (_letters("abc "), _letters("abc  ")),
        "digits": (_letters("0123456789. "), _letters("0123456789 .")),
        "enumerators": (
            [f"{'1. ' * 150}{number}" for number in numbers],
            [f"{'- ' * 240}{number}" for number in numbers],
        ),
        "ideographs": (
            [f"编写单元测试{number}" for number in numbers],
            [f"正在编写单元测试文件{number}" for number in numbers],
        ),
        "long": ([f"{'x' * 5_000}{number}" for number in numbers], [f"{'x' * 5_000}y{number}" for number in numbers]),
    }


def _words(seed: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=6))


def _letters(letters: str) -> list[str]:
    return ["".join(random.Random(number).choices(letters, k=240)) for number in range(STEPS)]
