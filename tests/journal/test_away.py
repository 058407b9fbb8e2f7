"""A journal whose server is away: this machine keeps what may wait, and delivers it in order, once."""

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from planwire.errors import CannotWait, Conflict, EngineAway, JournalUnavailable, NoJournal, NotAJournal, NotWritable
from planwire.journal import Journal, Once, Stamped, Terms, catch_up, follower_of, load_state, spool_append
from planwire.journal.away.delivery import AwayFolder
from planwire.journal.away.journal import AwayJournal
from planwire.journal.away.outage import SharedOutage
from planwire.journal.away.server import AwayServer
from planwire.journal.may_wait import may_wait
from planwire.journal.memory import MemoryJournal
from planwire.journal.spool import ASIDE, Spool
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.waiting import (
    MOMENT,
    begin_away,
    is_away,
    is_waiting,
    waiting_of,
    waiting_words,
    why_away,
)
from planwire.model.events import (
    COMMENT,
    ContextCompacted,
    Event,
    Gap,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkClosed,
    Remarked,
    StopAsked,
    TellAsked,
    Told,
    TurnEnded,
)
from planwire.model.fold import fold
from planwire.model.names import made_name, named
from planwire.model.records import SessionState
from planwire.session.writer import append_latest
from tests.journal.outages import Outage, behind, open_server, written_there
from tests.journal.test_contract import PATIENCE, said, words
from tests.journals import items
from tests.model.test_events import EVENTS
from tests.waiting import until

REPOSITORY = Path(__file__).parents[2]
VERDICT = PlanReviewed("main", 1, "approved", via="planwire")


@pytest.fixture
def outage(tmp_path: Path) -> Outage:
    return Outage(tmp_path)


@pytest.fixture
def away(tmp_path: Path) -> Iterator[AwayJournal]:
    with behind(tmp_path) as journal:
        yield journal


def delivered(folder: Path, session: str = "s") -> list[str]:
    """What the server has of a session."""
    with open_server(folder) as server:
        return words(server.read(session))


def deliver(journal: AwayJournal) -> None:
    until(journal.tend)


def notice(journal: AwayJournal) -> None:
    """Have a journal find out that its server is away, before anything is in doubt."""
    with pytest.raises(EngineAway):
        journal.last_position()


# While the server is away


def test_what_is_recorded_while_the_server_is_away_is_delivered_in_order(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    away.append("s", said("one"))
    outage.begin()
    [two] = away.append("s", said("two"))
    away.append("s", said("three"))
    assert is_waiting(two.seq)
    assert waiting_of(away).count == 2
    outage.end()
    deliver(away)
    assert delivered(tmp_path) == ["one", "two", "three"]
    assert [each.seq for each in away.read("s")] == [1, 2, 3]
    assert waiting_of(away).count == 0
    assert not is_away(away)


def test_nothing_overtakes_what_a_writer_left_before_it_while_another_is_stopped_in_the_middle(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_append, "_PATIENCE", 0.01)
    outage.begin()
    away.append("s", said("one"))
    stopped = spool_append.locked(str(tmp_path / "outbox" / spool_append.SPOOL))
    assert stopped is not None
    away.append("s", said("two"))
    outage.end()
    until(lambda: not away.tend() and waiting_of(away).since is None)
    assert delivered(tmp_path) == []
    os.close(stopped)
    deliver(away)
    assert delivered(tmp_path) == ["one", "two"]


def test_it_is_delivered_without_anybody_asking_for_it(away: AwayJournal, outage: Outage, tmp_path: Path) -> None:
    outage.begin()
    away.append("s", said("one"))
    outage.end()
    until(lambda: delivered(tmp_path) == ["one"])


def test_a_writer_that_ends_while_the_server_is_away_leaves_what_it_wrote_to_the_next(
    outage: Outage, tmp_path: Path
) -> None:
    outage.begin()
    with behind(tmp_path) as first:
        first.append("s", said("one"))
        first.append("s", said("two"))
    outage.end()
    (tmp_path / "outbox" / "away").unlink()
    with behind(tmp_path):
        assert delivered(tmp_path) == ["one", "two"]


def test_what_waits_is_read_from_any_number_on(away: AwayJournal, outage: Outage) -> None:
    for word in "ab":
        away.append("s", said(word))
    outage.begin()
    for word in "cd":
        away.append("s", said(word))
    _, _, gap, c, d = everything = list(away.read("s"))
    for place, each in enumerate(everything, start=1):
        assert list(away.read("s", each.seq)) == everything[place:]
    assert list(away.read("s", 1, c.seq)) == everything[1:-1]
    assert list(away.read("s", gap.seq, c.seq)) == [c]
    assert list(away.read("s", d.seq + 5)) == []


@pytest.mark.parametrize("is_whole", [True, False])
def test_who_reads_as_the_last_record_is_delivered_misses_none(
    away: AwayJournal, outage: Outage, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    class Late(AbstractContextManager[None]):
        """A lock that its owner keeps until everything is delivered."""

        def __enter__(self) -> None:
            monkeypatch.setattr(away, "_lock", lock)
            outage.end()
            deliver(away)

        def __exit__(self, *_: object) -> None:
            pass

    away.append("s", said("one"))
    outage.begin()
    away.append("s", said("two"))
    lock = away._lock
    monkeypatch.setattr(away, "_lock", Late())
    if is_whole:
        assert words(away.read("s")) == ["one", "two"]
    else:
        assert away.last_seq("s") == 2


def test_whoever_folds_a_session_goes_on_and_begins_anew_when_the_server_is_back(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    away.append("s", [Stamped(1, "agent", PlanSet(items("main", "pending")))])
    state = load_state(away, "s")
    outage.begin()
    state = catch_up(away, state)
    with pytest.raises(Conflict):  # the end of what is known is an event of its own
        away.append("s", [Stamped(2, "agent", PlanSet(items("main", "completed")))], state.seq)
    state = catch_up(away, state)
    away.append("s", [Stamped(2, "agent", PlanSet(items("main", "completed")))], state.seq)
    state = catch_up(away, state)
    assert is_waiting(state.seq)
    assert state.plans["main"].state.steps[0].status == "completed"
    written_there(tmp_path, "s", said("by another"))
    outage.end()
    deliver(away)
    state = catch_up(away, state)
    assert (state.seq, state.plans["main"].revision) == (3, 3)


def test_readers_go_on_in_a_second_outage_whether_or_not_they_began_anew_before_it(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    away.append("s", said(*map(str, range(20))))
    anew = still = load_state(away, "s")
    outage.begin()
    away.append("s", said("one"))
    still = catch_up(away, still)
    outage.end()
    deliver(away)
    written_there(tmp_path, "s", said("by another"))
    anew = catch_up(away, anew)
    outage.begin()
    notice(away)
    assert [each.seq for each in away.read("s", anew.seq - 1, anew.seq)] == [anew.seq] == [away.last_seq("s")]
    assert [catch_up(away, each).turns for each in (anew, still)] == [22, 21]

    def go_on(state: SessionState, word: str) -> None:
        append_latest(away, lambda: catch_up(away, state), lambda _: said(word))

    for word in ("two", "three"):
        go_on(still, word)
        anew, still = catch_up(away, anew), catch_up(away, still)
        assert anew.seq == still.seq == away.last_seq("s")
    assert [each.turns for each in (anew, still)] == [24, 23]
    outage.end()
    deliver(away)
    assert delivered(tmp_path)[20:] == ["one", "by another", "two", "three"]
    assert [catch_up(away, each).turns for each in (anew, still)] == [24, 24]


def test_who_reads_only_the_beginning_of_a_session_again_forgets_nothing_of_it(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    with open_server(tmp_path) as server:
        server.append("s", said("one", "two", "three"))
    assert words(away.read("s")) == ["one", "two", "three"]
    assert words(away.read("s", 0, 1)) == ["one"]
    outage.begin()
    assert away.last_seq("s") == 3
    assert words(away.read("s")) == ["one", "two", "three"]


def test_a_session_that_others_began_anew_is_known_as_it_is_now(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    with open_server(tmp_path) as server:
        server.append("s", said("one", "two", "three"))
        assert words(away.read("s")) == ["one", "two", "three"]
        server.forget("s")
        server.append("s", said("four"))
    assert words(away.read("s")) == ["four"]
    outage.begin()
    assert away.last_seq("s") == 1


def test_a_session_that_nobody_here_has_read_is_only_on_the_server(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    with open_server(tmp_path) as server:
        server.append("other", said("one"))
    outage.begin()
    for ask in (away.sessions, away.leases, away.last_position, lambda: load_state(away, "other")):
        with pytest.raises(EngineAway, match=r"example\.org can't be reached"):
            ask()
    assert begin_away(away, "other", 1)
    assert [type(each.event) for each in away.read("other")] == [Gap]
    away.append("other", said("two"))
    outage.end()
    deliver(away)
    assert words(away.read("other")) == ["one", "two"]


def test_the_error_says_how_many_records_wait(away: AwayJournal, outage: Outage) -> None:
    outage.begin()
    away.append("s", said("one"))
    with pytest.raises(EngineAway, match="1 record waits on this machine and will be delivered"):
        away.sessions()
    away.append("s", said("two"))
    with pytest.raises(EngineAway, match="2 records wait on this machine"):
        away.sessions()
    assert "2 records wait on this machine and will be delivered" in (waiting_words(waiting_of(away), "12:03") or "")


def test_a_journal_opens_while_its_server_is_away_and_a_second_one_does_not_wait_for_that(
    outage: Outage, tmp_path: Path
) -> None:
    outage.begin()
    with behind(tmp_path) as first:
        asked: list[bool] = []

        def opened() -> Journal:
            asked.append(True)
            return open_server(tmp_path)

        with AwayJournal(opened, tmp_path / "outbox", MOMENT) as second:
            assert waiting_of(second).since == waiting_of(first).since
            assert not asked
            second.append("s", said("one"))
    with pytest.raises(JournalUnavailable, match="closed"):
        first.append("s", said("two"))


def test_any_other_trouble_of_an_engine_is_no_outage(tmp_path: Path) -> None:
    def opened() -> Journal:
        raise NoJournal("there is none")

    with pytest.raises(NoJournal):
        AwayJournal(opened, tmp_path / "outbox")


# What may wait


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_waits_or_is_refused_by_the_table(away: AwayJournal, outage: Outage, event: object) -> None:
    outage.begin()
    notice(away)
    stamped = [Stamped(1, "user", event)]  # type: ignore[arg-type]
    if may_wait(event):  # type: ignore[arg-type]
        [written] = away.append("s", stamped)
        assert written.event == named(replace(written, event=event))
    else:
        with pytest.raises(EngineAway, match="Nothing was written"):
            away.append("s", stamped)
        assert waiting_of(away).count == 0


@pytest.mark.parametrize("event", [VERDICT, TellAsked(), StopAsked()], ids=lambda event: type(event).__name__)
def test_what_promises_something_now_is_refused_together_with_all_that_comes_with_it(
    away: AwayJournal, outage: Outage, event: object
) -> None:
    outage.begin()
    notice(away)
    with pytest.raises(EngineAway, match="Nothing was written"):
        away.append("s", [*said("one"), Stamped(1, "user", event)])  # type: ignore[arg-type]
    assert waiting_of(away).count == 0


def test_a_verdict_that_the_agent_has_already_is_a_recording() -> None:
    assert may_wait(PlanReviewed("main", 1, "approved"))
    assert not may_wait(VERDICT)


def test_an_act_of_a_person_that_changes_a_plan_does_not_wait_though_an_agents_does() -> None:
    changed = PlanSet(items("main", "pending"))
    assert may_wait(changed)
    assert not may_wait(changed, is_act=True)
    assert may_wait(Remarked("main", COMMENT, "why?"), is_act=True)


# Once, and with the right numbers


@pytest.mark.parametrize("expected", [1, None])
def test_an_append_whose_answer_was_lost_is_not_written_twice(
    away: AwayJournal, outage: Outage, tmp_path: Path, expected: int | None
) -> None:
    away.append("s", said("one"))
    outage.mute.touch()
    [two] = away.append("s", said("two"), expected)
    assert is_waiting(two.seq)
    away.append("s", said("two", at=3_000))
    outage.end()
    deliver(away)
    assert delivered(tmp_path) == ["one", "two", "two"]


def test_a_writer_whose_answer_was_lost_finds_the_server_back_and_writes_nothing_twice(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    away.append("s", said("one"))
    state = load_state(away, "s")
    outage.mute.touch()
    [two] = away.append("s", said("two"), state.seq)
    after = fold(state, two)
    outage.end()
    deliver(away)
    assert delivered(tmp_path) == ["one", "two"]
    away.append("s", said("three"), catch_up(away, after).seq)
    assert delivered(tmp_path) == ["one", "two", "three"]


@pytest.mark.parametrize("is_written", [True, False])
def test_a_message_whose_answer_was_lost_keeps_its_name_whether_or_not_the_server_has_it(
    away: AwayJournal, outage: Outage, tmp_path: Path, is_written: bool
) -> None:
    [one] = away.append("s", said("one"))
    (outage.mute if is_written else outage.away).touch()
    [waiting] = away.append("s", [Stamped(1_000, "agent", PlanSet(items("main", "pending")))], one.seq)
    if not is_written:
        written_there(tmp_path, "s", said("by another"))
    outage.end()
    deliver(away)
    [*_, plan] = away.read("s")
    assert made_name(plan) == made_name(waiting)
    assert plan.seq == (2 if is_written else 3)


def test_who_decided_before_the_outage_was_noticed_decides_anew(away: AwayJournal, outage: Outage) -> None:
    away.append("s", said("one"))
    state = load_state(away, "s")
    suffixes: list[str] = []

    def latest() -> SessionState:
        nonlocal state
        state = catch_up(away, state)
        suffixes.append(away.id_suffix)
        return state

    def prepare(_: SessionState) -> list[Stamped]:
        if not outage.away.exists():
            outage.begin()
            notice(away)  # another thread of this process does
        return [Stamped(1, "agent", PlanSet(items("main", "pending")))]

    [plan] = append_latest(away, latest, prepare)
    assert suffixes == ["", away.id_suffix]
    assert isinstance(plan.event, PlanSet)
    assert plan.event.ids == (f"s1-{away.id_suffix}",)


def test_an_append_whose_answer_was_lost_keeps_no_verdict_waiting(away: AwayJournal, outage: Outage) -> None:
    away.append("s", said("one"))
    outage.mute.touch()
    away.append("s", said("two"), 1)
    outage.end()
    until(lambda: not away._server.is_away)
    away.append("s", [Stamped(3, "ann", VERDICT)])
    assert away.last_seq("s") == 3


def test_what_may_not_wait_and_whose_answer_was_lost_is_not_said_to_be_unwritten(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    key, news = Once("board", 1), [Stamped(1, "ann", TurnEnded("one"), waits=False)]
    outage.deaf.touch()
    for _ in range(2):
        with pytest.raises(EngineAway, match="may or may not have been written"):
            away.append("s", news, 0, key)
    with pytest.raises(CannotWait, match="Nothing was written"):
        away.append("s", news)
    outage.end()
    deliver(away)
    away.append("s", news, None, key)
    assert delivered(tmp_path) == ["one"]


@pytest.mark.parametrize("expected", [1, None])
def test_an_append_that_never_reached_the_server_is_written(
    away: AwayJournal, outage: Outage, tmp_path: Path, expected: int | None
) -> None:
    away.append("s", said("one"))
    outage.begin()
    away.append("s", said("two", at=2_000), expected)
    written_there(tmp_path, "s", said("by another"))
    outage.end()
    deliver(away)
    assert delivered(tmp_path) == ["one", "by another", "two"]


def test_a_key_is_used_once_whether_the_server_was_there_or_not(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    key = Once("call", 1)
    outage.mute.touch()
    first = away.append("s", said("one"), once=key)
    assert away.append("s", (), once=key) == first
    assert away.append("s", said("one"), once=key) == first
    outage.end()
    deliver(away)
    assert delivered(tmp_path) == ["one"]
    assert words(away.append("s", said("one"), once=key)) == ["one"]


def test_times_never_run_backwards(away: AwayJournal, outage: Outage, tmp_path: Path) -> None:
    outage.begin()
    away.append("s", said("here", at=1_000))
    written_there(tmp_path, "s", said("there", at=5_000))
    outage.end()
    deliver(away)
    assert [each.at for each in away.read("s")] == [5_000, 5_000]


def test_what_happened_before_anybody_knew_of_the_outage_keeps_its_time(away: AwayJournal, outage: Outage) -> None:
    away.append("s", said("known", at=1_000))
    outage.begin()
    append_latest(away, lambda: load_state(away, "s"), lambda _: said("later", at=2_000))
    assert begin_away(away, "new", 3_000)
    append_latest(away, lambda: load_state(away, "new"), lambda _: said("first", at=3_000))
    outage.end()
    deliver(away)
    assert [each.at for each in away.read("s")] == [1_000, 2_000]
    assert [each.at for each in away.read("new")] == [3_000]


def test_events_name_no_number_that_the_server_had_not_given_when_they_were_written(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    away.append("s", said("one"))
    outage.begin()
    [plan] = away.append("s", [Stamped(1, "agent", PlanSet(items("main", "pending")))])
    away.append("s", [Stamped(1, "user", Remarked("main", COMMENT, "why?", revision=plan.seq))])
    away.append("s", [Stamped(1, "agent", Told("prompt", upto=plan.seq, since=1, remarks=("r1",)))])
    written_there(tmp_path, "s", [Stamped(1, "user", Remarked("main", COMMENT, "by another"))])
    outage.end()
    deliver(away)
    *_, remark, told = [each.event for each in away.read("s")]
    assert isinstance(remark, Remarked)
    assert remark.revision == 1
    assert isinstance(told, Told)
    assert (told.upto, told.since, told.remarks) == (1, 1, ("r1",))  # what others said meanwhile was not told


def test_a_message_has_the_same_name_in_the_end_whichever_process_delivered_it(outage: Outage, tmp_path: Path) -> None:
    with behind(tmp_path) as one, behind(tmp_path) as other:
        one.append("s", said("one"))
        outage.begin()
        notice(one)
        [_, plan] = one.append("s", [*said("two"), Stamped(1, "agent", PlanSet(items("main", "pending")))])
        with one._server._reaching:  # it does not notice that the server is back
            outage.end()
            deliver(other)
            one.append("s", [Stamped(1, "agent", ContextCompacted((made_name(plan),), (), "compact", ""))])
        deliver(one)
        [*_, plan, compacted] = one.read("s")
    assert isinstance(compacted.event, ContextCompacted)
    assert compacted.event.kept == (made_name(plan),)


def test_a_remark_that_waits_is_closed_by_its_name(away: AwayJournal, outage: Outage, tmp_path: Path) -> None:
    away.append("s", said("one"))
    state = load_state(away, "s")
    outage.begin()

    def write(*events: Event) -> None:
        nonlocal state
        append_latest(away, lambda: catch_up(away, state), lambda _: [Stamped(1, "user", each) for each in events])
        state = catch_up(away, state)

    write(PlanSet(items("main", "pending")), Remarked("main", COMMENT, "why?"))
    [remark] = state.plans["main"].remarks
    assert remark.id == f"r1-{away.id_suffix}"
    write(RemarkClosed("main", remark.id, "withdrawn"))
    written_there(tmp_path, "s", [Stamped(1, "ann", Remarked("main", COMMENT, "by another", id="r1"))])
    outage.end()
    deliver(away)
    remarks = load_state(away, "s").plans["main"].remarks
    assert [(each.text, each.is_open) for each in remarks if each.id != "r1"] == [("why?", False)]


def test_no_snapshot_is_kept_under_a_number_of_what_waits(away: AwayJournal, outage: Outage) -> None:
    away.append("s", said("one"))
    outage.begin()
    [two] = away.append("s", said("two"))
    away.keep_snapshot("s", two.seq, b"?")
    outage.end()
    away.keep_snapshot("s", two.seq, b"?")
    deliver(away)
    assert away.snapshot("s") is None


# Trouble on the way


def test_a_record_that_nobody_can_write_is_set_aside_with_a_gap_and_the_rest_goes_on(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    outage.begin()
    away.append("s", said("one"))
    Spool(tmp_path / "outbox").append({"session": "s"}, b"no record of ours")
    away.append("s", said("two"))
    outage.end()
    deliver(away)
    with open_server(tmp_path) as server:
        one, gap, two = [each.event for each in server.read("s")]
    assert (one, two) == (TurnEnded("one"), TurnEnded("two"))
    assert isinstance(gap, Gap)
    assert gap.why.endswith("is from another version of planwire, and stays on its machine")
    assert [each.read_bytes() for each in (tmp_path / "outbox").glob(f"{ASIDE}*")] == [b"no record of ours"]
    away.forget("another", "s")
    assert not [*(tmp_path / "outbox").glob(f"{ASIDE}*")]


def test_what_another_program_has_in_the_place_of_the_journal_is_no_fault_of_the_records(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NotAJournal("the schema planwire is another program's")

    outage.begin()
    away.append("s", said("one"))
    with monkeypatch.context() as taken:
        taken.setattr(SqliteJournal, "append", refuse)
        outage.end()
        until(lambda: "another program's" in waiting_of(away).why)
        assert waiting_of(away).count == 1
    deliver(away)
    assert delivered(tmp_path) == ["one"]


def test_a_record_that_was_cut_short_leaves_a_gap(away: AwayJournal, outage: Outage, tmp_path: Path) -> None:
    outage.begin()
    away.append("s", said("one"))
    spool = tmp_path / "outbox" / "spool"
    spool.write_bytes(spool.read_bytes()[:-3])
    outage.end()
    deliver(away)
    with open_server(tmp_path) as server:
        [gap] = [each.event for each in server.read("s")]
    assert isinstance(gap, Gap)
    assert gap.count == 1


def test_where_there_is_no_room_to_wait_nothing_is_kept_and_the_writer_knows(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage.begin()
    away.append("s", said("one"))
    monkeypatch.setattr("planwire.journal.away.delivery.MOST", 1_000)
    with pytest.raises(EngineAway, match="is full, or this user"):
        away.append("s", said("two"))
    outage.end()
    deliver(away)
    assert delivered(tmp_path) == ["one"]


def test_what_finds_no_room_after_its_answer_was_lost_is_not_said_to_be_unwritten_and_not_written_twice(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away.append("s", said("one"))
    outage.mute.touch()
    key = Once("call", 1)
    with monkeypatch.context() as full:
        full.setattr("planwire.journal.away.delivery.MOST", 1_000)
        for _ in range(2):
            with pytest.raises(EngineAway, match=r"is full, or this user.*may or may not have been written") as unknown:
                away.append("s", said("two"), None, key)
            assert not isinstance(unknown.value, CannotWait)
    away.append("s", said("two", at=2_000), None, key)
    outage.end()
    deliver(away)
    assert delivered(tmp_path) == ["one", "two"]


def test_what_is_being_delivered_takes_room_as_well(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.journal.away.delivery.MOST", 33_000)
    outage.begin()
    away.append("s", said("one"))
    away.append("s", said("x" * 5_000))
    (tmp_path / "outbox" / "spool").rename(tmp_path / "outbox" / f"sealed-{1:020d}-of-a-drainer")
    with pytest.raises(EngineAway, match="is full, or this user"):
        away.append("s", said("x" * 5_000))
    outage.end()
    deliver(away)
    away.append("s", said("two"))
    assert delivered(tmp_path) == ["one", "x" * 5_000, "two"]


def test_what_can_not_be_read_is_said_with_its_place_and_what_comes_waits_behind_it(tmp_path: Path) -> None:
    unreadable = tmp_path / "outbox" / "sealed-1-of-another-user"
    unreadable.mkdir(parents=True)
    with behind(tmp_path) as journal:
        journal.append("s", said("one"))
        assert str(unreadable) in (waiting_words(waiting_of(journal)) or "")
        with pytest.raises(EngineAway, match="sealed-1-of-another-user"):
            journal.forget("s")
        unreadable.rmdir()
        deliver(journal)
        assert waiting_words(waiting_of(journal)) is None
    assert delivered(tmp_path) == ["one"]


DELIVERING = """
import sys
from pathlib import Path
from planwire.journal.away.delivery import AwayFolder
from tests.journal.outages import behind
delivered = AwayFolder._deliver
def _deliver(self, engine, given, segment):
    delivered(self, engine, given, segment)
    print(given.key.n, flush=True)
    sys.stdin.readline()
AwayFolder._deliver = _deliver
behind(Path(sys.argv[1])).tend(60)
"""


def test_a_drainer_that_is_killed_in_the_middle_leaves_no_event_out_and_none_twice(
    outage: Outage, tmp_path: Path
) -> None:
    outage.begin()
    with behind(tmp_path) as journal:
        for word in "abcdef":
            journal.append("s", said(word))
    outage.end()
    (tmp_path / "outbox" / "away").unlink()
    process = subprocess.Popen(
        [sys.executable, "-c", DELIVERING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert process.stdin
    assert process.stdout
    for n in range(3):
        assert process.stdout.readline() == f"{n + 1}\n"
        if n < 2:
            process.stdin.write("\n")
            process.stdin.flush()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert delivered(tmp_path) == ["a", "b", "c"]
    with behind(tmp_path) as journal:
        deliver(journal)
    assert delivered(tmp_path) == [*"abcdef"]


def test_the_next_process_goes_on_where_the_last_one_had_no_time_left(outage: Outage, tmp_path: Path) -> None:
    outage.begin()
    with behind(tmp_path) as journal:
        for word in "abcdef":
            journal.append("s", said(word))
    outage.end()
    asked: list[str] = []

    class Hurried(MemoryJournal):
        def append(
            self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
        ) -> tuple[Recorded, ...]:
            asked.append(str(once))
            if len(asked) == 4:
                raise JournalUnavailable("it is gone")
            return super().append(session, events, expected_seq, once)

    with Hurried() as server:
        with pytest.raises(JournalUnavailable):
            AwayFolder(tmp_path / "outbox").deliver(server, monotonic() + 5)
        assert AwayFolder(tmp_path / "outbox").deliver(server, monotonic() + 5)
        assert words(server.read("s")) == [*"abcdef"]
    assert [asked.count(each) for each in dict.fromkeys(asked)] == [1, 1, 1, 2, 1, 1]


def test_who_has_little_patience_does_not_spend_more_on_what_others_left(
    outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage.begin()
    with behind(tmp_path) as journal:
        journal.append("s", said("one"))
    outage.end()
    (tmp_path / "outbox" / "away").unlink()
    given: list[float] = []
    monkeypatch.setattr(AwayFolder, "deliver", lambda _, _engine, until: given.append(until - monotonic()))
    with AwayJournal(lambda: open_server(tmp_path), tmp_path / "outbox", 0.5):
        assert given[0] <= 0.5


def test_who_comes_as_an_outage_ends_waits_for_the_server_and_tells_nobody_that_it_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = SharedOutage(tmp_path / "outbox")
    shared.note("cut off")
    monkeypatch.setattr(SharedOutage, "known", lambda outage: outage.end())
    with behind(tmp_path) as journal:
        assert not is_away(journal)
        assert not (tmp_path / "outbox" / "away").exists()


# Closing


def test_a_server_that_is_reached_while_its_journal_closes_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_server(tmp_path)
    server = AwayServer(lambda: engine, AwayFolder(tmp_path / "outbox"))
    monkeypatch.setattr(SharedOutage, "note_answer", lambda *_: server.close(0))
    server.note_away(EngineAway("cut off"))
    server.try_first()
    with pytest.raises(JournalUnavailable, match="closed"):
        engine.last_position()


def test_nobody_waits_for_the_goodbye_to_a_server_that_is_silent(tmp_path: Path) -> None:
    said_goodbye, is_back = threading.Event(), threading.Event()

    class Silent(MemoryJournal):
        def close(self) -> None:
            is_back.wait(10)
            said_goodbye.set()

    server = AwayServer(Silent, AwayFolder(tmp_path / "outbox"))
    server.try_first()
    server.note_away(EngineAway("silent"))
    server.close(10)
    assert not said_goodbye.is_set()
    is_back.set()
    assert said_goodbye.wait(10)


def test_a_journal_that_closes_in_the_middle_of_a_delivery_brings_it_to_its_end(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_go_on, deliver_one = threading.Event(), threading.Event(), AwayFolder._deliver

    def slowly(self: AwayFolder, *given: Any) -> None:
        begun.set()
        assert may_go_on.wait(PATIENCE)
        deliver_one(self, *given)

    monkeypatch.setattr(AwayFolder, "_deliver", slowly)
    outage.begin()
    for word in ("one", "two"):
        away.append("s", said(word))
    outage.end()
    assert begun.wait(PATIENCE)
    tending, tend = threading.Event(), away.tend

    def noted(patience: float) -> bool:
        tending.set()
        return tend(patience)

    monkeypatch.setattr(away, "tend", noted)
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(away.close)
        until(lambda: tending.is_set() or closing.done())
        may_go_on.set()
        closing.result(PATIENCE)
    assert delivered(tmp_path) == ["one", "two"]


def test_a_journal_that_closes_while_its_thread_is_at_work_logs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ended = threading.Event()

    def look(journal: AwayJournal) -> None:
        journal.close()
        ended.set()
        raise JournalUnavailable("the journal is closed")

    monkeypatch.setattr(AwayJournal, "_look", look)
    with behind(tmp_path):
        assert ended.wait(10)
    until(lambda: not [each for each in threading.enumerate() if each.name == "planwire-away"])
    assert caplog.records == []


# Besides events


def test_leases_are_taken_and_renewed_as_soon_as_the_server_is_back(away: AwayJournal, outage: Outage) -> None:
    away.append("s", said("one"))
    held = away.lease("s", Terms("relay"))
    released = away.lease("gone", Terms("relay"))
    outage.begin()
    taken = away.lease("t", Terms("mcp"))
    held.renew(Terms("relay", is_working=True))
    taken.renew(Terms("mcp", is_working=True))
    released.release()
    outage.end()
    deliver(away)
    known = {each.session: each.terms for each in away.leases()}
    assert known == {"s": Terms("relay", is_working=True), "t": Terms("mcp", is_working=True)}


def test_a_lease_that_the_server_does_not_take_keeps_nothing_from_being_delivered(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise JournalUnavailable("this user may not")

    outage.begin()
    away.lease("s", Terms("relay"))
    away.append("s", said("one"))
    monkeypatch.setattr(SqliteJournal, "lease", refuse)
    outage.end()
    deliver(away)
    assert delivered(tmp_path) == ["one"]
    assert [each.message for each in caplog.records] == ["the lease of session s is let go: this user may not"]


class Standby(MemoryJournal):
    """A server that answers, and takes no events for now."""

    is_standby = True

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        if self.is_standby:
            raise NotWritable("it is a standby")
        return super().append(session, events, expected_seq, once)


def test_why_a_standby_takes_nothing_is_known_though_nothing_waits(tmp_path: Path) -> None:
    with AwayJournal(Standby, tmp_path / "outbox") as journal:
        with pytest.raises(CannotWait, match="it is a standby"):
            journal.append("s", [Stamped(1, "user", VERDICT)])
        assert why_away(journal) == "it is a standby"


def test_a_session_that_waits_for_a_standby_keeps_no_follower_from_hearing_of_others(tmp_path: Path) -> None:
    standby = Standby()
    with AwayJournal(lambda: standby, tmp_path / "outbox") as journal:
        heard: list[str] = []
        unsubscribe = follower_of(journal).subscribe(lambda followed: heard.extend(words([followed.recorded])))
        journal.append("s", said("here"))
        for session in ("s", "t"):  # somebody writes to the primary
            MemoryJournal.append(standby, session, said(f"there in {session}"))
        until(lambda: "there in t" in heard)
        standby.is_standby = False
        until(lambda: "here" in heard)
        unsubscribe()


def test_a_standby_without_a_journal_is_tried_until_it_has_one(tmp_path: Path) -> None:
    refusals = [NotWritable("it is a standby, and has no journal")]
    served = MemoryJournal()

    def open_engine() -> Journal:
        if refusals:
            raise refusals.pop()
        return served

    with AwayJournal(open_engine, tmp_path / "outbox") as journal:
        journal.append("s", said("one"))
        until(lambda: words(served.read("s")) == ["one"])


def test_followers_hear_of_what_was_delivered_and_of_what_came_meanwhile(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    heard: list[str] = []
    unsubscribe = follower_of(away).subscribe(lambda followed: heard.extend(words([followed.recorded])))
    outage.begin()
    away.append("s", said("here"))
    written_there(tmp_path, "s", said("there"))
    outage.end()
    until(lambda: sorted(heard) == ["here", "there"])
    unsubscribe()


def test_a_session_is_not_forgotten_while_something_of_it_waits(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    outage.begin()
    away.append("s", said("one"))
    with pytest.raises(EngineAway):
        away.forget("s")
    outage.end()
    deliver(away)
    away.forget("s")
    assert delivered(tmp_path) == []


def test_threads_that_write_while_the_server_comes_and_goes_lose_nothing(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    def write(name: str) -> None:
        for n in range(30):
            away.append("s", said(f"{name}{n}"))

    writers = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for each in writers:
        each.start()
    while any(each.is_alive() for each in writers):
        outage.begin()
        threading.Event().wait(0.01)
        outage.end()
        threading.Event().wait(0.03)
    deliver(away)
    found = delivered(tmp_path)
    for name in "abc":
        assert [each for each in found if each[0] == name] == [f"{name}{n}" for n in range(30)]


# Any order of it all

STEPS = st.lists(
    st.tuples(st.sampled_from(["append", "expect", "verdict", "begin", "mute", "end", "tend"]), st.sampled_from("ab")),
    max_size=25,
)


@given(steps=STEPS)
@settings(max_examples=40, deadline=None)
def test_any_order_of_appends_outages_and_deliveries_gives_each_event_once_and_in_order(
    steps: list[tuple[str, str]],
) -> None:
    with TemporaryDirectory() as name, behind(Path(name)) as one, behind(Path(name)) as other:
        outage, journals = Outage(Path(name)), {"a": one, "b": other}
        sent: dict[str, list[str]] = {"a": [], "b": []}
        for n, (step, writer) in enumerate(steps):
            journal, word = journals[writer], f"{writer}{n}"
            match step:
                case "append":
                    journal.append("s", said(word))
                    sent[writer].append(word)
                case "expect":
                    _append_on_the_newest(journal, word, n, sent[writer])
                case "verdict" if outage.away.exists():
                    with pytest.raises(EngineAway):
                        journal.append("s", [Stamped(1, "user", VERDICT)])
                case "begin":
                    outage.begin()
                case "mute" if not outage.away.exists():
                    outage.mute.touch()
                case "end":
                    outage.end()
                case "tend":
                    journal.tend(0.2)
        outage.end()
        deliver(one)
        deliver(other)
        found = delivered(Path(name))
        assert Counter(found) == Counter(sent["a"] + sent["b"])
        for writer, expected in sent.items():
            assert [each for each in found if each[0] == writer] == expected


def _append_on_the_newest(journal: AwayJournal, word: str, at: int, sent: list[str]) -> None:
    """As `append_latest` does. What only the server has can't be read while it is away: then nothing is written."""
    for attempt in range(20):
        try:
            last = journal.last_seq("s")
            journal.append("s", said(word, at=at * 100 + attempt), last)
        except Conflict:
            continue
        except EngineAway:
            return
        sent.append(word)
        return
    raise AssertionError("it can't be written")


def test_a_pass_through_costs_no_call_of_the_server(tmp_path: Path) -> None:
    calls: list[str] = []

    class Counted:
        def __init__(self, journal: Journal) -> None:
            self._journal = journal

        def __getattr__(self, name: str) -> object:
            calls.append(name)
            return getattr(self._journal, name)

    with AwayJournal(lambda: Counted(open_server(tmp_path)), tmp_path / "outbox") as journal:  # type: ignore[arg-type,return-value]
        for n in range(5):
            journal.append("s", said(str(n)))
    assert Counter(calls) == {"append": 5, "close": 1}
    assert not (tmp_path / "outbox").exists()
