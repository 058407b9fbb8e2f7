"""A journal behind PgBouncer, and on a server that takes no writes."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from planwire.errors import CannotWait, EngineAway
from planwire.journal import Stamped, open_journal
from planwire.journal.postgres.journal import PostgresJournal
from planwire.journal.waiting import is_waiting, waiting_of
from planwire.model.events import PlanReviewed, TurnEnded
from tests.availability import or_skip
from tests.programs import PGBOUNCER
from tests.servers.ports import free_port
from tests.servers.postgres import postgres
from tests.waiting import until

EVENT = Stamped(0, "agent", TurnEnded("end_turn"))

SETTINGS = """\
[databases]
postgres = host={server} port={server_port} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
"""


@contextmanager
def pgbouncer(mode: str) -> Iterator[str]:
    """A PgBouncer before the server of this process. Gives the URL of a new journal."""
    program = or_skip(PGBOUNCER.path)
    port = free_port()
    server = postgres()
    with TemporaryDirectory() as name:
        settings = Path(name) / "pgbouncer.ini"
        settings.write_text(SETTINGS.format(server=server.folder, server_port=server.port, port=port, mode=mode))
        Path(name).chmod(0o755)
        user = "nobody" if os.geteuid() == 0 else None  # it refuses to run as root
        with subprocess.Popen([program, "-q", str(settings)], user=user, stderr=subprocess.DEVNULL) as process:
            try:
                until(lambda: process.poll() is not None or _answers(port))
                assert process.poll() is None
                yield f"postgresql://postgres@127.0.0.1:{port}/postgres?schema={server.fresh_url().partition('schema=')[2]}"
            finally:
                process.terminate()


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_a_pooler_that_keeps_sessions_apart_is_as_good_as_none() -> None:
    with pgbouncer("session") as url, open_journal(url) as one, open_journal(url) as other:
        one.append("s", [EVENT])
        other.append("s", [EVENT])
        assert [each.recorded.seq for each in one.follow(0, timeout=0)] == [1, 2]


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_a_pooler_that_shares_connections_is_refused_and_nobody_gets_planwires_settings(mode: str) -> None:
    with pgbouncer(mode) as url:
        with pytest.raises(EngineAway, match="PgBouncer, set pool_mode = session for this database"):
            PostgresJournal(url)
        with psycopg.connect(url.partition("?")[0], autocommit=True) as after:
            [[timeout]] = after.execute("SHOW statement_timeout").fetchall()
        assert timeout == "0"


def test_a_server_that_takes_no_writes_is_read_on_and_what_is_recorded_waits_for_it(tmp_path: Path) -> None:
    url = postgres().url_of(tmp_path)
    standby = f"{url}&options=-c%20default_transaction_read_only%3Don"
    with open_journal(url) as journal:
        journal.append("s", [EVENT])
        journal.append("t", [EVENT])
    with open_journal(standby, create=False) as journal:
        with pytest.raises(CannotWait, match=r"a standby.*otherwise.* name the primary.* Nothing was written"):
            journal.append("s", [Stamped(0, "ann", PlanReviewed("main", 1, "approved", via="planwire"))])
        assert is_waiting(journal.append("s", [EVENT])[0].seq)
        assert waiting_of(journal).count == 1
        assert [journal.last_seq("t"), len(journal.sessions())] == [1, 2]
        with open_journal(standby, create=False) as other:
            assert other.last_seq("s") == 1
