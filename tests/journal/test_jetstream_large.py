"""Appends that fit no message of a NATS server: in parts, which count once a message names them."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from planwire.errors import Conflict, DamagedJournal, EngineAway, JournalUnavailable, UnstorableEvent
from planwire.journal import Once
from planwire.journal.copying import copy_journal
from planwire.journal.engines import open_engine
from planwire.journal.jetstream import parts as jetstream_parts
from planwire.journal.jetstream.api import PublishOutcome
from planwire.journal.jetstream.journal import JetStreamJournal
from planwire.journal.jetstream.messages import StreamMessage
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.verifying import verify
from planwire.model.events import Recorded
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.nats import NatsServer, fresh_name, server
from tests.waiting import until

KEY = Once("a page", 1)
PAYLOAD = 8 * 1024
#: Bytes of a message, a third less: it has to fit an answer, too.
ROOM = (PAYLOAD - 512) * 3 // 4


@pytest.fixture(scope="module")
def small() -> Iterator[NatsServer]:
    """A server that takes small messages only."""
    with server(f"max_payload: {PAYLOAD}") as running:
        yield running


@pytest.fixture
def url(small: NatsServer) -> str:
    return small.url(fresh_name())


@pytest.fixture
def journal(url: str) -> Iterator[JetStreamJournal]:
    with JetStreamJournal(url) as opened:
        yield opened


def large(parts: int = 3) -> str:
    """A word of some parts, which can't be compressed to less."""
    return os.urandom(parts * ROOM // 2 - 600).hex()


def counts(journal: JetStreamJournal) -> dict[str, int]:
    """How many messages there are on each subject, without the name of the stream."""
    state = journal._api.call(f"STREAM.INFO.{journal._name}", subjects_filter=">")["state"]
    return {subject.partition(".")[2]: count for subject, count in (state.get("subjects") or {}).items()}


def before_the_message(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]
) -> list[str]:
    """Do something once, right before the next message of a session is written. Returns the subjects written to."""
    write, written, waiting = journal._api.write, list[str](), [do]

    def noted(stream: str, subject: str, *message: Any) -> PublishOutcome:
        if ".events." in subject and waiting:
            waiting.pop()()
        written.append(subject.split(".")[1])
        return write(stream, subject, *message)

    monkeypatch.setattr(journal._api, "write", noted)
    return written


def test_a_large_append_is_one_message_of_its_session_and_reads_as_any_other(
    journal: JetStreamJournal, url: str
) -> None:
    word = large()
    journal.append("s", said("before"))
    following = journal.follow(0, timeout=PATIENCE)
    assert words(journal.append("s", said(word, "and"), 1, KEY)) == [word, "and"]
    journal.append("s", said("behind"), 3)
    assert counts(journal) == {"events.s": 3, "parts.s": 3}
    assert journal.facts().facts["messages"] == "3, and 3 parts of large ones"
    with JetStreamJournal(url) as other:
        assert words(other.read("s")) == ["before", word, "and", "behind"]
        assert words(other.read("s", 2, 3)) == ["and"]
        assert words(other.append("s", said("other"), once=KEY)) == [word, "and"]
        assert [each.last_seq for each in other.sessions()] == [4]
        assert [len(each.events) for each in other.stored("s")] == [1, 2, 1]
        assert other.append("s", said("more"))[0].seq == 5
        assert verify(other).troubles == []
    assert words([next(following).recorded for _ in range(5)]) == ["before", word, "and", "behind", "more"]


def test_more_events_than_a_message_has_room_for_their_links(journal: JetStreamJournal, url: str) -> None:
    many = list(map(str, range(2_000)))
    journal.append("s", said(*many), 0)
    assert journal.append("s", said("next"))[0].seq == 2_001
    with JetStreamJournal(url) as other:
        assert words(other.read("s")) == [*many, "next"]
        assert verify(other).troubles == []


def test_an_append_of_a_size_that_no_parts_help_is_refused_and_leaves_nothing(journal: JetStreamJournal) -> None:
    with pytest.raises(UnstorableEvent, match=r"this NATS server takes 5,760 bytes.*Nothing was written.*max_payload"):
        journal.append("s", said(large()), once=Once("k" * PAYLOAD, 1))
    assert counts(journal) == {}


def test_parts_are_sent_once_though_another_writer_comes_first(
    journal: JetStreamJournal, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append("s", said("one"))
    word = large(3)
    with JetStreamJournal(url) as other:
        written = before_the_message(journal, monkeypatch, lambda: other.append("s", said("two")))
        assert journal.append("s", said(word))[0].seq == 3
        assert written == ["parts", "parts", "parts", "events", "events"]
        assert words(other.read("s")) == ["one", "two", word]
        assert verify(other).troubles == []


def test_a_large_append_that_is_refused_leaves_no_parts(
    journal: JetStreamJournal, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append("s", said("one"))
    with JetStreamJournal(url) as other:
        before_the_message(journal, monkeypatch, lambda: other.append("s", said("two")))
        with pytest.raises(Conflict):
            journal.append("s", said(large()), 1)
    assert counts(journal) == {"events.s": 2}


@pytest.mark.parametrize("first", [True, False])
def test_a_session_that_is_forgotten_between_the_parts_and_their_message_gets_them_again(
    journal: JetStreamJournal, url: str, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    word = large()
    if not first:
        journal.append("s", said("before"))
    with JetStreamJournal(url) as other:
        before_the_message(journal, monkeypatch, lambda: other.forget("s"))
        assert journal.append("s", said(word))[0].seq == 1
        assert words(other.read("s")) == [word]
    assert counts(journal) == {"events.s": 1, "parts.s": 3}


def test_who_meets_a_first_message_whose_parts_were_just_forgotten_waits_for_them(
    journal: JetStreamJournal, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And who writes behind it loses nothing."""
    with JetStreamJournal(url) as other, ThreadPoolExecutor(1) as pool:
        get, send, asked, read = other._api.get, journal._parts.send, list[object](), list[Future[list[Recorded]]]()

        def noted(stream: str, **which: object) -> StreamMessage | None:
            asked.append(which)
            return get(stream, **which)

        def send_while_it_is_read(*given: Any) -> None:
            if len(given) > 3:
                assert other.append("s", said("behind"))[0].seq == 2
                reading = other.read("s")
                monkeypatch.setattr(other._api, "get", noted)
                read.append(pool.submit(lambda: list(reading)))
                until(lambda: {"seq": 4} in asked)
            send(*given)

        before_the_message(journal, monkeypatch, lambda: other.forget("s"))
        monkeypatch.setattr(journal._parts, "send", send_while_it_is_read)
        word = large()
        assert journal.append("s", said(word))[0].seq == 1
        assert words(read[0].result(PATIENCE)) == [word, "behind"]
        assert verify(other).troubles == []


def test_a_session_that_is_forgotten_while_it_is_read_ends_there(journal: JetStreamJournal, url: str) -> None:
    journal.append("s", said("one"))
    journal.append("s", said(large()))
    journal.append("s", said("three"))
    following, reading = journal.follow(0, timeout=0.1), journal.read("s")
    assert words([next(reading), next(following).recorded]) == ["one", "one"]
    with JetStreamJournal(url) as other:
        other.forget("s")
    assert list(reading) == []
    assert set(words([each.recorded for each in following])) <= {"three"}
    assert counts(journal) == {}


def test_a_session_that_is_forgotten_and_begun_anew_while_it_is_read_ends_there(
    journal: JetStreamJournal, url: str
) -> None:
    for word in ("one", "two", "three"):
        journal.append("s", said(word))
    reading, storing = journal.read("s"), journal.stored("s")
    with JetStreamJournal(url) as other:
        other.forget("s")
        other.append("s", said("new"))
    assert [*reading, *storing] == []


def test_a_writer_that_is_killed_between_the_parts_and_their_message_leaves_nothing_that_counts(
    journal: JetStreamJournal, url: str
) -> None:
    code = """
import os, sys
from planwire.journal.jetstream.journal import JetStreamJournal
from planwire.journal.jetstream.messages import StreamMessage
from tests.journal.test_contract import said
from tests.journal.test_jetstream_large import large
journal = JetStreamJournal(sys.argv[1])
write = journal._api.write
journal._api.write = lambda *given: os._exit(7) if ".events." in given[1] else write(*given)
journal.append("s", said(large()))
"""
    assert subprocess.run([sys.executable, "-c", code, url], timeout=PATIENCE, check=False).returncode == 7
    assert counts(journal) == {"parts.s": 3}
    assert (journal.last_seq("s"), journal.sessions(), list(journal.follow(0, timeout=0))) == (0, [], [])
    word = large()
    assert journal.append("s", said(word))[0].seq == 1
    assert words(journal.read("s")) == [word]
    journal.forget("s")
    assert counts(journal) == {}


def test_one_session_is_forgotten_whatever_its_name_means_to_the_server(journal: JetStreamJournal) -> None:
    names = ["*", ">", "s.>", "s", "S", "", "x" * 300]
    for name in names:
        journal.append(name, said(large(2)))
    while names:
        assert [each.id for each in journal.sessions()] == names
        journal.forget(names.pop(0))
        assert [count for subject, count in counts(journal).items() if "parts" in subject] == [2] * len(names)


def test_writers_of_large_appends_that_race_lose_nothing(journal: JetStreamJournal, url: str) -> None:
    sent = [large(2) for _ in range(8)]
    with JetStreamJournal(url) as other, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda pair: pair[0].append("s", said(pair[1])), zip([journal, other] * 4, sent, strict=True)))
        assert sorted(words(other.read("s"))) == sorted(sent)
        assert verify(other).troubles == []


def test_parts_that_are_gone_are_damage_that_is_told(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    journal.append("s", said(large()))
    journal._stream.purge(f"{journal._name}.parts.s")
    with pytest.raises(DamagedJournal, match=r"message 5 on .*: 3 of its 3 parts are gone"):
        list(journal.read("s"))
    assert ["parts are gone" in each.words for each in verify(journal).troubles] == [True]


def test_a_stream_with_a_smaller_limit_than_its_server_has_that_one(journal: JetStreamJournal, url: str) -> None:
    config = journal._stream.info()["config"]
    journal._api.call(f"STREAM.UPDATE.{journal._name}", **config | {"max_msg_size": 2_000})
    word = large(2)
    with JetStreamJournal(url) as opened:
        opened.append("s", said(word))
        assert words(opened.read("s")) == [word]
        assert opened.facts().facts["largest message"] == "2,000 bytes"


def test_a_stream_that_is_full_keeps_no_half_of_an_append(journal: JetStreamJournal) -> None:
    config = journal._stream.info()["config"]
    journal._api.call(f"STREAM.UPDATE.{journal._name}", **config | {"max_bytes": 2 * PAYLOAD})
    with pytest.raises(JournalUnavailable, match=r"takes no more .maximum bytes exceeded"):
        journal.append("s", said(large(4)))
    assert counts(journal) == {}
    assert journal.append("s", said("small"))[0].seq == 1


def test_a_copy_there_and_back_is_the_same(url: str, tmp_path: Path) -> None:
    with SqliteJournal(tmp_path / "from.db") as source, SqliteJournal(tmp_path / "to.db") as back:
        for n in range(3):
            source.append("s", said(str(n), large(), str(n)), once=Once("k", n))
            source.append("s", said("between"))
        with open_engine(url) as target:
            for one, other in ((source, target), (target, back)):
                copied = copy_journal(one, other)
                assert (copied.refused, copied.events, copied.compared) == ({}, 12, 12)
        assert list(back.stored("s")) == list(source.stored("s"))


def test_a_server_that_is_killed_between_parts_loses_no_acknowledged_append_and_doubles_none() -> None:
    sent = [large(4) for _ in range(12)]
    with server(f"max_payload: {PAYLOAD}") as own, open_engine(own.url()) as journal, ThreadPoolExecutor(1) as pool:
        done: list[str] = []

        def work() -> None:
            for n, word in enumerate(sent):
                while len(done) == n:
                    with suppress(EngineAway):
                        journal.append("s", said(word), once=Once("spool", n))
                        done.append(word)

        working = pool.submit(work)
        until(lambda: len(done) > 3)
        own.kill()
        own.start()
        working.result(PATIENCE)
        assert words(journal.read("s")) == sent
        assert verify(journal).troubles == []


@pytest.mark.parametrize("expected", [None, 1])
def test_parts_that_a_server_lost_meanwhile_are_sent_again_and_others_with_their_numbers_stay(
    monkeypatch: pytest.MonkeyPatch, expected: int | None
) -> None:
    word, small = large(3), [str(n) for n in range(6)]
    with server(f"max_payload: {PAYLOAD}") as own, JetStreamJournal(own.url()) as journal:
        journal.append("s", said("one"))
        own.keep()
        write = journal._api.write

        def lose(*given: Any) -> PublishOutcome:
            if ".events." not in given[1]:
                return write(*given)
            monkeypatch.undo()
            own.lose_the_rest()
            with JetStreamJournal(own.url()) as other:
                for each in small:
                    other.append("t", said(each))
                if expected:
                    other.append("s", said("another"))
            return write(*given)

        monkeypatch.setattr(journal._api, "write", lose)
        with pytest.raises(Conflict) if expected else nullcontext():
            journal.append("s", said(word), expected)
        assert words(journal.read("s")) == ["one", "another" if expected else word]
        assert words(journal.read("t")) == small
        assert verify(journal).troubles == []


def test_a_large_snapshot_comes_back_and_one_of_mixed_values_does_not(journal: JetStreamJournal, url: str) -> None:
    journal.append("s", said("one", "two"))
    data = os.urandom(3 * PAYLOAD)
    journal.keep_snapshot("s", 1, data)
    journal.keep_snapshot("s", 2, bytes(100_000), "flat")
    with JetStreamJournal(url) as other:
        found, flat = other.snapshot("s"), other.snapshot("s", "flat")
        assert found is not None
        assert flat is not None
        assert (found.data, flat.data) == (data, bytes(100_000))
        other._snapshots._bucket.put("s.state.2", b"of another")
        assert other.snapshot("s") is None
        journal.keep_snapshot("s", 2, data[::-1])
        again = other.snapshot("s")
        assert again is not None
        assert again.data == data[::-1]
        journal.forget("s")
        assert journal._api.call(f"STREAM.INFO.KV_{journal._name}_snapshots")["state"]["messages"] == 0


def test_parts_between_which_those_of_another_writer_lie_are_found(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream_parts, "_AT_ONCE", 2)
    write, word = journal._api.write, large(5)

    def crowded(stream: str, subject: str, *message: Any) -> PublishOutcome:
        if ".parts." in subject:
            write(stream, subject, b"NATS/1.0\r\n\r\n", b"of another")
        return write(stream, subject, *message)

    monkeypatch.setattr(journal._api, "write", crowded)
    journal.append("s", said(word))
    assert words(journal.read("s")) == [word]
