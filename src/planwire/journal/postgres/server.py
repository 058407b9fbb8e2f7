"""The PostgreSQL server that a URL names, and connections to it that never keep a caller waiting for ever.

A URL is what libpq takes, with one more parameter: `schema`, the PostgreSQL schema that holds the journal. So one
database can hold many. No error shows a secret that is in a URL: what libpq says about a URL is not passed on.
"""

import os
import re
import socket
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from math import ceil
from time import monotonic
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import unquote

import psycopg
from psycopg import conninfo
from psycopg.pq import Conninfo
from psycopg.types.numeric import Int8BinaryDumper

from planwire.errors import EngineAway, LoginRefused, UnknownJournal
from planwire.journal.haste import ANSWER
from planwire.journal.shown_urls import shown_url
from planwire.journal.user_files import VARIABLE

#: Seconds to wait for a connection, and for an answer. The server gives up sooner, so that it can still report it.
CONNECT_TIMEOUT: Final = 5
ANSWER_TIMEOUT: Final = 12.0
STATEMENT_TIMEOUT: Final = "10s"
#: Bytes that a connection may hold before the network takes them.
UNSENT: Final = 128 * 1024
#: After so many uses psycopg prepares a statement by itself. Those worth it say so, and are prepared on first use.
NEVER: Final = 2**63
#: A transaction whose client is gone must not hold up followers (`order`).
IDLE_IN_TRANSACTION: Final = "10s"
SCHEMA: Final = "planwire"
#: PostgreSQL truncates a longer name, so two such names may mean one schema.
LONGEST_NAME: Final = 63

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
_IN_HASTE: Final[Mapping[str, str | int]] = {"connect_timeout": ceil(ANSWER)}
#: Set on every connection, because a server or a role may have values meant for other programs. A wait for a lock may
#: last as long as its statement.
_SETTINGS: Final[Mapping[str, str]] = {
    "statement_timeout": STATEMENT_TIMEOUT,
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION,
    "default_transaction_isolation": "read committed",
}
#: Settings that older servers don't know, each with the first version that has it.
_LATER_SETTINGS: Final = ((140_000, "idle_session_timeout", "0"), (170_000, "transaction_timeout", "0"))

_AWAY: Final = (
    "Start its PostgreSQL server, or look for an error in the host, the port or the TLS settings of its URL "
    f"(--journal or {VARIABLE})"
)
#: What psycopg says before the failures of several addresses, and what each line on a failure begins with.
_SEVERAL: Final = "All failures were:\n"
_FAILED: Final = re.compile(r"(?:- host: .*?, hostaddr: .*?: )?(?:connection failed: |connection is bad: )?")
#: How a server says that trying again is useless: libpq gives no other sign.
_REFUSED: Final = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|pg_hba\.conf rejects"
    r"|(role|database) \".*\" does not exist|not permitted to log in|permission denied for database"
)
#: How libpq begins to say that a setting has a value that it can't use.
_WRONG: Final = re.compile(r"(?:connection is bad: )?(?:invalid|bad value) ")

#: A value in `options` of so many characters is no secret, but may be a part of many words.
_SHORT: Final = 3

_Answer = TypeVar("_Answer")
_Waiting: TypeAlias = Generator[Any, Any, _Answer]


class PostgresConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that closes itself if an answer does not come in time. Each statement commits by itself."""

    _patience: float | None = None
    server: "JournalServer | None" = None

    @property
    def answers_within(self) -> float:
        """Seconds that an answer may take."""
        return self._patience or (ANSWER if self.server is not None and self.server.is_hasty else ANSWER_TIMEOUT)

    @contextmanager
    def taking(self, seconds: float) -> Iterator[None]:
        """Let each statement of a transaction take up to so many seconds."""
        self.execute(f"SET LOCAL statement_timeout = '{seconds:g}s'".encode())
        self._patience = seconds
        try:
            yield
        finally:
            self._patience = None

    def wait(self, gen: _Waiting[_Answer], *arguments: Any, **options: Any) -> _Answer:
        return super().wait(_bounded(self, gen), *arguments, **options)


class JournalServer:
    """Where a journal is. `shown` is its URL without secrets, `place` identifies the journal among others."""

    def __init__(self, url: str) -> None:
        self.shown = shown_url(url)
        bare, schema = _without_schema(url)
        try:
            self._parameters = {**_PARAMETERS, **conninfo.conninfo_to_dict(bare)}
        except psycopg.Error:
            if unknown := _unknown_settings(bare):
                raise UnknownJournal(
                    f"the journal {self.shown!r} has the unknown setting {', '.join(unknown)}: schema= is planwire's, "
                    "and all others are libpq's"
                ) from None
            raise UnknownJournal(
                f"PostgreSQL can't read the URL {self.shown!r}: it looks like postgresql://USER@HOST:PORT/DATABASE, "
                "and %, @, : and / in a name or a password are written as %25, %40, %3A and %2F"
            ) from None
        self.schema = schema or SCHEMA
        if "\0" in self.schema or len(self.schema.encode()) > LONGEST_NAME:
            raise UnknownJournal(
                f"the journal {self.shown!r} can't have that schema: its name has at most {LONGEST_NAME} bytes, and no "
                "NUL among them. Choose another for schema="
            )
        self._quoted = _quoted(self.schema)
        self._statements: dict[str, bytes] = {}
        self.is_hasty = False  # see `haste`
        self._is_apart = False  # a pooler is in between, and was found to keep its clients apart
        where = (self._parameters.get(name) or "" for name in ("host", "hostaddr", "port", "dbname"))
        self.place = f"postgresql:{' '.join(map(str, where))} {self.schema}"
        digest = sha256(f"planwire {self.schema}".encode()).digest()
        #: The advisory lock that appends share (`order`), the one for making tables, and the channel of notices.
        self.lock = int.from_bytes(digest[:8], "big", signed=True)
        self.tables_lock = int.from_bytes(digest[8:16], "big", signed=True)
        self.channel = f"planwire_{digest[:8].hex()}"

    def sql(self, statement: str) -> bytes:
        """A statement for this schema. In the text, `planwire` stands for the schema and `LOCK` for the lock."""
        found = self._statements.get(statement)
        if found is None:
            text = statement.replace("LOCK", str(self.lock)).replace("planwire.", f"{self._quoted}.")
            found = self._statements[statement] = text.encode()
        return found

    def connect(self, settings: Mapping[str, str] | None = None) -> PostgresConnection:
        """A new connection. Raises `EngineAway`, or `LoginRefused` if the server refuses the login."""
        try:
            parameters = {**self._parameters, **(_IN_HASTE if self.is_hasty else {})}
            connection = PostgresConnection.connect(autocommit=True, **parameters)  # type: ignore[arg-type]
        except UnicodeError:
            raise self.away(ValueError("no host can have the name that its URL gives it")) from None
        except psycopg.Error as error:
            if _WRONG.match(str(error)):
                raise UnknownJournal(
                    f"PostgreSQL can't use the URL {self.shown!r}: {self.said(error)}. Correct that setting"
                ) from None
            raise (self._refused(error) if _REFUSED.search(str(error)) else self.away(error)) from None
        connection.server = self
        _take_little_ahead(connection)
        connection.adapters.register_dumper(int, Int8BinaryDumper)  # one type: prepared once
        connection.prepare_threshold = NEVER
        try:
            version = connection.info.server_version
            later = {name: value for first, name, value in _LATER_SETTINGS if version >= first}
            self._set(connection, {**_SETTINGS, **later, **(settings or {})})
        except psycopg.Error as error:
            connection.close()
            raise self.away(error) from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _set(self, connection: PostgresConnection, settings: Mapping[str, str]) -> None:
        """Set a connection's settings, unless other clients would get them too: a pooler may share server processes."""
        statement = f"SELECT {', '.join(['set_config(%s, %s, false)'] * len(settings))}"
        values = [each for pair in settings.items() for each in pair]
        direct = f"{statement} WHERE pg_backend_pid() = %s"
        own = connection.execute(direct.encode(), [*values, connection.info.backend_pid], prepare=False)
        if own.fetchone() is None:
            self._refuse_sharing(connection)
            connection.execute(statement.encode(), values, prepare=False)

    def _refuse_sharing(self, connection: PostgresConnection) -> None:
        """Raise `EngineAway` if a pooler shares server processes between its clients. Such a pooler gives
        the process of this connection, idle for a moment, to a second one, or gives this one another process next."""
        if self._is_apart:
            return
        with PostgresConnection.connect(autocommit=True, **self._parameters) as other:  # type: ignore[arg-type]
            behind, others, again = (_process_behind(each) for each in (connection, other, connection))
        if behind == others or behind != again:
            raise EngineAway(
                f"the journal {self.shown} is away: the connection pooler that its URL names shares connections of the "
                "server between its clients, so planwire's prepared statements and notices can't work. In PgBouncer, "
                "set pool_mode = session for this database; or have the URL name the server's own port"
            )
        self._is_apart = True

    def away(self, error: Exception) -> EngineAway:
        """The error that says that the server can't be reached, or can't go on."""
        return EngineAway(f"the journal {self.shown} is away: {self.said(error)}. {_AWAY}")

    def _refused(self, error: Exception) -> LoginRefused:
        return LoginRefused(
            f"the journal {self.shown} refuses this login: {self.said(error)}. Correct the user, the password or the "
            f"database that its URL names (--journal or {VARIABLE}), or have its PostgreSQL server let this user in"
        )

    def said(self, error: Exception) -> str:
        """An error in the server's own words, or libpq's, without a password."""
        _, _, failures = str(error).rpartition(_SEVERAL)
        lines = [line.strip() for line in failures.splitlines() if not line.rstrip().endswith("?")]  # libpq's advice
        said = "; ".join(dict.fromkeys(_FAILED.sub("", line, count=1) for line in lines)) or type(error).__name__
        secrets = {str(self._parameters.get(name) or "") for name in ("password", "sslpassword")} - {""}
        values = (each.rpartition("=")[2] for each in str(self._parameters.get("options") or "").split())
        for secret in {*secrets, *(each for each in values if len(each) > _SHORT)}:
            said = said.replace(secret, "***")
        return said.rstrip(".")


def _bounded(connection: PostgresConnection, gen: _Waiting[_Answer]) -> _Waiting[_Answer]:
    """psycopg's wait with a limit on silence. psycopg wakes up ten times a second while it waits."""
    seconds = connection.answers_within
    end = monotonic() + seconds
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                end = monotonic() + seconds
            elif monotonic() > end:
                connection.pgconn.finish()
                raise psycopg.OperationalError(f"no answer for {seconds:g} seconds")
            wanted = gen.send(ready)
    except StopIteration as done:
        answer: _Answer = done.value
        return answer


def _take_little_ahead(connection: PostgresConnection) -> None:
    """Have the system take few bytes that the network has not: otherwise it may seem silent until it has sent them."""
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as handle:  # none for a Unix socket
            handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)


def _process_behind(connection: PostgresConnection) -> int:
    """The id of the server process that answers."""
    [[process]] = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchall()
    return int(process)


def _quoted(name: str) -> str:
    """A name quoted for a statement, without a %, which psycopg would take for a placeholder."""
    quoted = name.replace('"', '""')
    if "%" not in name:
        return f'"{quoted}"'
    return 'U&"' + quoted.replace("\\", "\\\\").replace("%", "\\0025") + '"'


def _unknown_settings(url: str) -> list[str]:
    """The settings of a URL that libpq does not know. Empty where one of them could be part of a password."""
    query = url.partition("?")[2]
    names = [] if "@" in query else [each.partition("=")[0] for each in query.split("&") if each]
    known = {each.keyword.decode() for each in Conninfo.get_defaults()} | {"ssl"}
    return [each for each in names if each not in known]


def _without_schema(url: str) -> tuple[str, str]:
    """A URL without its parameter `schema`, and that parameter's value."""
    bare, mark, query = url.partition("?")
    parts = query.split("&") if mark else []
    schemas = [unquote(each.removeprefix("schema=")) for each in parts if each.startswith("schema=")]
    others = [each for each in parts if not each.startswith("schema=")]
    return (f"{bare}?{'&'.join(others)}" if others else bare), (schemas[-1] if schemas else "")
