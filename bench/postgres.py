"""The journal in PostgreSQL: durable appends beside bare psycopg, long sessions, many sessions, following a process.

The server runs on this machine, with its disk. The bare loop does what nobody can do without: it inserts the same text
into a table with a primary key, and commits. All wait for the same disk, whose mood changes: they take turns, and a
ratio is the median of what each round says on its own. Sixteen writers are processes of their own, with a session each.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import median, quantiles
from time import monotonic_ns, perf_counter
from typing import Any, Final

import psycopg

from bench.figure import Cell, Figure, at_least, at_most
from bench.postgres_writer import STAMPED, TEXT, insert
from bench.progress import say
from bench.proof import prove
from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import TurnEnded
from tests.servers.postgres import PostgresServer

__all__ = ["measure"]

ROUNDS: Final = 30
APPENDS: Final = 100
WRITERS: Final = 16
WRITER_ROUNDS: Final = 12
WRITER_APPENDS: Final = 150
FOLLOWED: Final = 200
SESSIONS: Final = 10_000
LONG, SHORT = 100_000, 1_000

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


def measure() -> Iterator[Figure]:
    server = PostgresServer(fsync="on")
    try:
        with server.connect() as bare:
            bare.execute("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event text NOT NULL)")
            yield from _appending(server, bare)
        yield from _many_writers(server)
        yield from _growing(server)
        yield from _listing(server)
        yield from _following(server)
    finally:
        server.remove()


def _appending(server: PostgresServer, bare: "psycopg.Connection[Any]") -> Iterator[Figure]:
    say(f"{ROUNDS} rounds of {APPENDS} appends")
    with open_journal(server.fresh_url()) as journal:
        contenders: dict[str, Callable[[], object]] = {
            "psycopg": lambda: insert(bare, TEXT),
            "planwire": lambda: journal.append("s", STAMPED),
        }
        rounds = _turns(contenders, ROUNDS)
        prove(journal.last_seq("s"), (ROUNDS + 3) * APPENDS, "the session's last number")
    for column in contenders:
        name = "pg_append_us" if column == "planwire" else "pg_append_psycopg_us"
        yield Figure(name, median(each[column] for each in rounds) * 1e6, "µs", cell=Cell("a durable append", column))
    yield Figure(
        "pg_append_vs_psycopg", median(each["psycopg"] / each["planwire"] for each in rounds), "x", at_least(0.8)
    )


def _turns(contenders: dict[str, Callable[[], object]], rounds: int) -> list[dict[str, float]]:
    """The seconds of each, a dictionary a round. Three rounds before them don't count."""
    found = []
    for number in range(rounds + 3):
        names = list(contenders)[:: (-1) ** number]
        found.append({name: _seconds_each(contenders[name]) for name in names})
    return found[3:]


def _seconds_each(call: Callable[[], object]) -> float:
    start = perf_counter()
    for _ in range(APPENDS):
        call()
    return (perf_counter() - start) / APPENDS


def _many_writers(server: PostgresServer) -> Iterator[Figure]:
    say(f"{WRITER_ROUNDS} rounds of {WRITERS} processes that append {WRITER_APPENDS} times each")
    url = server.fresh_url()
    crews = {kind: [_writer(kind, server, url, number) for number in range(WRITERS)] for kind in ("bare", "planwire")}
    try:
        rounds = []
        for number in range(WRITER_ROUNDS + 1):
            order = list(crews)[:: (-1) ** number]
            rounds.append({kind: _seconds_of(crews[kind]) for kind in order})
    finally:
        for each in (writer for crew in crews.values() for writer in crew):
            each.communicate()
    with open_journal(url) as journal:
        lasts = {each.last_seq for each in journal.sessions()}
        prove(lasts, {WRITER_APPENDS * (WRITER_ROUNDS + 1)}, "the last numbers of all sessions")
    for kind, name in (("bare", "pg_append_16_psycopg_per_s"), ("planwire", "pg_append_16_per_s")):
        rate = median(WRITERS * WRITER_APPENDS / each[kind] for each in rounds[1:])
        yield Figure(name, rate, "/s")
    yield Figure(
        "pg_append_16_vs_bare", median(each["bare"] / each["planwire"] for each in rounds[1:]), "x", at_least(0.6)
    )


def _writer(kind: str, server: PostgresServer, url: str, number: int) -> "subprocess.Popen[str]":
    where = url if kind == "planwire" else f"host={server.folder} port={server.port} user=postgres dbname=postgres"
    command = [sys.executable, "-m", "bench.postgres_writer", kind, where, f"session-{number}"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _seconds_of(crew: "list[subprocess.Popen[str]]") -> float:
    for each in crew:
        assert each.stdout
        prove(each.stdout.readline(), "ready\n", "a writer's word")
    start = perf_counter()
    for each in crew:
        assert each.stdin
        each.stdin.write(f"{WRITER_APPENDS}\n")
        each.stdin.flush()
    for each in crew:
        assert each.stdout
        prove(each.stdout.readline(), "done\n", "a writer's word")
    return perf_counter() - start


def _growing(server: PostgresServer) -> Iterator[Figure]:
    say(f"a session of {LONG:,} events")
    with open_journal(server.fresh_url()) as journal:
        for session, length in (("long", LONG), ("short", SHORT)):
            for _ in range(length // SHORT):
                journal.append(session, STAMPED * SHORT)
        rounds = _turns({name: _appender(journal, name) for name in ("short", "long")}, ROUNDS)
    yield Figure(
        "pg_append_growth_100k_over_1k", median(each["long"] / each["short"] for each in rounds), "x", at_most(1.3)
    )


def _appender(journal: Journal, session: str) -> Callable[[], object]:
    return lambda: journal.append(session, STAMPED)


def _listing(server: PostgresServer) -> Iterator[Figure]:
    say(f"{SESSIONS:,} sessions")
    with open_journal(server.fresh_url()) as journal:
        for number in range(SESSIONS):
            journal.append(f"0198f3c2-7b1e-7cc3-98c4-{number:012}", [Stamped(number, "agent", TurnEnded("x"))] * 3)
        taken = []
        for _ in range(11):
            start = perf_counter()
            found = journal.sessions()
            taken.append(perf_counter() - start)
            prove(len(found), SESSIONS, "the sessions of the list")
    yield Figure("pg_sessions_10k_list_ms", median(taken) * 1e3, "ms", at_most(100))


def _following(server: PostgresServer) -> Iterator[Figure]:
    say(f"{FOLLOWED} events of another process")
    url = server.fresh_url()
    with open_journal(url) as journal:
        command = [sys.executable, "-c", _FOLLOWED_WRITER, url, str(FOLLOWED)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            events = journal.follow(0, timeout=30)
            seen = [monotonic_ns() for _ in islice(events, FOLLOWED)]
            acknowledged, _ = writer.communicate()
    late = [(mine - int(theirs)) / 1e6 for mine, theirs in zip(seen, acknowledged.split(), strict=True)]
    yield Figure("pg_follow_p50_ms", median(late), "ms")
    yield Figure("pg_follow_p99_ms", quantiles(late, n=100)[98], "ms", at_most(25))
