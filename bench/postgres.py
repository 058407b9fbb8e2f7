"""The journal in PostgreSQL: durable appends against bare psycopg, long sessions, many sessions, following a process.

The server runs on this machine, with its disk. The bare loop does the least that any journal must: it inserts the same
text into a table with a primary key, and commits. Sixteen writers are processes of their own, with a session each.
"""

from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any, Final

import psycopg

from bench.engine import appender, followed, many_writers, ratio, seconds_each, turns
from bench.engine_writer import STAMPED, insert
from bench.figure import Cell, Figure, at_least, at_most
from bench.progress import say
from bench.proof import prove
from planwire.journal import Stamped, open_journal
from planwire.model.events import TurnEnded
from tests.servers.postgres import PostgresServer

__all__ = ["measure"]

ROUNDS: Final = 30
APPENDS: Final = 100
WRITER_ROUNDS: Final = 12
SESSIONS: Final = 10_000
LONG, SHORT = 100_000, 1_000


def measure() -> Iterator[Figure]:
    server = PostgresServer(fsync="on")
    try:
        with server.connect() as bare:
            bare.execute("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event text NOT NULL)")
            yield from _appending(server, bare)
        place = f"host={server.folder} port={server.port} user=postgres dbname=postgres"
        yield from many_writers("pg_", server.fresh_url(), ("psycopg", place), WRITER_ROUNDS, 0.6)
        yield from _growing(server)
        yield from _listing(server)
        yield from followed(server.fresh_url(), "pg_")
    finally:
        server.remove()


def _appending(server: PostgresServer, bare: "psycopg.Connection[Any]") -> Iterator[Figure]:
    say(f"{ROUNDS} rounds of {APPENDS} appends")
    with open_journal(server.fresh_url()) as journal:
        contenders: dict[str, Callable[[], float]] = {
            "psycopg": lambda: seconds_each(lambda: insert(bare), APPENDS),
            "planwire": appender(journal, "s", APPENDS),
        }
        rounds = turns(contenders, ROUNDS)
        prove(journal.last_seq("s"), (ROUNDS + 3) * APPENDS, "the session's last number")
    for column in contenders:
        name = "pg_append_us" if column == "planwire" else "pg_append_psycopg_us"
        yield Figure(name, median(each[column] for each in rounds) * 1e6, "µs", cell=Cell("a durable append", column))
    yield Figure("pg_append_vs_psycopg", ratio(rounds, "psycopg", "planwire"), "x", at_least(0.8))


def _growing(server: PostgresServer) -> Iterator[Figure]:
    say(f"a session of {LONG:,} events")
    with open_journal(server.fresh_url()) as journal:
        for session, length in (("long", LONG), ("short", SHORT)):
            for _ in range(length // SHORT):
                journal.append(session, STAMPED * SHORT)
        rounds = turns({name: appender(journal, name, APPENDS) for name in ("short", "long")}, ROUNDS)
    yield Figure("pg_append_growth_100k_over_1k", ratio(rounds, "long", "short"), "x", at_most(1.3))


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
