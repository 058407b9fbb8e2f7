"""Journals on NATS: what the server refuses, forgets and survives, who gets in, and what nobody gets to read."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Thread
from time import monotonic

import msgspec
import pytest
from nats.errors import ConnectionClosedError

from planwire.errors import (
    Conflict,
    DamagedJournal,
    EngineAway,
    JournalUnavailable,
    NewerJournal,
    NoJournal,
    NotAJournal,
    NotWritable,
    UnknownJournal,
    UnstorableEvent,
)
from planwire.journal import Once, Snapshot, Stamped, Terms, follower
from planwire.journal.copying import copy_journal
from planwire.journal.engines import open_engine
from planwire.journal.follower import follower_of
from planwire.journal.forks import forks
from planwire.journal.held_lease import TTL
from planwire.journal.jetstream import api as jetstream_api
from planwire.journal.jetstream import client as jetstream_client
from planwire.journal.jetstream import follow as jetstream_follow
from planwire.journal.jetstream import journal as jetstream_journal
from planwire.journal.jetstream import leases as jetstream_leases
from planwire.journal.jetstream import logins as jetstream_logins
from planwire.journal.jetstream.client import NatsConnection, Unanswered
from planwire.journal.jetstream.journal import JetStreamJournal
from planwire.journal.jetstream.messages import StreamMessage
from planwire.journal.jetstream.settings import read_settings
from planwire.journal.jetstream.wire import WireClient, WireMessage
from planwire.journal.shown_urls import shown_url
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.verifying import verify
from planwire.model.events import PlanSet
from planwire.model.plan import OtherPlan
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.nats import PASSWORD, NatsServer, fresh_name, fresh_url, leaf_of_hub, server, shared
from tests.servers.nats_logins import certificates
from tests.servers.ports import free_port
from tests.waiting import until

KEY = Once("a page", 1)


@pytest.fixture
def own() -> Iterator[NatsServer]:
    """A server to stop."""
    with server() as running:
        yield running


@pytest.fixture
def journal() -> Iterator[JetStreamJournal]:
    with JetStreamJournal(fresh_url()) as opened:
        yield opened


def same(journal: JetStreamJournal) -> JetStreamJournal:
    """The same journal, opened again."""
    return JetStreamJournal(shared().url(journal._name))


# Writers who don't know of each other


def test_a_writer_with_old_knowledge_is_refused_if_it_minds_and_goes_on_if_not(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    with same(journal) as other:
        other.append("s", said("two"))
        with pytest.raises(Conflict) as refused:
            journal.append("s", said("late"), 1)
        assert (refused.value.expected, refused.value.current) == (1, 2)
        other.append("s", said("three"))
        assert journal.append("s", said("four"))[0].seq == 4
        assert words(other.read("s")) == ["one", "two", "three", "four"]


def test_a_writer_finds_out_that_its_session_was_forgotten_by_another(journal: JetStreamJournal) -> None:
    journal.append("s", said("old", "old"), once=KEY)
    journal.keep_snapshot("s", 2, b"old")
    with same(journal) as other:
        other.forget("s")
        assert words(journal.append("s", said("new"), once=KEY)) == ["new"]
        assert [each.seq for each in other.read("s")] == [1]
        assert other.snapshot("s") is None


def test_processes_that_race_lose_nothing(journal: JetStreamJournal) -> None:
    code = """
import sys
from planwire.journal import Stamped
from planwire.journal.engines import open_engine
from planwire.model.events import TurnEnded
with open_engine(sys.argv[1]) as journal:
    for n in range(100):
        journal.append("s", [Stamped(1, "a", TurnEnded(f"{sys.argv[2]} {n}"))])
"""
    url = shared().url(journal._name)
    racers = [subprocess.Popen([sys.executable, "-c", code, url, name]) for name in "ab"]
    assert [racer.wait(PATIENCE) for racer in racers] == [0, 0]
    found = words(journal.read("s"))
    for name in "ab":
        assert [word for word in found if word[0] == name] == [f"{name} {n}" for n in range(100)]


# Keys and lost answers


def test_a_key_holds_when_the_server_has_long_forgotten_the_ids_of_messages(journal: JetStreamJournal) -> None:
    config = journal._stream.info()["config"]
    journal._api.call(f"STREAM.UPDATE.{journal._name}", **{**config, "duplicate_window": 100_000_000})
    first = journal.append("s", said("one"), once=KEY)
    journal.append("s", said("two"))
    head = b"NATS/1.0\r\nNats-Msg-Id: probe\r\n\r\n"

    def is_forgotten() -> bool:
        """Whether the server takes a second message with the id of one that came after ours."""
        reply = journal._connection.request(f"{journal._name}.events.probe", b"", head)
        return b"duplicate" not in reply.body

    is_forgotten()
    until(is_forgotten)
    with same(journal) as other:
        for each in (journal, other):
            assert each.append("s", said("other"), 7, KEY) == first
        assert words(other.read("s")) == ["one", "two"]


@pytest.mark.parametrize("lost", [1, 2])
def test_an_append_whose_answer_got_lost_is_written_once(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    journal.append("s", said("before"))
    ask, sent = journal._connection.request, []

    def lose(subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
        reply = ask(subject, body, headers, timeout)
        sent.append(headers)
        if len(sent) <= lost:
            raise Unanswered("lost")
        return reply

    monkeypatch.setattr(journal._connection, "request", lose)
    assert journal.append("s", said("one"))[0].seq == 2
    assert len({headers for headers in sent if headers}) == 1  # it is the same message each time
    assert words(journal.read("s")) == ["before", "one"]


@pytest.mark.parametrize(
    "answer",
    [
        b"ok",
        b"{}",
        b'{"stream": "ANOTHER", "seq": 7}',
        b'{"error": {"code": 429, "err_code": 10167, "description": "too many requests"}}',
    ],
)
def test_only_the_word_of_the_stream_itself_acknowledges_an_append(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """Anyone may subscribe to its subjects, and be quicker with an answer. And a server that has too much to do is
    asked again."""
    journal.append("s", said("before"))
    ask, sent = journal._connection.request, []

    def answered(subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
        sent.append(subject)
        if len(sent) == 1:
            return WireMessage(subject, "", b"", answer)
        return ask(subject, body, headers, timeout)

    monkeypatch.setattr(journal._connection, "request", answered)
    assert journal.append("s", said("one"))[0].seq == 2
    assert words(journal.read("s")) == ["before", "one"]
    monkeypatch.setattr(journal._api, "patience", 0.3)
    monkeypatch.setattr(journal._connection, "request", lambda *_: WireMessage("", "", b"", answer))
    with pytest.raises(EngineAway):
        journal._api.write(journal._name, f"{journal._name}.events.t", b"NATS/1.0\r\n\r\n", b"")


def test_a_refusal_is_not_certain_if_an_earlier_answer_got_lost(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may have written the message before it ran full: nobody may say that nothing was written."""
    journal.append("s", said("before"))
    ask, sent = journal._connection.request, []
    full = b'{"error": {"code": 503, "err_code": 10077, "description": "maximum messages exceeded"}}'

    def lose(subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
        reply = ask(subject, body, headers, timeout)
        sent.append(headers)
        if len(sent) == 1:
            raise Unanswered("lost")
        return reply._replace(body=full)

    monkeypatch.setattr(journal._connection, "request", lose)
    with pytest.raises(EngineAway, match="maximum messages") as caught:
        journal.append("s", said("one"))
    assert not isinstance(caught.value, NotWritable)
    with pytest.raises(NotWritable):
        journal._api.write(journal._name, f"{journal._name}.events.t", b"NATS/1.0\r\n\r\n", b"")


@pytest.mark.parametrize(("session", "source"), [("s", "k" * 70_000), ("s" * 70_000, "k")])
def test_a_name_or_a_key_for_which_a_message_has_no_room_is_refused(
    journal: JetStreamJournal, session: str, source: str
) -> None:
    with pytest.raises(UnstorableEvent, match=r"too long: the headers .* 65,535\. Nothing was written"):
        journal.append(session, said("one"), once=Once(source, 1))
    assert journal.sessions() == []
    journal.append("s", said("two"), once=KEY)


def test_a_message_that_the_stream_does_not_take_is_no_trouble_of_the_server(journal: JetStreamJournal) -> None:
    head = b"NATS/1.0\r\nPlanwire: %b\r\n\r\n" % (b"x" * 70_000)
    with pytest.raises(UnstorableEvent, match=r"header size .*Nothing was written"):
        journal._api.write(journal._name, f"{journal._name}.events.s", head, b"")


def test_keys_that_fill_the_headers_of_many_messages_are_copied(journal: JetStreamJournal, tmp_path: Path) -> None:
    with SqliteJournal(tmp_path / "journal.db") as source:
        for n in range(400):
            source.append("s", said(f"{n}"), once=Once(f"{n}" + "\u20ac" * 150, n))
        assert copy_journal(source, journal).events == 400
        assert list(journal.stored("s")) == list(source.stored("s"))


@pytest.mark.parametrize("name", ["a..b", f"{'x' * 64}.example"])
def test_a_name_that_no_host_can_have_is_said_so(name: str) -> None:
    with pytest.raises(EngineAway, match="no host can have that name"):
        JetStreamJournal(f"nats://{name}/PLANWIRE")


def test_what_somebody_else_put_into_the_buckets_is_no_snapshot_and_no_lease(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    journal.keep_snapshot("s", 1, b"state")
    held = journal.lease("s", Terms("relay"))
    for bucket in (journal._snapshots._bucket, journal._leases._leases):
        [row] = bucket.rows()
        bucket.put(row.key, b"hello")
        bucket.put("somebody.else", b"hello")
    assert journal.snapshot("s") is None
    assert journal.leases() == []
    held.renew(Terms("relay", is_working=True))
    journal.keep_snapshot("s", 1, b"state")
    assert [each.terms.is_working for each in journal.leases()] == [True]
    assert journal.snapshot("s") == Snapshot(1, b"state")


def test_an_append_is_found_though_the_server_forgot_its_id(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the id were new to the server: then only the place of the message is taken, by itself."""
    journal.append("s", said("before"))
    ask, sent = journal._connection.request, []

    def lose(subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
        sent.append(subject)
        if len(sent) == 2:
            headers = headers.replace(b"Nats-Msg-Id: ", b"Nats-Msg-Id: another-")
        reply = ask(subject, body, headers, timeout)
        if len(sent) == 1:
            raise Unanswered("lost")
        return reply

    monkeypatch.setattr(journal._connection, "request", lose)
    assert journal.append("s", said("one"))[0].seq == 2
    assert words(journal.read("s")) == ["before", "one"]
    assert journal.append("s", said("two"))[0].seq == 3


def test_a_server_that_is_killed_in_the_middle_loses_no_acknowledged_append_and_doubles_none(own: NatsServer) -> None:
    with open_engine(own.url()) as journal, ThreadPoolExecutor(1) as pool:
        done: list[int] = []

        def work() -> None:
            for n in range(300):
                while len(done) == n:
                    with suppress(EngineAway):
                        journal.append("s", said(str(n)), once=Once("spool", n))
                        done.append(n)

        working = pool.submit(work)
        for share in (60, 150):
            until(lambda share=share: len(done) > share)  # type: ignore[misc]
            own.kill()
            own.start()
        working.result(PATIENCE)
        assert words(journal.read("s")) == list(map(str, range(300)))


def test_a_server_that_is_away_is_said_so_soon_and_works_again_when_it_is_back(own: NatsServer) -> None:
    with open_engine(own.url()) as journal:
        journal.append("s", said("one"))
        own.stop()
        start = monotonic()
        for ask in (lambda: journal.append("s", said("two")), journal.sessions, lambda: list(journal.follow(0))):
            with pytest.raises(EngineAway, match=r"127\.0\.0\.1.* is away .*: start it"):
                ask()
        assert monotonic() - start < 5
        own.start()

        def is_back() -> bool:
            with suppress(EngineAway):
                return bool(journal.append("s", said("two"), once=KEY))
            return False

        until(is_back)
        assert words(journal.read("s")) == ["one", "two"]


@pytest.mark.parametrize("others", [("another",), ("another", "and one more")])
def test_a_writer_builds_on_nothing_that_its_server_has_lost_though_others_have_its_numbers(
    own: NatsServer, others: tuple[str, ...]
) -> None:
    with JetStreamJournal(own.url()) as journal:
        journal.append("s", said("one"))
        own.keep()
        journal.append("s", said("lost"), once=KEY)
        own.lose_the_rest()
        with JetStreamJournal(own.url()) as other:
            other.append("s", said(*others))
        assert words(journal.append("s", said("two"))) == ["two"]
        assert words(journal.append("s", said("lost"), once=KEY)) == ["lost"]
        assert words(journal.read("s")) == ["one", *others, "two", "lost"]
        assert verify(journal).troubles == []


def test_an_append_under_way_follows_nothing_that_its_server_lost_meanwhile(
    own: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with JetStreamJournal(own.url()) as journal:
        journal.append("s", said("one"))
        own.keep()
        journal.append("s", said("lost"))

        def lose(*_: object) -> WireMessage:
            monkeypatch.undo()
            own.lose_the_rest()
            with JetStreamJournal(own.url()) as other:
                other.append("s", said("another"))
            until(journal._connection._back.is_set)
            raise Unanswered("lost")

        monkeypatch.setattr(journal._connection, "request", lose)
        assert [each.seq for each in journal.append("s", said("two"))] == [3]
        assert words(journal.read("s")) == ["one", "another", "two"]
        assert verify(journal).troubles == []


def test_lists_hold_nothing_that_the_server_has_lost_though_other_messages_have_its_numbers(own: NatsServer) -> None:
    with JetStreamJournal(own.url()) as journal:
        journal.append("s", said("one"))
        one = journal.lease("s", Terms("one"))
        own.keep()
        journal.append("s", said("lost", "lost"))
        lost = journal.lease("s", Terms("lost"))
        assert ([each.last_seq for each in journal.sessions()], len(journal.leases())) == ([3], 2)
        own.lose_the_rest()
        with JetStreamJournal(own.url()) as other:
            other.append("s", said("another"))
            others = other.lease("s", Terms("another"))
            assert [each.last_seq for each in journal.sessions()] == [2]
            until(lambda: {each.terms.holder for each in journal.leases()} == {"one", "another", "lost"})  # taken back
            journal.close()
            assert [each.terms.holder for each in other.leases()] == ["another"]
            for each in (one, lost, others):
                each.release()


# Followers


def test_a_follower_goes_on_across_a_restart_of_the_server(own: NatsServer) -> None:
    with open_engine(own.url()) as journal, open_engine(own.url()) as writer, ThreadPoolExecutor(1) as pool:
        following = journal.follow(0, timeout=PATIENCE)
        seen = pool.submit(lambda: [each.recorded for each in islice(following, 40)])
        for n in range(20):
            writer.append("s", said(str(n)))
        own.restart()
        for n in range(20, 40):
            writer.append("s", said(str(n)))
        assert words(seen.result(PATIENCE)) == list(map(str, range(40)))


def test_a_stream_that_ends_before_what_a_follower_had_is_said_and_followed_from_its_end(
    own: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single server that loses power may come back without the last two minutes."""
    monkeypatch.setattr(follower, "RETRY", 0.02)
    monkeypatch.setattr(jetstream_journal, "SETTLING", 0.05)
    with open_engine(own.url()) as journal:
        journal.append("s", said("one"))
        own.keep()
        seen: list[str] = []
        troubles: list[str] = []
        unsubscribe = follower_of(journal).subscribe(
            lambda followed: seen.extend(words([followed.recorded])), trouble=lambda each: troubles.append(str(each))
        )
        for word in ("lost", "lost as well"):
            journal.append("s", said(word))
        until(lambda: len(seen) == 2)
        own.lose_the_rest()
        until(lambda: troubles[-1:] == ["None"])
        assert "has lost its last events: a backup was restored" in troubles[0]
        journal.append("s", said("two"))
        until(lambda: seen[2:] == ["two"])
        assert words(journal.read("s")) == ["one", "two"]
        unsubscribe()


def test_a_follower_is_told_that_others_have_the_numbers_of_what_it_had(own: NatsServer) -> None:
    with JetStreamJournal(own.url()) as journal:
        following = journal.follow(0, timeout=PATIENCE)
        own.keep()
        journal.append("s", said("lost"))
        assert words([next(following).recorded]) == ["lost"]
        own.lose_the_rest()
        with JetStreamJournal(own.url()) as other:
            other.append("t", said("one"))
            other.append("t", said("two"))
        with pytest.raises(JournalUnavailable, match="has lost its last events"):
            next(following)


def test_a_follower_that_sleeps_while_much_is_written_loses_nothing_and_holds_little(journal: JetStreamJournal) -> None:
    following = journal.follow(0, timeout=PATIENCE)
    journal.append("s", said("first"))
    assert words([next(following).recorded]) == ["first"]
    large = "x" * 50_000
    for n in range(400):
        journal.append("s", said(f"{n} {large}"))
    found = words([each.recorded for each in islice(following, 400)])
    assert [each.split()[0] for each in found] == list(map(str, range(400)))


def test_a_follower_whose_consumer_the_server_lost_makes_another(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream_follow, "HEARTBEAT", 0.1)
    monkeypatch.setattr(jetstream_follow, "SILENCE", 0.5)
    following = journal.follow(0, timeout=PATIENCE)
    journal.append("s", said("one"))
    next(following)
    [name] = journal._api.call(f"CONSUMER.NAMES.{journal._name}", offset=0)["consumers"]
    journal._api.call(f"CONSUMER.DELETE.{journal._name}.{name}")
    journal.append("s", said("two"))
    assert words([next(following).recorded]) == ["two"]


def test_followers_leave_no_consumers_behind(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    list(journal.follow(0, timeout=0))
    journal.append("s", [], once=KEY)
    until(lambda: not journal._stream.info()["state"]["consumer_count"])


def test_events_of_many_sessions_are_followed_in_the_order_of_the_stream(journal: JetStreamJournal) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: [journal.append(f"s{n}", said(str(i))) for i in range(25)], range(4)))
    found = list(journal.follow(0, timeout=0))
    positions = [each.position for each in found]
    assert positions == sorted(positions)
    assert len(found) == 100
    for n in range(4):
        mine = [each.recorded for each in found if each.recorded.session == f"s{n}"]
        assert words(mine) == list(map(str, range(25)))


# Size


def test_messages_that_many_threads_send_at_once_stay_whole(journal: JetStreamJournal) -> None:
    """Large ones do not fit the socket at once, and small ones must not get in between."""
    client = journal._connection._client
    assert client is not None
    assert client._transport._handle is not None
    client._transport._handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    kept = {n: os.urandom(220_000 if n % 2 else 10).hex() for n in range(6)}

    def work(n: int) -> None:
        for _ in range(3):
            journal.append(f"s{n}", said(kept[n]))

    with ThreadPoolExecutor(len(kept)) as pool:
        list(pool.map(work, kept))
    for n, word in kept.items():
        assert words(journal.read(f"s{n}")) == [word] * 3
    assert not journal._connection.interruptions


def test_the_tail_of_a_long_session_is_read_without_the_rest(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(1_500):
        journal.append("s", said(str(n)))
        if n % 10 == 0:
            journal.append("t", said("between"))
    taken: list[int] = []
    near, page = journal._api.near, journal._api.page

    def counted_near(stream: str, subject: str, number: int) -> StreamMessage | None:
        taken.append(1)
        return near(stream, subject, number)

    def counted_page(stream: str, subject: str, number: int, most: int) -> list[StreamMessage]:
        found = page(stream, subject, number, most)
        taken.append(len(found))
        return found

    monkeypatch.setattr(journal._api, "near", counted_near)
    monkeypatch.setattr(journal._api, "page", counted_page)
    for after in (1_499, 1_495, 700, 3):
        taken.clear()
        assert words(journal.read("s", after, after + 3)) == list(map(str, range(after, min(after + 3, 1_500))))
        assert sum(taken) < 150, (after, taken)


def test_a_plan_that_holds_an_error_of_503_is_not_taken_for_a_busy_server(journal: JetStreamJournal) -> None:
    for n in range(20):
        journal.append("s", said("x" * 90))
        if n == 9:
            journal.append("s", [Stamped(1_000, "agent", PlanSet(OtherPlan("p", "x", {"error": {"code": 503}})))])
    for after in range(20):
        assert next(journal.read("s", after)).seq == after + 1


def test_what_did_not_change_is_not_asked_for_again(journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(30):
        journal.append(f"s{n}", said("one"))
    assert len(journal.sessions()) == 30
    asked: list[str] = []
    last_of = journal._api.last_of

    def noted(stream: str, subjects: Sequence[str]) -> list[StreamMessage]:
        asked.extend(subjects)
        return last_of(stream, subjects)

    monkeypatch.setattr(journal._api, "last_of", noted)
    journal.sessions()
    journal.append("s3", said("two"))
    assert [each.last_seq for each in journal.sessions()][2:5] == [1, 2, 1]
    assert asked == [f"{journal._name}.events.s3"]


# Leases


def test_a_holder_on_another_machine_lapses_when_the_server_has_not_heard_of_it_for_long(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = journal.lease("s", Terms("relay"))
    with same(journal) as other:
        monkeypatch.setattr(jetstream_leases, "this_machine", lambda: "elsewhere")
        assert [each.is_held for each in other.leases()] == [True]
        journal._leases._alive.purge(journal._leases._holder)  # as the server does after 30 seconds
        [lapsed] = other.leases()
        assert not lapsed.is_held
        other.end_lease(lapsed, said("over"))
        assert other.leases() == [lapsed]  # one who has only just come can't know
        other._connection.interruptions = 1
        assert [each.is_held for each in other.leases()] == [True]
        other._connection.interruptions = 0
        other._connection.since -= TTL
        other.end_lease(lapsed, said("over"))
        other.end_lease(lapsed, said("over"))
        assert other.leases() == []
        assert words(other.read("s")) == ["over"]
    held.release()


def test_a_holder_that_was_cut_off_takes_its_leases_back_unless_they_were_forgotten_or_released(
    journal: JetStreamJournal,
) -> None:
    leases = {session: journal.lease(session, Terms("relay", is_working=True)) for session in "stu"}
    for session in "stu":
        journal.append(session, said("one"))
    with same(journal) as other:
        other.forget("t")
        other._leases._leases.purge(">")  # as others do who end them
        assert other.leases() == []
        leases["u"].release()
        journal._leases._beat()
        until(other.leases)
        assert [(each.session, each.terms.is_working, each.is_held) for each in other.leases()] == [("s", True, True)]
        leases["s"].release()
        journal._leases._take_back()
        assert other.leases() == []


def test_threads_that_take_the_first_leases_at_once_are_one_holder(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, holders, both = journal._leases._alive.put, list[str](), Barrier(2, timeout=0.2)

    def late(key: str, value: bytes) -> int | None:
        holders.append(key)
        with suppress(BrokenBarrierError):
            both.wait()
        return put(key, value)

    monkeypatch.setattr(journal._leases._alive, "put", late)
    with ThreadPoolExecutor(2) as pool:
        held = list(pool.map(lambda session: journal.lease(session, Terms("relay")), "st"))
    assert len(holders) == 1
    with same(journal) as other:
        assert [each.is_held for each in other.leases()] == [True, True]
    for each in held:
        each.release()


def test_a_lease_may_be_released_while_its_journal_is_closing(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = [journal.lease(session, Terms("relay")) for session in "st"]
    delete = journal._leases._leases.delete

    def released_meanwhile(revision: int) -> bool:
        monkeypatch.undo()
        held[1].release()
        return delete(revision)

    monkeypatch.setattr(journal._leases._leases, "delete", released_meanwhile)
    journal.close()
    assert journal._connection.is_closed


def test_a_lease_that_was_ended_but_not_removed_is_not_ended_twice(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        journal.lease("s", Terms("hook", process=f"{process.pid}-never"))
        process.communicate(b"")
    [lapsed] = journal.leases()
    with monkeypatch.context() as crash:
        crash.setattr(journal._leases, "remove", lambda _: None)
        journal.end_lease(lapsed, said("over"), 0)
    journal.end_lease(lapsed, said("over"), 0)
    assert journal.leases() == []
    assert words(journal.read("s")) == ["over"]


def test_holders_say_that_they_are_alive_as_soon_as_the_server_is_back(own: NatsServer) -> None:
    with open_engine(own.url()) as journal, JetStreamJournal(own.url()) as other:
        journal.lease("s")
        [row] = other._leases._leases.rows()
        holder = msgspec.json.decode(row.value)["holder"]
        other._leases._alive.purge(holder)
        own.restart()
        until(lambda: other._leases._alive.get(holder) is not None)


# URLs, logins and secrets


def test_nobody_at_the_address_is_said_soon() -> None:
    start = monotonic()
    with pytest.raises(EngineAway, match="Connection refused"):
        open_engine(f"nats://127.0.0.1:{free_port()}/X")
    assert monotonic() - start < 2


def test_a_connection_that_breaks_while_it_is_made_is_away_and_comes_back(
    own: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = WireClient.hand_over, [True]

    async def breaks(self: WireClient, subject: str, hear: Callable[[WireMessage], None]) -> int:
        if broken:
            broken.pop()
            raise ConnectionClosedError
        return await whole(self, subject, hear)

    monkeypatch.setattr(WireClient, "hand_over", breaks)
    with pytest.raises(EngineAway, match="connection closed"):
        open_engine(own.url())
    with JetStreamJournal(own.url()) as journal:
        client = journal._connection._client
        assert client is not None
        broken.append(True)
        asyncio.run_coroutine_threadsafe(client.close(), journal._connection._loop).result(PATIENCE)
        until(lambda: journal._connection._client is not client)
        assert broken == []
        assert words(journal.append("s", said("one"))) == ["one"]


def test_whoever_hangs_up_before_the_login_leaves_no_connection_behind(
    own: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[asyncio.StreamWriter] = []
    connect = asyncio.open_connection

    async def noted(*given: object, **named: object) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        made.append((opened := await connect(*given, **named))[1])  # type: ignore[arg-type]
        return opened

    def hang_up() -> None:
        with suppress(OSError):
            while True:
                listening.accept()[0].close()

    monkeypatch.setattr(asyncio, "open_connection", noted)
    with JetStreamJournal(own.url(fresh_name())):
        own.stop()
        with socket.create_server(("127.0.0.1", own.port)) as listening:
            Thread(target=hang_up, daemon=True).start()
            until(lambda: len(made) > 3)
            listening.shutdown(socket.SHUT_RDWR)
    assert all(each.is_closing() for each in made)


def test_what_begins_in_the_last_moment_of_a_connection_is_ended(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connection = NatsConnection(read_settings(fresh_url()))
    loop, client, stop = connection._loop, connection._client, connection._loop.stop
    assert client is not None

    def stop_busily() -> None:
        monkeypatch.undo()
        loop.create_task(client.end(1))
        stop()

    monkeypatch.setattr(loop, "stop", stop_busily)
    connection.close()
    gc.collect()
    assert not caplog.records


def test_what_a_url_says_is_shown_without_its_secrets() -> None:
    settings = read_settings("nats://ann:pa55word@host/PLANS?creds=/home/ann/key.creds")
    assert repr(settings) == "JetStreamSettings('nats://host:4222/PLANS')"


def test_no_error_and_no_fact_holds_a_password_or_a_token(own: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jetstream_client, "AWAY", 0.2)
    with pytest.raises(JournalUnavailable, match="refuses this login") as refused:
        open_engine(own.url(login="planwire:wr0ng-word@"))
    with pytest.raises(JournalUnavailable, match="refuses this login") as also_refused:
        open_engine(own.url(login="t0ken-word@"))
    with open_engine(own.url()) as journal:
        facts = journal.facts()
        own.stop()
        with pytest.raises(EngineAway) as away:
            journal.append("s", said("one"))
    with pytest.raises(EngineAway) as never_there:
        open_engine(own.url())
    with pytest.raises(UnknownJournal) as unknown:
        open_engine(own.url(more="?oops=1"))
    texts = [f"{each.value} {each.value.__cause__}" for each in (refused, also_refused, away, never_there, unknown)]
    for text in (*texts, str(facts)):
        assert not any(secret in text for secret in (PASSWORD, "wr0ng-word", "t0ken-word"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("nats://t0ken@host/X", "nats://***@host/X"),
        ("tls://t0ken@host", "tls://***@host"),
        ("nats://user:pass@host/X?creds=/a/b&replicas=3", "nats://user:***@host/X?creds=***&replicas=3"),
        ("nats://host/X?context=team", "nats://host/X?context=team"),
    ],
)
def test_a_url_is_shown_without_what_is_secret(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ("//h/X?replica=3", r"unknown setting replica: known are context, creds, domain, nkey, replicas, tls_ca"),
        ("//h/X?replicas=many", r"replicas=many is not a number of replicas"),
        ("//h/a.b", r"'a\.b' can't be the name of a journal's stream"),
        ("//h:x/a", r"names no host, or a port that is no number"),
        ("//h:99999/a", r"names no host, or a port that is no number"),
        ("//h/a?domain=a.b", r"'a\.b' can't be a JetStream domain"),
        ("//h/a?context=no-such-context", r"context 'no-such-context' can't be read"),
    ],
)
def test_a_url_that_says_what_nobody_understands_is_refused(rest: str, problem: str) -> None:
    with pytest.raises(UnknownJournal, match=problem):
        open_engine(f"nats:{rest}")


def test_who_only_reads_creates_no_journal() -> None:
    url = fresh_url()
    with pytest.raises(NoJournal, match=r"there is no journal at nats://127\.0\.0\.1"):
        open_engine(url, create=False)
    open_engine(url).close()
    open_engine(url, create=False).close()


def test_a_stream_that_is_not_ours_or_newer_stays_as_it_is(journal: JetStreamJournal) -> None:
    for description, error in (("orders", NotAJournal), ("planwire format 2", NewerJournal)):
        name = fresh_name()
        journal._api.call(f"STREAM.CREATE.{name}", name=name, subjects=[f"{name}.x"], description=description)
        with pytest.raises(error, match=name):
            open_engine(shared().url(name))


def test_a_server_without_jetstream_is_told_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jetstream_api, "OPENING", 0.5)
    with server() as running:
        config = running.folder / "server.conf"
        config.write_text("\n".join(line for line in config.read_text().splitlines() if "jetstream" not in line))
        running.restart()
        with pytest.raises(JournalUnavailable, match=r"JetStream"):
            open_engine(running.url())


def test_a_message_that_somebody_deleted_leaves_a_hole_that_no_reader_passes_over(journal: JetStreamJournal) -> None:
    for number in range(5):
        journal.append("s", said(str(number)))
    third = journal._api.page(journal._name, f"{journal._name}.events.s", 1)[2]
    journal._api.call(f"STREAM.MSG.DELETE.{journal._name}", seq=third.number)
    for after in (0, 1, 2):
        with pytest.raises(DamagedJournal, match="events after number 2 of session 's' are missing"):
            list(journal.read("s", after))
    assert words(journal.read("s", upto=2)) == ["0", "1"]
    assert words(journal.read("s", after=3)) == ["3", "4"]


def test_tls_protects_the_connection_and_an_unknown_server_is_refused(tmp_path: Path) -> None:
    certificates(tmp_path)
    tls = f'tls {{ cert_file: "{tmp_path}/server.pem", key_file: "{tmp_path}/server.key" }}'
    with server(tls) as running:
        url = running.url("X").replace("nats:", "tls:")
        with open_engine(f"{url}?tls_ca={tmp_path}/ca.pem") as journal:
            assert words(journal.append("s", said("one"))) == ["one"]
            assert words([each.recorded for each in journal.follow(0, timeout=0)]) == ["one"]
        with pytest.raises(EngineAway, match=r"\(TLS: certificate verify failed: [^\[_]+\): look at tls_ca, tls_cert"):
            JetStreamJournal(url)
    with pytest.raises(UnknownJournal, match=r"certificates of the journal .* can't be read"):
        open_engine(f"{url}?tls_ca={tmp_path}/none.pem")


def test_a_connection_with_tls_to_a_silent_server_is_given_up_without_its_goodbye(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server of the cluster may be there: asyncio would wait half a minute for the first one."""
    monkeypatch.setattr(jetstream_logins, "_PING", 0.1)
    certificates(tmp_path)
    tls = f'tls {{ cert_file: "{tmp_path}/server.pem", key_file: "{tmp_path}/server.key" }}'
    with server(tls) as running, JetStreamJournal(running.url("TLS", f"?tls_ca={tmp_path}/ca.pem")) as journal:
        assert running.process is not None
        running.process.send_signal(signal.SIGSTOP)
        try:
            until(lambda: journal._connection.interruptions, 15)
        finally:
            running.process.send_signal(signal.SIGCONT)
        until(lambda: journal._connection._down is None, PATIENCE)
        assert words(journal.append("s", said("one"))) == ["one"]


def test_no_login_goes_in_clear_to_a_server_without_tls_where_the_url_demands_it() -> None:
    with pytest.raises(EngineAway, match=r"offers no TLS"):
        JetStreamJournal(shared().url(fresh_name()).replace("nats:", "tls:"))


def test_without_nats_py_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["nats"] = None
from planwire.errors import MissingExtra
from planwire.journal.engines import open_engine
try:
    open_engine("nats://host/X")
except MissingExtra as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert said.stdout == "a journal on NATS needs nats-py: pip install 'planwire[nats]'\n"


def test_a_journal_does_not_cross_a_fork(journal: JetStreamJournal) -> None:
    journal._connection.owner = -1
    with pytest.raises(JournalUnavailable, match="forked off: open it again here"):
        journal.append("s", said("one"))
    journal._connection.owner = forks()


def test_the_number_of_replicas_is_told_when_it_is_not_what_the_url_asks_for(journal: JetStreamJournal) -> None:
    with open_engine(shared().url(journal._name, "?replicas=3")) as other:
        facts = other.facts()
    assert facts.facts["replicas"] == f"1 (the URL asks for 3: nats stream edit {journal._name} --replicas 3)"
    assert "sync_interval" in facts.promise


# Other domains


def test_a_journal_in_the_domain_of_a_hub_is_used_through_a_leaf_node(tmp_path: Path) -> None:
    path = tmp_path / "hub.json"
    path.write_bytes(msgspec.json.encode({"jetstream_domain": "hub"}))
    large = os.urandom(700_000).hex()
    with leaf_of_hub() as (leaf, hub), JetStreamJournal(leaf.url("X", "?domain=hub")) as journal:
        following = journal.follow(0, timeout=PATIENCE)
        journal.append("s", said("one", large))
        journal.keep_snapshot("s", 1, b"x")
        held = journal.lease("s", Terms("relay"))
        assert words([next(following).recorded for _ in range(2)]) == ["one", large]
        for url in (hub.url("X"), leaf.url("X", f"?context={path}")):
            with open_engine(url, create=False) as other:
                assert words(other.read("s")) == ["one", large]
                assert other.snapshot("s") is not None
                assert [each.is_held for each in other.leases()] == [True]
        with pytest.raises(NoJournal):
            open_engine(leaf.url("X"), create=False)
        held.release()
