"""How long a person waits for lists in a journal of ten thousand sessions, compared with a Python that does nothing.

The programs write to a terminal, where `planwire sessions` shows the latest twelve. Before each of them a session has
one more event, so the catalogue is warm but never up to date. All ratios are medians over medians, with Python's own
start, since the person waits for it too.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from bench.figure import Cell, Figure, at_most
from bench.processes import run_on_terminal, time_with
from bench.progress import say
from bench.proof import prove
from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import ACP, PlanSet, SessionOpened, TurnEnded
from planwire.model.plan import Entry, ItemsPlan
from planwire.readmodel.catalogue import catalogued

__all__ = ["measure"]

SESSIONS: Final = 10_000
#: The folders that sessions ran in, and the steps of each session's plan, which it tells of again and again.
FOLDERS, STEPS, LISTS = 200, 12, 7
ROUNDS: Final = 15
VERBS: Final = ("Read", "Rewrite", "Test", "Measure", "Document", "Remove", "Rename", "Review", "Split", "Publish")
THINGS: Final = ("parser", "schema", "login page", "job queue", "error messages", "release notes", "cache")
LIST, SHOW, PYTHON = "planwire sessions", "planwire show", "python"


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        path = folder / "journal.db"
        with open_journal(path) as journal:
            say(f"{SESSIONS:,} sessions are written")
            for number in range(SESSIONS):
                journal.append(_name(number), [*_past(folder, number)], 0)
            start = perf_counter()
            prove(sum(1 for _ in catalogued(journal)), SESSIONS, "sessions in the catalogue")
            built = perf_counter() - start
            yield from _commands(journal, folder, path)
    yield Figure("catalogue_build_10k_s", built, "s")


def _commands(journal: Journal, folder: Path, path: Path) -> Iterator[Figure]:
    programs = {
        PYTHON: ("-c", "pass"),
        LIST: ("-m", "planwire", "sessions", "--journal", str(path)),
        SHOW: ("-m", "planwire", "show", "--no-pager", "--journal", str(path)),
    }
    appended = 0

    def run(command: Sequence[str], environment: dict[str, str]) -> float:
        nonlocal appended
        appended += 1
        journal.append(_name(appended), [Stamped(_began(SESSIONS) + appended, "agent", TurnEnded("end_turn"))])
        return run_on_terminal(command, environment, _folder(folder, 0))

    rounds = time_with(programs, ROUNDS, run)
    typical = {name: median(taken[name] for taken in rounds) for name in programs}
    yield Figure("sessions_10k_list_ms", typical[LIST] * 1_000, "ms", cell=Cell(LIST, "start to end"))
    yield Figure("show_in_10k_ms", typical[SHOW] * 1_000, "ms", cell=Cell(SHOW, "start to end"))
    yield Figure("sessions_10k_list_vs_python", typical[LIST] / typical[PYTHON], "x", at_most(30))
    yield Figure("show_in_10k_vs_python", typical[SHOW] / typical[PYTHON], "x", at_most(20))


def _past(folder: Path, number: int) -> Iterator[Stamped]:
    """All that happened in a session: an agent sends its whole list again with every other step, as agents do."""
    at = _began(number)
    cwd = _folder(folder, number)
    yield Stamped(at, "relay", SessionOpened("an agent", "an editor", str(cwd), f"Much to do in part {number}"))
    for done in range(0, LISTS * 2, 2):
        entries = tuple(
            Entry(
                f"{VERBS[(number + step) % len(VERBS)]} the {THINGS[(number + step * 3) % len(THINGS)]} of {number}",
                "medium",
                "completed" if step < done else "in_progress" if step == done else "pending",
            )
            for step in range(STEPS)
        )
        ids = tuple(f"s{step}" for step in range(1, STEPS + 1))
        yield Stamped(at + done * 1_000, "agent", PlanSet(ItemsPlan("main", entries), via=ACP, ids=ids))
    yield Stamped(at + LISTS * 2_000, "agent", TurnEnded("end_turn"))


def _name(number: int) -> str:
    return f"{number * 2654435761 % 2**32:08x}-{number:04x}"


def _began(number: int) -> int:
    return 1_700_000_000_000 + number * 60_000


def _folder(folder: Path, number: int) -> Path:
    found = folder / f"project-{number % FOLDERS}"
    found.mkdir(exist_ok=True)
    return found
