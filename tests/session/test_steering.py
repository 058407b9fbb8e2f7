"""What people do, written to a journal that others write to as well; and what is shown over a plan."""

from threading import Thread

import pytest

from planwire import BlockingPlanSession, Entry, ItemsPlan
from planwire.journal import Journal, Stamped, load_state
from planwire.model.events import (
    ACP,
    APPROVED,
    AddStep,
    Comment,
    Event,
    MoveStep,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    RewordStep,
    SetStatus,
)
from planwire.model.fold import PlanRecord
from planwire.readmodel.annotations import annotations, suggestion_sentence
from planwire.session.moved_on import MovedOn
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted


def agents_plan(*contents: str, done: int = 0) -> PlanSet:
    entries = [Entry(text, "medium", "completed" if at < done else "pending") for at, text in enumerate(contents)]
    return PlanSet(ItemsPlan("main", tuple(entries)), via=ACP)


def write(journal: Journal, event: Event, by: str = "agent") -> None:
    journal.append("s", [Stamped(0, by, event)], journal.last_seq("s"))


def record(journal: Journal) -> PlanRecord:
    return load_state(journal, "s").plans["main"]


def test_a_change_of_a_plan_that_moved_on_is_not_written_and_shows_what_happened(journal: Journal) -> None:
    agent = BlockingPlanSession(journal, "s")
    agent.call("set_plan", {"entries": ["read", "write"]})
    seen = record(journal).revision
    agent.call("update_plan", {"reword": {"s1": "read it all"}, "note": "was quick"})
    before = journal.last_seq("s")
    with pytest.raises(MovedOn, match="Nothing was written") as refused:
        steer(journal, "s", "main", Wanted("remove", "s1", seen))
    moved = refused.value
    assert journal.last_seq("s") == before
    assert moved.before is not None
    assert moved.now == record(journal)
    assert [step.content for step in moved.before.state.steps] == ["read", "write"]
    assert (moved.seen, moved.revision) == (seen, record(journal).revision)
    assert [word.text for moment in moved.moments for word in moment.words] == [
        "read → read it all",
        "was quick",
    ]


def test_a_change_of_a_step_that_only_moved_on_elsewhere_is_written(journal: Journal) -> None:
    agent = BlockingPlanSession(journal, "s")
    agent.call("set_plan", {"entries": ["read", "write"]})
    seen = record(journal).revision
    agent.call("update_plan", {"steps": {"s1": "completed"}, "reword": {"s2": "write it"}})
    steered = steer(journal, "s", "main", Wanted("remove", "s1", seen))
    assert [step.content for step in record(journal).state.steps] == ["write it"]
    assert (steered.revision, steered.is_suggestion) == (record(journal).revision, False)


def test_a_revision_that_never_was_is_refused_as_well(journal: Journal) -> None:
    write(journal, agents_plan("read"))
    with pytest.raises(MovedOn) as refused:
        steer(journal, "s", "main", Wanted("review", seen=99, verdict=APPROVED))
    assert refused.value.before == refused.value.now == record(journal)
    assert refused.value.moments == ()


def test_people_who_speak_at_once_are_all_heard(journal: Journal) -> None:
    write(journal, agents_plan("read"))

    def speak(name: str) -> None:
        for number in range(10):
            steer(journal, "s", "main", Wanted("comment", text=f"{name} {number}"))

    threads = [Thread(target=speak, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    said = {each.comments[0].text for each in record(journal).reviews}
    assert said == {f"{name} {number}" for name in ("one", "two", "three") for number in range(10)}


def test_suggestions_lie_over_the_steps_that_they_are_about(journal: Journal) -> None:
    write(journal, agents_plan("read", "write", "test"))
    changes = (RewordStep("s2", "write it twice"), SetStatus("s2", "in_progress"), MoveStep("s3", "s1"))
    write(journal, PlanChanged("main", "please", (*changes, AddStep("ship", "s3"), AddStep("rest"))), by="user")
    shown = annotations(record(journal))
    assert {step: [(each.kind, each.text) for each in suggested] for step, suggested in shown.steps.items()} == {
        "s2": [("reword", "write it twice"), ("status", "in progress")],
        "s3": [("move", "after: read")],
    }
    assert [(after, each.text, each.suggestion) for after, each in shown.added] == [
        ("s3", "ship", 2),
        (None, "rest", 2),
    ]
    assert suggestion_sentence(record(journal), record(journal).suggestions[0]).endswith("; please")
    steer(journal, "s", "main", Wanted("withdraw", "2"))
    assert annotations(record(journal)) == annotations(load_state(journal, "s").plans["main"])
    assert not annotations(record(journal)).steps


def test_a_suggestion_for_a_step_that_is_gone_is_still_said_but_lies_nowhere(journal: Journal) -> None:
    write(journal, agents_plan("read", "write"))
    write(journal, PlanChanged("main", None, (RewordStep("s2", "later"), AddStep("ship", "s2"))), by="user")
    write(journal, agents_plan("read"))
    shown = annotations(record(journal))
    assert shown.steps == {}
    assert [after for after, _ in shown.added] == [None]
    assert len(record(journal).suggestions) == 1


def test_remarks_stay_with_their_step_until_it_is_over(journal: Journal) -> None:
    write(journal, agents_plan("read", "write"))
    comments = (Comment("which file?", "s1"), Comment("in small steps", "s2"), Comment("looks good"))
    write(journal, PlanReviewed("main", 1, APPROVED, comments), by="user")
    assert {step: [each.text for each in said] for step, said in annotations(record(journal)).remarks.items()} == {
        "s1": ["which file?"],
        "s2": ["in small steps"],
        None: ["looks good"],
    }
    write(journal, agents_plan("read", "write", done=1))
    assert set(annotations(record(journal)).remarks) == {"s2", None}
