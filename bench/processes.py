"""Timing of whole processes, as a user waits for them.

The programs of a round take turns, in an order that changes from round to round, so that none always comes first. In a
race the minimum of each does better, but a process is too long and too rare for that: one program may meet a quick
moment of the machine and another none.

A first round, which does not count, writes byte code to a folder of its own, whatever the environment says about
writing it: an installed package has its byte code.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TypeAlias

from bench.progress import say

__all__ = ["Programs", "time_processes"]

#: What Python gets as arguments, by name.
Programs: TypeAlias = Mapping[str, Sequence[str]]


def time_processes(programs: Programs, rounds: int) -> list[dict[str, float]]:
    """The seconds that each program took, a dictionary a round."""
    say(f"{rounds} rounds of {len(programs)} fresh processes")
    with tempfile.TemporaryDirectory() as folder:
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**inherited, "PYTHONPYCACHEPREFIX": folder}
        _round(programs, list(programs), environment)
        return [_round(programs, list(programs)[:: (-1) ** number], environment) for number in range(rounds)]


def _round(programs: Programs, order: list[str], environment: dict[str, str]) -> dict[str, float]:
    taken = {}
    for name in order:
        command = [sys.executable, *programs[name]]
        start = perf_counter()
        subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        taken[name] = perf_counter() - start
    return taken
