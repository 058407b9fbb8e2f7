"""States from a journal: the same answer with snapshots and without, whatever became of the snapshots."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planwire import Entry, ItemsPlan, MarkdownPlan
from planwire.errors import JournalUnavailable
from planwire.journal import Journal, Snapshot, Stamped, View, catch_up, load_state, open_journal, state_at
from planwire.journal.memory import MemoryJournal
from planwire.journal.view import EVENTS_PER_SNAPSHOT, STATE
from planwire.model.events import (
    ACP,
    APPROVED,
    SELECTION,
    Event,
    MessageAdded,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    Recorded,
    Remarked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.records import SessionState
from planwire.model.step_changes import AddStep, SetStatus
from tests import deciding
from tests.deciding import fold_all
from tests.strategies import plan_ids, plans, texts

OPENING: list[Event] = [
    SessionOpened("an agent", cwd="/project"),
    PlanSet(ItemsPlan("main", (Entry("read", "high", "pending", {"m": [1, None]}), Entry("write", None, "odd")))),
    PlanSet(MarkdownPlan(None, "# Plan\n- [ ] one\n- [x] two\n"), via=ACP),
    PlanChanged("main", "a note", (SetStatus("s1", "completed"), AddStep("test", "s1"))),
    PlanChanged(None, changes=(SetStatus("s1", "completed"),)),
    PlanReviewed("main", 4, APPROVED),
    Remarked("main", SELECTION, revision=4, steps=("s1",), review=6),
    TurnEnded("end_turn"),
]


def write(journal: Journal, *events: Event) -> None:
    deciding.write(journal, "s", *(Stamped(1_000 + number, "user", event) for number, event in enumerate(events)))


def statuses(number: int) -> list[Event]:
    """Changes that leave a state of the same size: the plan is set anew each time."""
    words = ("pending", "in_progress", "completed")
    return [PlanSet(ItemsPlan("main", (Entry("read", "high", words[each % 3]),))) for each in range(number)]


@pytest.fixture
def journal() -> MemoryJournal:
    return MemoryJournal()


def folded(journal: Journal, upto: int | None = None) -> SessionState:
    return fold_all("s", journal.read("s", upto=upto))


def test_a_state_is_what_the_events_fold_to(journal: MemoryJournal) -> None:
    assert load_state(journal, "s") == SessionState("s")
    write(journal, *OPENING)
    assert load_state(journal, "s") == folded(journal)
    assert load_state(journal, "s").seq == len(OPENING)


def test_a_snapshot_is_kept_once_there_are_enough_events_and_gives_the_same_state(journal: MemoryJournal) -> None:
    write(journal, *OPENING, *statuses(EVENTS_PER_SNAPSHOT - len(OPENING) - 1))
    load_state(journal, "s")
    assert journal.snapshot("s") is None
    write(journal, TurnEnded("x"), TurnEnded("y"))
    load_state(journal, "s")
    assert journal.snapshot("s") is not None
    write(journal, *statuses(5))
    assert load_state(journal, "s") == folded(journal)


def test_only_the_events_behind_the_snapshot_are_read(journal: MemoryJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    write(journal, *OPENING, *statuses(1_000))
    load_state(journal, "s")
    write(journal, *statuses(3))
    asked = []
    read = journal.read

    def watched(session: str, after: int = 0, upto: int | None = None) -> object:
        asked.append(after)
        return read(session, after, upto)

    monkeypatch.setattr(journal, "read", watched)
    load_state(journal, "s")
    assert asked == [len(OPENING) + 1_000]


def test_snapshots_are_kept_by_those_who_catch_up_one_event_at_a_time(journal: MemoryJournal) -> None:
    state = load_state(journal, "s")
    kept = set()
    for event in statuses(2 * EVENTS_PER_SNAPSHOT + 10):
        write(journal, event)
        state = catch_up(journal, state)
        kept.add(snapshot.seq if (snapshot := journal.snapshot("s")) else 0)
    assert kept == {0, EVENTS_PER_SNAPSHOT, 2 * EVENTS_PER_SNAPSHOT}
    assert state == folded(journal)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xff",
        b"not msgpack",
        msgspec.msgpack.encode((999, SessionState("s", 3))),
        msgspec.msgpack.encode((1, SessionState("another", 3))),
        msgspec.msgpack.encode((1, SessionState("s", 2))),
        msgspec.msgpack.encode((1, {"id": "s", "seq": 3, "plans": {"p": {}}})),
        b"\x92" * 100_000,
    ],
    ids=["empty", "noise", "text", "other rules", "another session", "another number", "another shape", "nested"],
)
def test_a_snapshot_that_can_not_be_trusted_is_ignored(journal: MemoryJournal, data: bytes) -> None:
    write(journal, *OPENING)
    journal.keep_snapshot("s", 3, data)
    assert load_state(journal, "s") == folded(journal)
    assert state_at(journal, "s", 4) == folded(journal, 4)


def test_a_journal_that_can_not_keep_a_snapshot_still_tells_the_state(
    journal: MemoryJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise JournalUnavailable("the disk is full")

    monkeypatch.setattr(journal, "keep_snapshot", full)
    write(journal, *statuses(300))
    assert load_state(journal, "s") == folded(journal)


def test_a_session_that_was_forgotten_and_began_anew_is_caught_up_with_from_its_beginning(
    journal: MemoryJournal,
) -> None:
    write(journal, *OPENING)
    before = load_state(journal, "s")
    journal.forget("s")
    assert catch_up(journal, before) == SessionState("s")
    write(journal, TurnEnded("anew"))
    assert catch_up(journal, before) == folded(journal)


def test_the_state_at_any_number_is_the_state_as_it_was_then(journal: MemoryJournal) -> None:
    write(journal, *OPENING, *statuses(300))
    load_state(journal, "s")
    for seq in (0, 1, 4, 7, 255, 256, 300, 306, 307):
        assert state_at(journal, "s", seq) == folded(journal, seq)
        assert state_at(journal, "s", seq).seq == seq
    assert state_at(journal, "s", 10**9) == folded(journal)
    assert state_at(journal, "s", -1) == SessionState("s")


@settings(max_examples=60)
@given(st.lists(plans(plan_ids).map(PlanSet) | texts.map(TurnEnded), max_size=8))
def test_a_state_survives_its_snapshot_whatever_the_plans_say(events: list[Event]) -> None:
    journal = MemoryJournal()
    write(journal, *events, TurnEnded("end"))
    state = load_state(journal, "s")
    STATE._keep(journal, state)
    assume(journal.snapshot("s") is not None)  # msgpack has no whole numbers beyond 64 bits: such a state has none
    assert STATE._kept(journal, "s") == state


def test_the_form_of_a_snapshot_is_known(journal: MemoryJournal) -> None:
    """If this fails, states look or fold differently from those in people's journals: raise the `rules` of `STATE`."""
    write(journal, *OPENING)
    STATE._keep(journal, load_state(journal, "s"))
    kept = journal.snapshot("s")
    assert kept is not None
    rules, state = msgspec.msgpack.decode(kept.data)
    assert rules == 13
    assert " ".join(state) == (
        "id seq opened plans stopped acted turns compacted remarked recapped told placed tell stop children mode forks "
        "at"
    )
    assert " ".join(state["plans"]["main"]) == (
        "state owner version base supersedes revision created_at changed_at by summary mode deltas numbered "
        "authors edited remarks reviews asked removed removed_by is_proposal approval ended cleared disputed "
        "notes noted parent reader why message past_message carried pending file"
    )
    assert " ".join(state["plans"]["main"]["remarks"][0]) == (
        "id seq at by plan_id kind text revision step passage steps changes review kept about done offered told "
        "closed answers"
    )
    assert state["plans"]["main"]["state"]["memory"]["owners"] == {"read": ["s1"], "write": ["s2"], "test": ["s3"]}


class Talk(msgspec.Struct, frozen=True):
    """A view of somebody else's: what was said."""

    id: str
    seq: int = 0
    said: tuple[str, ...] = ()


def listen(talk: Talk, recorded: Recorded) -> Talk:
    more = (recorded.event.message["content"],) if isinstance(recorded.event, MessageAdded) else ()
    return Talk(talk.id, recorded.seq, talk.said + more)


def test_views_of_other_kinds_keep_snapshots_of_their_own(tmp_path: Path) -> None:
    talks = View("talk", Talk, Talk, listen, rules=1)
    with open_journal(tmp_path / "journal.db") as journal:
        write(journal, *OPENING, *[MessageAdded({"content": str(each)}) for each in range(300)])
        talk = talks.load(journal, "s")
        assert talk == Talk("s", 308, tuple(map(str, range(300))))
        load_state(journal, "s")
        assert isinstance(journal.snapshot("s", "talk"), Snapshot)
        assert journal.snapshot("s", "talk") != journal.snapshot("s", "state")
        write(journal, MessageAdded({"content": "more"}))
        assert talks.load(journal, "s") == talks.catch_up(journal, talk) == listen(talk, next(journal.read("s", 308)))
        assert talks.at(journal, "s", 10).said == ("0", "1")
        changed = View("talk", Talk, Talk, listen, rules=2)
        assert changed._kept(journal, "s") is None
