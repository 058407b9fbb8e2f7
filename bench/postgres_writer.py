"""A process that writes to PostgreSQL as fast as it can, whenever it is told how often: a journal's, or a bare one.

python -m bench.postgres_writer planwire|bare WHERE SESSION
"""

import sys
from typing import Any, Final

import psycopg

from planwire.journal import Stamped, open_journal
from planwire.journal.codec import encode
from planwire.model.events import PlanChanged
from planwire.model.step_changes import SetStatus

__all__ = ["STAMPED", "TEXT", "insert"]

_EVENT: Final = PlanChanged("main", "the lexer is done, on to the grammar", (SetStatus("s3", "completed"),))
STAMPED: Final = [Stamped(1_760_000_000_000, "agent", _EVENT)]
#: What the bare table gets: as many bytes as the columns of an event have.
TEXT: Final = encode("s", STAMPED)[0].text + "x" * (3 * 8 + len("agent") + 32)


def insert(connection: "psycopg.Connection[Any]", text: str) -> None:
    connection.execute("INSERT INTO bare (event) VALUES (%s)", (text,))


def main(kind: str, where: str, session: str) -> None:
    if kind == "bare":
        with psycopg.connect(where, autocommit=True) as connection:
            _serve(lambda: insert(connection, TEXT))
    else:
        with open_journal(where) as journal:
            _serve(lambda: journal.append(session, STAMPED))


def _serve(write: "Any") -> None:
    print("ready", flush=True)
    for line in sys.stdin:
        for _ in range(int(line)):
            write()
        print("done", flush=True)
        print("ready", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
