"""How long a person waits for the command line, compared with a Python that does nothing.

All ratios are medians over medians. Python's own start is not subtracted, since the person waits for it too.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.figure import Cell, Figure, at_most
from bench.processes import time_processes
from planwire.journal import Stamped, open_journal
from planwire.model.events import ACP, PlanSet, SessionOpened
from planwire.model.plan import Entry, ItemsPlan

__all__ = ["measure"]

ROUNDS = 30
PROGRAMS: Final = {
    "python": ("-c", "pass"),
    "planwire show --help": ("-m", "planwire", "show", "--help"),
    "planwire --help": ("-m", "planwire", "--help"),
}
LOG: Final = "planwire log (5,000 events)"
#: The long session: an agent that sends its whole list again with every step, as agents do, list after list.
EVENTS, STEPS = 5_000, 20
VERBS: Final = (
    "Read",
    "Rewrite",
    "Test",
    "Measure",
    "Document",
    "Remove",
    "Rename",
    "Review",
    "Split",
    "Publish",
    "Mock",
)
THINGS: Final = ("parser", "schema", "login page", "job queue", "error messages", "release notes", "cache", "importer")
FIGURES: Final = {
    "python": "python_ms",
    "planwire show --help": "cli_help_ms",
    "planwire --help": "cli_full_help_ms",
    LOG: "log_5000_ms",
}


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.db"
        _write_long_session(journal)
        programs = {**PROGRAMS, LOG: ("-m", "planwire", "log", "long", "--journal", str(journal))}
        rounds = time_processes(programs, ROUNDS)
    typical = {name: median(taken[name] for taken in rounds) for name in programs}
    for program, name in FIGURES.items():
        yield Figure(name, typical[program] * 1_000, "ms", cell=Cell(program, "start to end"))
    bare = typical["python"]
    yield Figure("cli_help_vs_python", typical["planwire show --help"] / bare, "x", at_most(8))
    yield Figure("cli_full_help_vs_python", typical["planwire --help"] / bare, "x", at_most(12))
    yield Figure("log_5000_vs_python", typical[LOG] / bare, "x", at_most(45))


def _write_long_session(path: Path) -> None:
    opened = Stamped(0, "relay", SessionOpened("an agent", "an editor", "/project", "Much to do"))
    with open_journal(path) as journal:
        journal.append("long", [opened, *(_sent(number) for number in range(EVENTS - 1))])


def _sent(number: int) -> Stamped:
    part, done = divmod(number, STEPS)
    entries = (
        Entry(
            f"{VERBS[(part + step) % len(VERBS)]} the {THINGS[(part * 7 + step * 3) % len(THINGS)]} of part {part}",
            "medium",
            "completed" if step < done else "in_progress" if step == done else "pending",
        )
        for step in range(STEPS)
    )
    ids = tuple(f"s{part * STEPS + step}" for step in range(1, STEPS + 1))
    return Stamped(number * 1_000, "agent", PlanSet(ItemsPlan("main", tuple(entries)), via=ACP, ids=ids))
