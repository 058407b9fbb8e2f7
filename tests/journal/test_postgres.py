"""A journal in PostgreSQL: what only a server can do to it, and what its URL, its tables and its errors promise."""

import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from planwire.errors import (
    Conflict,
    DamagedJournal,
    EngineAway,
    JournalError,
    JournalUnavailable,
    LoginRefused,
    NewerJournal,
    NoJournal,
    NotAJournal,
    NotWritable,
    UnknownJournal,
)
from planwire.journal import Once, follower, open_journal
from planwire.journal.codec import encode
from planwire.journal.engines import open_engine
from planwire.journal.follower import follower_of
from planwire.journal.group_commit import Append
from planwire.journal.polling import Found
from planwire.journal.postgres import following, notices
from planwire.journal.postgres import line as postgres_line
from planwire.journal.postgres import quick as postgres_quick
from planwire.journal.postgres import server as postgres_server
from planwire.journal.postgres.facts import promise
from planwire.journal.postgres.journal import PostgresJournal
from planwire.journal.postgres.writes import forget_sessions
from planwire.journal.verifying import verify
from tests.journal.test_contract import PATIENCE, heard, said, words
from tests.servers.ports import free_port
from tests.servers.postgres import PASSWORD, PostgresServer, postgres
from tests.servers.proxy import proxy_to
from tests.waiting import until

#: A password that opens nothing.
SECRET = "pa55word"


@pytest.fixture
def url() -> str:
    return postgres().fresh_url()


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that may be stopped."""
    server = PostgresServer()
    yield server
    server.remove()


def run(code: str, *arguments: object) -> "subprocess.Popen[str]":
    """A program that has opened the journal of its first argument."""
    begin = "import sys; from planwire.journal import *; from planwire.journal.engines import open_engine\n"
    begin += "from tests.journal.test_contract import said, words\n"
    begin += "journal = open_engine(sys.argv[1])\n"
    command = [sys.executable, "-c", begin + code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# Away and back


def test_connections_that_were_cut_while_nobody_used_them_cost_no_error(url: str) -> None:
    with PostgresJournal(url) as journal:
        journal.append("s", said("one"))
        assert heard(journal)
        for word in ("two", "three"):
            assert postgres().cut_connections() >= 2
            assert words(journal.append("s", said(word))) == [word]
            assert journal.last_seq("s") == len(heard(journal))
        assert words(journal.read("s")) == ["one", "two", "three"]


def test_a_follower_goes_on_after_its_connections_were_cut(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "RETRY", 0.02)
    monkeypatch.setattr(notices, "RETRY", 0.02)
    with PostgresJournal(url) as journal, PostgresJournal(url) as writer:
        seen: list[int] = []
        unsubscribe = follower_of(journal).subscribe(lambda followed: seen.append(followed.recorded.seq))
        for number in range(1, 4):
            writer.append("s", said("x"))
            until(lambda number=number: seen[-1:] == [number])  # type: ignore[misc]
            postgres().cut_connections()
        writer.append("s", said("x"))
        until(lambda: seen[-1:] == [4])
        unsubscribe()
        assert seen == sorted(set(seen))


@pytest.mark.parametrize("session", [None, "s"])
def test_a_journal_that_ends_before_what_a_follower_had_is_said_and_followed_from_its_end(
    url: str, monkeypatch: pytest.MonkeyPatch, session: str | None
) -> None:
    """A backup was restored, or a standby that lacked the last events took over."""
    monkeypatch.setattr(follower, "RETRY", 0.02)
    monkeypatch.setattr(following, "TRUST", 0.02)
    with PostgresJournal(url) as journal, postgres().connect() as person:
        seen: list[str] = []
        troubles: list[str] = []
        unsubscribe = follower_of(journal).subscribe(
            lambda followed: seen.extend(words([followed.recorded])), session, lambda each: troubles.append(str(each))
        )
        for word in ("one", "lost", "lost as well"):
            journal.append("s", said(word))
        until(lambda: len(seen) == 3)
        with person.transaction():
            person.execute(journal._server.sql("DELETE FROM planwire.events WHERE seq > 1"))
            table = journal._server.sql("planwire.events").decode()
            person.execute("SELECT setval(pg_get_serial_sequence(%s, 'position'), 1)", (table,))
        until(lambda: troubles[-1:] == ["None"])
        assert "has lost its last events: a backup was restored" in troubles[0]
        journal.append("s", said("two"))
        until(lambda: seen[3:] == ["two"])
        unsubscribe()


@pytest.mark.parametrize("session", [None, "s"])
def test_a_follower_is_told_that_others_have_the_positions_of_what_it_had(
    url: str, monkeypatch: pytest.MonkeyPatch, session: str | None
) -> None:
    monkeypatch.setattr(following, "TRUST", 0.02)
    with PostgresJournal(url) as journal, PostgresJournal(url) as other, postgres().connect() as person:
        events = journal.follow(0, session=session, timeout=PATIENCE)
        journal.append("s", said("one", "lost", "lost as well"))
        assert words([next(events).recorded for _ in range(3)]) == ["one", "lost", "lost as well"]
        with person.transaction():
            person.execute(journal._server.sql("DELETE FROM planwire.events WHERE seq > 1"))
            table = journal._server.sql("planwire.events").decode()
            person.execute("SELECT setval(pg_get_serial_sequence(%s, 'position'), 1)", (table,))
        other.append("t", said(*"123456789"))
        with pytest.raises(JournalUnavailable, match="has lost its last events: a backup was restored"):
            next(events)


def test_a_server_that_restarts_under_a_writer_and_a_follower_loses_and_doubles_nothing(
    own_server: PostgresServer,
) -> None:
    """Whoever has a key repeats what it has no answer to."""
    url = own_server.fresh_url()
    with PostgresJournal(url) as journal, PostgresJournal(url) as writer, ThreadPoolExecutor(1) as pool:
        seen: dict[int, str] = {}

        def hear(followed: object) -> None:
            seen[followed.recorded.seq] = followed.recorded.event.stop_reason  # type: ignore[attr-defined]

        unsubscribe = follower_of(journal).subscribe(hear)

        def write() -> None:
            for n in range(300):
                for _ in range(20):
                    try:
                        writer.append("s", said(str(n)), once=Once("a test", n))
                        break
                    except EngineAway:
                        continue

        writing = pool.submit(write)
        until(lambda: len(seen) > 20)
        own_server.restart()
        until(lambda: len(seen) > 100 or writing.done())
        own_server.restart()
        writing.result(PATIENCE)
        expected = list(map(str, range(300)))
        assert words(journal.read("s")) == expected
        until(lambda: len(seen) == 300)
        assert [seen[seq] for seq in sorted(seen)] == expected
        unsubscribe()


def test_what_each_of_several_addresses_answers_is_said_once() -> None:
    ports = free_port(), free_port()
    where = ",".join(f"127.0.0.1:{port}" for port in ports)
    each = "; ".join(f'connection to server at "127.0.0.1", port {port} failed: Connection refused' for port in ports)
    with pytest.raises(EngineAway, match=re.escape(f" is away: {each}. Start its PostgreSQL server, or look for")):
        PostgresJournal(f"postgresql://ann@{where}/plans")


def test_a_server_that_is_down_is_away_and_later_back(
    own_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_line, "PATIENCE", 0.1)
    with PostgresJournal(own_server.fresh_url()) as journal:
        journal.append("s", said("one"))
        own_server.stop()
        try:
            asked: list[Callable[[], object]] = [
                lambda: journal.append("s", said("lost")),
                lambda: journal.last_seq("s"),
                lambda: next(journal.follow(0)),
                lambda: PostgresJournal(own_server.fresh_url()),
            ]
            for ask in asked:
                with pytest.raises(EngineAway, match=r"is away: .*Start its PostgreSQL server") as away:
                    ask()
                assert PASSWORD not in "".join(traceback.format_exception(away.value))
        finally:
            own_server.start()
        assert words(journal.append("s", said("two"))) == ["two"]
        assert words(journal.read("s")) == ["one", "two"]


def test_a_server_that_does_not_answer_keeps_nobody_waiting(
    own_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PostgresJournal(own_server.fresh_url()) as journal:
        journal.append("s", said("one"))
        journal.last_seq("s")
        monkeypatch.setattr(postgres_server, "ANSWER_TIMEOUT", 0.1)
        own_server.freeze()
        try:
            with pytest.raises(EngineAway, match=r"no answer for 0\.1 seconds"):
                journal.append("s", said("late"))
            with pytest.raises(EngineAway, match=r"no answer for 0\.1 seconds"):
                journal.last_seq("s")
        finally:
            own_server.thaw()
        monkeypatch.undo()
        journal.append("s", said("two"))
        found = words(journal.read("s"))
        assert [word for word in found if word != "late"] == ["one", "two"]  # what was sent may arrive late, or never


def test_a_slow_network_gets_the_time_it_takes_as_long_as_it_is_not_silent(
    own_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = os.urandom(600_000).hex()
    with proxy_to("127.0.0.1", own_server.port) as network:
        url = own_server.fresh_url(local=False).replace(f":{own_server.port}/", f":{network.port}/")
        with PostgresJournal(url) as journal:
            journal.append("s", said("one"))
            monkeypatch.setattr(postgres_server, "ANSWER_TIMEOUT", 1.5)
            network.pass_slowly(600_000)
            assert words(journal.append("s", said(large))) == [large]
            assert words(journal.read("s")) == ["one", large]


def test_an_address_that_the_servers_settings_shut_out_is_a_refused_login(own_server: PostgresServer) -> None:
    url = own_server.fresh_url(local=False)
    with own_server.connect() as connection:
        [[name]] = connection.execute("SHOW hba_file").fetchall()
        file = Path(name)
        before = file.read_text()
        file.write_text(f"host all all 127.0.0.1/32 reject\n{before}")
        try:
            connection.execute("SELECT pg_reload_conf()")
            until(lambda: _is_refused(url))
        finally:
            file.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            until(lambda: not _is_refused(url))


def _is_refused(url: str) -> bool:
    try:
        PostgresJournal(url).close()
    except LoginRefused as error:
        return "pg_hba.conf rejects connection" in str(error)
    return False


def test_many_who_wait_for_a_silent_server_wait_no_longer_than_one(
    own_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[object] = []
    connect = postgres_server.JournalServer.connect

    def count(self: postgres_server.JournalServer, *settings: Any) -> postgres_server.PostgresConnection:
        tries.append(self)
        return connect(self, *settings)

    with PostgresJournal(f"{own_server.fresh_url()}&connect_timeout=2") as journal, ThreadPoolExecutor(6) as pool:
        journal.last_seq("s")
        monkeypatch.setattr(postgres_server.JournalServer, "connect", count)
        monkeypatch.setattr(postgres_line, "PATIENCE", 0.1)
        monkeypatch.setattr(postgres_server, "ANSWER_TIMEOUT", 0.5)
        own_server.freeze()
        try:
            asking = [pool.submit(journal.last_seq, "s") for _ in range(6)]
            assert [type(each.exception(PATIENCE)) for each in asking] == [EngineAway] * 6
        finally:
            own_server.thaw()
        assert len(tries) == 1
        assert journal.last_seq("s") == 0


@pytest.mark.parametrize("act", ["forget", "check"])
def test_forgetting_and_checking_may_take_longer_than_other_answers(
    url: str, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    monkeypatch.setattr(postgres_server, "_SETTINGS", {**postgres_server._SETTINGS, "statement_timeout": "100ms"})
    with PostgresJournal(url) as journal, postgres().connect() as other, ThreadPoolExecutor(1) as pool:
        journal.append("s", said("one"))
        monkeypatch.setattr(postgres_server, "ANSWER_TIMEOUT", 0.1)
        other.execute("BEGIN")
        other.execute(journal._server.sql("lock table planwire.once, planwire.sessions"))
        acts = {"forget": lambda: journal.forget("s"), "check": lambda: [*journal.troubles()]}
        acting = pool.submit(acts[act])
        with pytest.raises(TimeoutError):
            acting.result(0.5)
        other.execute("COMMIT")
        assert not acting.result(PATIENCE)
        assert len(journal.sessions()) == (act == "check")


def test_what_another_database_lacks_is_written_behind_what_it_has(url: str) -> None:
    """A standby that takes over may lack the last events. Only a new connection leads to one."""
    with PostgresJournal(url) as journal, postgres().connect() as connection:
        journal.append("s", said("one", "two", "three"))
        schema = url.rpartition("=")[2]
        connection.execute(f"DELETE FROM {schema}.events WHERE seq > 1".encode())
        postgres().cut_connections()
        [written] = journal.append("s", said("two again"))
        assert written.seq == 2
        assert words(journal.read("s")) == ["one", "two again"]


# Notices


def test_a_notice_wakes_followers_of_other_journals(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "TRUST", 1_000.0)
    with PostgresJournal(url) as journal, PostgresJournal(url) as writer:
        events = journal.follow(timeout=PATIENCE)
        with ThreadPoolExecutor(1) as pool:
            for word in "abc":
                pool.submit(writer.append, "s", said(word))
                assert words([next(events).recorded]) == [word]


def test_a_follower_finds_what_nobody_told_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices.Notifier, "ring", lambda _: None)
    monkeypatch.setattr(following, "TRUST", 0.05)
    with PostgresJournal(url) as journal, PostgresJournal(url) as writer, ThreadPoolExecutor(1) as pool:
        events = journal.follow(timeout=PATIENCE)
        pool.submit(writer.append, "s", said("one"))
        assert words([next(events).recorded]) == ["one"]


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The names of the statements that journals execute."""
    names: list[bytes] = []
    finish = postgres_quick.QuickStatement.finish

    def note(self: postgres_quick.QuickStatement) -> None:
        finish(self)
        names.append(self._name)

    monkeypatch.setattr(postgres_quick.QuickStatement, "finish", note)
    return names


def test_a_quick_writer_sends_fewer_notices_than_events(
    url: str, executed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "PAUSE", 0.2)
    with PostgresJournal(url) as journal:
        for _ in range(60):
            journal.append("s", said("x"))
    assert executed.count(b"planwire_append") == 59
    assert 1 <= len(executed) - 59 <= 20


def test_a_follower_looks_by_itself_while_a_writer_is_busy_and_silent(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "TRUST", 1_000.0)
    monkeypatch.setattr(notices, "LONGEST_PAUSE", 1_000.0)
    with PostgresJournal(url) as journal, PostgresJournal(url) as writer, ThreadPoolExecutor(1) as pool:
        events = journal.follow(timeout=PATIENCE)
        seen: list[str] = []
        pool.submit(lambda: seen.extend(word for each in events for word in words([each.recorded])))
        until(lambda: writer.append("s", said("more")) and journal._bell.trust < 1)
        for notice in (writer._notifier._quiet, writer._notifier._busy):
            monkeypatch.setattr(notice, "execute", lambda *_: None)
        until(lambda: len(seen) == writer.last_seq("s"))
        writer.append("s", said("the last"))
        until(lambda: seen[-1] == "the last")
        journal.close()


def test_a_journal_that_closes_tells_of_what_it_wrote_last(
    url: str, executed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "PAUSE", 1_000.0)
    with PostgresJournal(url) as journal:
        journal.append("s", said("one"))
        until(lambda: b"planwire_notify" in executed)
        journal.append("s", said("two"))
    assert executed[:3] == [b"planwire_notify", b"planwire_append", b"planwire_notify"]


def test_a_follower_of_one_session_waits_while_others_are_written() -> None:
    looks: list[int] = []

    def look(_: following.PositionFollower, after: int) -> Found:
        looks.append(after)
        return Found([], after + 1)

    assert not [*following.events_of(look, 0, following.NoticeBell(), lambda: None, None, 0.05)]
    assert looks == [0, 1]


# Many writers


def test_appends_that_share_a_commit_have_outcomes_of_their_own(url: str) -> None:
    with PostgresJournal(url) as journal, PostgresJournal(url) as other, ThreadPoolExecutor(6) as pool:
        for session in "st":
            journal.append(session, said("one"))
        for is_refused in (False, True):
            last = journal.last_seq("s")
            if is_refused:  # of what this journal knows of the session nothing is true any more
                other.append("s", said("between"))
                last += 1
            with journal._group.turn:
                tasks = [
                    pool.submit(journal.append, "s", said("a", "b")),
                    pool.submit(journal.append, "s", said("late"), 0),
                    pool.submit(journal.append, "t", said("c"), once=Once("key", int(is_refused))),
                    pool.submit(journal.append, "t", said("d"), once=Once("key", int(is_refused))),
                    pool.submit(journal.append, f"new {is_refused}", said("e"), 0),
                    pool.submit(journal.append, "t", []),
                ]
                until(lambda: len(journal._group._gathering) == 6)
            first, second, third, fourth, fifth, nothing = tasks
            assert [each.seq for each in first.result(PATIENCE)] == [last + 1, last + 2]
            assert isinstance(second.exception(PATIENCE), Conflict)
            assert third.result(PATIENCE) == fourth.result(PATIENCE)
            assert [each.seq for each in fifth.result(PATIENCE)] == [1]
            assert nothing.result(PATIENCE) == ()
        assert len(list(journal.read("s"))) == 6
        assert len(list(journal.read("t"))) == 3


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("53100", NotWritable),
        ("53200", EngineAway),
        ("57014", EngineAway),
        ("57P01", EngineAway),
        ("25006", NotWritable),
        ("22012", JournalUnavailable),
    ],
)
@pytest.mark.parametrize("together", [False, True])
def test_what_the_server_says_no_to_is_away_where_it_may_be_written_later(
    url: str, state: str, kind: type[JournalUnavailable], together: bool
) -> None:
    """Raised by a trigger, as the server itself raises them: a full disk, no memory, a statement that took too long."""
    with PostgresJournal(url) as journal, ThreadPoolExecutor(2) as pool:
        for session in "st":
            journal.append(session, said("one"))
        refuse = f"BEGIN RAISE EXCEPTION USING ERRCODE = {state!r}; END"
        with journal._writing as connection:
            made = f"CREATE FUNCTION planwire.refuse() RETURNS trigger LANGUAGE plpgsql AS $${refuse}$$"
            connection.execute(journal._server.sql(made))
            trigger = "CREATE TRIGGER refuse BEFORE INSERT ON planwire.events EXECUTE FUNCTION planwire.refuse()"
            connection.execute(journal._server.sql(trigger))
        with journal._group.turn if together else nullcontext():
            tasks = [pool.submit(journal.append, session, said("two")) for session in "st"[: 1 + together]]
            until(lambda: not together or len(journal._group._gathering) == 2)
        assert [type(each.exception(PATIENCE)) for each in tasks] == [kind] * len(tasks)
        with journal._writing as connection:
            connection.execute(journal._server.sql("DROP TRIGGER refuse ON planwire.events"))
        assert words(journal.append("s", said("two"))) == ["two"]


def race(url: str, writers: int, appends: int) -> None:
    """Processes that write to one session, each first without and then with the number that it expects."""
    code = """
from planwire.errors import Conflict
sys.stdin.readline()
for n in range(int(sys.argv[3])):
    while True:
        try:
            journal.append("s", said(f"{sys.argv[2]} {n}"), journal.last_seq("s") if n % 2 else None)
            break
        except Conflict:
            pass
print("done")
"""
    programs = [run(code, url, number, appends) for number in range(writers)]
    told = [program.communicate("go\n", PATIENCE * 10)[0] for program in programs]
    assert told == ["done\n"] * writers
    with open_engine(url) as journal:
        found = [word.split() for word in words(journal.read("s"))]
        for number in map(str, range(writers)):
            assert [n for who, n in found if who == number] == list(map(str, range(appends)))
        positions = heard(journal)
        assert [each.recorded.seq for each in positions] == list(range(1, writers * appends + 1))


def test_two_processes_that_race_on_one_session_lose_and_double_nothing(url: str) -> None:
    race(url, 2, 100)


@pytest.mark.torture
@pytest.mark.timeout(600)
def test_two_processes_that_race_for_ten_thousand_appends_lose_and_double_nothing(url: str) -> None:
    race(url, 2, 5_000)


def test_of_an_append_and_a_forget_at_the_same_time_one_comes_first(url: str) -> None:
    """An event never stays behind without its session, and a session that began anew has the number 1."""
    with PostgresJournal(url) as journal, PostgresJournal(url) as other, ThreadPoolExecutor(1) as pool:
        appending = pool.submit(lambda: [journal.append("s", said("x"))[0].seq for _ in range(200)])
        while not appending.done():
            other.forget("s")
        numbers = appending.result(PATIENCE)
        assert 1 in numbers[1:]
        assert [each.seq for each in journal.read("s")] == list(range(1, journal.last_seq("s") + 1))
        other.forget("s")
        assert heard(journal) == []


# Opening


def test_processes_that_open_a_new_journal_at_the_same_time_make_it_once(url: str) -> None:
    programs = [run("journal.append(sys.argv[2], said('x')); journal.close()", url, number) for number in range(4)]
    assert [program.wait(PATIENCE) for program in programs] == [0] * 4
    for program in programs:
        program.communicate()
    with open_engine(url, create=False) as journal:
        assert sorted(each.id for each in journal.sessions()) == list("0123")


def test_a_reader_makes_no_journal(url: str) -> None:
    with pytest.raises(NoJournal, match="there is no journal at"):
        open_engine(url, create=False)
    with postgres().connect() as connection:
        query = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
        assert connection.execute(query, (url.rpartition("=")[2],)).fetchone() is None


def test_an_event_never_goes_where_tables_that_were_made_anew_have_another_session(url: str) -> None:
    """The other session has the number that the one of this writer had, and as many events."""
    with PostgresJournal(url) as journal, postgres().connect() as connection, ThreadPoolExecutor(2) as pool:
        for session in "st":
            journal.append(session, said("one"))
        for together in (False, True):
            connection.execute(f"DROP SCHEMA {url.rpartition('=')[2]} CASCADE".encode())
            with PostgresJournal(url) as other:
                for session in "uv":
                    other.append(session, said("another"))
                with journal._group.turn if together else nullcontext():
                    tasks = [pool.submit(journal.append, each, said("two")) for each in "st"[: 1 + together]]
                    until(lambda together=together: not together or len(journal._group._gathering) == 2)  # type: ignore[misc]
                assert [task.result(PATIENCE)[0].seq for task in tasks] == [1] * len(tasks)
                assert words(other.read("u")) == words(other.read("v")) == ["another"]
                assert verify(other).troubles == []


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("once", [None, Once("page", 1)])
def test_what_a_restored_backup_lacks_is_written_behind_what_it_has(url: str, count: int, once: Once | None) -> None:
    with PostgresJournal(url) as journal, postgres().connect() as connection:
        journal.append("s", said("one", "two", "three"))
        connection.execute(f"DELETE FROM {url.rpartition('=')[2]}.events WHERE seq > 1".encode())
        assert [each.seq for each in journal.append("s", said(*["new"] * count), once=once)] == [*range(2, 2 + count)]
        assert words(journal.read("s")) == ["one", *["new"] * count]
        assert verify(journal).troubles == []


def test_a_journal_of_a_newer_planwire_is_left_alone(url: str) -> None:
    with PostgresJournal(url) as journal, postgres().connect() as connection:
        journal.append("s", said("one"))
        connection.execute(f"UPDATE {url.rpartition('=')[2]}.journal SET version = 99".encode())
        for create in (True, False):
            with pytest.raises(NewerJournal, match="has format 99, and this planwire knows format 1: upgrade planwire"):
                open_engine(url, create=create)
        postgres().cut_connections()
        with pytest.raises(NewerJournal):
            journal.append("s", said("two"))


@pytest.mark.parametrize(
    "tables",
    [
        "CREATE TABLE {}.journal (entry text)",
        "CREATE TABLE {}.journal (format text, forgotten text); INSERT INTO {}.journal VALUES ('A4', 'no')",
        "CREATE VIEW {}.journal AS SELECT 'a page' AS entry",
        "CREATE TYPE {}.journal AS (entry text)",
        "CREATE TYPE {}.journal AS ENUM ('entry')",
        "CREATE TABLE {}.sessions (user_name text)",
        "CREATE TABLE {}.visits (at int); CREATE INDEX events_seq ON {}.visits (at)",
    ],
)
def test_a_schema_of_another_program_is_no_server_that_is_away_and_stays_as_it_is(url: str, tables: str) -> None:
    schema = url.rpartition("=")[2]
    relations = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace ORDER BY relname"
    with postgres().connect() as connection:
        connection.execute(f"CREATE SCHEMA {schema}; {tables.replace('{}', schema)}".encode())
        before = connection.execute(relations, (schema,)).fetchall()
        with pytest.raises(NotAJournal, match=f"{schema} .*is not planwire's.* name another one with schema="):
            open_journal(url)
        with pytest.raises((NotAJournal, NoJournal)):
            open_journal(url, create=False)
        assert connection.execute(relations, (schema,)).fetchall() == before


def test_a_schema_that_another_program_took_over_under_an_open_journal_is_not_waited_for(url: str) -> None:
    schema = url.rpartition("=")[2]
    with PostgresJournal(url) as journal, postgres().connect() as connection:
        journal.append("s", said("one"))
        taken = f"DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}; CREATE TABLE {schema}.journal (entry text)"
        connection.execute(taken.encode())
        postgres().cut_connections()
        for ask in (lambda: journal.append("s", said("two")), journal.sessions):
            with pytest.raises(NotAJournal, match="is not planwire's"):
                ask()


def test_a_journal_that_lost_the_row_about_its_format_is_left_alone(url: str) -> None:
    with PostgresJournal(url) as journal, postgres().connect() as connection:
        journal.append("s", said("one"))
        connection.execute(f"DELETE FROM {url.rpartition('=')[2]}.journal".encode())
    for create in (True, False):
        with pytest.raises(DamagedJournal, match="has lost the one row of its table"):
            open_engine(url, create=create)


def test_an_event_that_somebody_deleted_is_named(url: str) -> None:
    with PostgresJournal(url) as journal, postgres().connect() as connection:
        journal.append("s", said("one", "two", "three"))
        connection.execute(f"DELETE FROM {url.rpartition('=')[2]}.events WHERE seq = 2".encode())
        with pytest.raises(DamagedJournal, match=r"event 2 of session 's' is missing from .*: restore a backup, or "):
            list(journal.read("s"))


def test_a_journal_that_was_dropped_says_so_and_is_not_made_anew(url: str) -> None:
    with PostgresJournal(url) as journal, postgres().connect() as connection:
        journal.append("s", said("one"))
        connection.execute(f"DROP SCHEMA {url.rpartition('=')[2]} CASCADE".encode())
        with pytest.raises(JournalUnavailable, match="was removed from its database"):
            journal.append("s", said("two"))
        postgres().cut_connections()
        with pytest.raises(NoJournal):
            journal.append("s", said("two"))


def test_the_schema_is_planwire_unless_the_url_names_one() -> None:
    where = f"host={postgres().folder}&port={postgres().port}"
    for url, schema in (
        (f"postgres://postgres@/postgres?{where}", "planwire"),
        (f'postgresql://postgres@/postgres?schema=An odd "name"%21&{where}', 'An odd "name"!'),
    ):
        with open_engine(url) as journal, postgres().connect() as connection:
            journal.append("s", said("one"))
            assert journal.facts().facts["schema"] == schema
            quoted = schema.replace('"', '""')
            assert connection.execute(f'SELECT count(*) FROM "{quoted}".events'.encode()).fetchone() == (1,)
            connection.execute(f'DROP SCHEMA "{quoted}" CASCADE'.encode())


def test_journals_in_one_database_know_nothing_of_each_other() -> None:
    with PostgresJournal(postgres().fresh_url()) as one, PostgresJournal(postgres().fresh_url()) as other:
        one.append("s", said("one"))
        other.lease("s")
        assert (other.sessions(), other.last_position(), one.leases()) == ([], 0, [])


def test_limits_that_a_server_or_a_role_has_for_others_end_nothing(url: str) -> None:
    with postgres().connect() as connection:
        connection.execute("CREATE ROLE hasty LOGIN SUPERUSER")
        for each in ("lock_timeout", "transaction_timeout", "statement_timeout", "idle_session_timeout"):
            connection.execute(f"ALTER ROLE hasty SET {each} = '200ms'".encode())  # planwire sets its own sooner
    url = url.replace(f"postgres:{PASSWORD}", "hasty")
    with PostgresJournal(url) as journal, postgres().connect() as other, ThreadPoolExecutor(1) as pool:
        journal.append("s", said("one"))
        tasks: tuple[Callable[[], object], ...] = (
            lambda: journal.append("s", said("two")),
            lambda: journal.forget("s"),
        )
        for task in tasks:
            with other.transaction():
                other.execute(journal._server.sql("SELECT 1 FROM planwire.sessions FOR UPDATE"))
                doing = pool.submit(task)
                with pytest.raises(TimeoutError):
                    doing.result(0.4)
            doing.result(PATIENCE)
        assert journal.sessions() == []


def test_a_constraint_that_is_not_planwires_is_an_error_in_words(url: str) -> None:
    with PostgresJournal(url) as journal, postgres().connect() as connection:
        journal.append("s", said("one"))
        for each in (
            "CREATE TABLE planwire.others AS SELECT number FROM planwire.sessions",
            "ALTER TABLE planwire.others ADD FOREIGN KEY (number) REFERENCES planwire.sessions",
            "ALTER TABLE planwire.events ADD CHECK (seq < 2)",
        ):
            connection.execute(journal._server.sql(each))
        with pytest.raises(JournalUnavailable, match=r"can't do that: update or delete .* violates foreign key"):
            journal.forget("s")
        for once in (None, Once("page", 1)):
            with pytest.raises(JournalUnavailable, match=r"can't do that: new row .* violates check constraint"):
                journal.append("s", said("two"), once=once)
        assert words(journal.read("s")) == ["one"]


def test_a_snapshot_of_a_session_that_is_being_forgotten_is_dropped(url: str) -> None:
    with PostgresJournal(url) as journal, postgres().connect() as other, ThreadPoolExecutor(1) as pool:
        journal.append("s", said("one"))
        with other.transaction():
            other.execute(f"DELETE FROM {journal._server.schema}.sessions".encode())
            keeping = pool.submit(journal.keep_snapshot, "s", 1, b"state")
            waits = b"SELECT 1 FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
            until(lambda: other.execute(waits).fetchone() is not None)
        keeping.result(PATIENCE)
        assert journal.snapshot("s") is None


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("once", [None, Once("page", 1)])
def test_an_append_that_meets_a_forget_begins_the_session_anew(url: str, count: int, once: Once | None) -> None:
    with PostgresJournal(url) as journal, journal._server.connect() as other, ThreadPoolExecutor(1) as pool:
        journal.append("s", said("one", "two"))
        with other.transaction():
            forget_sessions(journal._server, other, [b"s"])
            appending = pool.submit(journal.append, "s", said(*("new",) * count), None, once)
            waits = b"SELECT 1 FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
            until(lambda: other.execute(waits).fetchone() is not None)
        assert [each.seq for each in appending.result(PATIENCE)] == [*range(1, count + 1)]
        assert words(journal.read("s")) == ["new"] * count
        left = f"SELECT count(*) FROM {journal._server.schema}.events".encode()
        assert other.execute(left).fetchone() == (count,)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("has_foreign_key", [False, True], ids=["", "in the tables of an earlier planwire"])
def test_a_forget_waits_for_an_append_under_way_and_takes_its_events_along(
    url: str, count: int, has_foreign_key: bool
) -> None:
    with PostgresJournal(url) as journal, journal._server.connect() as other, ThreadPoolExecutor(1) as pool:
        schema = journal._server.schema
        if has_foreign_key:
            key = (
                f"ALTER TABLE {schema}.events ADD FOREIGN KEY (session) REFERENCES {schema}.sessions ON DELETE CASCADE"
            )
            other.execute(key.encode())
        journal.append("s", said("one"))
        with other.transaction():
            journal._appends.add(other, Append("s", encode("s", said(*("under way",) * count)), None))
            forgetting = pool.submit(journal.forget, "s")
            waits = b"SELECT 1 FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
            until(lambda: other.execute(waits).fetchone() is not None)
        forgetting.result(PATIENCE)
        assert (journal.sessions(), heard(journal)) == ([], [])
        assert other.execute(f"SELECT count(*) FROM {schema}.events".encode()).fetchone() == (0,)
        assert verify(journal).troubles == []


def test_what_is_done_again_and_again_is_planned_once(url: str) -> None:
    with PostgresJournal(url) as journal:
        for n in range(3):
            journal.append("s", said("one"), once=Once("k", n))
            journal.append("s", said("two", "three"))
            journal.last_seq("s")
            assert len(list(journal.read("s"))) == 3 * (n + 1)
        for line, expected in ((journal._writing, 4), (journal._reading, 2)):
            with line as connection:
                [[prepared]] = connection.execute("SELECT count(*) FROM pg_prepared_statements")
                assert prepared == expected, line


def test_each_append_of_a_batch_has_an_outcome_of_its_own(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(*_: object) -> None:
        raise JournalUnavailable("others wrote all the time")

    with PostgresJournal(url) as journal:
        journal.append("known", said("one"))
        monkeypatch.setattr(journal._appends, "_alone", lose)
        batch = [Append(name, encode(name, said("two")), None) for name in ("new", "known")]
        with journal._group.turn:
            lost, written = journal._commit(batch)
        assert isinstance(lost, JournalUnavailable)
        assert not isinstance(written, BaseException)
        assert words(list(written)) == ["two"]
        assert words(journal.read("known")) == ["one", "two"]


def test_a_journal_does_not_work_across_a_fork(url: str) -> None:
    code = """
import os
from planwire.errors import JournalUnavailable
journal.append("s", said("one"))
if not os.fork():
    for ask in (lambda: journal.append("s", said("two")), lambda: journal.last_seq("s"), journal.leases):
        try:
            ask()
        except JournalUnavailable as error:
            print("forked" if "was forked off" in str(error) else error, flush=True)
    journal.close()
    os._exit(0)
os.wait()
print(words(journal.append("s", said("three"))), words(journal.read("s")))
"""
    with run(code, url) as program:
        assert program.communicate()[0] == "forked\nforked\nforked\n['three'] ['one', 'three']\n"


# What people are told


@contextmanager
def refused() -> Iterator[list[str]]:
    """All that is said about the error that comes."""
    told: list[str] = []
    with pytest.raises(JournalError) as error:
        yield told
    told.append("".join(traceback.format_exception(error.value)))
    told.append(str(error.value))


@pytest.mark.parametrize(
    "name",
    [
        "postgresql://user:{0}@127.0.0.1:1/db",
        "postgresql://user:{0}@{1}/db?schema=x",
        "postgresql://nobody:{0}@{1}/postgres",
        "postgresql://user:{0}%zz@{1}/db",
        "postgresql://user@{1}/db?password={0}%zz",
        "postgresql://user@{1}/db?password={0}&nonsense=1",
    ],
)
def test_no_error_about_a_url_holds_its_password(name: str) -> None:
    with refused() as told:
        open_engine(name.format(SECRET, f"127.0.0.1:{postgres().port}"))
    assert SECRET not in "".join(told)
    assert "***" in told[-1]


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("sslmode=bogus", r'invalid sslmode value: "bogus"\. Correct that setting'),
        ("port=abc", r"invalid .*port.*Correct that setting"),
        ("nosuch=1&sslmode=prefer", "has the unknown setting nosuch: schema= is planwire's"),
    ],
)
def test_a_setting_that_nothing_can_be_done_with_is_no_outage(setting: str, found: str) -> None:
    with pytest.raises(UnknownJournal, match=found):
        open_journal(f"postgresql://ann@127.0.0.1/d?{setting}")


@pytest.mark.parametrize("schema", ["50%", "%b", "LOCK", 'a %s "b\\c"'])
def test_a_schema_may_be_called_anything(schema: str) -> None:
    with open_engine(postgres().url(quote(schema, safe=""))) as journal, postgres().connect() as connection:
        journal.append("s", said("one"))
        journal.append("s", said("two"))
        journal.append("s", said("three", "four"), once=Once("page", 1))
        assert words([each.recorded for each in heard(journal)]) == ["one", "two", "three", "four"]
        quoted = schema.replace('"', '""')
        connection.execute(f'DROP SCHEMA "{quoted}" CASCADE'.encode())


@pytest.mark.parametrize("schema", ["x" * 64, "é" * 32, "a%00b"])
def test_a_schema_whose_name_postgresql_would_cut_off_is_no_outage(schema: str) -> None:
    """Journals with two such names would share their tables, and not the lock of their appends."""
    with pytest.raises(UnknownJournal, match="at most 63 bytes, and no NUL among them"):
        open_journal(postgres().url(schema))


def test_a_schema_that_nobody_may_make_is_no_outage() -> None:
    url = re.sub("schema=.*", "schema=pg_x", postgres().fresh_url())
    with pytest.raises(JournalUnavailable, match="choose another name for schema=") as caught:
        open_journal(url)
    assert not isinstance(caught.value, EngineAway)


def test_a_password_opens_the_door_of_the_port_and_stays_out_of_sight() -> None:
    url = postgres().fresh_url(local=False)
    with PostgresJournal(url) as journal:
        journal.append("s", said("one"))
        facts = journal.facts()
        assert PASSWORD not in repr(facts)
        assert facts.facts["server"].startswith("PostgreSQL ")
        assert "fsync is off" in facts.promise
    with refused() as told:
        journal.append("s", said("two"))
    with refused() as others:
        open_engine(url.replace(PASSWORD, SECRET))
    assert PASSWORD not in "".join(told)
    assert SECRET not in "".join(others)
    assert "password authentication failed" in others[-1]


def test_thoughts_are_in_one_file_whoever_asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    url = postgres().fresh_url()
    with PostgresJournal(url) as one, PostgresJournal(url.replace(f":{PASSWORD}", "")) as other:
        assert one.thoughts.path == other.thoughts.path


@pytest.mark.parametrize(
    ("settings", "words_of_it"),
    [
        (("on", "on", ""), "is on the disk of the server"),
        (("off", "on", ""), "synchronous_commit is off"),
        (("on", "off", "a"), "fsync is off"),
        (("on", "on", "a"), "on the disks of the server and of its synchronous standbys"),
        (("local", "on", "a"), "standbys may not have it"),
    ],
)
def test_the_promise_is_what_the_settings_make_of_it(settings: tuple[str, str, str], words_of_it: str) -> None:
    assert words_of_it in promise(*settings)


def test_without_psycopg_the_extra_is_named() -> None:
    code = "import sys; sys.modules['psycopg'] = None\n"
    code += "from planwire.journal import open_journal\nfrom planwire.errors import MissingExtra\n"
    code += "try: open_journal('postgresql://localhost/x')\nexcept MissingExtra as error: print(error)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "a journal in PostgreSQL needs psycopg: pip install 'planwire[postgres]'\n"


def test_pages_are_cut_by_their_bytes_too(url: str) -> None:
    with PostgresJournal(url) as journal:
        journal.append("s", said(*["x" * 1_500_000] * 5))
        assert [len(word) for word in words(journal.read("s"))] == [1_500_000] * 5
        assert len(journal._behind(0, 10)) == 3
        assert len(list(islice(journal.follow(0, timeout=0), 9))) == 5


# Rows that a person deleted or changed

FREE_POSITIONS = "ALTER TABLE {}.events ALTER position SET GENERATED BY DEFAULT"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (
            "UPDATE {}.events SET by = '\\xff' WHERE seq = 2 AND session = 1",
            ["event 2 of session 's' was changed or swapped: its link does not fit"],
        ),
        ("UPDATE {}.sessions SET id = '\\xff' WHERE number = 2", ["the name b'\\xff' of a session is not valid text"]),
        (
            "UPDATE {}.once SET source = '\\xff', after = 9 WHERE session = 1",
            ["session 's': the key 1 of '\ufffd' is not as it was written"],
        ),
        (
            f"{FREE_POSITIONS}; UPDATE {{}}.events SET position = 99 WHERE seq = 1 AND session = 2",
            ["event 1 of session 't' reaches followers after event 2"],
        ),
        (
            "INSERT INTO {}.events (session, seq, at, by, event) SELECT 1, 0, at, by, event FROM {}.events LIMIT 1",
            ["session 's' has an event with the number 0, which planwire gives to none"],
        ),
        (
            f"{FREE_POSITIONS}; UPDATE {{}}.events SET position = -1 WHERE seq = 1 AND session = 1",
            ["event 1 of session 's' is at position -1, where no follower reads it"],
        ),
    ],
)
def test_rows_that_a_person_changed_are_found_and_cost_nobody_more_than_an_error(
    url: str, change: str, found: list[str]
) -> None:
    with open_journal(url) as journal:
        for session in ("s", "t"):
            journal.append(session, said("one", "two"), once=Once("w", 1))
        with postgres().connect() as connection:
            connection.execute(change.replace("{}", url.partition("schema=")[2]).encode())
        assert [each.words for each in verify(journal).troubles] == found
        uses: tuple[Callable[[], object], ...] = (
            journal.sessions,
            lambda: [*journal.read("s")],
            lambda: [*journal.follow(0, timeout=0)],
            lambda: [*journal.stored("s")],
            lambda: journal.append("s", said("more"), once=Once("w", 2)),
        )
        for use in uses:
            with suppress(JournalError):
                use()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("DELETE FROM {}.events", "session 's' has no events"),
        ("DELETE FROM {}.sessions", "the session with the number 1 has events, but the row with its name is gone"),
        ("DELETE FROM {}.events WHERE seq > 3", "session 's' ends with event 3, but had 4 events"),
        ("UPDATE {}.once SET after = 1 WHERE n = 2", "session 's': the key 2 of 'w' is not as it was written"),
        (
            "UPDATE {}.once SET after = 9, last = 3 WHERE n = 1",
            "session 's': the key 1 of 'w' is not as it was written",
        ),
    ],
)
def test_sessions_without_events_events_without_a_session_and_keys_that_do_not_fit_are_found(
    url: str, change: str, found: str
) -> None:
    with open_journal(url) as journal:
        for number in range(3):
            journal.append("s", said(*"xy"[: number % 2 + 1]), once=Once("w", number))
        assert verify(journal).troubles == []
        with postgres().connect() as connection:
            connection.execute(change.format(url.partition("schema=")[2]).encode())
        assert [each.words for each in verify(journal).troubles] == [found]
