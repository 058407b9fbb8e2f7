"""Timing of whole processes, as a user waits for them.

The programs of a round take turns, in an order that changes from round to round, so that none always comes first. In a
race the minimum of each works better, but processes run too long and too rarely for that: one program may meet a quick
moment of the machine and another may not.

A first round, which does not count, writes byte code to a folder of its own, whatever the environment says about
writing it: an installed package has its byte code.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TypeAlias

from bench.progress import say

__all__ = ["Programs", "time_answers", "time_processes"]

#: The arguments that Python gets, by program name.
Programs: TypeAlias = Mapping[str, Sequence[str]]
#: Runs a command in an environment, and returns the seconds that it took.
Run: TypeAlias = Callable[[Sequence[str], dict[str, str]], float]


def time_processes(programs: Programs, rounds: int) -> list[dict[str, float]]:
    """The seconds that each program took, one dictionary per round."""
    return _time(programs, rounds, _run)


def time_answers(programs: Programs, rounds: int, request: bytes) -> list[dict[str, float]]:
    """The seconds from the start of each program until it answers a line on its standard input with one of its own."""

    def ask(command: Sequence[str], environment: dict[str, str]) -> float:
        start = perf_counter()
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            assert program.stdin
            assert program.stdout
            program.stdin.write(request)
            program.stdin.flush()
            answer = program.stdout.readline()
            taken = perf_counter() - start
            program.kill()
        if b'"result"' not in answer:
            raise RuntimeError(f"{' '.join(command)} answered {answer!r}")
        return taken

    return _time(programs, rounds, ask)


def _time(programs: Programs, rounds: int, run: Run) -> list[dict[str, float]]:
    say(f"{rounds} rounds of {len(programs)} fresh processes")
    with tempfile.TemporaryDirectory() as folder:
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**inherited, "PYTHONPYCACHEPREFIX": folder}

        def one_round(order: Sequence[str]) -> dict[str, float]:
            return {name: run([sys.executable, *programs[name]], environment) for name in order}

        one_round(list(programs))
        return [one_round(list(programs)[:: (-1) ** number]) for number in range(rounds)]


def _run(command: Sequence[str], environment: dict[str, str]) -> float:
    start = perf_counter()
    subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return perf_counter() - start
