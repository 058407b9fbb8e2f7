"""Positions in the order of commit: no follower passes by a slower transaction, and none waits for a foreign one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire.errors import JournalUnavailable
from planwire.journal import Once
from planwire.journal.postgres import journal as engine
from planwire.journal.postgres.following import PositionFollower, Source
from planwire.journal.postgres.journal import PostgresJournal
from tests.journal.test_contract import PATIENCE, heard, said, words
from tests.servers.postgres import postgres
from tests.waiting import until


@pytest.fixture
def journal() -> Iterator[PostgresJournal]:
    with PostgresJournal(postgres().fresh_url()) as opened:
        yield opened


class Slow:
    """An append by hand, as slow as a test wants it: it holds the lock of appends and has drawn its position."""

    def __init__(self, journal: PostgresJournal, session: str) -> None:
        server = journal._server
        self.connection: psycopg.Connection[Any] = postgres().connect()
        self.connection.execute("BEGIN")
        self.connection.execute("SELECT pg_advisory_xact_lock_shared(%s)", (server.lock,))
        [[number]] = self.connection.execute(
            server.sql("INSERT INTO planwire.sessions (id, first_at) VALUES (%s, 1) RETURNING number"),
            (session.encode(),),
        ).fetchall()
        [[self.position]] = self.connection.execute(
            server.sql(
                "INSERT INTO planwire.events (session, seq, at, by, event) VALUES (%s, 1, 1, 'agent', %s) "
                "RETURNING position"
            ),
            (number, b'{"event":"turn_ended","stop_reason":"slow"}'),
        ).fetchall()

    def end(self, how: str) -> None:
        self.connection.execute(how.encode())
        self.connection.close()


class Looks:
    """Stops a follower after so many looks: each look is preceded by a question."""

    def __init__(self, count: int) -> None:
        self.left = count

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_an_event_of_a_slower_transaction_is_never_passed_by(journal: PostgresJournal) -> None:
    journal.append("s", said("before"))
    slow = Slow(journal, "slow")
    journal.append("s", said("quick"))
    assert words([each.recorded for each in journal.follow(0, stop=Looks(20))]) == ["before"]
    slow.end("COMMIT")
    assert words([each.recorded for each in heard(journal)]) == ["before", "slow", "quick"]


def test_the_end_of_the_journal_is_behind_transactions_that_are_under_way(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(journal, "slow")
    journal.append("s", said("quick"))
    monkeypatch.setattr(engine, "PATIENCE", 0.02)
    for ask in (journal.last_position, journal.follow, lambda: list(journal.follow(0, session="s"))):
        with pytest.raises(JournalUnavailable, match="a transaction has been appending"):
            ask()
    slow.end("COMMIT")
    assert journal.last_position() == slow.position + 1
    assert len(list(journal.follow(0, session="s", timeout=0))) == 1


def test_a_slower_transaction_is_waited_for_where_a_restored_backup_has_fewer_events(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append("s", said("one"))
    for _ in range(5):
        journal.append("s", said("lost"))
    assert journal.last_position() == 6
    with postgres().connect() as person, person.transaction():
        person.execute(journal._server.sql("DELETE FROM planwire.events WHERE seq > 1"))
        table = journal._server.sql("planwire.events").decode()
        person.execute("SELECT setval(pg_get_serial_sequence(%s, 'position'), 1)", (table,))
    slow = Slow(journal, "slow")
    journal.append("s", said("quick"))
    monkeypatch.setattr(engine, "PATIENCE", 0.02)
    with pytest.raises(JournalUnavailable, match="a transaction has been appending"):
        journal.last_position()
    slow.end("COMMIT")
    assert slow.position < journal.last_position() < 6


def test_one_who_follows_without_waiting_waits_for_those_who_write(journal: PostgresJournal) -> None:
    """Whoever wrote, and then looks, finds what it wrote."""
    slow = Slow(journal, "slow")
    journal.append("s", said("quick"))
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(heard, journal)
        slow.end("COMMIT")
        assert words([each.recorded for each in found.result(PATIENCE)]) == ["slow", "quick"]


def test_a_follower_waits_only_for_those_who_wrote_when_it_met_a_gap(journal: PostgresJournal) -> None:
    first = Slow(journal, "first")
    journal.append("s", said("quick"))
    follower, source = PositionFollower(), Source(journal._behind, journal._holders)
    assert follower.look(0, source).events == []
    later = Slow(journal, "later")
    first.end("ROLLBACK")
    found = follower.look(0, source)
    assert words([each.recorded for each in found.events]) == ["quick"]
    later.end("ROLLBACK")


def test_a_position_that_was_rolled_back_stops_nobody(journal: PostgresJournal) -> None:
    Slow(journal, "never").end("ROLLBACK")
    journal.append("s", said("one"))
    Slow(journal, "never").end("ROLLBACK")
    journal.append("s", said("two"))
    assert words([each.recorded for each in heard(journal)]) == ["one", "two"]
    assert journal.last_position() == 4


def test_a_foreign_transaction_that_is_held_open_delays_nobody(journal: PostgresJournal) -> None:
    journal.append("s", said("one"))
    with closing(postgres().connect()) as foreign:
        foreign.execute("CREATE TABLE IF NOT EXISTS foreign_rows (n int)")
        foreign.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        foreign.execute("INSERT INTO foreign_rows VALUES (1)")
        foreign.execute(journal._server.sql("SELECT count(*) FROM planwire.events"))
        Slow(journal, "never").end("ROLLBACK")  # a gap makes a follower ask who is writing
        journal.append("s", said("two"))
        assert words([each.recorded for each in journal.follow(0, stop=Looks(4))]) == ["one", "two"]
        assert journal.last_position() == 3
        foreign.execute("ROLLBACK")


@pytest.mark.parametrize(
    ("session", "count", "once"),
    [("new", 1, None), ("new", 3, Once("key", 1)), ("s", 1, None), ("s", 3, None), ("s", 1, Once("key", 1))],
)
def test_the_lock_is_taken_before_a_position_is_drawn(
    journal: PostgresJournal, session: str, count: int, once: Once | None
) -> None:
    """Everything rests on that. Whoever holds the lock alone shows it: the append waits, and has drawn nothing."""
    journal.append("s", said("one"))
    server = journal._server
    with closing(postgres().connect()) as other, ThreadPoolExecutor(1) as pool:
        other.execute("SELECT pg_advisory_lock(%s)", (server.lock,))
        appending = pool.submit(journal.append, session, said(*["x"] * count), once=once)
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        until(lambda: other.execute(waiting).fetchone() == (1,))
        drawn = server.sql("SELECT last_value FROM planwire.events_position_seq")
        assert other.execute(drawn).fetchone() == (1,)
        other.execute("SELECT pg_advisory_unlock(%s)", (server.lock,))
        assert len(appending.result(PATIENCE)) == count
        assert other.execute(drawn).fetchone() == (1 + count,)


def test_appends_of_several_threads_take_the_lock_too(journal: PostgresJournal) -> None:
    for session in "ab":
        journal.append(session, said("one"))
    server = journal._server
    with closing(postgres().connect()) as other, ThreadPoolExecutor(2) as pool:
        with journal._group.turn:
            appending = [pool.submit(journal.append, session, said("x")) for session in "ab"]
            until(lambda: len(journal._group._gathering) == 2)
            other.execute("SELECT pg_advisory_lock(%s)", (server.lock,))
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        until(lambda: other.execute(waiting).fetchone() == (1,))
        drawn = server.sql("SELECT last_value FROM planwire.events_position_seq")
        assert other.execute(drawn).fetchone() == (2,)
        other.execute("SELECT pg_advisory_unlock(%s)", (server.lock,))
        assert [len(each.result(PATIENCE)) for each in appending] == [1, 1]


#: What happens, one after the other: a slow append begins, the oldest or the newest one ends, a quick one, a look.
STEPS = st.lists(
    st.sampled_from(("begin", "begin", "commit oldest", "commit newest", "roll back", "quick", "look", "forget")),
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_a_follower_sees_every_event_once_and_in_order_whatever_overlaps(steps: list[str]) -> None:
    with PostgresJournal(postgres().fresh_url()) as journal:
        follower, source = PositionFollower(), Source(journal._behind, journal._holders)
        under_way: list[Slow] = []
        committed: set[int] = set()
        forgotten: set[int] = set()
        seen: list[int] = []
        after = 0

        def look(after: int) -> int:
            found = follower.look(after, source)
            seen.extend(each.position for each in found.events)
            assert found.position >= after
            return found.position

        for number, step in enumerate(steps):
            if step == "begin":
                under_way.append(Slow(journal, f"slow {number}"))
            elif step == "quick":
                journal.append("quick", said("x"))
                [[last]] = under_way_positions(journal)
                committed.add(last)
            elif step == "look":
                after = look(after)
            elif step == "forget":
                forgotten |= set(positions_of(journal, "quick"))
                journal.forget("quick")
            elif under_way:
                slow = under_way.pop(0 if step == "commit oldest" else -1)
                slow.end("ROLLBACK" if step == "roll back" else "COMMIT")
                committed |= set() if step == "roll back" else {slow.position}
        for slow in under_way:
            slow.end("COMMIT")
            committed.add(slow.position)
        while (further := look(after)) > after:
            after = further
        assert seen == sorted(set(seen))
        assert set(seen) | forgotten >= committed >= set(seen)


def under_way_positions(journal: PostgresJournal) -> list[Any]:
    """The position that was drawn last."""
    with journal._read() as cursor:
        return cursor.execute(journal._server.sql("SELECT last_value FROM planwire.events_position_seq")).fetchall()


def positions_of(journal: PostgresJournal, session: str) -> list[int]:
    with journal._read() as cursor:
        return [row[0] for row in journal._reads.behind(cursor, 0, 2**62, session)]
