"""A process that reads numbers, and writes an event that many times as fast as it can, with or without a journal.

python -m bench.engine_writer planwire|psycopg|nats-py WHERE SESSION
"""

import asyncio
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

import nats
import psycopg

from planwire.journal import Stamped, open_journal
from planwire.journal.codec import chained, encode
from planwire.journal.jetstream.bodies import body_of
from planwire.model.events import PlanChanged
from planwire.model.step_changes import SetStatus

__all__ = ["BODY", "STAMPED", "TEXT", "insert"]

_EVENT: Final = PlanChanged("main", "the lexer is done, on to the grammar", (SetStatus("s3", "completed"),))
STAMPED: Final = [Stamped(1_760_000_000_000, "agent", _EVENT)]
#: What a bare table gets: as many bytes as the columns of an event hold.
TEXT: Final = encode("s", STAMPED)[0].text + "x" * (3 * 8 + len("agent") + 32)
#: What a bare stream gets: the message of an append.
BODY: Final = body_of(chained("s", 0, None, encode("s", STAMPED))).data


def insert(connection: "psycopg.Connection[Any]") -> None:
    connection.execute("INSERT INTO bare (event) VALUES (%s)", (TEXT,))


def _journal(where: str, session: str) -> None:
    with open_journal(where) as journal:
        _serve(lambda: journal.append(session, STAMPED))


def _psycopg(where: str, _session: str) -> None:
    with psycopg.connect(where, autocommit=True) as connection:
        _serve(lambda: insert(connection))


def _serve(write: Callable[[], object]) -> None:
    for times in _told():
        for _ in range(times):
            write()


def _nats(where: str, session: str) -> None:
    async def serve() -> None:
        connection = await nats.connect(where)
        stream = connection.jetstream()
        for times in _told():
            for _ in range(times):
                await stream.publish(f"bare.{session}", BODY)

    asyncio.run(serve())


def _told() -> Iterator[int]:
    """Yield how often to write, as told on standard input, and say when it is done."""
    print("ready", flush=True)
    for line in sys.stdin:
        yield int(line)
        print("done", flush=True)


if __name__ == "__main__":
    {"planwire": _journal, "psycopg": _psycopg, "nats-py": _nats}[sys.argv[1]](*sys.argv[2:])
