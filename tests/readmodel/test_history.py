"""The history of a session in words: whatever happened, there is a line for it."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from planwire.acp.lower import Fallback
from planwire.chat.reminder import Reminder, write_reminder
from planwire.model.events import (
    ACP,
    COMMENTED,
    DISMISSED,
    TOOLS,
    AddStep,
    Comment,
    ContextCompacted,
    Event,
    MessageAdded,
    MoveStep,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemoveStep,
    ReviewAsked,
    RewordStep,
    SessionOpened,
    SetPriority,
    SetStatus,
    StepChange,
    SuggestionWithdrawn,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.records import SessionState
from planwire.readmodel.as_json import SessionValue, session_json
from planwire.readmodel.as_markdown import session_markdown
from planwire.readmodel.history import HistoryEntry, Phrase, history
from planwire.readmodel.shown import show_session
from planwire.readmodel.timeline import compare_states
from planwire.relay.reminder import STEERED, block
from planwire.relay.reminder import tell as tell_again
from tests.strategies import open_priorities, open_statuses, plan_ids, plans, texts

steps = st.sampled_from(("s1", "s2", "s3", ""))
step_changes: SearchStrategy[StepChange] = st.one_of(
    st.builds(SetStatus, steps, open_statuses),
    st.builds(RewordStep, steps, texts),
    st.builds(SetPriority, steps, open_priorities),
    st.builds(AddStep, texts, st.none() | steps),
    st.builds(MoveStep, steps, steps),
    st.builds(RemoveStep, steps),
)
ids = st.none() | st.just("p") | plan_ids
comments = st.builds(Comment, texts, st.none() | steps)
events: SearchStrategy[Event] = st.one_of(
    st.builds(PlanSet, plans(ids), st.none() | texts, st.sampled_from((ACP, TOOLS))),
    st.builds(PlanChanged, ids, st.none() | texts, st.lists(step_changes, max_size=3).map(tuple)),
    st.builds(PlanRemoved, ids),
    st.builds(PlanReviewed, ids, st.integers(0, 9), texts, st.lists(comments).map(tuple), answer=st.none() | texts),
    st.builds(ReviewAsked, ids, st.lists(texts, max_size=3).map(tuple)),
    st.builds(SuggestionWithdrawn, ids, st.integers(0, 9)),
    st.builds(TurnEnded, texts),
    st.builds(MessageAdded, st.fixed_dictionaries({}, optional={"role": texts | st.none()})),
    st.builds(ContextCompacted, reason=texts),
    st.builds(SessionOpened, st.none() | texts, st.none() | texts, st.none() | texts, st.none() | texts),
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("agent", "user")), events), min_size=1, max_size=8))
def test_whatever_happens_can_be_told_and_shown(told: list[tuple[str, Event]]) -> None:
    recorded = [Recorded("s", seq, seq * 1000, by, event) for seq, (by, event) in enumerate(told, start=1)]
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
    recorded = [Recorded("s", seq, 0, by, event) for seq, event in enumerate(events, start=1)]
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
        (plan("a"), PlanRemoved("p"), [Phrase("plan_removed", "plan removed")]),
        (plan("a"), PlanChanged("q", "hm"), [Phrase("none", "there was no such plan"), Phrase("note", "hm")]),
        (plan("a"), SuggestionWithdrawn("p", 7), [Phrase("withdrawn", "withdrew suggestion 7")]),
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
    assert told(plan("a"), ReviewAsked("p", ("Yes", "No"))).words == (Phrase("asked", "asked for a review: Yes / No"),)
    answer = PlanReviewed("p", 1, DISMISSED, (Comment("why?"),), answer="No")
    words = [Phrase("dismissed", "dismissed: No (revision 1)"), Phrase("comment", "why?")]
    assert list(told(plan("a"), answer, by="client").words) == words
    assert told(plan("a"), PlanReviewed("p", 1, COMMENTED, (Comment("why?"),))).words == (Phrase("comment", "why?"),)


def test_what_the_relay_told_the_agent_is_history_and_the_chat_is_not() -> None:
    mark, text = block(tell_again(STEERED, []), "word")
    again = told(MessageAdded(write_reminder(Reminder(mark, text, f"{STEERED.partition('.')[0]}."))))
    reason = "The user has reviewed the plan or suggests changes."
    assert again.words == (Phrase("told", f"the agent was told its plan again: {reason}"),)
    assert not again.is_message
    assert told(MessageAdded({"role": "user", "content": "hello"})).is_message


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
    words = told(report, PlanChanged("p", None, changes), by="user").words
    assert [word.text for word in words] == [
        "a: done",
        "a → b",
        "a: high priority",
        "move “a” to the top",
        "remove “s9”",
    ]
    assert {word.kind for word in words} == {"suggested"}
