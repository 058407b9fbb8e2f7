"""What hooks say, as events of a session."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.hooks.happenings import (
    Child,
    Compacted,
    Decided,
    Ended,
    Happening,
    HookCall,
    ListHeard,
    OwnCall,
    Proposed,
    Started,
    TaskChanged,
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.recording import HookedSession, record
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    HOOKS,
    ContextCompacted,
    Event,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import PLAN_MODE, Entry, ItemsPlan
from planwire.model.records import AGENT, SessionState

TITLE = "Claude Code"
TEXT = "# Ship it\n\n1. Read\n2. Write\n"


def hook(*what: Happening, child: Child | None = None, call: str | None = None) -> HookCall:
    return HookCall("claude-code", "s", "Event", what=what, folder="/work", child=child, call=call)


def todos(*statuses: str) -> ListHeard:
    return ListHeard("todos", tuple(Entry(f"Step {n}", None, each) for n, each in enumerate(statuses, start=1)))


class Story:
    """A session as hooks tell it, one after the other."""

    def __init__(self) -> None:
        self.session = HookedSession(SessionState("s"))
        self.events: list[tuple[str, Event]] = []
        self._at = 0

    def tell(self, *hooks: HookCall) -> list[Event]:
        """The events of these hooks."""
        count = len(self.events)
        for each in hooks:
            self._at += 1
            self.session, written = record(self.session, each, TITLE, self._at)
            self.events += written
        return [event for _, event in self.events[count:]]

    @property
    def state(self) -> SessionState:
        return self.session.state


def kinds(events: Iterable[Event]) -> list[type[Event]]:
    return [type(each) for each in events]


def begun() -> Story:
    story = Story()
    story.tell(hook(Started("startup")), hook(TurnBegan("Fix the parser\nand more")))
    return story


def test_a_session_in_which_nothing_happened_leaves_no_trace() -> None:
    assert Story().tell(hook(Started("startup")), hook(Ended("prompt_input_exit"))) == []


def test_a_session_begins_with_its_first_prompt_which_is_its_title() -> None:
    assert begun().events == [
        ("planwire", SessionOpened(TITLE, "the terminal", "/work")),
        ("planwire", SessionOpened(title="Fix the parser")),
    ]


@pytest.mark.parametrize("prompt", ["/compact now", "<task-notification>x", "!ls", "   "])
def test_a_command_makes_no_title(prompt: str) -> None:
    story = Story()
    story.tell(hook(TurnBegan(prompt)))
    assert story.state.opened == SessionOpened(TITLE, "the terminal", "/work")


def test_a_title_of_the_agents_own_takes_the_place_of_the_prompt() -> None:
    story = begun()
    story.tell(hook(Titled("Parser repairs")))
    assert story.state.opened is not None
    assert story.state.opened.title == "Parser repairs"


def test_a_list_that_comes_again_is_recorded_once() -> None:
    story = begun()
    assert kinds(story.tell(hook(todos("in_progress", "pending")), hook(todos("in_progress", "pending")))) == [PlanSet]
    assert kinds(story.tell(hook(todos("completed", "in_progress")))) == [PlanSet]
    record = story.state.plans["todos"]
    assert (record.owner, record.version) == (AGENT, 2)


def test_a_list_is_cleared_only_if_there_was_one() -> None:
    story = begun()
    assert story.tell(hook(ListHeard("todos", ()))) == []
    assert kinds(story.tell(hook(todos("completed")), hook(ListHeard("todos", ())))) == [PlanSet, PlanSet]


def test_tasks_that_come_one_by_one_are_a_list_in_their_order() -> None:
    story = begun()
    story.tell(
        hook(TaskChanged("todos", "1", "Read", "pending")),
        hook(TaskChanged("todos", "2", "Write", "pending")),
        hook(TaskChanged("todos", "1", status="completed")),
        hook(TaskChanged("todos", "7", status="in_progress")),
        hook(TaskChanged("todos", "2", gone=True)),
        hook(TaskChanged("todos", "9", gone=True)),
    )
    plan = story.state.plans["todos"].state.plan
    assert isinstance(plan, ItemsPlan)
    assert [(each.content, each.status) for each in plan.entries] == [("Read", "completed"), ("Task 7", "in_progress")]


def test_a_proposal_asks_and_the_terminal_answers() -> None:
    story = begun()
    asked = story.tell(hook(Proposed(PLAN_MODE, TEXT), call="t1"), hook(Proposed(PLAN_MODE, TEXT), call="t1"))
    assert kinds(asked) == [PlanSet, ReviewAsked]
    assert story.state.needs_person
    [verdict] = story.tell(hook(Decided(PLAN_MODE, True, TEXT), call="t1"))
    assert isinstance(verdict, PlanReviewed)
    assert verdict.verdict == APPROVED
    record = story.state.plans[PLAN_MODE]
    assert record.asked is None
    assert record.review is not None
    assert record.review.is_known  # the agent is not told what it heard in its own terminal


def test_a_proposal_that_is_sent_back_has_changes_requested() -> None:
    story = begun()
    story.tell(hook(Proposed(PLAN_MODE, TEXT)), hook(Decided(PLAN_MODE, False, words="smaller steps")))
    assert story.state.plans[PLAN_MODE].reviews[-1].verdict == CHANGES_REQUESTED
    assert not story.state.needs_person


def test_an_approved_text_that_was_edited_is_the_plan() -> None:
    story = begun()
    story.tell(hook(Proposed(PLAN_MODE, TEXT)), hook(Decided(PLAN_MODE, True, TEXT + "3. Ship\n")))
    record = story.state.plans[PLAN_MODE]
    assert record.version == 2
    assert record.review is not None
    assert not record.review.is_stale


def test_a_verdict_that_the_agent_has_already_is_not_recorded_again() -> None:
    story = begun()
    story.tell(hook(Proposed(PLAN_MODE, TEXT)), hook(Decided(PLAN_MODE, True, TEXT)))
    assert story.tell(hook(Decided(PLAN_MODE, True, TEXT))) == []


def test_a_draft_asks_nobody() -> None:
    assert kinds(begun().tell(hook(Proposed(PLAN_MODE, TEXT, draft=True)))) == [PlanSet]


@pytest.mark.parametrize("what", [TurnBegan("something else"), OwnCall("set_plan"), todos("pending")])
def test_an_agent_that_goes_on_ends_a_question_that_nobody_answered(what: Happening) -> None:
    story = begun()
    story.tell(hook(Proposed(PLAN_MODE, TEXT)), hook(what))
    assert not story.state.needs_person


def test_a_turn_ends_once() -> None:
    story = begun()
    over = hook(TurnOver("end_turn"))
    assert story.tell(hook(todos("pending")), over, over, hook(Ended("other")), hook(Ended("other")))[1:] == [
        TurnEnded("end_turn")
    ]
    assert story.tell(hook(TurnBegan("go on")), over) == [TurnEnded("end_turn")]


def test_an_agent_that_leaves_in_the_middle_of_a_turn_cancelled_it() -> None:
    story = begun()
    assert story.tell(hook(Ended("prompt_input_exit"))) == [TurnEnded("cancelled")]
    assert story.session.is_over


def test_a_cleared_session_is_not_over_for_its_process() -> None:
    story = begun()
    story.tell(hook(TurnOver("end_turn")), hook(Ended("clear")))
    assert not story.session.is_over


def test_a_compaction_is_recorded_once() -> None:
    story = begun()
    assert kinds(story.tell(hook(Compacted()), hook(Compacted()))) == [ContextCompacted]


def test_a_call_of_planwires_own_tools_is_recorded_where_it_is_answered() -> None:
    assert begun().tell(hook(OwnCall("set_plan", {}))) == []


def test_a_child_has_a_list_of_its_own_that_works_for_the_step_at_work() -> None:
    story = begun()
    story.tell(hook(todos("completed", "in_progress")))
    [event] = story.tell(hook(todos("pending"), child=Child("a1", "explore")))
    assert isinstance(event, PlanSet)
    assert event.via == HOOKS
    record = story.state.plans["todos@a1"]
    assert record.reader == "todos@a1"
    assert record.parent is not None
    assert (record.parent.plan_id, record.parent.step) == ("todos", "s2")
    story.tell(hook(TurnOver("end_turn"), child=Child("a1")))
    assert story.session.is_working


HAPPENINGS = st.one_of(
    st.builds(Started, st.sampled_from(["startup", "resume", "clear", "x"])),
    st.builds(TurnBegan, st.text(max_size=5)),
    st.builds(TurnOver, st.sampled_from(["end_turn", "error"])),
    st.builds(Ended, st.sampled_from(["clear", "other"])),
    st.builds(Compacted),
    st.builds(Titled, st.text(max_size=5)),
    st.builds(
        ListHeard,
        st.just("todos"),
        st.lists(st.builds(Entry, st.text(max_size=3), st.none(), st.text(max_size=3)), max_size=3).map(tuple),
    ),
    st.builds(
        TaskChanged, st.just("todos"), st.sampled_from("12"), st.none() | st.text(max_size=3), gone=st.booleans()
    ),
    st.builds(Proposed, st.just(PLAN_MODE), st.text(max_size=3), draft=st.booleans()),
    st.builds(Decided, st.just(PLAN_MODE), st.booleans(), st.text(max_size=3)),
)
HOOKS_OF_A_SESSION = st.lists(
    st.builds(hook, HAPPENINGS, child=st.sampled_from([None, Child("a1")]), call=st.sampled_from([None, "t1"])),
    max_size=12,
)


@given(HOOKS_OF_A_SESSION)
def test_doubled_hooks_of_lists_and_turns_leave_the_same_plans(hooks: list[HookCall]) -> None:
    once, twice = Story(), Story()
    once.tell(*hooks)
    twice.tell(*(each for hook in hooks for each in (hook, hook)))
    assert {key: each.state.plan for key, each in once.state.plans.items()} == {
        key: each.state.plan for key, each in twice.state.plans.items()
    }
    assert once.state.turns == twice.state.turns
