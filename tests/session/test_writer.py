"""Appending to a session that others write to as well: the newest state decides, however often that takes."""

from time import time_ns

import pytest

from planwire.errors import Conflict, UnstorableEvent
from planwire.journal import Journal, Once, Stamped, View, catch_up, load_state
from planwire.model.events import MessageAdded, TurnEnded
from planwire.model.records import SessionState
from planwire.session.writer import append_latest, append_new, stamped

YEAR_2101 = 4_133_980_800_000


def said(*words: str) -> list[Stamped]:
    return stamped(map(TurnEnded, words), "agent")


def test_an_event_is_prepared_again_on_what_another_writer_was_faster_with(journal: Journal) -> None:
    states: list[SessionState] = []

    def prepare(state: SessionState) -> list[Stamped]:
        states.append(state)
        if len(states) < 3:
            journal.append("s", said(f"faster {len(states)}"))
        return said(f"after {state.seq} and {state.stopped}")

    [written] = append_latest(journal, lambda: load_state(journal, "s"), prepare)
    assert [state.seq for state in states] == [0, 1, 2]
    assert written.event == TurnEnded("after 2 and faster 2")
    assert [each.event for each in journal.read("s")][-1] == written.event


def test_an_event_of_a_machine_with_a_wrong_clock_dates_no_later_one(journal: Journal) -> None:
    now = time_ns() // 1_000_000
    journal.append("s", [*said("before"), Stamped(YEAR_2101, "agent", TurnEnded("in 2101"))])
    append_latest(journal, lambda: load_state(journal, "s"), lambda _: said("after"))
    append_latest(journal, lambda: load_state(journal, "s"), lambda _: said("and again"))
    times = [each.at for each in journal.read("s")]
    assert times[1] == YEAR_2101
    assert now <= times[2] <= times[3] <= time_ns() // 1_000_000
    assert load_state(journal, "s").at == times[3]


def test_what_is_no_news_any_more_is_not_written(journal: Journal) -> None:
    def prepare(state: SessionState) -> list[Stamped]:
        if not state.seq:
            journal.append("s", said("faster"))
        return [] if state.stopped else said("mine")

    assert append_latest(journal, lambda: load_state(journal, "s"), prepare) == ()
    assert [each.event for each in journal.read("s")] == [TurnEnded("faster")]


def test_a_state_of_any_kind_will_do_and_so_will_events_of_any_time(journal: Journal) -> None:
    """As the relay records: its own fold, and what it has not written yet, each with the time when it came."""
    view = View("words", SessionState, SessionState, lambda state, each: SessionState(state.id, each.seq), rules=1)
    known, unwritten = SessionState("s"), [Stamped(5, "agent", TurnEnded("one")), Stamped(7, "relay", TurnEnded("two"))]
    journal.append("s", said("theirs"))

    def latest() -> SessionState:
        nonlocal known
        if journal.last_seq("s") != known.seq:
            known = view.catch_up(journal, known)
        return known

    written = append_latest(journal, latest, lambda _: unwritten)
    assert [(each.seq, each.at, each.by) for each in written] == [(2, 5, "agent"), (3, 7, "relay")]


def test_what_was_written_under_a_key_is_not_prepared_again(journal: Journal) -> None:
    states: list[SessionState] = []

    def prepare(state: SessionState) -> list[Stamped]:
        states.append(state)
        return said(f"after {state.seq}")

    first, second = (append_latest(journal, lambda: load_state(journal, "s"), prepare, Once("a", 1)) for _ in range(2))
    assert second == first == tuple(journal.read("s"))
    assert len(states) == 1


def test_a_writer_with_the_same_key_who_was_faster_is_no_conflict(journal: Journal) -> None:
    def prepare(_: SessionState) -> list[Stamped]:
        journal.append("s", said("theirs"), once=Once("a", 1))
        return said("mine")

    assert append_latest(journal, lambda: load_state(journal, "s"), prepare, Once("a", 1)) == tuple(journal.read("s"))
    assert [each.event for each in journal.read("s")] == [TurnEnded("theirs")]


def test_what_can_not_be_stored_is_the_callers_to_deal_with(journal: Journal) -> None:
    state = SessionState("s")
    bad = stamped([MessageAdded({"content": object()})], "agent")
    with pytest.raises(UnstorableEvent):
        append_latest(journal, lambda: catch_up(journal, state), lambda _: bad)
    assert journal.last_seq("s") == 0


def test_a_new_session_is_written_only_if_it_is_new(journal: Journal) -> None:
    assert len(append_new(journal, "s", said("one", "two"))) == 2
    with pytest.raises(Conflict):
        append_new(journal, "s", said("three"))
    assert journal.last_seq("s") == 2
