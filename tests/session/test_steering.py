"""Acts of people, written to a journal that others write to as well; and what is shown over a plan."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from planwire import BlockingPlanSession, Entry, ItemsPlan
from planwire.errors import NothingChanges, PlanError
from planwire.journal import Journal, Once, Stamped, load_state, open_journal
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    SUGGESTION,
    Comment,
    Event,
    PlanChanged,
    PlanSet,
    Recorded,
    Remarked,
    Told,
)
from planwire.model.file_texts import state_with_text
from planwire.model.plan import BODY_CAP, FilePlan
from planwire.model.records import TOOL, PlanRecord
from planwire.model.sizes import plan_bytes
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetStatus
from planwire.readmodel.annotations import annotations, suggestion_sentence
from planwire.session.moved_on import MovedOn
from planwire.session.steering import steer
from planwire.steering.overlay import Overlay
from planwire.steering.plan_text import as_text
from planwire.steering.wanted import Wanted
from tests import deciding

#: No wait in here is a matter of luck; this bounds those that would never end.
PATIENCE = 20


@pytest.fixture(params=["memory", "sqlite"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    with open_journal("memory:" if request.param == "memory" else tmp_path / "journal.db") as opened:
        yield opened


def agents_plan(*contents: str, done: int = 0) -> PlanSet:
    entries = [Entry(text, "medium", "completed" if at < done else "pending") for at, text in enumerate(contents)]
    return PlanSet(ItemsPlan("main", tuple(entries)), via=ACP)


def write(journal: Journal, *events: Event, by: str = "agent") -> None:
    deciding.write(journal, "s", *(Stamped(0, by, event) for event in events))


def record(journal: Journal) -> PlanRecord:
    return load_state(journal, "s").plans["main"]


def raced(journal: Journal, monkeypatch: pytest.MonkeyPatch, *others: Callable[[], object]) -> None:
    """Let another writer be faster with each of these, whenever someone is about to append."""
    append, left = journal.append, [*others]

    def late(
        session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        if left:
            faster = left.pop(0)
            monkeypatch.setattr(journal, "append", append)
            faster()
            monkeypatch.setattr(journal, "append", late)
        return append(session, events, expected_seq, once)

    monkeypatch.setattr(journal, "append", late)


def at_once(*doings: Callable[[], object]) -> None:
    """Do all of it at the same time, and wait for the end."""
    start = Barrier(len(doings))

    def run(doing: Callable[[], object]) -> None:
        start.wait(PATIENCE)
        doing()

    threads = [Thread(target=run, args=(doing,)) for doing in doings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


# -- what comes of an act


def test_an_act_is_written_and_answered_with_the_session_after_it(journal: Journal) -> None:
    agent = BlockingPlanSession(journal, "s")
    agent.call("set_plan", {"entries": ["read", "write"]})
    seen = record(journal).revision
    done = steer(journal, "s", "main", Wanted("add", None, seen, text="ship", after="s1"))
    assert (done.seen, done.revision, done.remark) == (seen, journal.last_seq("s"), None)
    assert (done.added, done.words, done.is_suggestion) == ("s3", "Changed: add “ship”", False)
    assert done.state == load_state(journal, "s")
    said = steer(journal, done.state, "main", Wanted("comment", "s3", text="today"), by="ana")
    assert (said.seen, said.revision, said.added) == (done.revision, done.revision, None)
    assert (said.remark, journal.last_seq("s")) == ("r1", done.revision + 1)
    [last] = journal.read("s", done.revision)
    comment = Remarked("main", "comment", "today", done.revision, "s3", id="r1", about={"s3": "ship"})
    assert (last.by, last.event) == ("ana", comment)


def test_an_act_that_is_refused_writes_nothing(journal: Journal) -> None:
    write(journal, agents_plan("read"))
    for wanted in (
        Wanted("tick", "s9"),
        Wanted("set_status", "s1", status="to do"),
        Wanted("review", None, 0, verdict=APPROVED),
        Wanted("wish"),
    ):
        with pytest.raises(PlanError):
            steer(journal, "s", "main", wanted)
    with pytest.raises(PlanError, match="This session has no such plan"):
        steer(journal, "another", "main", Wanted("tick", "s1"))
    assert journal.last_seq("s") == 1


def test_a_suggestion_ends_the_one_that_it_replaces_whoever_writes_between(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(journal, agents_plan("read"))
    first = steer(journal, "s", "main", Wanted("set_status", "s1", status="done"))
    raced(journal, monkeypatch, partial(write, journal, agents_plan("read", "theirs")))
    second = steer(journal, first.state, "main", Wanted("set_status", "s1", first.revision, status="cancelled"))
    change = SetStatus("s1", "cancelled")
    changed = Remarked("main", "suggestion", "", 1, changes=(change,), id="r2", about={"s1": "read"})
    assert [each.event for each in journal.read("s", 3)] == [changed]
    assert (first.remark, second.remark, second.revision) == ("r1", "r2", 3)
    assert [each.id for each in record(journal).suggestions] == ["r2"]
    [ended] = [each.closed for each in record(journal).remarks if each.closed]
    assert (ended.how, ended.text) == ("superseded", "r2")


def test_a_session_that_was_forgotten_is_read_anew(journal: Journal) -> None:
    write(journal, agents_plan("read"), agents_plan("read", "write"))
    known = load_state(journal, "s")
    journal.forget("s")
    write(journal, agents_plan("other"))
    assert steer(journal, known, "main", Wanted("tick", "s1")).state.seq == 2


# -- others write as well


def test_an_act_on_a_plan_that_moved_on_is_not_written_and_shows_what_happened(journal: Journal) -> None:
    agent = BlockingPlanSession(journal, "s")
    agent.call("set_plan", {"entries": ["read", "write"]})
    seen = record(journal).revision
    agent.call("update_plan", {"steps": {"s1": "completed"}, "note": "was quick"})
    agent.call("update_plan", {"remove": ["s1"]})
    before = journal.last_seq("s")
    with pytest.raises(MovedOn, match=r"changed since you looked at it\. Nothing was written") as refused:
        steer(journal, "s", "main", Wanted("reword", "s1", seen, text="read it all"))
    moved = refused.value
    assert journal.last_seq("s") == before
    assert moved.before is not None
    assert moved.now == record(journal)
    assert [step.content for step in moved.before.state.steps] == ["read", "write"]
    assert (moved.plan_id, moved.seen, moved.revision) == ("main", seen, record(journal).revision)
    assert moved.missing == ("s1",)
    assert [word.text for moment in moved.moments for word in moment.words] == ["read", "was quick", "read"]


def test_what_happened_to_other_plans_is_no_part_of_it(journal: Journal) -> None:
    write(journal, PlanSet(ItemsPlan("main", (Entry("a", None, "pending"),))))
    write(journal, PlanSet(ItemsPlan("other", (Entry("b", None, "pending"),))))
    write(journal, PlanChanged("main", None, (RewordStep("s1", "aa"),)))
    with pytest.raises(MovedOn) as refused:
        steer(journal, "s", "main", Wanted("tick", "s1", 1))
    assert [moment.seq for moment in refused.value.moments] == [3]


def test_a_revision_that_never_was_is_refused_as_well(journal: Journal) -> None:
    write(journal, agents_plan("read"))
    with pytest.raises(MovedOn) as refused:
        steer(journal, "s", "main", Wanted("review", None, 99, verdict=APPROVED))
    assert refused.value.before == refused.value.now == record(journal)
    assert refused.value.moments == ()
    with pytest.raises(MovedOn) as refused:
        steer(journal, "s", "main", Wanted("review", None, 0, verdict=APPROVED))
    assert refused.value.before is None
    assert len(refused.value.moments) == 1


def test_of_an_edited_text_the_changes_that_still_fit_are_told(journal: Journal) -> None:
    write(journal, agents_plan("read", "write", "test"))
    text = as_text(record(journal).state).replace("[ ]", "[x]")
    write(journal, PlanChanged("main", None, (RewordStep("s1", "read it"), RemoveStep("s3"))))
    with pytest.raises(MovedOn) as refused:
        steer(journal, "s", "main", Wanted("suggest", None, 1, plan_text=text))
    assert refused.value.missing == ("s3",)
    assert refused.value.others == (SetStatus("s2", "completed"),)
    steer(journal, "s", "main", Wanted("suggest", changes=refused.value.others))
    [suggestion] = record(journal).suggestions
    assert suggestion.changes == (SetStatus("s2", "completed"),)


def test_an_agent_that_ticks_off_its_list_turns_nobody_away(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    write(journal, agents_plan("a", "b", "c", "d"))
    for wanted in (
        Wanted("comment", "s4", 1, text="careful"),
        Wanted("reword", "s4", 1, text="d, carefully"),
        Wanted("tick", "s4", 1),
        Wanted("move", "s4", 1, by=-1),
        Wanted("review", None, 1, verdict=CHANGES_REQUESTED),
        Wanted("review", None, 1, verdict=APPROVED),
    ):
        ticks = [agents_plan("a", "b", "c", "d", done=done) for done in (0, 1, 2)]
        raced(journal, monkeypatch, *(partial(write, journal, tick) for tick in ticks))
        steer(journal, "s", "main", wanted)
        monkeypatch.undo()


def test_to_send_it_anyway_never_loses_to_a_writer_between(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is another each time that the act is about to be written, and it is written all the same."""
    write(journal, agents_plan("read", "write"))
    for wanted in (
        Wanted("review", verdict=APPROVED),
        Wanted("comment", "s1", text="careful"),
        Wanted("reword", "s1", text="read it"),
        Wanted("select", steps=("s1",)),
        Wanted("add", text="ship"),
        Wanted("dismiss"),
    ):
        rewritten = [agents_plan("read", text, "more") for text in ("write it", "write this", "write that")]
        raced(journal, monkeypatch, *(partial(write, journal, plan) for plan in rewritten))
        done = steer(journal, "s", "main", wanted)
        monkeypatch.undo()
        assert done.seen == done.state.seq - 1
        assert done.state.seq == journal.last_seq("s")


def test_of_two_who_are_at_once_with_the_same_the_second_has_nothing_to_write(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(journal, agents_plan("read"))
    approve = Wanted("review", None, 1, verdict=APPROVED)
    raced(journal, monkeypatch, partial(steer, journal, "s", "main", approve))
    with pytest.raises(NothingChanges):
        steer(journal, "s", "main", approve)
    tick = Wanted("tick", "s1", 1)
    raced(journal, monkeypatch, partial(steer, journal, "s", "main", tick, by="ana"))
    with pytest.raises(NothingChanges):
        steer(journal, "s", "main", tick)
    assert journal.last_seq("s") == 3


def test_people_who_speak_at_once_are_all_heard(journal: Journal) -> None:
    write(journal, agents_plan("read"))

    def speak(name: str) -> None:
        for number in range(10):
            steer(journal, "s", "main", Wanted("comment", text=f"{name} {number}"), by=name)

    at_once(*(partial(speak, name) for name in ("one", "two", "three")))
    said = [(each.by, each.text) for each in record(journal).open_remarks]
    assert len(said) == 30
    assert set(said) == {(name, f"{name} {number}") for name in ("one", "two", "three") for number in range(10)}


def test_people_who_change_one_step_at_once_leave_one_suggestion(journal: Journal) -> None:
    write(journal, agents_plan("read"))

    def reword(name: str) -> None:
        for number in range(10):
            steer(journal, "s", "main", Wanted("reword", "s1", text=f"{name} {number}"), by=name)

    at_once(*(partial(reword, name) for name in ("one", "two", "three")))
    [suggestion] = record(journal).suggestions
    [change] = suggestion.changes
    assert isinstance(change, RewordStep)
    assert change.content.endswith(" 9")


def test_two_quick_moves_count_twice_though_both_are_for_what_the_screen_shows(journal: Journal) -> None:
    for plan in (agents_plan("a", "b", "c"), PlanSet(agents_plan("a", "b", "c").plan)):
        write(journal, plan)
        seen = record(journal).revision
        for _ in range(2):
            steer(journal, "s", "main", Wanted("move", "s3", seen, by=-1))
        now = record(journal)
        assert [step.content for step in Overlay.of(now.state, now.suggestions).steps] == ["c", "a", "b"]
        with pytest.raises(NothingChanges, match="already the first"):
            steer(journal, "s", "main", Wanted("move", "s3", seen, by=-1))


# -- what is shown over a plan


def test_suggestions_lie_over_the_steps_that_they_are_about(journal: Journal) -> None:
    write(journal, agents_plan("read", "write", "test"))
    changes = (RewordStep("s2", "write it twice"), SetStatus("s2", "in_progress"), MoveStep("s3", "s1"))
    suggested = (*changes, AddStep("ship", "s3"), AddStep("rest"))
    write(journal, Remarked("main", SUGGESTION, "please", changes=suggested), by="user")
    shown = annotations(record(journal))
    assert {step: [(each.kind, each.text) for each in suggested] for step, suggested in shown.steps.items()} == {
        "s2": [("reword", "write it twice"), ("status", "in progress")],
        "s3": [("move", "after: read")],
    }
    assert [(after, each.text, each.suggestion) for after, each in shown.added] == [
        ("s3", "ship", "r1"),
        (None, "rest", "r1"),
    ]
    assert suggestion_sentence(record(journal), record(journal).suggestions[0]).endswith("; please")
    steer(journal, "s", "main", Wanted("withdraw", "r1"))
    assert annotations(record(journal)) == annotations(load_state(journal, "s").plans["main"])
    assert not annotations(record(journal)).steps


def test_a_suggestion_for_a_step_that_is_gone_is_still_said_but_lies_nowhere(journal: Journal) -> None:
    write(journal, agents_plan("read", "write"))
    suggested = RewordStep("s2", "later"), AddStep("ship", "s2")
    write(journal, Remarked("main", SUGGESTION, changes=suggested), by="user")
    write(journal, agents_plan("read"))
    shown = annotations(record(journal))
    assert shown.steps == {}
    assert [after for after, _ in shown.added] == [None]
    assert len(record(journal).suggestions) == 1


def test_remarks_stay_with_their_step_until_it_is_over(journal: Journal) -> None:
    write(journal, agents_plan("read", "write"))
    comments = (Comment("which file?", "s1"), Comment("in small steps", "s2"))
    steer(journal, "s", "main", Wanted("review", None, 1, text="looks good", verdict=APPROVED, comments=comments))
    assert {step: [each.text for each in said] for step, said in annotations(record(journal)).remarks.items()} == {
        "s1": ["which file?"],
        "s2": ["in small steps"],
        None: ["looks good"],
    }
    write(journal, agents_plan("read", "write", done=1))
    assert set(annotations(record(journal)).remarks) == {"s1", "s2", None}, "the agent has not heard of them"
    write(journal, agents_plan("read", "write"), Told(TOOL, journal.last_seq("s"), 0, ("r1", "r2", "r3"), "tool-5"))
    write(journal, agents_plan("read", "write", done=1))
    assert set(annotations(record(journal)).remarks) == {"s2", None}


@pytest.mark.parametrize("plan", [{"entries": ["x" * 900] * 102}, {"content": "- [ ] x\n\n" + "y" * 97000}])
@pytest.mark.parametrize("wanted", [Wanted("add", text="z" * 4000), Wanted("reword", text="z" * 4000, target="s1")])
def test_a_person_can_not_make_a_plan_larger_than_its_cap(plan: dict[str, Any], wanted: Wanted) -> None:
    with open_journal("memory:") as journal:
        session = BlockingPlanSession(journal, "s")
        assert "error" not in session.call("set_plan", plan)
        with pytest.raises(PlanError, match=r"bytes, [\d,]+ more than the 98,304 that are allowed"):
            steer(journal, "s", "main", wanted)
        steer(journal, "s", "main", Wanted("tick", target="s1"))
        assert plan_bytes(session.refresh().plans["main"].state.plan) <= BODY_CAP


# -- plan files


class PlanFile:
    """A plan in a file, as faces read it."""

    def __init__(self, journal: Journal, *steps: str) -> None:
        self._journal = journal
        self._plan = FilePlan("main", "file:///plan.md")
        self.reads(*steps)
        write(journal, PlanSet(self._plan, via=ACP))

    def reads(self, *steps: str) -> None:
        self.text = "".join(f"- [ ] {step}\n" for step in steps)

    def do(self, act: str, seen: int, **arguments: Any) -> Remarked | None:
        shown = state_with_text(record(self._journal).state, lambda _: self.text)
        steer(self._journal, "s", "main", Wanted(act, seen=seen, **arguments), "ann", shown)
        return next((each.event for each in reversed(events(self._journal)) if isinstance(each.event, Remarked)), None)


def events(journal: Journal) -> list[Recorded]:
    return [*journal.read("s")]


def test_an_approval_of_a_plan_file_is_not_of_the_text_that_took_the_place_of_the_one_seen(journal: Journal) -> None:
    file = PlanFile(journal, "Back up", "Delete the staging database")
    file.do("comment", 1, text="hm")
    seen = record(journal).revision
    file.reads("Back up", "Delete the production database")
    for act, arguments in (("review", {"verdict": "approved"}), ("select", {"steps": ("s1",)})):
        with pytest.raises(MovedOn):
            file.do(act, seen, **arguments)
    assert record(journal).review is None
    file.do("review", record(journal).revision, verdict="approved")
    assert record(journal).review is not None


def test_nor_if_the_page_is_from_before_anybody_recorded_the_file(journal: Journal) -> None:
    file = PlanFile(journal, "Back up", "Delete the staging database")
    file.do("comment", 1, text="the first text that is recorded is the one that the page has")
    file.do("review", 1, verdict="approved")
    file.reads("Back up", "Delete the production database")
    file.do("comment", record(journal).revision, text="the file is another one")
    assert [each.is_stale for each in record(journal).reviews] == [True]
    with pytest.raises(MovedOn):
        file.do("review", 1, verdict="approved")


def test_a_comment_on_a_step_of_a_plan_file_is_about_the_words_that_were_seen(journal: Journal) -> None:
    file = PlanFile(journal, "Back up", "Delete the staging database")
    file.do("comment", 1, text="hm")
    seen = record(journal).revision
    file.reads("Back up", "Delete the staging database and its replicas")
    file.do("comment", seen, text="other words")
    for revision in (1, seen):
        said = file.do("comment", revision, target="s2", text=f"yes, of {revision}")
        assert said is not None
        assert said.about == {"s2": "Delete the staging database"}
