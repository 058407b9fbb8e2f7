"""Leases in PostgreSQL: the server's clock for holders on other machines, and the system for those on this one."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from planwire.errors import Conflict
from planwire.journal import Terms, leases
from planwire.journal.machines import this_machine
from tests.journal.stores import PostgresJournal
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.postgres import PostgresServer, postgres
from tests.waiting import until


@pytest.fixture
def journal() -> Iterator[PostgresJournal]:
    with PostgresJournal(postgres().fresh_url()) as opened:
        yield opened


@pytest.fixture
def server_is_up_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than a lease lasts, and so is the journal."""
    monkeypatch.setattr(leases, "TTL", 0.001)


def change(journal: PostgresJournal, until: str, *, machine: str = "elsewhere", process: str = "") -> None:
    """Change all leases by hand: where their holders are, and until when the server believes that they are alive."""
    connection: psycopg.Connection[Any]
    with postgres().connect() as connection:
        sql = journal.server.sql
        connection.execute(sql(f"UPDATE planwire.holders SET until = {until}"))
        for number, value in connection.execute(sql("SELECT number, value FROM planwire.entries")).fetchall():
            changed = json.loads(value) | {"machine": machine} | ({"process": process} if process else {})
            values = json.dumps(changed).encode(), number
            connection.execute(sql("UPDATE planwire.entries SET value = %s WHERE number = %s"), values)


LAPSED = "now() - interval '1 second'"


def held(journal: PostgresJournal) -> list[bool]:
    """Which leases another journal takes to be held: a holder knows that it is alive itself."""
    with PostgresJournal(postgres().url(journal.server.schema)) as other:
        return [each.is_held for each in other.leases()]


@pytest.mark.usefixtures("server_is_up_for_long")
def test_a_lease_of_another_machine_lasts_as_long_as_it_is_renewed(journal: PostgresJournal) -> None:
    journal.lease("s")
    change(journal, "now() + interval '1 minute'")
    assert held(journal) == [True]
    change(journal, LAPSED)
    assert held(journal) == [False]


def test_nobody_lapses_right_after_the_server_started(journal: PostgresJournal) -> None:
    """While it was down nobody could renew anything."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(leases, "TTL", 1_000_000)
        journal.lease("s")
        change(journal, LAPSED)
        assert held(journal) == [True]
        journal.end_lease(journal.leases()[0], said("over"))
        assert held(journal) == [True]
        assert journal.sessions() == []


@pytest.mark.usefixtures("server_is_up_for_long")
def test_on_this_machine_the_process_decides_whatever_the_clock_says(journal: PostgresJournal) -> None:
    journal.lease("s")
    with PostgresJournal(f"{postgres().url(journal.server.schema)}") as other:
        change(journal, "now() + interval '1 day'", machine=this_machine())
        assert held(other) == [True]
        change(journal, "now() + interval '1 day'", machine=this_machine(), process="1-0")
        assert held(other) == [False]


@pytest.mark.usefixtures("server_is_up_for_long")
def test_a_holder_that_was_cut_off_takes_its_lease_back(journal: PostgresJournal) -> None:
    journal.lease("s", Terms("relay", is_working=True))
    journal.lease("t")
    change(journal, LAPSED)
    with PostgresJournal(f"{postgres().url(journal.server.schema)}") as other:
        known, _ = other.leases()
        other.end_lease(known, said("over"))
        other.end_lease(known, said("over"))
        assert [each.session for each in other.leases()] == ["t"]
        assert words(other.read("s")) == ["over"]
        other.forget("t")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(leases, "TTL", 1_000)
            journal._leases.renew()
        assert [(each.session, each.terms.is_working, each.is_held) for each in other.leases()] == [("s", True, True)]


@pytest.mark.usefixtures("server_is_up_for_long")
def test_of_many_who_end_a_lease_one_writes(journal: PostgresJournal) -> None:
    journal.lease("s")
    change(journal, LAPSED)
    [known] = journal.leases()
    url = postgres().url(journal.server.schema)
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
    for word in ("one", "two"):
        journal.append("s", said(word))
    journal.lease("s")
    change(journal, LAPSED)
    [known] = journal.leases()
    with PostgresJournal(postgres().url(journal.server.schema)) as other:
        for word in ("three", "four"):
            with pytest.raises(Conflict):
                other.end_lease(known, said("late"), 1)
            journal.append("s", said(word))
        other.end_lease(known, said("over"), 4)
    journal.append("s", said("five"))
    assert words(journal.read("s")) == ["one", "two", "three", "four", "over", "five"]


def test_leases_are_renewed_by_themselves_also_after_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RETRY", 0.02)
    server = PostgresServer()
    try:
        with PostgresJournal(server.fresh_url()) as journal, pytest.MonkeyPatch.context() as patched:
            patched.setattr(leases, "BEAT", 0.02)
            journal.lease("s")

            def renewed() -> Any:
                with server.connect() as connection:
                    return connection.execute(journal.server.sql("SELECT until FROM planwire.holders")).fetchone()

            for _ in range(2):
                before = renewed()
                until(lambda before=before: renewed() != before)  # type: ignore[misc]
                server.restart()
    finally:
        server.remove()
