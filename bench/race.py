"""Timing that a busy machine disturbs evenly.

Contenders that are compared with each other form a heat. A round gives everyone a lap of about two milliseconds, heat
by heat, in a new random order, and rounds follow each other until the time is up. So a contender has a hundred laps and
more, spread over the whole race, and its rivals run right next to each of them: a machine that is slow for a while is
slow for all. The quickest lap counts: interference only ever adds time, so the minimum is nearest to the cost of the
code itself.

The garbage collector stays on, as it is in the programs that would run this code: a lap contains the young collections
that its own calls cause. What lives for long is the same for everyone, since all contenders share one process.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from time import monotonic, perf_counter_ns
from typing import Any, NamedTuple, TypeAlias

from bench.progress import say

__all__ = ["Contender", "Heat", "race"]

LAP_NS = 2_000_000
MIN_ROUNDS = 20


class Contender(NamedTuple):
    """A call with one argument, so that a function written in C is timed without a Python frame around it."""

    call: Callable[[Any], object]
    argument: Any


#: Contenders by name. A name is in only one heat of a race.
Heat: TypeAlias = Mapping[str, Contender]


def race(heats: Sequence[Heat], seconds: float) -> dict[str, float]:
    """The microseconds that one call of each contender takes."""
    times = {name: _calls_in_a_lap(contender) for heat in heats for name, contender in heat.items()}
    best = dict.fromkeys(times, float("inf"))
    draw = random.Random(1)
    start = monotonic()
    rounds = told = 0
    while rounds < MIN_ROUNDS or monotonic() - start < seconds:
        for heat in draw.sample(heats, len(heats)):
            for name in draw.sample(list(heat), len(heat)):
                best[name] = min(best[name], _lap(*heat[name], times[name]) / times[name])
        rounds += 1
        if (done := int(4 * (monotonic() - start) / seconds)) > told:
            told = done
            say(f"  {min(done * 25, 100)} % of {seconds:.0f} s, {rounds} rounds")
    return {name: nanoseconds / 1_000 for name, nanoseconds in best.items()}


def _calls_in_a_lap(contender: Contender) -> int:
    """How many calls fill a lap, found by running ever more of them, which warms the contender up as well.

    The quickest of several counts here too: one hiccup must not make all the laps of a contender short and cold.
    """
    times = 1
    while (taken := min(_lap(*contender, times) for _ in range(5))) < LAP_NS:
        times = max(times + 1, min(times * 10, int(times * LAP_NS / max(taken, 1))))
    return times


def _lap(call: Callable[[Any], object], argument: Any, times: int) -> int:
    start = perf_counter_ns()
    for _ in repeat(None, times):
        call(argument)
    return perf_counter_ns() - start
