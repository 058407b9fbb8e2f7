"""What a machine keeps of sessions for when the server is away: little, private, and never in the way of an append."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planwire.errors import EngineAway, JournalUnavailable
from planwire.journal import KnownSession, Stamped, catch_up, load_state, spool_append
from planwire.journal.away import last_known
from planwire.journal.away.journal import AwayJournal
from planwire.journal.away.last_known import LastKnown
from planwire.journal.spool import Spool, Spooled
from planwire.journal.waiting import go_by_last_known
from planwire.model.events import PlanSet, TurnEnded
from planwire.model.records import SessionState
from tests.journal.outages import Outage, behind, open_server
from tests.journal.test_contract import said
from tests.journals import items
from tests.waiting import until


def kept(folder: Path) -> list[str]:
    """The sessions that are kept in a folder."""
    return sorted(each.id for each in LastKnown(folder / "outbox" / "known").sessions())


def fill(folder: Path, *sessions: str) -> None:
    with open_server(folder) as server:
        for each in sessions:
            server.append(each, [Stamped(5, "agent", PlanSet(items("main", "pending")))])


def test_a_session_that_a_process_has_read_is_kept_when_it_closes_for_its_user_alone(tmp_path: Path) -> None:
    fill(tmp_path, "s", "unread")
    with behind(tmp_path) as journal:
        load_state(journal, "s")
        assert kept(tmp_path) == []
    assert kept(tmp_path) == ["s"]
    folder = tmp_path / "outbox" / "known"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [each.stat().st_mode & 0o777 for each in folder.iterdir()] == [0o600]


def test_a_process_that_goes_on_keeps_what_is_new_every_few_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.journal.away.journal.KEEP", 0.0)
    with behind(tmp_path) as journal:
        journal.append("s", [Stamped(5, "agent", PlanSet(items("main", "pending")))])
        load_state(journal, "s")
        until(lambda: kept(tmp_path) == ["s"])


def test_an_append_writes_no_file_and_what_is_known_already_is_not_written_again(tmp_path: Path) -> None:
    with behind(tmp_path) as journal:
        for n in range(5):
            journal.append("s", said(str(n)))
        load_state(journal, "s")
        assert not (tmp_path / "outbox").exists()
    [file] = (tmp_path / "outbox" / "known").iterdir()
    before = file.stat().st_ino
    with behind(tmp_path) as journal:
        load_state(journal, "s")
    assert file.stat().st_ino == before


def test_a_state_replaces_the_one_before_and_an_older_one_does_not(tmp_path: Path) -> None:
    known = LastKnown(tmp_path / "known")
    for seq in (3, 7, 5):
        known.note(SessionState("s", seq, at=seq))
        known.write()
    assert [each.last_seq for each in known.sessions()] == [7]
    assert len(list((tmp_path / "known").iterdir())) == 1


def test_only_the_newest_sessions_are_kept_and_none_that_is_huge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_known, "MOST", 3)
    known = LastKnown(tmp_path / "known")
    for n in range(10):
        known.note(SessionState(f"s{n}", 1, at=n))
    known.write()
    assert sorted(each.id for each in known.sessions()) == ["s7", "s8", "s9"]
    known.note(SessionState("s10", 1, at=10))
    known.write()
    assert len(known.sessions()) == 3
    monkeypatch.setattr(last_known, "MOST_BYTES", 10)
    known.note(SessionState("huge", 1, at=11))
    known.write()
    assert known.snapshot("huge") is None


def test_a_session_that_is_forgotten_is_not_kept(tmp_path: Path) -> None:
    fill(tmp_path, "s", "t")
    with behind(tmp_path) as journal:
        load_state(journal, "s")
        load_state(journal, "t")
    with behind(tmp_path) as journal:
        journal.forget("s")
        assert kept(tmp_path) == ["t"]


def test_what_can_not_be_removed_of_a_forgotten_session_is_said(tmp_path: Path) -> None:
    fill(tmp_path, "s")
    with behind(tmp_path) as journal:
        load_state(journal, "s")
    [file] = (tmp_path / "outbox" / "known").iterdir()
    file.unlink()
    file.mkdir()
    with behind(tmp_path) as journal, pytest.raises(JournalUnavailable, match=f"{file} stays on this machine"):
        journal.forget("s")


def test_a_session_that_was_forgotten_elsewhere_goes_with_the_next_look_at_all_sessions(tmp_path: Path) -> None:
    known = LastKnown(tmp_path / "outbox" / "known")
    for name in ("gone", "anew", "there"):
        known.note(SessionState(name, 7, at=1))
    known.write()
    known.note(SessionState("gone, and not yet written", 7, at=1))
    (tmp_path / "outbox" / "known" / ".0123-7-draft").touch()
    before = known.kept()
    known.note(SessionState("newer than the answer", 1, at=1))
    known.note_all([KnownSession("there", 8, 1, 1), KnownSession("anew", 2, 1, 1)], before)
    known.write()
    assert kept(tmp_path) == ["newer than the answer", "there"]
    assert len(list((tmp_path / "outbox" / "known").iterdir())) == 2


def test_a_session_that_began_anew_is_kept_as_it_is_now_once_a_process_has_read_it(tmp_path: Path) -> None:
    with behind(tmp_path) as before:
        before.append("s", said("one", "two", "three"))
        load_state(before, "s")
    with behind(tmp_path) as journal:
        state = load_state(journal, "s")
        with open_server(tmp_path) as server:
            server.forget("s")
            server.append("s", said("anew"))
        assert catch_up(journal, state).seq == 1
    [session] = LastKnown(tmp_path / "outbox" / "known").sessions()
    assert session.last_seq == 1


def test_what_others_wrote_since_all_sessions_were_looked_at_stays(tmp_path: Path) -> None:
    looks, works = LastKnown(tmp_path / "outbox" / "known"), LastKnown(tmp_path / "outbox" / "known")
    works.note(SessionState("s", 15))
    works.write()
    looks.note_all([KnownSession("s", 15, 1, 1)], looks.kept())
    works.note(SessionState("s", 20))
    works.note(SessionState("new", 1))
    works.write()
    looks.write()
    assert kept(tmp_path) == ["new", "s"]


def test_nothing_of_a_forgotten_session_stays_whoever_wrote_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = LastKnown(tmp_path / "known"), LastKnown(tmp_path / "known")
    one.note(SessionState("s", 5))
    other.note(SessionState("s", 7))

    def put_at_once(*given: Any) -> None:  # another process is as far at this moment
        monkeypatch.undo()
        other.write()
        spool_append.put(*given)

    monkeypatch.setattr(last_known, "put", put_at_once)
    one.write()
    [file, _] = (tmp_path / "known").iterdir()
    file.with_name(f".{file.name}-killed").touch()
    one.forget("s")
    assert list((tmp_path / "known").iterdir()) == []


def test_what_is_forgotten_while_it_is_being_written_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = LastKnown(tmp_path / "known")
    known.note(SessionState("s", 5))
    forgetting = threading.Thread(target=known.forget, args=("s",))

    def put_slowly(*given: Any) -> None:
        forgetting.start()
        forgetting.join(0.05)
        spool_append.put(*given)

    monkeypatch.setattr(last_known, "put", put_slowly)
    known.write()
    forgetting.join()
    assert known.sessions() == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"?",
        lambda whole: b"",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: bytes(len(whole)),
        lambda whole: whole + whole,
        lambda whole: whole.replace(b"Write", b"Wrote"),
    ],
)
def test_what_is_damaged_is_not_known(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    known = LastKnown(tmp_path / "known")
    known.note(SessionState("s", 1, stopped="Write it"))
    known.write()
    [file] = (tmp_path / "known").iterdir()
    assert known.snapshot("s")
    file.write_bytes(damage(file.read_bytes()))
    assert known.snapshot("s") is None
    assert known.sessions() == []


# A process that starts while the server is away


@pytest.fixture
def late(tmp_path: Path) -> AwayJournal:
    fill(tmp_path, "s", "unread")
    with behind(tmp_path) as journal:
        load_state(journal, "s")
    Outage(tmp_path).begin()
    return behind(tmp_path)


def test_only_who_asks_for_it_is_answered_with_what_was_last_known(late: AwayJournal) -> None:
    with late as journal:
        for ask in (journal.sessions, journal.leases, lambda: load_state(journal, "s")):
            with pytest.raises(EngineAway):
                ask()
        go_by_last_known(journal)
        assert [each.id for each in journal.sessions()] == ["s"]
        assert journal.leases() == []
        assert "main" in load_state(journal, "s").plans
        with pytest.raises(EngineAway):
            load_state(journal, "unread")


def test_what_waits_is_read_once_for_all_sessions_and_again_when_more_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, *"abc")
    with behind(tmp_path) as journal:
        for each in "abc":
            load_state(journal, each)
    Outage(tmp_path).begin()
    reads: list[Spool] = []
    waiting = Spool.waiting

    def read(spool: Spool) -> Iterator[Spooled]:
        reads.append(spool)
        return waiting(spool)

    monkeypatch.setattr(Spool, "waiting", read)
    with behind(tmp_path) as journal, behind(tmp_path) as other:
        other.append("a", [Stamped(9, "agent", TurnEnded("end_turn"))])
        go_by_last_known(journal)
        assert load_state(journal, "a").stopped == "end_turn"
        assert load_state(journal, "b").stopped is None
        assert len(reads) == 1
        other.append("c", [Stamped(9, "agent", TurnEnded("end_turn"))])
        assert load_state(journal, "c").stopped == "end_turn"


def test_what_other_processes_left_waiting_is_known_too_until_all_is_delivered(
    late: AwayJournal, tmp_path: Path
) -> None:
    with behind(tmp_path) as other:
        other.append("s", [Stamped(9, "agent", PlanSet(items("main", "completed")))])
    with late as journal:
        go_by_last_known(journal)
        state = load_state(journal, "s")
        assert state.plans["main"].state.steps[0].status == "completed"
        journal.append("s", [Stamped(9, "agent", TurnEnded("end_turn"))], state.seq)
        Outage(tmp_path).end()
        until(journal.tend)
        state = load_state(journal, "s")
        assert (state.seq, state.stopped) == (3, "end_turn")
