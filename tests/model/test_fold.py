"""Versions, revisions, ownership, authors and verdicts, folded from events."""

from typing import TypeAlias

import msgspec
import pytest

from planwire import Entry, ItemsPlan, MarkdownPlan, Plan
from planwire.errors import StaleRevision
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    DISMISSED,
    SUGGESTION,
    Choice,
    ContextCompacted,
    Event,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.events import Told as TellingEvent
from planwire.model.fold import check_revision
from planwire.model.records import AGENT, PLANWIRE, PlanRecord, SessionState
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.verdicts import MOST_REVIEWS
from tests.deciding import fold_all

USER = "user"
YES, NO = Choice("yes", "Yes"), Choice("no", "No")
Told: TypeAlias = Event | tuple[str, Event]


def plan(*entries: str | tuple[str, str]) -> ItemsPlan:
    pairs = [(each, "pending") if isinstance(each, str) else each for each in entries]
    return ItemsPlan("p", tuple(Entry(content, "medium", status) for content, status in pairs))


def recorded(*events: Told) -> list[Recorded]:
    """Events as a journal numbers them, by the agent unless said otherwise, a second apart."""
    pairs = [each if isinstance(each, tuple) else (AGENT, each) for each in events]
    return [Recorded("s", seq, seq * 1000, by, event) for seq, (by, event) in enumerate(pairs, 1)]


def folded(*events: Told) -> SessionState:
    return fold_all("s", recorded(*events))


def the_plan(*events: Told) -> PlanRecord:
    return folded(*events).plans["p"]


def statuses(record: PlanRecord) -> list[str]:
    return [step.status for step in record.state.steps]


def set_by_tools(value: Plan) -> PlanSet:
    return PlanSet(value)


def reported(value: Plan) -> PlanSet:
    return PlanSet(value, via=ACP)


def test_a_version_counts_how_often_the_plan_was_set_and_names_the_one_before() -> None:
    record = the_plan(set_by_tools(plan("a")), PlanChanged("p", "x"), set_by_tools(plan("a", "b")))
    assert (record.version, record.base, record.supersedes) == (2, 3, 1)


def test_the_revision_is_the_number_of_the_last_event_that_touched_the_plan() -> None:
    touching: list[Told] = [
        set_by_tools(plan("a")),
        PlanSet(MarkdownPlan("q", "#")),
        PlanChanged("p", "x"),
        MessageAdded({}),
    ]
    assert the_plan(*touching).revision == 3


def test_deltas_change_steps_and_are_numbered_across_versions() -> None:
    record = the_plan(
        set_by_tools(plan("a", "b")),
        PlanChanged("p", "one"),
        PlanChanged("p", None, (SetStatus("s1", "completed"),)),
        set_by_tools(plan("a", "b", "c")),
        PlanChanged("p", "three"),
    )
    assert [(delta.number, delta.note) for delta in record.deltas] == [(3, "three")]
    assert statuses(record) == ["pending", "pending", "pending"]


def test_steps_keep_their_ids_across_versions_and_removal() -> None:
    record = the_plan(set_by_tools(plan("a", "b")), PlanRemoved("p"), set_by_tools(plan("b", "c")))
    assert [step.id for step in record.state.steps] == ["s2", "s3"]
    assert not record.removed
    assert record.version == 2


def test_a_removed_plan_is_not_live_and_its_history_stays() -> None:
    state = folded(set_by_tools(plan("a")), PlanRemoved("p"), PlanChanged("p", "too late"))
    assert state.live() == {}
    assert (state.plans["p"].revision, state.plans["p"].deltas) == (2, ())


def test_a_persons_change_to_a_plan_of_planwire_is_a_change() -> None:
    record = the_plan(set_by_tools(plan("a")), (USER, PlanChanged("p", None, (SetStatus("s1", "completed"),))))
    assert record.owner == PLANWIRE
    assert statuses(record) == ["completed"]
    assert [delta.by for delta in record.deltas] == [USER]


def test_a_persons_change_to_an_agents_own_plan_is_a_suggestion() -> None:
    done = (SetStatus("s1", "completed"),)
    record = the_plan(
        reported(plan("a")),
        (USER, Remarked("p", SUGGESTION, "please", changes=done)),
        (USER, PlanChanged("p", "a change of another's plan is none", done)),
    )
    assert record.owner == AGENT
    assert statuses(record) == ["pending"]
    assert [(suggestion.by, suggestion.text) for suggestion in record.suggestions] == [(USER, "please")]
    assert record.revision == 1


@pytest.mark.parametrize(
    ("suggestion", "report"),
    [
        (SetStatus("s1", "completed"), plan(("a", "done"), "b")),
        (RewordStep("s1", "alpha"), plan("alpha", "b")),
        (AddStep("c", "s1"), plan("a", "b", "c")),
        (RemoveStep("s2"), plan("a")),
        (MoveStep("s2", ""), plan("b", "a")),
        (MoveStep("s1", "s2"), plan("b", "a")),
        (SetPriority("s1", "high"), ItemsPlan("p", (Entry("a", "high", "pending"), Entry("b", "medium", "pending")))),
    ],
    ids=str,
)
def test_a_suggestion_is_settled_by_a_report_that_contains_it_and_by_no_other(
    suggestion: StepChange, report: Plan
) -> None:
    suggested: list[Told] = [
        reported(plan("a", "b")),
        (USER, Remarked("p", SUGGESTION, changes=(suggestion,))),
        reported(plan("a", "b")),
    ]
    assert len(the_plan(*suggested).suggestions) == 1, "an agent's next list does not wipe it"
    assert the_plan(*suggested, reported(report)).suggestions == ()


def test_a_suggestion_in_words_stays_until_it_is_taken_back() -> None:
    said = USER, Remarked("p", SUGGESTION, "be quick")
    events: list[Told] = [reported(plan("a")), said, reported(plan("a", "b"))]
    assert len(the_plan(*events).suggestions) == 1
    assert the_plan(*events, (USER, RemarkClosed("p", "r1", "withdrawn"))).suggestions == ()


def test_a_verdict_is_of_a_revision_and_stale_once_the_wording_is_another() -> None:
    events: list[Told] = [set_by_tools(plan("a", "b")), (USER, PlanReviewed("p", 1, CHANGES_REQUESTED))]
    record = the_plan(*events)
    assert record.review is not None
    assert (record.review.verdict, record.review.revision, record.review.is_stale) == (CHANGES_REQUESTED, 1, False)
    for change in (RewordStep("s1", "x"), RemoveStep("s1"), AddStep("x")):
        assert [each.is_stale for each in the_plan(*events, PlanChanged("p", None, (change,))).reviews] == [True]
    for other in (SetStatus("s1", "completed"), SetPriority("s1", "high"), MoveStep("s1", "s2")):
        assert [each.is_stale for each in the_plan(*events, PlanChanged("p", "x", (other,))).reviews] == [False]
    assert [each.is_stale for each in the_plan(*events, set_by_tools(plan(("b", "done"), "a"))).reviews] == [False]
    rewritten = PlanChanged("p", None, (AddStep("c"),))
    again = the_plan(*events, rewritten, (USER, PlanReviewed("p", 3, APPROVED)))
    assert [each.is_stale for each in again.reviews] == [True, False]


def test_a_verdict_outlives_a_list_that_is_cleared_for_a_moment() -> None:
    events: list[Told] = [set_by_tools(plan("a", "b")), (USER, PlanReviewed("p", 1, APPROVED)), set_by_tools(plan())]
    for more, is_stale in (
        ((), False),
        ((set_by_tools(plan("a", ("b", "done"))),), False),
        ((set_by_tools(plan()), set_by_tools(plan("a", "b"))), False),
        ((set_by_tools(plan("a")),), True),
    ):
        assert [each.is_stale for each in the_plan(*events, *more).reviews] == [is_stale]


def test_a_verdict_on_a_text_stands_while_boxes_are_ticked() -> None:
    text = "# Port\n\n- [ ] read\n- [ ] write\n"
    events: list[Told] = [set_by_tools(MarkdownPlan("p", text)), (USER, PlanReviewed("p", 1, APPROVED))]
    ticked = the_plan(*events, set_by_tools(MarkdownPlan("p", text.replace("[ ] read", "[x] read"))))
    assert [each.is_stale for each in ticked.reviews] == [False]
    for other in (text.replace("read", "read all"), text + "- [ ] ship\n", text.replace("Port", "Port it")):
        rewritten = the_plan(*events, set_by_tools(MarkdownPlan("p", other)))
        assert [each.is_stale for each in rewritten.reviews] == [True]


def test_every_verdict_on_a_plan_is_kept_and_the_last_one_counts() -> None:
    verdicts: list[Told] = [(USER, PlanReviewed("p", 1, verdict)) for verdict in (CHANGES_REQUESTED, APPROVED)]
    record = the_plan(set_by_tools(plan("a")), *verdicts)
    assert [review.verdict for review in record.reviews] == [CHANGES_REQUESTED, APPROVED]
    assert record.review == record.reviews[-1]
    assert len(the_plan(set_by_tools(plan("a")), *verdicts * MOST_REVIEWS).reviews) == MOST_REVIEWS


def test_a_remark_a_verdict_and_a_telling_leave_the_revision_alone() -> None:
    said: list[Told] = [
        (USER, Remarked("p", "comment", "why?")),
        (USER, PlanReviewed("p", 1, APPROVED, via="planwire")),
        TellingEvent("prompt", 3, remarks=("r1",)),
        RemarkAnswered("p", "r1", "because"),
        (USER, RemarkClosed("p", "r1", "withdrawn")),
        (USER, RemarkReopened("p", "r1")),
    ]
    assert the_plan(reported(plan("a")), *said).revision == 1


def test_the_author_of_a_step_is_the_one_who_wrote_its_text_last() -> None:
    """Nobody else, also if a change of theirs could not be made, or changed only its status."""
    events: list[Told] = [
        set_by_tools(plan("a", "b")),
        ("ana", PlanChanged("p", None, (AddStep("c"), SetStatus("s1", "completed")))),
        ("bo", PlanChanged("p", None, (RewordStep("s2", "beta"),))),
        ("eve", PlanChanged("p", None, (RewordStep("s1", "alpha"), RemoveStep("s99")))),
    ]
    record = the_plan(*events)
    assert (record.by, record.authors) == (AGENT, {"s3": "ana", "s2": "bo"})
    again = the_plan(*events, PlanChanged("p", None, (RewordStep("s3", "gamma"),)))
    assert again.authors == {"s3": AGENT, "s2": "bo"}
    assert the_plan(*events, ("bo", set_by_tools(plan("a", "b")))).authors == {}
    assert the_plan(*events, ("bo", set_by_tools(plan("a", "b")))).by == "bo"


def test_an_agent_waits_for_a_review_until_there_is_one_or_it_goes_on() -> None:
    waits: list[Told] = [set_by_tools(plan("a")), ReviewAsked("p", (YES, NO))]
    asked = the_plan(*waits).asked
    assert asked is not None
    assert (asked.seq, asked.options) == (2, (YES, NO))
    assert the_plan(*waits).revision == 1
    for still in ((USER, PlanReviewed("p", 1, COMMENTED)), (USER, PlanChanged("p", "x"))):
        assert the_plan(*waits, still).asked == asked
    ends: list[Told] = [
        (USER, PlanReviewed("p", 1, APPROVED, answer="Yes")),
        (USER, PlanReviewed("p", 1, DISMISSED)),
        PlanChanged("p", "going on"),
        set_by_tools(plan("b")),
        PlanRemoved("p"),
        TurnEnded("cancelled"),
    ]
    for end in ends:
        assert the_plan(*waits, end).asked is None
    assert the_plan(*waits, ends[0]).reviews[0].answer == "Yes"
    assert "q" not in folded(*waits, ReviewAsked("q")).plans


def test_a_turn_that_ended_is_stopped_until_the_agent_goes_on() -> None:
    assert folded(set_by_tools(plan("a")), TurnEnded("cancelled")).stopped == "cancelled"
    assert folded(TurnEnded("end_turn"), set_by_tools(plan("a"))).stopped is None
    assert folded(set_by_tools(plan("a")), TurnEnded("end_turn"), (USER, PlanChanged("p", "x"))).stopped == "end_turn"


def test_what_is_known_of_a_session_adds_up() -> None:
    state = folded(SessionOpened(agent="a", cwd="/p"), SessionOpened(title="T"), ContextCompacted())
    assert state.opened == SessionOpened(agent="a", cwd="/p", title="T")
    assert (state.seq, state.compacted) == (3, 3)


@pytest.mark.parametrize(
    "event",
    [
        PlanChanged("never", "x"),
        PlanRemoved("never"),
        PlanReviewed("never", 1, APPROVED),
        RemarkClosed("never", "r1", "withdrawn"),
        RemarkAnswered("never", "r1", "x"),
        RemarkReopened("never", "r1"),
        PlanReopened("never"),
        ReviewAsked("never"),
        TellingEvent("prompt", 0, remarks=("r1",)),
    ],
    ids=repr,
)
def test_events_about_a_plan_that_never_was_change_nothing(event: Event) -> None:
    assert msgspec.structs.replace(folded(event), at=0) == SessionState("s", 1)


def test_a_change_that_can_not_be_made_counts_and_changes_no_step() -> None:
    record = the_plan(set_by_tools(plan("a")), PlanChanged("p", None, (SetStatus("s9", "completed"),)))
    assert statuses(record) == ["pending"]
    assert record.numbered == 1


def test_a_write_for_another_revision_is_refused_with_the_current_one() -> None:
    state = folded(set_by_tools(plan("a")), PlanChanged("p", "x"))
    check_revision(state, "p", None)
    check_revision(state, "p", 2)
    check_revision(state, "new", 0)
    with pytest.raises(StaleRevision, match=r"changed since revision 1 \(now 2\): look at it again") as refused:
        check_revision(state, "p", 1)
    assert refused.value.current == 2


def test_the_state_at_any_moment_is_the_fold_of_the_events_until_then() -> None:
    events = recorded(set_by_tools(plan("a")), PlanChanged("p", None, (AddStep("b"),)), PlanRemoved("p"))
    whole = fold_all("s", events)
    for cut in range(len(events) + 1):
        assert fold_all("s", events[cut:], fold_all("s", events[:cut])) == whole
    assert len(fold_all("s", events[:2]).plans["p"].state.steps) == 2


def test_a_state_can_be_stored_and_folded_on() -> None:
    """A snapshot: the ids of steps, and all that a plan remembers, are in it."""
    events = recorded(
        SessionOpened("a"),
        PlanSet(ItemsPlan(None, (Entry("x", "low", "pending", {"m": 1}, {"e": 1}),)), via=ACP),
        (USER, Remarked(None, SUGGESTION, "wish", changes=(AddStep("y"),))),
        set_by_tools(plan("a", "b")),
        (USER, PlanReviewed("p", 4, APPROVED)),
        set_by_tools(plan("b", "c")),
    )
    state = fold_all("s", events[:5])
    restored = msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=SessionState)
    assert restored == state
    assert fold_all("s", events[5:], restored) == fold_all("s", events)
