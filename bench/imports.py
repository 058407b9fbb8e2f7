"""What `from planwire import Board` costs a program, compared with `import msgspec`, which it includes.

The time of a process that imports nothing is subtracted, and the ratio is the median of the ratios of the rounds.
`import planwire` alone would say little: its names load their modules on first use.
"""

from collections.abc import Iterator
from statistics import median

from bench.figure import Cell, Figure, at_most
from bench.processes import time_processes

__all__ = ["measure"]

ROUNDS = 40
PROGRAMS = {
    "nothing": ("-c", "pass"),
    "msgspec": ("-c", "import msgspec"),
    "planwire": ("-c", "from planwire import Board"),
}


def measure() -> Iterator[Figure]:
    rounds = [
        {name: seconds - taken["nothing"] for name, seconds in taken.items()}
        for taken in time_processes(PROGRAMS, ROUNDS)
    ]
    for name in ("msgspec", "planwire"):
        milliseconds = median(net[name] for net in rounds) * 1_000
        yield Figure(f"import_{name}_ms", milliseconds, "ms", cell=Cell(f"import {name}", "net"))
    yield Figure("import_vs_msgspec", median(net["planwire"] / net["msgspec"] for net in rounds), "x", at_most(2))
