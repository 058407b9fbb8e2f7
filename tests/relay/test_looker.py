"""A look at what others wrote, for a prompt: it waits for no writer, and nothing that it found is taken back."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from threading import Event as Flag

import pytest

from planwire.errors import JournalUnavailable
from planwire.journal import Journal, Stamped, open_journal
from planwire.journal.protocol import Once
from planwire.model.events import Event, PlanReviewed, Recorded, TurnEnded
from planwire.relay.actions import Meet, Record, SessionMemory
from planwire.relay.journalled import JournalledSessions
from planwire.relay.looker import Looker
from planwire.relay.recorder import Recorder
from tests.relay.test_recorder import PATIENCE, Kept, a_plan
from tests.waiting import until

WORD = PlanReviewed(None, 1, "approved")


class Watched:
    """The sessions of a connection in a journal, and another program that writes to it."""

    def __init__(self, path: Path) -> None:
        self.journal = open_journal(path)
        self.other = open_journal(path)
        self.told: list[int] = []
        self.sessions = JournalledSessions(self._tell)

    def _tell(self, _session: str, memory: SessionMemory) -> None:
        self.told.append(memory.seq)

    def record(self, *events: Event) -> None:
        for event in events:
            self.sessions.take(self.journal, Record("s1", event), 0)
        self.sessions.write(self.journal)

    def say(self) -> None:
        self.other.append("s1", [Stamped(0, "user", WORD)])


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path / "journal.db")
    watched.sessions.take(watched.journal, Meet("s1", fresh=True), 0)
    yield watched
    watched.journal.close()
    watched.other.close()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    kept = Kept(tmp_path / "journal.db")
    yield kept
    kept.close()


def test_a_look_reads_what_others_wrote_once_and_nothing_of_our_own(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    really_read = watched.journal.read

    def counted(session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        read.append(after)
        return really_read(session, after, upto)

    monkeypatch.setattr(watched.journal, "read", counted)
    watched.record(a_plan("a"), a_plan("b"))
    watched.sessions.look(watched.journal)
    assert read == []
    watched.say()
    watched.sessions.look(watched.journal)
    watched.sessions.look(watched.journal)
    assert read == [2]
    assert watched.told == [0, 2, 3]


def test_what_a_look_found_is_not_taken_back_by_a_writer_that_comes_late(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours is written, then a person's; a look finds both before our writer could tell of its own."""
    really_append = watched.journal.append

    def append(
        session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        written = really_append(session, events, expected_seq, once)
        watched.say()
        watched.sessions.look(watched.journal)
        return written

    monkeypatch.setattr(watched.journal, "append", append)
    watched.record(a_plan("a"))
    assert watched.told == [0, 2]


def test_a_look_finds_that_a_session_was_forgotten(watched: Watched) -> None:
    watched.record(a_plan("a"), a_plan("b"))
    watched.other.forget("s1")
    watched.sessions.look(watched.journal)
    assert watched.told == [0, 2, 0]


def test_a_word_goes_along_while_the_recorder_still_waits_for_the_disk(tmp_path: Path) -> None:
    path, known = tmp_path / "journal.db", dict[str, SessionMemory]()
    is_writing, may_go_on = Flag(), Flag()
    journal = open_journal(path)
    really_append = journal.append

    def append(
        session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        is_writing.set()
        assert may_go_on.wait(PATIENCE)
        return really_append(session, events, expected_seq, once)

    journal.append = append  # type: ignore[method-assign]
    recorder = Recorder(lambda: journal, known.__setitem__)
    recorder.start()
    recorder.put(Meet("s1", fresh=True), 0)
    recorder.put(Record("s1", a_plan("b")), 1)
    recorder.wake()
    assert is_writing.wait(PATIENCE)
    with open_journal(path) as other:
        other.append("s1", [Stamped(0, "agent", a_plan("a")), Stamped(0, "user", WORD)])
    recorder.look_now(PATIENCE)
    assert len(known["s1"].state.plans[None].reviews) == 1
    may_go_on.set()
    assert recorder.close(PATIENCE) is None


def test_a_session_with_a_history_is_found_for_a_prompt_though_the_recorder_makes_way(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.record(a_plan("a"))
    assert kept.close() is None
    monkeypatch.setattr("planwire.relay.recorder.GATHER", 3 * PATIENCE)
    known: dict[str, SessionMemory] = {}
    clock = count()
    recorder = Recorder(lambda: open_journal(kept.path), known.__setitem__, traffic=lambda: float(next(clock)))
    recorder.start()
    recorder.put(Meet("new", fresh=True), 0)
    recorder.wake()
    until(lambda: "new" in known)
    recorder.put(Meet("s1", fresh=False), 0)
    recorder.wake()
    recorder.look_now(PATIENCE)
    assert known["s1"].seq == 1
    assert recorder.close(PATIENCE) is None


def test_the_first_prompt_of_a_new_session_does_not_wait_for_a_journal_to_be_opened(tmp_path: Path) -> None:
    is_open = Flag()

    def open_late() -> Journal:
        assert is_open.wait(PATIENCE)
        return open_journal(tmp_path / "journal.db")

    recorder = Recorder(open_late, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", fresh=True), 0)
    recorder.wake()
    recorder.look_now(PATIENCE)
    assert recorder._looker.answers
    is_open.set()
    assert recorder.close(PATIENCE) is None


def test_a_look_that_failed_is_not_waited_for_until_one_succeeds() -> None:
    works, looks = Flag(), Flag()

    def look() -> bool:
        looks.set()
        if not works.is_set():
            raise JournalUnavailable("it can't be read")
        return True

    looker = Looker(look)
    looker.start()
    looker.ask(PATIENCE)
    assert not looker.answers
    works.set()
    looks.clear()
    looker.ask(PATIENCE)
    assert looks.wait(PATIENCE)
    until(lambda: looker.answers)


def test_times_never_run_backwards_though_another_writer_was_faster(kept: Kept) -> None:
    """Our plan happened first, and is written behind a person's word of a later time."""
    kept.record(a_plan("a"))
    until(lambda: "s1" in kept.known and kept.known["s1"].seq == 1)
    with open_journal(kept.path) as other:
        later = next(iter(other.read("s1"))).at + 3_600_000
        other.append("s1", [Stamped(later, "user", WORD)])
        kept.record(a_plan("b"), TurnEnded("end_turn"))
        assert kept.close() is None
        assert [each.at for each in other.read("s1")][1:] == [later, later, later]
