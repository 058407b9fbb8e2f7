"""A journal on a hot standby, which shows no locks of its primary: what follows it still passes no event by."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from planwire.journal.postgres import order
from planwire.journal.postgres.journal import PostgresJournal
from planwire.model.events import Recorded
from tests.journal.test_contract import PATIENCE, heard, said, words
from tests.journal.test_postgres_order import Slow
from tests.servers.postgres import PostgresServer, postgres
from tests.waiting import until


@pytest.fixture(scope="module")
def standby() -> Iterator[PostgresServer]:
    server = PostgresServer(postgres())
    yield server
    server.remove()


@pytest.fixture
def journals(standby: PostgresServer) -> Iterator[tuple[PostgresJournal, PostgresJournal]]:
    """A journal with an event, by the primary and by the standby."""
    url = postgres().fresh_url()
    with PostgresJournal(url) as journal:
        journal.append("s", said("before"))
        catch_up(standby)
        with PostgresJournal(standby.url(journal._server.schema), create=False) as copy:
            yield journal, copy


def catch_up(standby: PostgresServer) -> None:
    """Wait until the standby has all that was committed."""
    with postgres().connect() as primary, standby.connect() as other:
        [[end]] = primary.execute("SELECT pg_current_wal_flush_lsn()::text").fetchall()
        has_it = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        until(lambda: other.execute(has_it, (end,)).fetchone() == (True,))


def test_a_follower_of_a_standby_passes_no_slower_transaction_by(
    journals: tuple[PostgresJournal, PostgresJournal], standby: PostgresServer
) -> None:
    journal, copy = journals
    stop = Event()
    seen: list[Recorded] = []
    with ThreadPoolExecutor(3) as pool:
        following = pool.submit(lambda: seen.extend(each.recorded for each in copy.follow(0, stop=stop)))
        slow = Slow(journal, "slow")
        journal.append("s", said("quick"))
        catch_up(standby)
        end, of_one = pool.submit(copy.last_position), pool.submit(lambda: list(copy.follow(0, session="s", timeout=0)))
        for each in (end, of_one):
            with pytest.raises(TimeoutError):
                each.result(2 * order.UNKNOWN)
        assert words(seen) == ["before"]
        slow.end("COMMIT")
        assert end.result(PATIENCE) == slow.position + 1
        assert words([each.recorded for each in of_one.result(PATIENCE)]) == ["before", "quick"]
        until(lambda: words(seen) == ["before", "slow", "quick"])
        stop.set()
        following.result(PATIENCE)


def test_a_follower_of_a_standby_waits_no_longer_than_an_append_can_last(
    journals: tuple[PostgresJournal, PostgresJournal], standby: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is held open for longer is no append."""
    monkeypatch.setattr(order, "LONGEST_APPEND", 0.3)
    journal, copy = journals
    with postgres().connect() as foreign:
        foreign.execute("BEGIN")
        foreign.execute("CREATE TABLE never (n int)")
        Slow(journal, "never").end("ROLLBACK")
        journal.append("s", said("after a gap"))
        catch_up(standby)
        assert words([each.recorded for each in heard(copy)]) == ["before", "after a gap"]
        foreign.execute("ROLLBACK")


def test_a_gap_on_a_standby_stops_nobody(
    journals: tuple[PostgresJournal, PostgresJournal], standby: PostgresServer
) -> None:
    journal, copy = journals
    Slow(journal, "never").end("ROLLBACK")
    journal.append("s", said("after a gap"))
    catch_up(standby)
    assert words([each.recorded for each in heard(copy)]) == ["before", "after a gap"]
    assert copy.last_position() == 3
