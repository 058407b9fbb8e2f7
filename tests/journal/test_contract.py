"""What every journal does, whichever engine keeps it: each test runs on all of them."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from planwire.errors import Conflict, JournalUnavailable, UnstorableEvent
from planwire.journal import Followed, Journal, KnownLease, KnownSession, Once, Snapshot, Stamped, Terms, open_journal
from planwire.journal import codec as stored_events
from planwire.journal.engines import open_engine
from planwire.journal.processes import process_name
from planwire.journal.user_files import digest
from planwire.model.events import MessageAdded, Recorded, TurnEnded
from tests.journal.outages import behind
from tests.model.test_events import EVENTS
from tests.servers import nats
from tests.servers.postgres import postgres

#: An engine is one line here: from a folder to a journal that is empty.
ENGINES: dict[str, Callable[[Path], Journal]] = {
    "memory": lambda _: open_journal("memory:"),
    "sqlite": lambda folder: open_journal(folder / "journal.db"),
    "postgresql": lambda folder: open_engine(postgres().url_of(folder)),
    "nats": lambda folder: open_engine(nats.url_in(folder)),
    "behind a server": behind,
}
#: Engines whose journals other processes can open, too: from a folder to what opens the same one.
SHARED: dict[str, Callable[[Path], str]] = {
    "sqlite": lambda folder: str(folder / "journal.db"),
    "postgresql": lambda folder: postgres().url_of(folder),
    "nats": nats.url_in,
}
#: The URLs of an engine that another package adds, to run these tests on that as well: {} stands for a name.
ADDED = os.environ.get("PLANWIRE_ENGINE", "")
if ADDED:
    SHARED["added-engine"] = lambda folder: ADDED.format(digest(str(folder)))
    ENGINES["added-engine"] = lambda folder: open_engine(SHARED["added-engine"](folder))
#: No wait in here is a matter of luck; this bounds those that would never end.
PATIENCE = 30.0
NO_TEXT = "\ud800"


def said(*words: str, at: int = 1_000, by: str = "agent") -> list[Stamped]:
    """Events that can be told apart."""
    return [Stamped(at, by, TurnEnded(word)) for word in words]


def words(recorded: Iterator[Recorded] | tuple[Recorded, ...] | list[Recorded]) -> list[str]:
    return [each.event.stop_reason for each in recorded if isinstance(each.event, TurnEnded)]


def heard(journal: Journal, after: int | None = 0, session: str | None = None) -> list[Followed]:
    """What a follower sees that does not wait."""
    return list(journal.follow(after, session=session, timeout=0))


# Appending and reading


def test_events_are_numbered_within_their_session_and_read_as_they_were_written(journal: Journal) -> None:
    journal.append("a", said("one", at=5, by="user"))
    journal.append("b", said("other"))
    written = journal.append("a", said("two", "three", at=7))
    assert written == (Recorded("a", 2, 7, "agent", TurnEnded("two")), Recorded("a", 3, 7, "agent", TurnEnded("three")))
    assert list(journal.read("a")) == [Recorded("a", 1, 5, "user", TurnEnded("one")), *written]
    assert [journal.last_seq(session) for session in ("a", "b", "nobody")] == [3, 1, 0]


def test_every_kind_of_event_comes_back_equal(journal: Journal) -> None:
    written = journal.append("s", [Stamped(1, "agent", event) for event in EVENTS])
    assert [each.event for each in written] == EVENTS
    assert tuple(journal.read("s")) == written


def test_what_append_returns_is_what_will_be_read_not_what_was_given(journal: Journal) -> None:
    given = {"role": "user", "content": ("a", "b"), "odd": float("nan")}
    [written] = journal.append("s", [Stamped(1, "agent", MessageAdded(given))])
    given["role"] = "changed behind its back"
    assert written.event == MessageAdded({"role": "user", "content": ["a", "b"], "odd": None})
    assert list(journal.read("s")) == [written]


@pytest.mark.parametrize(
    ("after", "upto", "expected"),
    [
        (0, None, [1, 2, 3, 4, 5]),
        (2, None, [3, 4, 5]),
        (2, 4, [3, 4]),
        (5, None, []),
        (4, 2, []),
        (0, 0, []),
        (-3, 2, [1, 2]),
        (0, -1, []),
        (2**70, None, []),
        (3, 2**70, [4, 5]),
    ],
)
def test_a_part_is_read_by_numbers(journal: Journal, after: int, upto: int | None, expected: list[int]) -> None:
    journal.append("s", said(*"abcde"))
    assert [each.seq for each in journal.read("s", after, upto)] == expected


def test_a_read_ends_where_the_session_ended_when_it_began(journal: Journal) -> None:
    journal.append("s", said("one", "two"))
    reading = journal.read("s")
    journal.append("s", said("three"))
    assert words(reading) == ["one", "two"]


def test_more_events_than_fit_a_page_are_read_and_followed_in_order(journal: Journal) -> None:
    journal.append("s", said(*map(str, range(2_500))))
    journal.append("t", said("end"))
    expected = list(map(str, range(2_500)))
    assert words(journal.read("s")) == expected
    assert words([each.recorded for each in heard(journal)]) == [*expected, "end"]
    assert words([each.recorded for each in heard(journal, session="t")]) == ["end"]


def test_an_event_of_megabytes_is_kept_as_any_other(journal: Journal) -> None:
    large = os.urandom(1_500_000).hex()
    journal.append("s", said("before"))
    assert words(journal.append("s", said(large), 1, Once("k", 1))) == [large]
    journal.append("s", said("behind"), 2)
    assert words(journal.append("s", said("again"), once=Once("k", 1))) == [large]
    assert words(journal.read("s")) == ["before", large, "behind"]
    assert words([each.recorded for each in heard(journal)]) == ["before", large, "behind"]
    assert [each.events[0].seq for each in journal.stored("s", 1)] == [2, 3]
    journal.forget("s")
    assert (journal.sessions(), heard(journal)) == ([], [])


@pytest.mark.parametrize(
    "name", ["", " ", "a\0b", "naïve", "😀", "a.b", "*", ">", "x" * 10_000, "'; DROP TABLE events --"]
)
def test_any_text_is_a_name(journal: Journal, name: str) -> None:
    journal.append(name, said("one", by=name))
    assert [each.by for each in journal.read(name)] == [name]
    assert [each.id for each in journal.sessions()] == [name]
    assert [each.recorded.session for each in heard(journal, session=name)] == [name]
    journal.forget(name)
    assert journal.sessions() == []


def test_sessions_are_listed_in_the_order_in_which_they_began(journal: Journal) -> None:
    assert journal.sessions() == []
    journal.append("b", said("one", at=20))
    journal.append("a", said("one", "two", at=30))
    journal.append("b", said("two", at=-10))
    assert journal.sessions() == [KnownSession("b", 2, 20, -10), KnownSession("a", 2, 30, 30)]


# What is refused


def test_a_writer_who_missed_something_is_refused_and_told_where_the_session_is(journal: Journal) -> None:
    journal.append("s", said("one"), 0)
    journal.append("s", said("two"), 1)
    with pytest.raises(Conflict, match=r"session 's' is at event 2, not 1: nothing was written") as refused:
        journal.append("s", said("late"), 1)
    assert (refused.value.session, refused.value.expected, refused.value.current) == ("s", 1, 2)
    with pytest.raises(Conflict):
        journal.append("s", said("early"), 3)
    with pytest.raises(Conflict):
        journal.append("new", said("early"), 1)
    assert words(journal.read("s")) == ["one", "two"]
    assert len(journal.sessions()) == 1


def test_nothing_is_appended_by_an_empty_append_which_still_asks(journal: Journal) -> None:
    assert journal.append("s", []) == ()
    assert journal.append(NO_TEXT, [], 0) == ()
    assert journal.sessions() == []
    with pytest.raises(Conflict):
        journal.append("s", [], 1)


@pytest.mark.parametrize(
    "bad",
    [
        Stamped(1, "agent", MessageAdded({"content": object()})),
        Stamped(1, "agent", MessageAdded({"content": NO_TEXT})),
        Stamped(1, "agent", TurnEnded(3)),  # type: ignore[arg-type]
        Stamped(1, NO_TEXT, TurnEnded("x")),
        Stamped(1.5, "agent", TurnEnded("x")),  # type: ignore[arg-type]
        Stamped(1.0, "agent", TurnEnded("x")),  # type: ignore[arg-type]
        Stamped(2**63, "agent", TurnEnded("x")),
    ],
    ids=["an object", "half a character", "a wrong type", "an author", "a time", "a float", "a date too far"],
)
def test_an_event_that_can_not_be_stored_costs_the_whole_append_and_is_named(journal: Journal, bad: Stamped) -> None:
    with pytest.raises(UnstorableEvent, match=r"event 2 of 3 for session 's', a \w+, can't be stored"):
        journal.append("s", [*said("before"), bad, *said("after")])
    assert journal.sessions() == []


def test_nesting_without_end_is_refused(journal: Journal) -> None:
    endless: dict[str, object] = {}
    endless["content"] = endless
    with pytest.raises(UnstorableEvent):
        journal.append("s", [Stamped(1, "agent", MessageAdded(endless))])


def test_an_event_that_is_too_large_is_refused(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_events, "LARGEST_EVENT", 100)
    journal.append("s", said("x" * 40))
    with pytest.raises(UnstorableEvent, match=r"it has 239 bytes; the limit is 100"):
        journal.append("s", said("x" * 200))
    assert journal.last_seq("s") == 1


def test_a_name_that_is_no_text_names_nothing(journal: Journal) -> None:
    with pytest.raises(UnstorableEvent):
        journal.append(NO_TEXT, said("one"))
    assert list(journal.read(NO_TEXT)) == []
    assert journal.last_seq(NO_TEXT) == 0
    assert journal.snapshot(NO_TEXT) is None
    journal.keep_snapshot(NO_TEXT, 1, b"x")
    journal.forget(NO_TEXT)
    assert heard(journal, session=NO_TEXT) == []


# Following


def test_positions_only_grow_and_a_follower_goes_on_from_one(journal: Journal) -> None:
    assert journal.last_position() == 0
    journal.append("a", said("one"))
    journal.append("b", said("two", "three"))
    everything = heard(journal)
    assert words([each.recorded for each in everything]) == ["one", "two", "three"]
    positions = [each.position for each in everything]
    assert positions == sorted(set(positions))
    assert journal.last_position() == positions[-1]
    assert heard(journal, positions[0]) == everything[1:]
    assert heard(journal, session="b") == everything[1:]
    assert heard(journal, positions[-1]) == heard(journal, 2**70) == []
    assert heard(journal, -5) == everything


def test_a_follower_without_a_position_begins_at_the_end_as_of_the_call(journal: Journal) -> None:
    journal.append("s", said("before"))
    following = journal.follow(timeout=0)
    journal.append("s", said("after"))
    assert words([each.recorded for each in following]) == ["after"]


def test_a_follower_sees_what_other_threads_write_while_it_waits(journal: Journal) -> None:
    following = journal.follow(timeout=PATIENCE)
    with ThreadPoolExecutor(1) as pool:
        for word in "abc":
            pool.submit(journal.append, "s", said(word))
            assert words([next(following).recorded]) == [word]


def test_a_slow_follower_loses_nothing(journal: Journal) -> None:
    following = journal.follow(0, timeout=PATIENCE)
    seen = []
    for word in map(str, range(30)):
        journal.append("s", said(f"{word}a", f"{word}b"))
        seen.append(next(following).recorded)
    seen += [next(following).recorded for _ in range(30)]
    assert seen == list(journal.read("s"))


def test_followers_end_when_they_are_stopped_or_the_journal_is_closed(journal: Journal) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        stopped = pool.submit(list, journal.follow(0, stop=stop))
        left = pool.submit(list, journal.follow(0))
        stop.set()
        assert stopped.result(PATIENCE) == []
        journal.append("s", said("last"))
        journal.close()
        assert [each.recorded.seq for each in left.result(PATIENCE)] in ([], [1])


def test_a_follower_stops_in_the_middle_of_a_page(journal: Journal) -> None:
    journal.append("s", said(*"abc"))
    stop = threading.Event()
    following = journal.follow(0, stop=stop)
    next(following)
    stop.set()
    assert list(following) == []


# Many at once


def test_threads_that_race_with_expected_numbers_lose_no_event_and_overwrite_none(journal: Journal) -> None:
    """Each event says which number its writer expected to be the last: so it must be the one before its own."""

    def work(_: int) -> None:
        for _ in range(10):
            written = False
            while not written:
                seen = journal.last_seq("s")
                with suppress(Conflict):
                    written = bool(journal.append("s", said(str(seen)), seen))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert words(journal.read("s")) == list(map(str, range(80)))


def test_batches_of_many_threads_stay_whole_and_in_each_threads_order(journal: Journal) -> None:
    def work(name: int) -> None:
        for batch in range(15):
            journal.append("s", said(f"{name} {batch} 0", f"{name} {batch} 1"))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    found = [word.split() for word in words(journal.read("s"))]
    assert [each.seq for each in journal.read("s")] == list(range(1, 181))
    assert all(first[:2] == second[:2] for first, second in zip(found[::2], found[1::2], strict=True))
    for name in map(str, range(6)):
        assert [int(batch) for who, batch, half in found if who == name and half == "0"] == list(range(15))


# Snapshots


def test_a_newer_snapshot_takes_the_place_of_an_older_one_under_its_name(journal: Journal) -> None:
    journal.append("s", said(*"abc"))
    assert journal.snapshot("s") is None
    journal.keep_snapshot("s", 2, b"two")
    journal.keep_snapshot("s", 1, b"late")
    assert journal.snapshot("s") == Snapshot(2, b"two")
    journal.keep_snapshot("s", 2, b"again")
    journal.keep_snapshot("s", 1, b"\x00chat", "chat")
    assert journal.snapshot("s") == journal.snapshot("s", "state") == Snapshot(2, b"again")
    assert journal.snapshot("s", "chat") == Snapshot(1, b"\x00chat")
    assert journal.snapshot("t") is journal.snapshot("s", "nothing") is None


@pytest.mark.parametrize("seq", [-1, 0, 3, 2**70])
def test_a_snapshot_of_events_that_are_not_there_is_dropped(journal: Journal, seq: int) -> None:
    journal.append("s", said("one", "two"))
    journal.keep_snapshot("s", seq, b"x")
    journal.keep_snapshot("unknown", seq, b"x")
    assert journal.snapshot("s") is journal.snapshot("unknown") is None


# Forgetting


def test_a_forgotten_session_is_gone_and_begins_anew_and_others_stay(journal: Journal) -> None:
    for session in ("keep", "a", "b"):
        journal.append(session, said("one", "two"))
        journal.keep_snapshot(session, 2, b"x")
    journal.forget("a", "b", "unknown")
    assert [each.id for each in journal.sessions()] == ["keep"]
    assert journal.snapshot("a") is None
    assert list(journal.read("a")) == []
    assert words(journal.read("keep")) == ["one", "two"]
    assert {each.recorded.session for each in heard(journal)} == {"keep"}
    [anew] = journal.append("a", said("anew"), 0)
    assert anew.seq == 1
    assert journal.snapshot("keep") == Snapshot(2, b"x")


def test_positions_of_forgotten_events_are_never_given_again(journal: Journal) -> None:
    journal.append("a", said("one", "two"))
    position = journal.last_position()
    journal.forget("a")
    assert journal.last_position() == position
    journal.append("b", said("three"))
    assert words([each.recorded for each in heard(journal, position)]) == ["three"]


def test_a_read_that_is_under_way_never_crosses_into_the_session_that_began_anew(journal: Journal) -> None:
    journal.append("s", said(*["old"] * 1_500))
    reading = journal.read("s")
    next(reading)
    journal.forget("s")
    journal.append("s", said(*["new"] * 1_500))
    assert set(words(reading)) == {"old"}


# Leases


def test_a_lease_is_known_with_its_terms_until_it_is_released(journal: Journal) -> None:
    assert journal.leases() == []
    first = journal.lease("s", Terms("relay", is_working=True, can=("answer", "fly")))
    second = journal.lease("s")
    known = journal.leases()
    assert [(each.session, each.terms, each.is_held) for each in known] == [
        ("s", Terms("relay", True, ("answer", "fly")), True),
        ("s", Terms(), True),
    ]
    assert len({each.name for each in known}) == 2
    first.renew(Terms("relay"))
    assert journal.leases() == [KnownLease("s", known[0].name, Terms("relay"), True), known[1]]
    first.release()
    first.release()
    first.renew(Terms("relay", is_working=True))
    assert journal.leases() == [known[1]]
    second.release()
    assert journal.leases() == []


def test_a_lease_is_no_event(journal: Journal) -> None:
    journal.append("s", said("one"))
    position = journal.last_position()
    lease = journal.lease("s", Terms("relay"))
    journal.lease("without events")
    lease.renew(Terms("relay", is_working=True))
    lease.release()
    assert [each.id for each in journal.sessions()] == ["s"]
    assert (journal.last_seq("s"), journal.last_seq("without events"), journal.last_position()) == (1, 0, position)
    assert words([each.recorded for each in heard(journal)]) == ["one"]
    assert words(journal.append("s", said("two"), 1)) == ["two"]


def test_a_lease_that_is_held_can_not_be_ended_by_others(journal: Journal) -> None:
    journal.lease("s")
    [known] = journal.leases()
    journal.end_lease(known)
    assert journal.leases() == [known]
    journal.end_lease(KnownLease("s", "gone", Terms(), False))


@pytest.mark.parametrize("name", ["", " ", "a\0b", "naïve", "😀", "x" * 10_000, "'; DROP TABLE leases --"])
def test_any_text_can_have_a_lease_and_stand_in_its_terms(journal: Journal, name: str) -> None:
    journal.lease(name, Terms(name, can=(name, name)))
    assert [(each.session, each.terms) for each in journal.leases()] == [(name, Terms(name, can=(name, name)))]
    journal.forget(name, NO_TEXT)
    assert journal.leases() == []


def test_a_lease_of_what_is_no_text_is_refused(journal: Journal) -> None:
    kept = journal.lease("kept")
    for wrong in (
        lambda: journal.lease(NO_TEXT),
        lambda: journal.lease("s", Terms(NO_TEXT)),
        lambda: journal.lease("s", Terms(can=(NO_TEXT,))),
        lambda: kept.renew(Terms(NO_TEXT)),
    ):
        with pytest.raises(ValueError, match="can't have the terms"):
            wrong()
    assert [(each.session, each.terms) for each in journal.leases()] == [("kept", Terms())]


def test_a_forgotten_session_has_no_lease_until_its_holder_states_other_terms(journal: Journal) -> None:
    held, other = journal.lease("s", Terms("relay")), journal.lease("t")
    journal.forget("s")
    assert [each.session for each in journal.leases()] == ["t"]
    held.renew(Terms("relay", is_working=True))
    assert [each.session for each in journal.leases()] == ["t", "s"]
    held.release()
    other.release()
    assert journal.leases() == []


@pytest.mark.parametrize("engine", SHARED)
def test_the_lease_of_a_process_that_is_killed_lapses_at_once_and_can_be_ended(tmp_path: Path, engine: str) -> None:
    with ENGINES[engine](tmp_path) as journal, ENGINES[engine](tmp_path) as other:
        mine = journal.lease("mine")
        code = "import sys; from planwire.journal import *; j = open_journal(sys.argv[1])\n"
        code += "j.lease('s', Terms('relay', True)); j.lease('t'); print('ready', flush=True); sys.stdin.read()"
        command = [sys.executable, "-c", code, SHARED[engine](tmp_path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            assert [each.is_held for each in journal.leases()] == [True, True, True]
            holder.kill()
        found = other.leases()
        assert [(each.session, each.is_held) for each in found] == [("mine", True), ("s", False), ("t", False)]
        assert found[1].terms == Terms("relay", True)
        with pytest.raises(Conflict):
            journal.end_lease(found[1], said("too late"), 7)
        for each in (*found, *found):
            journal.end_lease(each, said(f"over: {each.session}"), 0)
        assert [each.session for each in other.leases()] == ["mine"]
        assert {each.id: words(other.read(each.id)) for each in other.sessions()} == {
            "s": ["over: s"],
            "t": ["over: t"],
        }
        mine.release()
        assert other.leases() == []


def test_a_lease_for_another_process_lasts_as_long_as_that_process(journal: Journal) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        name = process_name(other.pid)
        assert name is not None
        journal.append("s1", said("begun"))
        journal.lease("s1", Terms("hook", process=name))
        journal.lease("s1", Terms("hook", is_working=True, process=name))  # the same one, with other terms
        [known] = journal.leases()
        assert known.is_held
        assert known.terms.is_working
        journal.end_lease(known, said("not yet"))
        assert journal.leases() == [known]
        other.communicate(b"")
    [lapsed] = journal.leases()
    assert not lapsed.is_held
    with pytest.raises(Conflict):
        journal.end_lease(lapsed, said("over"), expected_seq=0)
    journal.end_lease(lapsed, said("over"), expected_seq=1)
    journal.end_lease(lapsed, said("over"), expected_seq=1)
    assert journal.leases() == []
    assert journal.last_seq("s1") == 2


@pytest.mark.parametrize("engine", SHARED)
def test_a_journal_that_closes_gives_back_its_own_leases_and_no_others(tmp_path: Path, engine: str) -> None:
    with ENGINES[engine](tmp_path) as other:
        other.lease("t")
        with ENGINES[engine](tmp_path) as journal:
            lease = journal.lease("s")
            assert [each.session for each in other.leases()] == ["t", "s"]
        assert [(each.session, each.is_held) for each in other.leases()] == [("t", True)]
        lease.release()


# Closing


def test_a_closed_journal_says_so_whatever_it_is_asked(journal: Journal) -> None:
    journal.append("s", said("one"))
    lease = journal.lease("s")
    journal.close()
    journal.close()
    asked: list[Callable[[], object]] = [
        lambda: journal.append("s", said("two")),
        lambda: journal.read("s"),
        lambda: journal.last_seq("s"),
        journal.last_position,
        journal.sessions,
        journal.follow,
        lambda: journal.snapshot("s"),
        lambda: journal.keep_snapshot("s", 1, b"x"),
        lambda: journal.lease("s"),
        journal.leases,
        lambda: journal.end_lease(KnownLease("s", "name", Terms(), False)),
        lambda: lease.renew(Terms("other")),
        lambda: journal.forget("s"),
    ]
    for ask in asked:
        with pytest.raises(JournalUnavailable, match="closed: open it again"):
            ask()
