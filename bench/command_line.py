"""How long a person waits for help on the command line, beside a Python that does nothing at all.

Both ratios are medians over medians: nothing comes off here, since the person waits for Python too.
"""

from collections.abc import Iterator
from statistics import median

from bench.figure import Cell, Figure, at_most
from bench.processes import time_processes

__all__ = ["measure"]

ROUNDS = 30
PROGRAMS = {
    "python": ("-c", "pass"),
    "planwire show --help": ("-m", "planwire", "show", "--help"),
    "planwire --help": ("-m", "planwire", "--help"),
}


def measure() -> Iterator[Figure]:
    rounds = time_processes(PROGRAMS, ROUNDS)
    typical = {name: median(taken[name] for taken in rounds) for name in PROGRAMS}
    figures = {"python": "python_ms", "planwire show --help": "cli_help_ms", "planwire --help": "cli_full_help_ms"}
    for program, name in figures.items():
        yield Figure(name, typical[program] * 1_000, "ms", cell=Cell(program, "start to end"))
    bare = typical["python"]
    yield Figure("cli_help_vs_python", typical["planwire show --help"] / bare, "x", at_most(8))
    yield Figure("cli_full_help_vs_python", typical["planwire --help"] / bare, "x", at_most(12))
