"""The PostgreSQL server that a URL names, and connections to it that never keep a caller waiting for ever.

A URL is what libpq takes, with one parameter more: `schema`, the PostgreSQL schema that holds the journal. One database
can so hold many. What is secret in a URL is in no error: libpq's own words about a URL are not passed on.
"""

from collections.abc import Generator, Mapping
from hashlib import sha256
from time import monotonic
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import unquote

import psycopg
from psycopg import conninfo
from psycopg.types.numeric import Int8BinaryDumper

from planwire.errors import EngineAway, UnknownJournal
from planwire.journal.engines import VARIABLE, shown_url

__all__ = ["JournalServer", "PostgresConnection"]

#: Seconds for a connection, and for an answer. The server itself gives up sooner, so that it can say so.
CONNECT_TIMEOUT: Final = 5
ANSWER_TIMEOUT: Final = 12.0
STATEMENT_TIMEOUT: Final = "10s"
#: A transaction whose client is gone must not hold up followers (`postgres_order`).
IDLE_IN_TRANSACTION: Final = "10s"
SCHEMA: Final = "planwire"

_PARAMETERS: Final[Mapping[str, str | int]] = {
    "application_name": "planwire",
    "client_encoding": "UTF8",
    "connect_timeout": CONNECT_TIMEOUT,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
_SETTINGS: Final[Mapping[str, str]] = {
    "statement_timeout": STATEMENT_TIMEOUT,
    "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION,
    "default_transaction_isolation": "read committed",
}

_Answer = TypeVar("_Answer")
_Waiting: TypeAlias = Generator[Any, Any, _Answer]


class PostgresConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose every answer comes in time, or it is closed. Each statement commits by itself. Who has the
    server do something long says how long that may take (`patience`)."""

    patience: float | None = None

    def wait(self, gen: _Waiting[_Answer], *arguments: Any, **options: Any) -> _Answer:
        return super().wait(_bounded(self, gen), *arguments, **options)


class JournalServer:
    """Where a journal is. `shown` is the URL as people may see it, `place` what tells this journal from others."""

    def __init__(self, url: str) -> None:
        self.shown = shown_url(url)
        bare, schema = _without_schema(url)
        try:
            self._parameters = {**_PARAMETERS, **conninfo.conninfo_to_dict(bare)}
        except psycopg.Error:
            raise UnknownJournal(
                f"PostgreSQL can't read the URL {self.shown!r}: it looks like postgresql://USER@HOST:PORT/DATABASE, "
                "and %, @, : and / in a name or a password are written as %25, %40, %3A and %2F"
            ) from None
        self.schema = schema or SCHEMA
        self._quoted = '"' + self.schema.replace('"', '""') + '"'
        self._statements: dict[str, bytes] = {}
        where = (self._parameters.get(name) or "" for name in ("host", "hostaddr", "port", "dbname"))
        self.place = f"postgresql:{' '.join(map(str, where))} {self.schema}"
        digest = sha256(f"planwire {self.schema}".encode()).digest()
        #: The advisory lock that appends share (`postgres_order`), that of migrations, and the channel of notices.
        self.lock = int.from_bytes(digest[:8], "big", signed=True)
        self.migration_lock = int.from_bytes(digest[8:16], "big", signed=True)
        self.channel = f"planwire_{digest[:8].hex()}"

    def sql(self, statement: str) -> bytes:
        """A statement for this schema: in the text it is `planwire`, and the lock is `LOCK`."""
        found = self._statements.get(statement)
        if found is None:
            text = statement.replace("planwire.", f"{self._quoted}.").replace("LOCK", str(self.lock))
            found = self._statements[statement] = text.encode()
        return found

    def connect(self, settings: Mapping[str, str] | None = None) -> PostgresConnection:
        """A new connection, or `EngineAway`: also for a login that is refused, so that what is recorded meanwhile waits
        until somebody corrects it."""
        try:
            connection = PostgresConnection.connect(autocommit=True, **self._parameters)  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise self.away(error) from None
        connection.adapters.register_dumper(int, Int8BinaryDumper)  # so that a statement is prepared once
        connection.prepare_threshold = None  # what is worth it is prepared at once
        chosen = {**_SETTINGS, **(settings or {})}
        pairs = ", ".join(["set_config(%s, %s, false)"] * len(chosen))
        try:
            connection.execute(
                f"SELECT {pairs}".encode(), [each for pair in chosen.items() for each in pair], prepare=False
            )
        except psycopg.Error as error:
            connection.close()
            raise self.away(error) from None
        return connection

    def away(self, error: Exception) -> EngineAway:
        """Say that the server can't be reached, in its own words, which hold no password."""
        return EngineAway(
            f"the journal {self.shown} is away: {self._said(error)}. Start its PostgreSQL server, look for an error in "
            f"the login or the database that its URL names, or name another journal with --journal or {VARIABLE}"
        )

    def _said(self, error: Exception) -> str:
        lines = [line.strip() for line in str(error).splitlines() if not line.rstrip().endswith("?")]  # libpq's advice
        said = " ".join(lines).removeprefix("connection failed: ") or type(error).__name__
        for secret in {str(self._parameters.get(name) or "") for name in ("password", "sslpassword")} - {""}:
            said = said.replace(secret, "***")
        return said.rstrip(".")


def _bounded(connection: PostgresConnection, gen: _Waiting[_Answer]) -> _Waiting[_Answer]:
    """The same, until the time is up. psycopg wakes up ten times a second while it waits."""
    seconds = connection.patience or ANSWER_TIMEOUT
    end = monotonic() + seconds
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and monotonic() > end:
                connection.pgconn.finish()
                raise psycopg.OperationalError(f"no answer for {seconds:g} seconds")
            wanted = gen.send(ready)
    except StopIteration as done:
        answer: _Answer = done.value
        return answer


def _without_schema(url: str) -> tuple[str, str]:
    """A URL without its parameter `schema`, and the value of that."""
    bare, mark, query = url.partition("?")
    parts = query.split("&") if mark else []
    schemas = [unquote(each.removeprefix("schema=")) for each in parts if each.startswith("schema=")]
    others = [each for each in parts if not each.startswith("schema=")]
    return (f"{bare}?{'&'.join(others)}" if others else bare), (schemas[-1] if schemas else "")
