"""What whoever runs a NATS server may do to a journal on it: limits, purges, deletions. All of it is told."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from planwire.cli import main
from planwire.errors import JournalUnavailable, NotWritable
from planwire.journal import Once, Terms, open_journal
from planwire.journal.away import journal as away_journal
from planwire.journal.copying import copy_journal
from planwire.journal.jetstream import stream as jetstream_stream
from planwire.journal.jetstream.journal import JetStreamJournal
from planwire.journal.jetstream.messages import header
from planwire.journal.jetstream.wire import WireMessage
from planwire.journal.verifying import verify
from planwire.journal.waiting import waiting_of
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.nats import PASSWORD, fresh_url, server, shared
from tests.waiting import until


@pytest.fixture
def url() -> str:
    return fresh_url()


@pytest.fixture
def journal(url: str) -> Iterator[JetStreamJournal]:
    with JetStreamJournal(url) as opened:
        yield opened


def change(journal: JetStreamJournal, **settings: Any) -> None:
    """Change the stream, as its admin would."""
    config = journal._stream.info()["config"]
    journal._api.call(f"STREAM.UPDATE.{journal._name}", **{**config, **settings})


MENDED = {
    **dict.fromkeys(("max_msgs_per_subject", "max_msgs", "max_bytes"), -1),
    "max_age": 0,
    "no_ack": False,
    "subject_transform": None,
}
LOSING = [
    ({"max_age": 3_600_000_000_000}, "max_age deletes events after 3,600 s"),
    ({"max_msgs_per_subject": 5}, "max_msgs_per_subject keeps only 5 appends of a session"),
    ({"discard": "old", "max_msgs": 1_000}, "max_msgs 1,000 deletes the journal's oldest events"),
    ({"discard": "old", "max_bytes": 1_000_000}, "max_bytes 1,000,000 deletes the journal's oldest events"),
    ({"no_ack": True}, "no_ack stops the server from confirming what it stored"),
    ({"subject_transform": {"src": ">", "dest": "elsewhere.>"}}, "subject_transform stores events where planwire"),
]


@pytest.mark.parametrize(("settings", "problem"), LOSING)
def test_a_stream_that_would_lose_events_is_told_and_not_written_to(
    journal: JetStreamJournal, url: str, settings: dict[str, Any], problem: str
) -> None:
    journal.append("s", said("one"))
    change(journal, **settings)
    with JetStreamJournal(url) as other:
        assert words(other.read("s")) == ["one"]
        assert problem in other.facts().facts["limits"]
        assert [problem in each.words for each in verify(other).troubles] == [True]
        with pytest.raises(NotWritable, match=rf"nothing is written to .*{problem}.*nats stream edit"):
            other.append("s", said("two"))
        change(journal, **MENDED)
        assert words(other.append("s", said("two"))) == ["two"]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"storage": "memory"}, "storage memory loses all events when the server restarts"),
        ({"persist_mode": "async"}, "persist_mode async confirms events before they are in a file"),
    ],
)
def test_a_stream_that_was_made_to_lose_events_is_not_written_to(
    journal: JetStreamJournal, url: str, settings: dict[str, Any], problem: str
) -> None:
    config = journal._stream.info()["config"]
    journal._api.call(f"STREAM.DELETE.{journal._name}")
    journal._api.call(f"STREAM.CREATE.{journal._name}", **{**config, **settings})
    with JetStreamJournal(url) as other:
        assert problem in other.facts().facts["limits"]
        assert [problem in each.words for each in verify(other).troubles] == [True]
        with pytest.raises(NotWritable, match=rf"nothing is written to .*{problem}"):
            other.append("s", said("one"))


def test_an_open_journal_finds_out_that_its_stream_would_lose_events(
    journal: JetStreamJournal, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream_stream, "LOOK_AGAIN", 0.01)
    with JetStreamJournal(url) as opened:
        opened.append("s", said("one"))
        change(journal, max_age=3_600_000_000_000)
        until(lambda: opened._stream._losses)
        with pytest.raises(NotWritable, match="nothing is written"):
            opened.append("s", said("two"))


@pytest.mark.parametrize(
    ("subjects", "is_enough"),
    [
        (("{}.events.*", "{}.parts.*"), True),
        (("{}.>",), True),
        (("{}.*.*",), True),
        (("{}.parts.*",), False),
        (("{}.parts.*", "{}.events.s"), False),
        (("{}.parts.*", "{}.events.*.*"), False),
        (("{}.parts.*", "{}.events.*.>"), False),
    ],
)
def test_a_stream_whose_subjects_lack_those_of_events_is_told_and_not_written_to(
    journal: JetStreamJournal, url: str, subjects: tuple[str, ...], is_enough: bool
) -> None:
    change(journal, subjects=[each.format(journal._name) for each in subjects])
    with JetStreamJournal(url) as other:
        if is_enough:
            assert words(other.append("s", said("one"))) == ["one"]
            return
        lacks = rf"its subjects lack {journal._name}\.events\.\*"
        with pytest.raises(NotWritable, match=rf"nothing is written to .*{lacks}.*nats stream edit"):
            other.append("s", said("one"))
        change(journal, subjects=[f"{journal._name}.{each}.*" for each in ("events", "parts")])
        assert words(other.append("s", said("one"))) == ["one"]


def test_a_stream_whose_subjects_lack_those_of_parts_is_told_and_not_written_to(
    journal: JetStreamJournal, url: str
) -> None:
    change(journal, subjects=[f"{journal._name}.events.*"])
    with (
        JetStreamJournal(url) as other,
        pytest.raises(NotWritable, match=rf"its subjects lack {journal._name}\.parts\.\*"),
    ):
        other.append("s", said("one"))


def test_what_is_recorded_while_a_stream_would_lose_it_waits(
    journal: JetStreamJournal, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(away_journal, "TRY", 0.05)
    journal.append("others", said("one"))
    change(journal, max_age=3_600_000_000_000)
    with open_journal(url) as opened:
        opened.append("s", said("one"))
        assert waiting_of(opened).count == 1
        assert journal.last_seq("s") == 0
        assert [each.id for each in opened.sessions()] == ["others"], "the stream can be read"
        assert words(opened.read("others")) == ["one"]
        change(journal, max_age=0)
        until(lambda: journal.last_seq("s") == 1, PATIENCE)


def test_verify_and_info_name_the_limits_of_a_stream(
    journal: JetStreamJournal, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWIRE_JOURNAL", url)
    change(journal, max_age=3_600_000_000_000, max_bytes=5_000_000)
    assert main(["journal", "verify"]) != 0
    assert "can't be relied on: max_age deletes events after 3,600 s (set it to 0)." in capsys.readouterr().out
    assert main(["journal", "info"]) == 0
    assert "max_age deletes events after 3,600 s (set it to 0); max_bytes 5,000,000\n" in capsys.readouterr().out


def test_a_full_stream_refuses_more_at_once_and_goes_on_when_there_is_room(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    journal.append("t", said("one"))
    change(journal, max_msgs=2)
    assert journal.facts().facts["limits"] == "max_msgs 2"
    with pytest.raises(NotWritable, match=r"takes no more \(maximum messages exceeded\): forget sessions, or raise"):
        journal.append("s", said("two"))
    assert verify(journal).troubles == []
    journal.forget("t")
    assert words(journal.append("s", said("two"))) == ["two"]


ACCOUNT = (
    f"accounts {{ A {{ jetstream {{ max_file: 100K }}\n users: [ {{ user: planwire, password: {PASSWORD} }} ] }} }}"
)


@pytest.mark.parametrize("size", [20_000, 600_000])
def test_an_account_without_room_takes_no_more_and_what_is_recorded_waits(size: int) -> None:
    word = os.urandom(size).hex()
    with server(users=ACCOUNT) as own, JetStreamJournal(own.url()) as journal:
        with pytest.raises(NotWritable, match=r"takes no more \(resource limits exceeded for account\): forget"):
            list(map(journal.append, ["s"] * 9, [said(word)] * 9))
        with open_journal(own.url()) as opened:
            opened.append("t", said(word))
            assert waiting_of(opened).count == 1
        journal.forget("s")
        assert words(journal.append("s", said("small"))) == ["small"]


@pytest.mark.parametrize("number", [10023, 10028, 10047])
def test_a_server_without_room_refuses_more_at_once(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    journal.append("s", said("one"))
    full = b'{"error": {"code": 503, "err_code": %d, "description": "insufficient resources"}}' % number
    monkeypatch.setattr(journal._connection, "request", lambda *_: WireMessage("", "", b"", full))
    with pytest.raises(NotWritable, match=r"takes no more \(insufficient resources\): forget sessions"):
        journal.append("s", said("two"))


def test_events_that_a_limit_deleted_are_missing_when_the_journal_is_checked(journal: JetStreamJournal) -> None:
    for n in range(5):
        journal.append("s", said(str(n)))
    change(journal, max_msgs_per_subject=2)
    change(journal, max_msgs_per_subject=-1)
    assert [each.words for each in verify(journal).troubles] == ["events 1 to 3 of session 's' are missing"]


def test_a_stream_without_direct_answers_is_refused(journal: JetStreamJournal, url: str) -> None:
    change(journal, allow_direct=False)
    with pytest.raises(JournalUnavailable, match=r"allows no direct gets.*nats stream edit .* --allow-direct"):
        JetStreamJournal(url)


def test_a_journal_that_was_deleted_under_its_users_says_so_at_once(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    journal._api.call(f"STREAM.DELETE.{journal._name}")
    for ask in (
        lambda: journal.append("s", said("two")),
        lambda: journal.append("s", said("two"), 1),
        lambda: list(journal.follow(0, timeout=0)),
        lambda: journal.forget("s"),
        journal.sessions,
        journal.last_position,
        lambda: journal.last_seq("s"),
    ):
        with pytest.raises(JournalUnavailable, match="the journal was deleted while it was open: open it again"):
            ask()


def test_a_journal_that_was_deleted_and_made_anew_under_its_users_is_not_taken_for_the_same(
    journal: JetStreamJournal, url: str
) -> None:
    """A key would be found that only the old one had, and a follower would leave out the first events."""
    key = Once("a page", 1)
    journal.append("s", said("one"), once=key)
    events = journal.follow(0, timeout=PATIENCE)
    assert next(events).recorded.seq == 1
    journal._api.call(f"STREAM.DELETE.{journal._name}")
    with JetStreamJournal(url) as other:
        other.append("s", said("other"))
        for ask in (
            lambda: journal.append("s", said("one"), once=key),
            lambda: next(events),
            lambda: journal.append("t", said("two")),  # by now it is known
            journal.last_position,
        ):
            with pytest.raises(JournalUnavailable, match="deleted while it was open, and made anew: open it again"):
                ask()
        assert words(other.read("s")) == ["other"]


def test_a_stream_that_was_purged_goes_on_as_after_a_forget(journal: JetStreamJournal) -> None:
    following = journal.follow(0, timeout=PATIENCE)
    journal.append("s", said("one", "two"))
    assert words([next(following).recorded for _ in range(2)]) == ["one", "two"]
    journal._stream.purge(">")
    assert journal.append("s", said("three"))[0].seq == 1
    assert words([next(following).recorded]) == ["three"]
    assert words(journal.read("s")) == ["three"]


def test_a_bucket_that_was_deleted_is_made_again(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    held = journal.lease("s", Terms("relay"))
    journal.keep_snapshot("s", 1, b"x")
    for kind in ("snapshots", "leases", "alive"):
        journal._api.call(f"STREAM.DELETE.KV_{journal._name}_{kind}")
    assert (journal.snapshot("s"), journal.leases()) == (None, [])
    held.renew(Terms("relay", is_working=True))
    journal.keep_snapshot("s", 1, b"y")
    found = journal.snapshot("s")
    assert found is not None
    assert found.data == b"y"
    with JetStreamJournal(shared().url(journal._name)) as other:
        assert [each.terms.is_working for each in other.leases()] == [True]


def publish_again(journal: JetStreamJournal, number: int, session: str | None = None) -> None:
    """Publish a message of the stream once more, as anybody who may write to it can, perhaps as another session's."""
    message = journal._api.get(journal._name, seq=number)
    assert message is not None
    mark = header(message.headers, b"Planwire")
    assert mark is not None
    head = b"NATS/1.0\r\nPlanwire: %b\r\n\r\n" % mark
    journal._api.ask(journal._sessions.subject(session) if session else message.subject, message.body, head)


AGAIN = (None, "session 's': a message was published again, which hides events that are in the stream, or repeats them")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_message_that_somebody_published_again_is_found(journal: JetStreamJournal, number: int) -> None:
    for word in ("one", "two", "three"):
        journal.append("s", said(word))
    journal.append("t", said("one"))
    publish_again(journal, number)
    assert AGAIN in [(each.seq, each.words) for each in verify(journal).troubles]
    journal.append("s", said("behind it"))
    assert {each.session for each in verify(journal).troubles} == {"s"}


def test_events_that_come_again_are_told_as_what_they_are(journal: JetStreamJournal) -> None:
    for word in ("one", "two", "three"):
        journal.append("s", said(word))
    publish_again(journal, 2)
    journal.append("s", said("behind it"))
    assert [(each.seq, each.words) for each in verify(journal).troubles] == [
        (2, "event 2 of session 's' is there twice, or after a later one"),
        AGAIN,
    ]
    with open_journal("memory:") as target:
        [reason] = copy_journal(journal, target).refused.values()
    assert reason.startswith("event 2 is in the source twice, or after a later one; planwire journal verify")


def test_a_session_that_was_copied_to_another_name_has_none_of_the_events_that_it_says(
    journal: JetStreamJournal,
) -> None:
    for word in ("one", "two", "three"):
        journal.append("s", said(word))
    for number in (1, 2, 3):
        publish_again(journal, number, "t")
    assert [(each.session, each.words) for each in verify(journal).troubles] == [
        ("t", "events 1 to 3 of session 't' are missing")
    ]
