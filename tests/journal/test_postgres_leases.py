"""Leases in PostgreSQL: the server's clock for holders on other machines, and the system for those on this one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from planwire.errors import Conflict
from planwire.journal import Terms
from planwire.journal.postgres import leases
from planwire.journal.postgres.journal import PostgresJournal
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.postgres import PostgresServer, postgres
from tests.waiting import until


@pytest.fixture
def journal() -> Iterator[PostgresJournal]:
    with PostgresJournal(postgres().fresh_url()) as opened:
        yield opened


@pytest.fixture
def server_is_up_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than a lease lasts."""
    monkeypatch.setattr(leases, "TTL", 0)


def change(journal: PostgresJournal, assignment: str) -> None:
    """Change all leases by hand."""
    connection: psycopg.Connection[Any]
    with postgres().connect() as connection:
        connection.execute(journal._server.sql(f"UPDATE planwire.leases SET {assignment}"))


def held(journal: PostgresJournal) -> list[bool]:
    return [each.is_held for each in journal.leases()]


@pytest.mark.usefixtures("server_is_up_for_long")
def test_a_lease_of_another_machine_lasts_as_long_as_it_is_renewed(journal: PostgresJournal) -> None:
    journal.lease("s")
    change(journal, "machine = 'elsewhere', until = now() + interval '1 minute'")
    assert held(journal) == [True]
    change(journal, "until = now() - interval '1 second'")
    assert held(journal) == [False]


def test_nobody_lapses_right_after_the_server_started(journal: PostgresJournal) -> None:
    """While it was down nobody could renew anything."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(leases, "TTL", 1_000_000)
        journal.lease("s")
        change(journal, "machine = 'elsewhere', until = now() - interval '1 second'")
        assert held(journal) == [True]
        journal.end_lease(journal.leases()[0], said("over"))
        assert held(journal) == [True]
        assert journal.sessions() == []


@pytest.mark.usefixtures("server_is_up_for_long")
def test_on_this_machine_the_process_decides_whatever_the_clock_says(journal: PostgresJournal) -> None:
    journal.lease("s")
    change(journal, "until = now() - interval '1 day'")
    assert held(journal) == [True]
    change(journal, "until = now() + interval '1 day', process = '1-0'")
    assert held(journal) == [False]


@pytest.mark.usefixtures("server_is_up_for_long")
def test_a_holder_that_was_cut_off_takes_its_lease_back(journal: PostgresJournal) -> None:
    journal.lease("s", Terms("relay", is_working=True))
    journal.lease("t")
    change(journal, "machine = 'elsewhere', until = now() - interval '1 second'")
    with PostgresJournal(f"{postgres().url(journal._server.schema)}") as other:
        known, _ = other.leases()
        other.end_lease(known, said("over"))
        other.end_lease(known, said("over"))
        assert [each.session for each in other.leases()] == ["t"]
        assert words(other.read("s")) == ["over"]
        other.forget("t")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(leases, "TTL", 1_000)
            journal._renew_leases()
        assert [(each.session, each.terms.is_working, each.is_held) for each in other.leases()] == [("s", True, True)]


@pytest.mark.usefixtures("server_is_up_for_long")
def test_of_many_who_end_a_lease_one_writes(journal: PostgresJournal) -> None:
    journal.lease("s")
    change(journal, "machine = 'elsewhere', until = now() - interval '1 second'")
    [known] = journal.leases()
    url = postgres().url(journal._server.schema)
    others = [PostgresJournal(url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for each in [pool.submit(other.end_lease, known, said("over")) for other in others]:
            each.result(PATIENCE)
    for other in others:
        other.close()
    assert words(journal.read("s")) == ["over"]
    assert journal.leases() == []


@pytest.mark.usefixtures("server_is_up_for_long")
def test_after_the_end_of_a_lease_was_refused_everything_goes_on(journal: PostgresJournal) -> None:
    """A rollback has psycopg drop what is prepared on the connection that appends use as well."""
    for word in ("one", "two"):
        journal.append("s", said(word))
    journal.lease("s")
    change(journal, "machine = 'elsewhere', until = now() - interval '1 second'")
    [known] = journal.leases()
    with pytest.raises(Conflict):
        journal.end_lease(known, said("late"), 1)
    journal.append("s", said("three"))
    with pytest.raises(Conflict):
        journal.end_lease(known, said("late"), 1)
    journal.end_lease(known, said("over"), 3)
    journal.append("s", said("four"))
    assert words(journal.read("s")) == ["one", "two", "three", "over", "four"]


def test_of_a_forget_and_the_end_of_a_lease_neither_waits_for_the_other_for_ever(journal: PostgresJournal) -> None:
    """Whoever ends a lease takes hold of it, and then of the session."""
    journal.append("s", said("one"))
    journal.lease("s")
    with journal._server.connect() as other, ThreadPoolExecutor(1) as pool:
        with other.transaction():
            other.execute(journal._server.sql("SELECT 1 FROM planwire.leases FOR UPDATE"))
            forgetting = pool.submit(journal.forget, "s")
            until(lambda: other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None)
            other.execute(journal._server.sql("SELECT 1 FROM planwire.sessions FOR KEY SHARE"))
        forgetting.result(PATIENCE)
    assert (journal.sessions(), journal.leases()) == ([], [])


def test_leases_are_renewed_by_themselves_also_after_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RETRY", 0.02)
    server = PostgresServer()
    try:
        with PostgresJournal(server.fresh_url()) as journal, pytest.MonkeyPatch.context() as patched:
            patched.setattr(leases, "BEAT", 0.02)
            journal.lease("s")

            def renewed() -> Any:
                with server.connect() as connection:
                    return connection.execute(journal._server.sql("SELECT until FROM planwire.leases")).fetchone()

            for _ in range(2):
                before = renewed()
                until(lambda before=before: renewed() != before)  # type: ignore[misc]
                server.restart()
    finally:
        server.remove()
