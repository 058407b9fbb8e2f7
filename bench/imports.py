"""What `import planwire` costs a program that starts, beside `import msgspec`, which it contains.

Whole processes are timed, as a user waits for them, and the time of one that imports nothing is taken off. They take
turns, and the ratio is the median of what each round says on its own. In a race the minimum of each does better, but a
process is too long and too rare for that: one program may meet a quick moment of the machine and another none.

Byte code is written to a folder of their own by a first round that does not count, whatever the environment says about
writing it: an installed package has its byte code.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from bench.figure import Cell, Figure, at_most
from bench.progress import say

__all__ = ["measure"]

ROUNDS = 40
PROGRAMS = {"nothing": "pass", "msgspec": "import msgspec", "planwire": "from planwire import Board"}


def measure() -> Iterator[Figure]:
    say(f"{ROUNDS} rounds of {len(PROGRAMS)} fresh processes")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**_environment(), "PYTHONPYCACHEPREFIX": folder}
        _net_seconds(environment, list(PROGRAMS))
        rounds = [_net_seconds(environment, list(PROGRAMS)[:: (-1) ** number]) for number in range(ROUNDS)]
    for name in ("msgspec", "planwire"):
        milliseconds = median(net[name] for net in rounds) * 1_000
        yield Figure(f"import_{name}_ms", milliseconds, "ms", cell=Cell(f"import {name}", "net"))
    yield Figure("import_vs_msgspec", median(net["planwire"] / net["msgspec"] for net in rounds), "x", at_most(2))


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _net_seconds(environment: dict[str, str], order: list[str]) -> dict[str, float]:
    """One round, in an order that changes from round to round, so that nobody always comes first."""
    taken = {}
    for name in order:
        start = perf_counter()
        subprocess.run([sys.executable, "-c", PROGRAMS[name]], env=environment, check=True, stdin=subprocess.DEVNULL)
        taken[name] = perf_counter() - start
    return {name: seconds - taken["nothing"] for name, seconds in taken.items()}
