"""What the benches of journal engines share: contenders that take turns, crews of writers, a writer that is followed.

All contenders of a bench wait for the same disk or server, whose speed varies: they take turns, and a ratio is the
median of the ratios of the rounds.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from statistics import median, quantiles
from time import monotonic_ns, perf_counter
from typing import Final

from bench.engine_writer import STAMPED
from bench.figure import Figure, at_least, at_most
from bench.progress import say
from bench.proof import prove
from planwire.journal import Journal, open_journal

__all__ = [
    "WRITERS",
    "WRITER_APPENDS",
    "appender",
    "crew",
    "followed",
    "many_writers",
    "ratio",
    "seconds_each",
    "turns",
]

#: Processes of a crew, and appends of each in a lap.
WRITERS: Final = 16
WRITER_APPENDS: Final = 150
FOLLOWED: Final = 200

#: A writer slow enough that each of its events needs a look of the follower's own.
_FOLLOWED_WRITER: Final = """
import random, sys, time
from planwire.model.events import TurnEnded
from planwire.journal import Stamped, open_journal
draw = random.Random(1)
with open_journal(sys.argv[1]) as journal:
    for number in range(int(sys.argv[2])):
        time.sleep(draw.uniform(0.06, 0.1))
        journal.append("s", [Stamped(1, "agent", TurnEnded("x"))])
        print(time.monotonic_ns(), flush=True)
"""


def turns(contenders: Mapping[str, Callable[[], float]], rounds: int, *, first: int = 3) -> list[dict[str, float]]:
    """The seconds of each contender, one dictionary per round. The `first` rounds don't count."""
    found = []
    for number in range(rounds + first):
        names = list(contenders)[:: (-1) ** number]
        found.append({name: contenders[name]() for name in names})
    return found[first:]


def ratio(rounds: Sequence[Mapping[str, float]], peer: str, own: str) -> float:
    """How many times as fast as its peer a contender is, by the median round."""
    return median(each[peer] / each[own] for each in rounds)


def seconds_each(call: Callable[[], object], times: int) -> float:
    start = perf_counter()
    for _ in range(times):
        call()
    return (perf_counter() - start) / times


def appender(journal: Journal, session: str, appends: int) -> Callable[[], float]:
    """A contender that appends to a session `appends` times, and returns the seconds of one append."""
    return lambda: seconds_each(lambda: journal.append(session, STAMPED), appends)


@contextmanager
def crew(kind: str, where: str) -> Iterator[Callable[[], float]]:
    """Processes that append at the same time, each to its own session. Call it for the seconds of one lap."""
    command = [sys.executable, "-m", "bench.engine_writer", kind, where]
    writers = [
        subprocess.Popen([*command, f"session-{number}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(WRITERS)
    ]

    def lap() -> float:
        start = perf_counter()
        for each in writers:
            assert each.stdin
            each.stdin.write(f"{WRITER_APPENDS}\n")
            each.stdin.flush()
        _all_say("done", writers)
        return perf_counter() - start

    try:
        _all_say("ready", writers)
        yield lap
    finally:
        for each in writers:
            each.communicate()


def _all_say(word: str, writers: "Sequence[subprocess.Popen[str]]") -> None:
    for each in writers:
        assert each.stdout
        prove(each.stdout.readline(), f"{word}\n", "a writer's word")


def many_writers(prefix: str, url: str, peer: tuple[str, str], rounds: int, least: float) -> Iterator[Figure]:
    """Appends a second of a crew that writes to a journal, and of a crew of a bare `peer` (its kind, and where it
    writes)."""
    say(f"{rounds} rounds of {WRITERS} processes that append {WRITER_APPENDS} times each")
    with crew(*peer) as bare, crew("planwire", url) as own:
        found = turns({"bare": bare, "planwire": own}, rounds, first=1)
    with open_journal(url) as journal:
        lasts = {each.last_seq for each in journal.sessions()}
        prove(lasts, {WRITER_APPENDS * (rounds + 1)}, "the last numbers of all sessions")
    for column, name in (("bare", "append_16_bare_per_s"), ("planwire", "append_16_per_s")):
        yield Figure(f"{prefix}{name}", WRITERS * WRITER_APPENDS / median(each[column] for each in found), "/s")
    yield Figure(f"{prefix}append_16_vs_bare", ratio(found, "bare", "planwire"), "x", at_least(least))


def followed(url: str, prefix: str = "") -> Iterator[Figure]:
    """The time from the return of an append until another process has the event."""
    say("events of another process")
    command = [sys.executable, "-c", _FOLLOWED_WRITER, url, str(FOLLOWED)]
    with open_journal(url) as journal, subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        events = journal.follow(0, timeout=30)
        seen = [monotonic_ns() for _ in islice(events, FOLLOWED)]
        acknowledged, _ = writer.communicate()
    late = [(mine - int(theirs)) / 1e6 for mine, theirs in zip(seen, acknowledged.split(), strict=True)]
    yield Figure(f"{prefix}follow_p50_ms", median(late), "ms")
    yield Figure(f"{prefix}follow_p99_ms", quantiles(late, n=100)[98], "ms", at_most(25))
