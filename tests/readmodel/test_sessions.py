"""The sessions of a journal as they are kept up with, whatever happens to the journal meanwhile."""

from pathlib import Path

import pytest

from planwire.errors import JournalUnavailable, NotFound
from planwire.journal import Journal, KnownSession, Snapshot, Stamped, open_journal
from planwire.journal.follower import Follower
from planwire.model.events import PlanSet
from planwire.readmodel.folders import newest_first
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.sessions import Sessions, load_session
from tests import deciding
from tests.journal.test_damage import change
from tests.journals import items
from tests.waiting import until


def write(journal: Journal, session: str) -> None:
    deciding.write(journal, session, Stamped(1, "agent", PlanSet(items("main", "pending"))))


def test_a_session_that_is_forgotten_while_many_are_loaded_holds_up_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.readmodel.sessions.KEPT_STATES", 1)
    with open_journal("memory:") as journal:
        for name in ("one", "two", "three"):
            write(journal, name)
        known = journal.sessions()

        def forget_one_then() -> list[KnownSession]:
            journal.forget("two")
            return known

        monkeypatch.setattr(journal, "sessions", forget_one_then)
        sessions = Sessions(journal, FilePlans(), lambda _: None)
        sessions.start()
        until(lambda: not sessions.loading)
        assert {glance.id for glance in sessions.glances()} == {"one", "three"}
        sessions.close()


def test_trouble_with_the_journal_is_told_when_it_begins_and_when_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.readmodel.sessions.LOOK", 0.005)
    told: list[str | None] = []
    calls = 0
    with open_journal("memory:") as journal:
        sessions = Sessions(journal, FilePlans(), lambda _: told.append(sessions.problem))
        sessions.start()
        until(lambda: told)
        assert told == [None]
        with monkeypatch.context() as trouble:

            def locked() -> list[KnownSession]:
                nonlocal calls
                calls += 1
                raise JournalUnavailable("it is locked")

            trouble.setattr(journal, "sessions", locked)
            until(lambda: calls > 2)
            assert told == [None, "it is locked"]
        until(lambda: len(told) == 3)
        assert told == [None, "it is locked", None]
        sessions.close()


def test_an_event_that_following_missed_is_seen_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """After trouble, following goes on from the journal's end."""
    monkeypatch.setattr("planwire.readmodel.sessions.ROLL_CALL", 0.01)
    monkeypatch.setattr(Follower, "_hand_out", lambda *_: None)
    with open_journal("memory:") as journal:
        write(journal, "one")
        sessions = Sessions(journal, FilePlans(), lambda _: None)
        sessions.start()
        until(lambda: not sessions.loading)
        write(journal, "one")
        until(lambda: [glance.last_seq for glance in sessions.glances()] == [2])
        sessions.close()


def test_a_session_that_can_not_be_read_hides_no_other_one_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with open_journal(path) as journal:
        for at, name in enumerate(("old", "damaged", "new"), 1):
            deciding.write(journal, name, Stamped(at, "agent", PlanSet(items("main", "pending"))))
        change(path, "UPDATE events SET event = 'no JSON' WHERE session = 2")
        sessions = Sessions(journal, FilePlans(), lambda _: None)
        sessions.start()
        until(lambda: not sessions.loading)
        assert {glance.id for glance in sessions.glances()} == {"old", "new"}
        assert "event 1 of session 'damaged'" in str(sessions.problem)
        journal.append("damaged", [Stamped(1, "agent", PlanSet(items("main", "pending")))])
        write(journal, "newer")
        until(lambda: {glance.id for glance in sessions.glances()} == {"old", "new", "newer"})
        journal.forget("damaged")
        write(journal, "damaged")
        until(lambda: sessions.problem is None)
        assert {glance.id for glance in sessions.glances()} == {"old", "new", "newer", "damaged"}
        sessions.close()


def test_loading_goes_on_once_the_journal_can_be_read_again(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.readmodel.sessions.LOOK", 0.005)
    write(journal, "one")
    sessions = Sessions(journal, FilePlans(), lambda _: None)
    with monkeypatch.context() as trouble:

        def locked(*_: object) -> Snapshot | None:
            raise JournalUnavailable("it is locked")

        trouble.setattr(journal, "snapshot", locked)
        sessions.start()
        until(lambda: sessions.problem == "it is locked")
    until(lambda: [glance.id for glance in sessions.glances()] == ["one"])
    until(lambda: sessions.problem is None)
    sessions.close()


def test_a_session_has_a_state_before_its_first_event_and_none_after_its_last() -> None:
    journal = open_journal("memory:")
    journal.append("s", [Stamped(at, "agent", PlanSet(items("p", "a"))) for at in (1_000, 2_000)], 0)
    [known] = journal.sessions()
    times = [load_session(journal, known, FilePlans(), at).glance for at in (0, 1, 2)]
    assert [(each.last_seq, each.plans, each.last_at) for each in times] == [
        (0, 0, 1_000),
        (1, 1, 1_000),
        (2, 1, 2_000),
    ]
    with pytest.raises(NotFound, match="has no event 3: the latest is 2"):
        load_session(journal, known, FilePlans(), 3)


YEAR_2101 = 4_133_980_800_000


def test_a_machine_whose_clock_is_wrong_keeps_no_session_young() -> None:
    with open_journal("memory:") as journal:
        write(journal, "one")  # in 1970
        sessions = Sessions(journal, FilePlans(), lambda _: None)
        sessions.start()
        until(lambda: not sessions.loading)
        deciding.write(journal, "one", Stamped(YEAR_2101, "agent", PlanSet(items("main", "in_progress"))))
        until(lambda: [glance.last_seq for glance in sessions.glances()] == [2])
        [heard] = sessions.glances()
        sessions.close()
        [known] = newest_first(journal)
        loaded = load_session(journal, known, FilePlans()).glance
        for glance in (heard, loaded):
            assert (glance.last_at, glance.state) == (1, "idle")


def test_a_session_that_only_a_wrong_clock_knows_is_not_said_to_run() -> None:
    with open_journal("memory:") as journal:
        deciding.write(journal, "one", Stamped(YEAR_2101, "agent", PlanSet(items("main", "in_progress"))))
        [known] = newest_first(journal)
        assert load_session(journal, known, FilePlans()).glance.state == "idle"
