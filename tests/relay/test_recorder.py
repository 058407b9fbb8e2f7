"""What reaches the journal, and that a journal which fails is only counted."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from threading import Event as Flag

import pytest

from planwire.errors import DamagedJournal, JournalUnavailable
from planwire.journal import Journal, Once, Stamped, codec, open_journal
from planwire.model.events import (
    ACP,
    SUGGESTION,
    Event,
    Gap,
    MessageAdded,
    PlanReviewed,
    PlanSet,
    Recorded,
    Remarked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import SetStatus
from planwire.relay import recorder as relay_recorder
from planwire.relay.actions import BY_RELAY, Meet, Record, SessionMemory
from planwire.relay.backlog import TOO_FAST
from planwire.relay.dedupe import QUIET, PendingHistory, begin
from planwire.relay.journalled import JournalledSessions
from planwire.relay.recorder import SLICE, Recorder
from planwire.session.origin import placed
from tests import deciding
from tests.servers.nats import fresh_url
from tests.waiting import until

PATIENCE = 20.0


def a_plan(*contents: str, plan_id: str | None = None) -> PlanSet:
    return PlanSet(ItemsPlan(plan_id, tuple(Entry(text, "low", "pending") for text in contents)), via=ACP)


def a_text(content: str) -> PlanSet:
    return PlanSet(MarkdownPlan("p", content), via=ACP)


class Kept:
    """A recorder with a journal in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, SessionMemory] = {}
        self.recorder = Recorder(lambda: open_journal(path), self.known.__setitem__)
        self.recorder.start()

    def record(self, *events: Event, session: str = "s1", fresh: bool = True, folder: str | None = "/p") -> None:
        self.recorder.put(Meet(session, fresh, "agent 1", folder), 0)
        for event in events:
            self.recorder.put(Record(session, event), 100)

    def close(self) -> str | None:
        return self.recorder.close(PATIENCE)

    def events(self, session: str = "s1") -> list[Event]:
        with open_journal(self.path) as journal:
            return deciding.made(journal, session)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    kept = Kept(tmp_path / "journal.db")
    yield kept
    kept.close()


def test_what_happens_is_written_in_order(kept: Kept) -> None:
    events: list[Event] = [placed(SessionOpened("agent 1")), a_plan("a"), a_plan("b"), TurnEnded("end_turn")]
    kept.record(*events)
    assert kept.close() is None
    assert kept.events() == events


def test_a_review_is_of_the_revision_that_the_plan_had(kept: Kept) -> None:
    kept.record(a_plan("a"), TurnEnded("end_turn"), a_plan("b"), PlanReviewed(None, 0, "approved"))
    kept.close()
    assert kept.events()[-1] == PlanReviewed(None, 3, "approved")


def test_a_session_goes_on_in_another_process_and_nothing_is_doubled(kept: Kept) -> None:
    kept.record(SessionOpened("agent 1", "client", "/p"), a_plan("a"))
    kept.close()
    later = Kept(kept.path)
    later.record(SessionOpened("agent 1", "client", "/p"), a_plan("a"), a_plan("b"), fresh=False)
    later.close()
    assert later.events() == [placed(SessionOpened("agent 1", "client", "/p")), a_plan("a"), a_plan("b")]


def test_a_session_that_is_forgotten_while_the_relay_is_in_it_begins_anew_with_what_is_known_of_it(kept: Kept) -> None:
    about = SessionOpened("agent 1", "client", "/p")
    kept.record(about, SessionOpened(title="Port it"), a_plan("a"))
    until(lambda: len(kept.events()) == 3)
    with open_journal(kept.path) as journal:
        journal.forget("s1")
    kept.record(a_plan("b"), TurnEnded("end_turn"))
    kept.close()
    opened = placed(SessionOpened("agent 1", "client", "/p", "Port it"))
    assert kept.events() == [opened, a_plan("b"), TurnEnded("end_turn")]


def test_the_end_of_a_turn_brings_no_forgotten_session_back(kept: Kept) -> None:
    kept.record(SessionOpened("agent 1", "client", "/p"), a_plan("a"))
    until(lambda: len(kept.events()) == 2)
    with open_journal(kept.path) as journal:
        journal.forget("s1")
    kept.record(TurnEnded("end_turn"))
    kept.close()
    assert kept.events() == []


def test_of_two_sessions_of_one_id_that_of_this_machine_goes_on(kept: Kept) -> None:
    for host in ("here", "elsewhere"):
        kept.record(SessionOpened("agent 1", None, "/p", host=None if host == "here" else host), a_plan(host))
        kept.close()
        kept = Kept(kept.path)
    kept.record(a_plan("more"), fresh=False)
    kept.close()
    assert kept.events()[1:] == [a_plan("here"), a_plan("more")]
    assert kept.events("s1~2")[1:] == [a_plan("elsewhere")]


def test_a_new_session_with_an_old_id_is_not_the_old_session(kept: Kept) -> None:
    """Some agents count their sessions from 1 in every process."""
    kept.record(SessionOpened("agent 1", None, "/p"), a_plan("old"))
    kept.close()
    for number in (2, 3):
        later = Kept(kept.path)
        later.record(SessionOpened("agent 1", None, "/p"), a_plan("new"))
        later.close()
        assert later.events(f"s1~{number}")[1] == a_plan("new")
    loaded = Kept(kept.path)
    loaded.record(a_plan("newest"), fresh=False)
    loaded.close()
    assert loaded.events("s1~3")[-1] == a_plan("newest")
    assert loaded.events() == [placed(SessionOpened("agent 1", None, "/p")), a_plan("old")]


@pytest.mark.parametrize(("theirs", "ours"), [("/elsewhere", "/p"), ("/elsewhere", None), (None, "/p"), (None, None)])
def test_another_agents_session_with_the_same_id_is_another_session(
    kept: Kept, theirs: str | None, ours: str | None
) -> None:
    kept.record(SessionOpened("other 9", None, theirs), a_plan("theirs"))
    kept.close()
    later = Kept(kept.path)
    later.record(a_plan("ours"), fresh=False, folder=ours)
    later.close()
    assert later.events("s1~2") == [a_plan("ours")]


def test_what_others_write_is_found_and_told(kept: Kept) -> None:
    kept.record(a_plan("a"))
    until(lambda: "s1" in kept.known and kept.known["s1"].seq == 1)
    with open_journal(kept.path) as journal:
        journal.append("s1", [Stamped(0, "user", Remarked(None, SUGGESTION, changes=(SetStatus("s1", "completed"),)))])
    until(lambda: bool(kept.known["s1"].state.plans[None].suggestions))
    kept.record(a_plan("b"))
    assert kept.close() is None
    assert [type(event) for event in kept.events()] == [PlanSet, Remarked, PlanSet]


def test_writers_in_between_cost_nothing(kept: Kept) -> None:
    kept.record(a_plan("a"))
    until(lambda: "s1" in kept.known and kept.known["s1"].seq == 1)
    with open_journal(kept.path) as journal:
        for number in range(50):
            journal.append("s1", [Stamped(0, "user", MessageAdded({"n": number}))])
            kept.record(a_plan(f"plan {number}"))
    assert kept.close() is None
    events = kept.events()
    assert [event for event in events if isinstance(event, PlanSet)] == [
        a_plan("a"),
        *(a_plan(f"plan {number}") for number in range(50)),
    ]
    assert len(events) == 101


def test_an_event_that_cant_be_stored_costs_no_other(kept: Kept) -> None:
    kept.record(a_plan("a"), MessageAdded({"no": {"json": object()}}), a_plan("b"))
    assert "1 change was not recorded" in (kept.close() or "")
    assert kept.events() == [a_plan("a"), Gap(1, "the journal can't store it"), a_plan("b")]


# -- journals that fail


def test_a_file_that_is_no_journal_is_left_as_it_is_and_what_is_lost_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(b"precious notes" * 1000)
    kept = Kept(path)
    kept.record(a_plan("a"), a_plan("b"))
    said = kept.close()
    assert said is not None
    assert said.startswith("2 changes were not recorded: ")
    assert path.read_bytes() == b"precious notes" * 1000


def test_a_journal_that_is_locked_for_a_while_gets_everything_afterwards(kept: Kept) -> None:
    kept.record(a_plan("a"))
    until(lambda: "s1" in kept.known and kept.known["s1"].seq == 1)
    lock = sqlite3.connect(kept.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    kept.record(a_plan("b"))
    lock.execute("ROLLBACK")
    lock.close()
    assert kept.close() is None
    assert kept.events() == [a_plan("a"), a_plan("b")]


def test_a_journal_that_is_locked_to_the_end_is_not_waited_for(kept: Kept) -> None:
    kept.record(a_plan("a"))
    until(lambda: "s1" in kept.known and kept.known["s1"].seq == 1)
    lock = sqlite3.connect(kept.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    kept.record(a_plan("b"), a_plan("c"))
    said = kept.recorder.close(0.5)
    assert said is not None
    assert said.startswith("2 changes were not recorded: ")
    lock.close()


class Failing:
    """Opens a journal that fails so many times."""

    def __init__(self, path: Path, *errors: Exception) -> None:
        self.errors = list(errors)
        self.path = path
        self.tried = Flag()
        self.opened = Flag()

    def __call__(self) -> Journal:
        self.tried.set()
        if self.errors:
            raise self.errors.pop(0)
        self.opened.set()
        return open_journal(self.path)


def test_a_journal_that_can_be_opened_only_later_gets_everything(tmp_path: Path) -> None:
    opening = Failing(tmp_path / "journal.db", JournalUnavailable("the disk is full"))
    recorder = Recorder(opening, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    recorder.put(Record("s1", a_plan("a")), 1)
    assert opening.opened.wait(PATIENCE)
    assert recorder.close(PATIENCE) is None
    with open_journal(opening.path) as journal:
        assert journal.last_seq("s1") == 1


def test_everything_is_counted_that_a_journal_did_not_take(tmp_path: Path) -> None:
    """What came while it was tried again, too."""
    refusing = Failing(tmp_path / "journal.db", *[JournalUnavailable("the disk is full")] * 100)
    recorder = Recorder(refusing, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    recorder.put(Record("s1", a_plan("a")), 1)
    assert refusing.tried.wait(PATIENCE)
    recorder.put(Record("s1", a_plan("b")), 1)
    recorder.put(Record("s1", TurnEnded("x")), 1)
    assert recorder.close(0.3) == "3 changes were not recorded: the disk is full"


@pytest.mark.parametrize("error", [JournalUnavailable("no permission"), DamagedJournal("it is broken")])
def test_a_journal_that_stays_unusable_is_told_of_once_while_the_agent_works(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_recorder, "LASTING", 0.0)
    monkeypatch.setattr(relay_recorder, "RETRY", 0.001)
    opening, said = Failing(tmp_path / "journal.db", *[error] * 5), list[str]()
    recorder = Recorder(opening, lambda _session, _known: None, say=said.append)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    recorder.put(Record("s1", a_plan("a")), 1)
    until(lambda: len(said) > 0)
    assert isinstance(error, DamagedJournal) or opening.opened.wait(PATIENCE)
    recorder.close(PATIENCE)
    assert said == [f"nothing can be recorded: {error}. The agent works on"]


def test_a_journal_that_comes_back_while_the_end_is_waited_for_gets_everything(tmp_path: Path) -> None:
    opening = Failing(tmp_path / "journal.db", *[JournalUnavailable("the disk is full")] * 5)
    recorder = Recorder(opening, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    recorder.put(Record("s1", a_plan("a")), 1)
    assert recorder.close(PATIENCE) is None
    with open_journal(opening.path) as journal:
        assert journal.last_seq("s1") == 1


class Refusing:
    """Opens a journal that refuses to be written until it is free, and notes how much it was given at a time."""

    def __init__(self, path: Path, error: Exception) -> None:
        self.journal = open_journal(path)
        self.error = error
        self.append = self.journal.append
        self.is_free = False
        self.given: list[int] = []

    def __call__(self) -> Journal:
        self.journal.append = self._append  # type: ignore[method-assign]
        return self.journal

    def _append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        self.given.append(len(events))
        if not self.is_free:
            raise self.error
        return self.append(session, events, expected_seq, once)


def test_what_waits_for_a_journal_that_is_locked_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is tried again."""
    monkeypatch.setattr("planwire.relay.recorder.RETRY", 0.0)
    locked = Refusing(tmp_path / "journal.db", JournalUnavailable("it is locked"))
    recorder = Recorder(locked, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    for number in range(300):
        recorder.put(Record("s1", a_plan(str(number))), 100)
    recorder.wake()
    until(lambda: len(locked.given) > 20)
    locked.is_free = True
    assert recorder.close(PATIENCE) is None
    assert max(locked.given[:20]) <= SLICE
    with open_journal(tmp_path / "journal.db") as journal:
        assert journal.last_seq("s1") == 300


class Slow:
    """Opens a journal, once it may."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.asked = Flag()
        self.may = Flag()

    def __call__(self) -> Journal:
        self.asked.set()
        assert self.may.wait(PATIENCE)
        return open_journal(self.path)


def put_before_it_is_open(path: Path, events: list[Event], size: int) -> str | None:
    slow = Slow(path)
    recorder = Recorder(slow, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    for event in events:
        recorder.put(Record("s1", event), size)
    slow.may.set()
    return recorder.close(PATIENCE)


def test_a_burst_of_long_plans_is_recorded_to_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.relay.recorder.BEHIND", PATIENCE)  # however busy the machine is
    plans: list[Event] = [a_plan(*(f"{number} {step}" for step in range(20))) for number in range(300)]
    assert put_before_it_is_open(tmp_path / "journal.db", plans, 2_300) is None


def test_a_text_weighs_what_it_weighs_however_short_its_last_piece(tmp_path: Path) -> None:
    texts: list[Event] = [a_text(f"{number}" + 200_000 * "x") for number in range(20)]
    assert "not recorded: they came faster" in (put_before_it_is_open(tmp_path / "j.db", texts, 10) or "")


def test_a_long_prompt_weighs_nothing_as_it_is_not_kept(tmp_path: Path) -> None:
    turns: list[Event] = [SessionOpened(title="t"), *[TurnEnded("end_turn")] * 20]
    assert put_before_it_is_open(tmp_path / "journal.db", turns, 1_000_000) is None


@pytest.mark.parametrize("error", [DamagedJournal("it is broken"), OSError("no such disk"), RuntimeError("a bug")])
def test_a_journal_that_is_beyond_help_is_given_up(error: Exception, tmp_path: Path) -> None:
    recorder = Recorder(Failing(tmp_path / "journal.db", error), lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    for _ in range(3):
        recorder.put(Record("s1", TurnEnded("x")), 1)
    assert recorder.close(PATIENCE) == f"3 changes were not recorded: {error}"


@pytest.mark.parametrize("error", [DamagedJournal("it is broken"), OSError("no such disk"), RuntimeError("a bug")])
def test_a_text_that_a_journal_does_not_take_in_the_end_is_counted(error: Exception, tmp_path: Path) -> None:
    refusing = Refusing(tmp_path / "journal.db", error)
    recorder = Recorder(refusing, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    recorder.put(Record("s1", a_text("# A"), streams=True), 1)
    assert recorder.close(PATIENCE) == f"1 change was not recorded: {error}"
    refusing.journal.close()


# -- floods


def letters(random: Random) -> list[str]:
    """Steps that are as slow to compare as can be."""
    return ["".join(random.choices("abc", k=200)) for _ in range(20)]


def test_in_the_end_the_newest_state_is_written_however_little_time_there_is(tmp_path: Path) -> None:
    """Of every session, with who it was; and a gap says what is missing."""
    random = Random(0)
    slow = Slow(tmp_path / "journal.db")
    recorder = Recorder(slow, lambda _session, _known: None)
    recorder.start()
    last = {}
    for session in ("s1", "s2"):
        recorder.put(Meet(session, True), 0)
        recorder.put(Record(session, SessionOpened("agent 1", cwd="/p")), 0)
        for _ in range(100):
            last[session] = a_plan(*letters(random))
            recorder.put(Record(session, last[session]), 4_000)
        recorder.put(Record(session, TurnEnded("end_turn")), 0)
    slow.may.set()
    said = recorder.close(0.1)
    with open_journal(slow.path) as journal:
        for session, plan in last.items():
            events = deciding.made(journal, session)
            assert events[0] == placed(SessionOpened("agent 1", cwd="/p"))
            assert events[-2:] == [plan, TurnEnded("end_turn")]
            missing = sum(each.count for each in events if isinstance(each, Gap))
            assert missing + sum(isinstance(each, PlanSet) for each in events) == 100
    assert said is not None
    assert "not recorded: the agent ended before they could be recorded" in said


def test_a_recorder_that_falls_behind_lets_the_past_go(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.relay.recorder.BEHIND", 0.05)
    random = Random(0)
    plans = [a_plan(*letters(random)) for _ in range(60)]
    kept.record(*plans)
    kept.recorder.wake()
    until(lambda: "s1" in kept.known and plans[-1] in kept.events())
    events = kept.events()
    assert sum(each.count for each in events if isinstance(each, Gap)) == 60 - sum(map(plans.__contains__, events))
    assert Gap(1, TOO_FAST).why in (kept.close() or "")


def test_the_end_of_a_turn_does_not_wait_for_long(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed relay leaves the newest state, unless that is very new."""
    monkeypatch.setattr("planwire.relay.recorder.BEHIND_THE_END", 0.05)
    random = Random(0)
    plans = [a_plan(*letters(random)) for _ in range(60)]
    kept.record(*plans, TurnEnded("end_turn"))
    kept.recorder.wake()
    until(lambda: "s1" in kept.known and TurnEnded("end_turn") in kept.events())
    *_, gap, last, _end = kept.events()
    assert isinstance(gap, Gap)
    assert last == plans[-1]
    kept.close()


def test_a_journal_that_did_not_answer_for_a_while_has_a_gap_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.relay.recorder.SLOW", 0.0)
    slow = Slow(tmp_path / "journal.db")
    recorder = Recorder(slow, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    recorder.put(Record("s1", a_plan("first")), 100)
    recorder.wake()
    until(slow.asked.is_set)
    for number in range(10):
        recorder.put(Record("s1", a_plan(str(number))), 200_000)
    slow.may.set()
    assert recorder.close(PATIENCE) == "6 changes were not recorded: the journal did not answer in time"


def test_a_journal_that_could_not_be_written_for_a_while_has_a_gap_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.relay.recorder.RETRY", 0.0)
    locked = Refusing(tmp_path / "journal.db", JournalUnavailable("it is locked"))
    recorder = Recorder(locked, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s1", True), 0)
    recorder.put(Record("s1", a_plan("first")), 100)
    until(lambda: len(locked.given) > 2)
    for number in range(10):
        recorder.put(Record("s1", a_plan(str(number))), 200_000)
    locked.is_free = True
    assert recorder.close(PATIENCE) == "6 changes were not recorded: the journal could not be written"
    with open_journal(tmp_path / "journal.db") as journal:
        events = deciding.made(journal, "s1")
    kept = [a_plan(word) for word in ("first", "0", "1", "2")]
    assert events == [*kept, Gap(6, "the journal could not be written"), a_plan("9")]


def test_times_never_run_backwards_whatever_the_clock_of_another_writer_says(kept: Kept) -> None:
    kept.record(a_plan("a"))
    until(lambda: "s1" in kept.known and kept.known["s1"].seq == 1)
    later = kept.known["s1"].at + 60_000
    with open_journal(kept.path) as journal:
        journal.append("s1", [Stamped(later, "agent", MessageAdded({"role": "user"}))])
    kept.record(a_plan("b"))
    kept.close()
    with open_journal(kept.path) as journal:
        assert [each.at for each in journal.read("s1")][1:] == [later, later]


def test_a_list_that_only_counts_anew_is_no_new_version(kept: Kept) -> None:
    def counted(tokens: int) -> PlanSet:
        return PlanSet(ItemsPlan(None, (Entry("a", "low", "pending", {"stats": {"tokens": tokens}}),)), via=ACP)

    kept.record(counted(1), counted(2), TurnEnded("end_turn"), counted(3))
    kept.close()
    assert kept.events() == [counted(1), TurnEnded("end_turn")]


# -- news


def test_a_text_that_has_been_quiet_is_whole() -> None:
    history = PendingHistory(begin("s1"))
    for at, content in enumerate(("# A", "# A b", "# A b c")):
        assert history.take(Record("s1", a_text(content), streams=True), at) == []
    assert history.finish_stream(QUIET) == []
    (settled,) = history.finish_stream(QUIET + 2)
    assert settled.event == a_text("# A b c")
    assert history.finish_stream() == []


def test_a_title_does_not_end_a_text_that_streams_in() -> None:
    history = PendingHistory(begin("s1"))
    history.take(Record("s1", a_text("# A"), streams=True), 0)
    assert len(history.take(Record("s1", SessionOpened(title="t")), 0)) == 1
    assert history.take(Record("s1", a_text("# A b"), streams=True), 0) == []
    assert len(history.finish_stream()) == 1


LARGE = a_plan(*(Random(n).randbytes(8_000).hex() for n in range(200)))


def recorded(url: str, *plans: Event) -> tuple[str | None, list[Event]]:
    """What a recorder says of plans in the end, and what is in the journal."""
    recorder = Recorder(lambda: open_journal(url), lambda *_: None)
    recorder.start()
    recorder.put(Meet("s1", True, "agent 1", "/p"), 0)
    for plan in plans:
        recorder.put(Record("s1", plan), 100)
    said = recorder.close(PATIENCE)
    with open_journal(url) as journal:
        return said, deciding.made(journal, "s1")


def test_a_plan_above_the_largest_message_of_a_server_is_recorded_whole() -> None:
    plans = [a_plan("a"), LARGE, a_plan("b")]
    assert recorded(fresh_url(), *plans) == (None, plans)


def test_what_is_too_large_for_any_journal_is_a_gap_and_the_recording_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec, "LARGEST_EVENT", 100_000)
    said, found = recorded(str(tmp_path / "journal.db"), a_plan("a"), LARGE, a_plan("b"))
    assert "1 change was not recorded" in (said or "")
    assert found == [a_plan("a"), Gap(1, "the journal can't store it"), a_plan("b")]


def test_two_relays_that_meet_a_new_session_of_one_name_at_once_keep_them_apart(tmp_path: Path) -> None:
    names: list[dict[str, str]] = [{}, {}]
    with open_journal(tmp_path / "journal.db") as journal:
        relays = [JournalledSessions(lambda wire, memory, of=of: of.update({wire: memory.id})) for of in names]  # type: ignore[misc]
        for relay in relays:
            relay.take(journal, Meet("1", True, "agent 1", "/p"), 0)
        for number, relay in enumerate(relays):
            relay.take(journal, Record("1", SessionOpened("agent 1", cwd="/p"), BY_RELAY), 1)
            relay.take(journal, Record("1", a_plan(f"plan {number}")), 2)
            assert relay.write(journal) == []
        assert names == [{"1": "1"}, {"1": "1~2"}]
        found = [deciding.made(journal, name)[1:] for name in ("1", "1~2")]
        assert found == [[a_plan("plan 0")], [a_plan("plan 1")]]
        assert sorted(each.session for each in journal.leases()) == ["1", "1~2"]


@pytest.mark.parametrize("fresh", [True, False])
def test_the_thousandth_session_of_one_id_is_met_like_the_first(fresh: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_journal("memory:") as journal:
        for number in range(1, 1_001):
            opening = placed(SessionOpened("agent 1", None, "/p"))
            journal.append(f"1~{number}" if number > 1 else "1", [Stamped(number, BY_RELAY, opening)])
        asked: list[str] = []
        for method in ("last_seq", "read", "snapshot"):

            def counted(
                *given: object, method: str = method, call: Callable[..., object] = getattr(journal, method)
            ) -> object:
                asked.append(method)
                return call(*given)

            monkeypatch.setattr(journal, method, counted)
        met: dict[str, SessionMemory] = {}
        JournalledSessions(met.__setitem__).take(journal, Meet("1", fresh, "agent 1", "/p"), 0)
        assert met["1"].id == ("1~1001" if fresh else "1~1000")
        assert len(asked) < 30


def test_a_number_that_was_forgotten_is_as_free_as_one_that_never_was(kept: Kept) -> None:
    with open_journal(kept.path) as journal:
        for name in ("1", "1~2", "1~3", "1~5"):
            journal.append(name, [Stamped(1, BY_RELAY, placed(SessionOpened("agent 1", None, "/p")))])
    kept.record(a_plan("new"), session="1")
    kept.close()
    with open_journal(kept.path) as journal:
        assert {each.id for each in journal.sessions()} - {"1", "1~2", "1~3", "1~5"} == {"1~4"}
    later = Kept(kept.path)
    later.record(a_plan("more"), session="1", fresh=False)
    later.close()
    assert later.events("1~4") == [a_plan("new"), a_plan("more")]
