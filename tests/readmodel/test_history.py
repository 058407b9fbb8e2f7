"""The history of a session in words: whatever happened, there is a line for it."""

import msgspec
import pytest
from hypothesis import given, settings

from planwire.acp.lower import Fallback
from planwire.chat.reminder import HAS_TOOLS, Reminder, write_reminder
from planwire.chat.retelling import STEERED, retell
from planwire.journal import Stamped, open_journal
from planwire.model.events import (
    ACP,
    COMMENT,
    DISMISSED,
    OFFERED,
    REFUSED,
    REQUEST,
    SELECTION,
    SUGGESTION,
    Choice,
    Event,
    MessageAdded,
    Passage,
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
    ReviewPending,
    SessionOpened,
    Told,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.model.records import SessionState
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.unheard import Words
from planwire.readmodel.as_json import SessionValue, session_json
from planwire.readmodel.as_markdown import session_markdown
from planwire.readmodel.file_text import no_plan_files
from planwire.readmodel.history import HistoryEntry, Phrase, history
from planwire.readmodel.shown import show_session
from planwire.readmodel.timeline import Timelines, compare_states
from planwire.relay.reminder import block
from tests import deciding
from tests.deciding import written
from tests.event_strategies import pasts


@settings(deadline=None)
@given(pasts)
def test_whatever_happens_can_be_told_and_shown(recorded: list[Recorded]) -> None:
    state = SessionState("s")
    for moment, before, state in history(recorded, SessionState("s")):
        assert moment.seq == before.seq + 1 == state.seq
        assert (moment.total is None) or 0 <= (moment.done or 0) <= moment.total
        assert moment.event
        compare_states(before, state)
    session = show_session(state, {}, 0, 1, 10_000)
    assert session_markdown(session).startswith("# ")
    value = session_json(session)
    assert msgspec.json.decode(msgspec.json.encode(value), type=SessionValue) == value
    fallback = Fallback()
    for record in state.live().values():
        fallback.put(record.state.plan)
    assert all(entry.content for entry in fallback.entries() if entry.content.strip())


def told(*events: Event, by: str = "agent") -> HistoryEntry:
    recorded = written(Recorded("s", seq, 0, by, event) for seq, event in enumerate(events, start=1))
    return [moment for moment, _, _ in history(recorded, SessionState("s"))][-1]


def plan(*texts: str) -> PlanSet:
    return PlanSet(ItemsPlan("p", tuple(Entry(text, "medium", "pending") for text in texts)))


@pytest.mark.parametrize(
    ("before", "event", "words"),
    [
        (plan("a"), plan("a"), [Phrase("none", "sent again")]),
        (plan("a", "b"), plan("b", "a"), [Phrase("moved", "b (2 → 1)", "s2")]),
        (
            plan("a"),
            PlanSet(ItemsPlan("p", (Entry("a", "high", "_odd"),))),
            [
                Phrase("other", "a: _odd", "s1"),
                Phrase("priority", "a: high priority", "s1"),
            ],
        ),
        (plan("a"), PlanSet(OtherPlan("t", "_tree", {})), [Phrase("new", "new: a plan of kind _tree")]),
        (plan("a"), PlanRemoved("p"), [Phrase("plan_removed", "plan removed")]),
        (plan("a"), PlanChanged("q", "hm"), [Phrase("none", "there was no such plan"), Phrase("note", "hm")]),
        (
            PlanSet(MarkdownPlan("m", "one")),
            PlanSet(MarkdownPlan("m", "one two")),
            [Phrase("text", "4 characters more")],
        ),
        (
            PlanSet(MarkdownPlan("m", "one")),
            PlanSet(MarkdownPlan("m", "two")),
            [Phrase("text", "text rewritten: 3 → 3 characters")],
        ),
        (SessionOpened("x", title="old"), SessionOpened("x", title="new"), [Phrase("opened", "session: title new")]),
    ],
)
def test_words_say_what_an_event_did(before: Event, event: Event, words: list[Phrase]) -> None:
    assert list(told(before, event).words) == words


def test_a_question_and_its_answer_are_said_with_the_options() -> None:
    assert told(plan("a"), ReviewAsked("p", (Choice("yes", "Yes"), Choice("no", "No")))).words == (
        Phrase("asked", "asked for a review: Yes / No"),
    )
    answer = PlanReviewed("p", 1, DISMISSED, answer="No")
    assert told(plan("a"), answer, by="client").words == (Phrase("dismissed", "dismissed: No (revision 1)"),)


@pytest.mark.parametrize("ended", [(), (TurnEnded("end_turn"),)])
def test_an_answer_that_the_agent_got_is_named_also_if_its_turn_was_over_before_that_was_recorded(
    ended: tuple[TurnEnded, ...],
) -> None:
    asked = ReviewAsked("p", (Choice("no", "No", "reject_once"),), "q1")
    given = PlanReviewed("p", 1, "changes_requested", answer="No", option="no", question="q1", via="planwire")
    [word] = told(plan("a"), asked, given, *ended, Told("answer", 0, request="q1")).words
    assert word.text == "the agent got its answer: No"


def test_words_that_go_along_with_a_pending_verdict_are_history_even_if_an_answer_from_elsewhere_voids_it() -> None:
    given = PlanReviewed("p", 1, "approved", answer="Yes", option="yes", question="q1")
    along = Remarked("p", COMMENT, "but keep the backups", step="s1")
    words = told(plan("a"), ReviewPending("p", 5_000, given, (along,)), by="user").words
    assert [each.text for each in words] == ["pending: approved: Yes (revision 1)", "“a”: but keep the backups"]


def test_an_agent_that_was_told_of_its_tools_was_not_told_its_plan() -> None:
    announced = told(MessageAdded(write_reminder(Reminder("m-1", "…", HAS_TOOLS))))
    assert announced.words == (Phrase("told", "the agent was told that it has plan tools"),)


def test_what_the_relay_told_the_agent_is_history_and_the_chat_is_not() -> None:
    mark, text = block(retell(STEERED, SessionState("s"), Words()), "word")
    again = told(MessageAdded(write_reminder(Reminder(mark, text, f"{STEERED.partition('.')[0]}."))))
    reason = "A person said something about the plan."
    assert again.words == (Phrase("told", f"the agent was told its plan again: {reason}"),)
    assert not again.is_aside
    assert told(MessageAdded({"role": "user", "content": "hello"})).is_aside


@pytest.mark.parametrize(
    ("remark", "event", "words"),
    [
        (Remarked("p", COMMENT, "why?"), None, "comment: why?"),
        (Remarked("p", COMMENT, "why?", step="s1"), None, "comment: “a”: why?"),
        (Remarked("p", COMMENT, "why?", passage=Passage("this passage")), None, "comment: “this passage”: why?"),
        (Remarked("p", COMMENT, "no vendoring", kept=True), None, "comment: no vendoring (kept in force)"),
        (Remarked("p", REQUEST, "smaller", review=2), None, "request: smaller"),
        (
            Remarked("p", COMMENT, "no", step="s1", about={"s1": "a”: yes"}),
            None,
            "comment: “a’: yes”: no",
        ),
        (
            Remarked("p", SELECTION, steps=("s1",), about={"s1": "as it read then"}),
            Told("prompt", 2, remarks=("r1",)),
            "the agent was told with a prompt: “as it read then” (r1)",
        ),
        (Remarked("p", SELECTION, steps=("s2", "s1")), None, "steps to run: “b”, “a”"),
        (
            Remarked("p", SUGGESTION, "soon", changes=(RewordStep("s1", "c"),)),
            None,
            "suggested: “a” → c; suggested: soon",
        ),
        (Remarked("p", COMMENT, "why?"), RemarkClosed("p", "r1", "withdrawn"), "withdrew “why?” (r1)"),
        (
            Remarked("p", COMMENT, "why?"),
            RemarkClosed("p", "r1", "withdrawn", "I see"),
            "withdrew “why?” (r1): I see",
        ),
        (
            Remarked("p", SUGGESTION, changes=(AddStep("c"),)),
            RemarkClosed("p", "r1", "superseded"),
            "replaced “add ‘c’” (r1)",
        ),
        (
            Remarked("p", SELECTION, steps=("s1",)),
            RemarkClosed("p", "r1", "run_all"),
            "all steps are to run, not only “a” (r1)",
        ),
        (Remarked("p", REQUEST), RemarkClosed("p", "r1", "withdrawn"), "withdrew the request r1"),
        (Remarked("p", COMMENT, "why?"), RemarkAnswered("p", "r1", "speed"), "answered “why?” (r1): speed"),
        (Remarked("p", COMMENT, "why?"), RemarkReopened("p", "r1"), "reopened “why?” (r1)"),
        (Remarked("p", COMMENT, "why?"), RemarkReopened("p", "r7"), "reopened r7"),
        (
            Remarked("p", COMMENT, "why?"),
            Told("prompt", 2, remarks=("r1",)),
            "the agent was told with a prompt: “why?” (r1)",
        ),
        (
            Remarked("p", COMMENT, "x" * 99),
            Told("tool", 2, remarks=("r1", "r2", "r3", "r4", "r5")),
            f"the agent was told in the answer of a plan tool: “{'x' * 59}…” (r1), r2, r3 and 2 more",
        ),
        (
            Remarked("p", COMMENT, "why?"),
            Told("prompt", 2, stage=REFUSED),
            "the agent refused what it was told, and will be told again",
        ),
        (PlanRemoved("p"), PlanReopened("p"), "plan reopened"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_history_says_what_people_said_and_what_became_of_it(remark: Event, event: Event | None, words: str) -> None:
    moment = told(plan("a", "b"), remark, *((event,) if event else ()))
    assert "; ".join(word.sentence for word in moment.words) == words
    assert not moment.is_aside


def test_a_new_list_says_what_it_settles() -> None:
    said = (
        Remarked("p", SUGGESTION, changes=(AddStep("b"),)),
        Remarked("p", SUGGESTION, changes=(AddStep("c"),)),
    )
    words = told(plan("a"), *said, plan("b", "c")).words
    assert [each.text for each in words if each.kind == "settled"] == ["2 suggestions taken up"]


def test_a_telling_that_was_refused_names_the_words_to_tell_again() -> None:
    events = Remarked("p", COMMENT, "why?"), Told("prompt", 2, remarks=("r1",), request="mark")
    [word] = told(plan("a"), *events, Told("prompt", 3, request="mark", stage=REFUSED)).words
    assert word.text == "the agent refused what it was told, and will be told again: “why?” (r1)"


@pytest.mark.parametrize(
    "event",
    [
        Told("context", 2, remarks=("r1",), stage=OFFERED),
        Told("context", 2),
        Remarked("p", REQUEST, review=2),
    ],
    ids=["offered", "told no remark", "a request whose verdict says it"],
)
def test_what_says_nothing_alone_is_no_moment_of_the_past(event: Event) -> None:
    events = plan("a"), Remarked("p", COMMENT, "why?"), event
    moment = told(*events)
    assert moment.words == ()
    assert moment.is_aside
    with open_journal("memory:") as journal:
        deciding.write(journal, "s", *(Stamped(seq, "agent", each) for seq, each in enumerate(events)))
        timeline = Timelines(journal, no_plan_files).get("s")
        assert list(timeline.numbers) == [1, 2]
        assert [each.seq for each in timeline.entries(journal, 0, 2)] == [1, 2]


def test_a_plan_that_comes_back_is_no_change() -> None:
    assert told(plan("a"), PlanRemoved("p"), plan("a", "b")).words == (Phrase("new", "back: 2 steps"),)


def test_suggestions_name_the_steps_that_they_are_about() -> None:
    changes: tuple[StepChange, ...] = (
        SetStatus("s1", "completed"),
        RewordStep("s1", "b"),
        SetPriority("s1", "high"),
        MoveStep("s1", ""),
        RemoveStep("s9"),
    )
    report = PlanSet(ItemsPlan("p", (Entry("a", "medium", "pending"),)), via=ACP)
    words = told(report, Remarked("p", SUGGESTION, changes=changes), by="user").words
    assert [word.text for word in words] == [
        "“a”: done",
        "“a” → b",
        "“a”: high priority",
        "move “a” to the top",
        "remove “s9”",
    ]
    assert {word.kind for word in words} == {"suggested"}
