"""The journal in a file: durable appends against bare SQLite, opening long sessions, following another process.

The bare loop does the least that any journal must: it inserts the same text into a table of one column and commits, in
a file of its own with the same settings. All contenders wait for the same disk, whose speed varies: they take turns,
and a ratio is the median of the ratios of the rounds. Before that, each fills its write-ahead log once, since a growing
log costs the disk more than one that is overwritten.
"""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final
from unittest.mock import patch

from bench.engine import followed, seconds_each
from bench.engine_writer import STAMPED
from bench.figure import Cell, Figure, at_least, at_most
from bench.progress import say
from bench.race import Contender, race
from planwire import Entry, ItemsPlan
from planwire.journal import Journal, Stamped, load_state, open_journal, polling
from planwire.journal.codec import encode
from planwire.journal.view import EVENTS_PER_SNAPSHOT
from planwire.model.events import Event, PlanChanged, PlanSet
from planwire.model.records import SessionState
from planwire.model.step_changes import SetStatus

__all__ = ["measure"]

ROUNDS: Final = 30
APPENDS: Final = 100
TASKS: Final = 64
#: Enough to fill a log of 1,000 pages, even with only one page per commit.
FIRST_APPENDS: Final = 1_100

_IDLER: Final = """
import sys, threading, time
from planwire.journal import open_journal
with open_journal(sys.argv[1]) as journal:
    follower = threading.Thread(target=lambda: list(journal.follow()))
    follower.start()
    time.sleep(2)
    worked, start = time.process_time(), time.monotonic()
    time.sleep(5)
    print((time.process_time() - worked) / (time.monotonic() - start))
"""


def measure() -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        yield from _appending(Path(folder))
    with TemporaryDirectory() as folder:
        yield from _opening(Path(folder))
    with TemporaryDirectory() as folder:
        yield from _following(Path(folder))


def _appending(folder: Path) -> Iterator[Figure]:
    say(f"{ROUNDS} rounds of {APPENDS} appends, and of {TASKS} tasks")
    [row] = encode("s", STAMPED)
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE events (event TEXT)"):
        bare.execute(statement)
    with (
        open_journal(folder / "one.db") as one,
        open_journal(folder / "many.db") as many,
        ThreadPoolExecutor(TASKS) as pool,
    ):

        def insert() -> None:
            bare.execute("BEGIN IMMEDIATE")
            bare.execute("INSERT INTO events VALUES (?)", (row.text,))
            bare.execute("COMMIT")

        def append() -> None:
            one.append("s", STAMPED)

        contenders: dict[str, Callable[[int], float]] = {
            "sqlite": lambda times: seconds_each(insert, times),
            "planwire": lambda times: seconds_each(append, times),
            "planwire, 64 tasks": lambda times: _seconds_each_of_many(many, pool, times),
        }
        for contender in contenders.values():
            contender(FIRST_APPENDS)
        rounds = []
        for other in ("planwire", "planwire, 64 tasks"):  # in pairs: what many write slows down the next one
            for number in range(ROUNDS):
                order = ["sqlite", other][:: (-1) ** number]
                rounds.append({name: contenders[name](APPENDS) for name in order})
        assert one.last_seq("s") == FIRST_APPENDS + ROUNDS * APPENDS
        assert many.last_seq("s") == TASKS * (_each_task(FIRST_APPENDS) + ROUNDS * _each_task(APPENDS))
    bare.close()
    for column in contenders:
        name = {"sqlite": "append_sqlite_us", "planwire": "append_us"}.get(column, "append_async_64_us")
        yield Figure(
            name,
            median(each[column] for each in rounds if column in each) * 1e6,
            "µs",
            cell=Cell("a durable append", column),
        )
    for name, column, bound in (
        ("append_vs_sqlite", "planwire", 0.7),
        ("append_async_64_vs_sqlite", "planwire, 64 tasks", 2),
    ):
        yield Figure(
            name, median(each["sqlite"] / each[column] for each in rounds if column in each), "x", at_least(bound)
        )


def _seconds_each_of_many(journal: Journal, pool: ThreadPoolExecutor, times: int) -> float:
    """Threads that each append one event after another, long enough that their start costs little."""

    def work(_: int) -> None:
        for _ in range(_each_task(times)):
            journal.append("s", STAMPED)

    start = perf_counter()
    list(pool.map(work, range(TASKS)))
    return (perf_counter() - start) / (_each_task(times) * TASKS)


def _each_task(times: int) -> int:
    return times // 5


def _opening(folder: Path) -> Iterator[Figure]:
    """Two sessions with the same current plan. Each snapshot is where it would be if a reader had followed all the
    time."""
    say("a session of 100,000 events")
    lengths = {"open_100_us": 100, "open_100k_us": 100_000}
    with open_journal(folder / "journal.db") as journal:
        states = [_grown(journal, name, length) for name, length in lengths.items()]
        assert [state.seq for state in states] == list(lengths.values())
        short, long = (state.plans["main"] for state in states)
        assert (short.state, len(short.deltas)) == (long.state, len(long.deltas))
        times = race([{name: Contender(lambda name: load_state(journal, name), name) for name in lengths}], 4)
    for name, length in lengths.items():
        yield Figure(name, times[name], "µs", cell=Cell("a session opened", f"{length:,} events"))
    yield Figure("open_100k_vs_open_100", times["open_100k_us"] / times["open_100_us"], "x", at_most(5))


def _grown(journal: Journal, session: str, length: int) -> SessionState:
    """A session that repeats itself: a plan of twenty steps, and nine of them done one by one."""
    plan = ItemsPlan("main", tuple(Entry(f"Step {number} of the parser", "medium", "pending") for number in range(20)))
    events: list[Event] = [PlanSet(plan, ids=tuple(f"s{number}" for number in range(1, 21)))]
    events += [PlanChanged("main", changes=(SetStatus(f"s{number}", "completed"),)) for number in range(1, 10)]
    stamped = [Stamped(1, "agent", event) for event in events]
    with_snapshot = length // EVENTS_PER_SNAPSHOT * EVENTS_PER_SNAPSHOT
    journal.append(session, stamped * (with_snapshot // len(events)))
    load_state(journal, session)
    journal.append(session, stamped * ((length - with_snapshot) // len(events)))
    return load_state(journal, session)


def _following(folder: Path) -> Iterator[Figure]:
    """Each event comes when the follower takes the journal to be quiet; here it does so sooner than usual."""
    path = folder / "journal.db"
    with patch.object(polling, "QUIET", 0.04):
        yield from followed(str(path))
    say("no events")
    idler = subprocess.run([sys.executable, "-c", _IDLER, str(path)], capture_output=True, text=True, check=True)
    yield Figure("follow_idle_cpu_percent", float(idler.stdout) * 100, "%", at_most(1))
