"""An agent asks its client's user about a plan: what is recorded of the question and of the answer. R-numbers:
docs/wire.md."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from planwire.model.decide import undecided
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    Choice,
    Event,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    TurnEnded,
)
from planwire.model.plan import MarkdownPlan
from planwire.model.records import PlanRecord
from planwire.readmodel.overview import NEEDS_YOU, overview
from planwire.relay.actions import Record
from planwire.relay.dedupe import QUIET, PendingHistory, begin
from tests.agents.driving import Talk
from tests.wire import JSON, answer, line, refusal, removed, request, streamed, text

PLANS: JSON = {"plan": {}}
TEXT = "# Plan\n\n1. Read\n2. Write"
OPTIONS = [
    {"optionId": "default", "name": "Yes, manually approve edits", "kind": "allow_once"},
    {"optionId": "auto", "name": "Yes, and use auto mode", "kind": "allow_always"},
    {"optionId": "reject", "name": "No, keep planning", "kind": "reject_once"},
]
CHOICES = tuple(Choice(option["optionId"], option["name"], option["kind"]) for option in OPTIONS)
NAMES = tuple(option["name"] for option in OPTIONS)
ASKED = ReviewAsked("plan-mode", CHOICES, "word1")


def question(request_id: int | str = 0, plan: str | None = TEXT, options: Any = OPTIONS, call_id: str = "t1") -> bytes:
    """As claude-agent-acp asks, with the plan's text in the request, or without it."""
    call = {"toolCallId": call_id, "name": "ExitPlanMode", "kind": "switch_mode"}
    call["rawInput"] = {} if plan is None else {"plan": plan}  # type: ignore[assignment]
    return request("session/request_permission", request_id, sessionId="s1", toolCall=call, options=options)


def choice(option: str, request_id: int | str = 0) -> bytes:
    return answer(request_id, {"outcome": {"outcome": "selected", "optionId": option}})


def judged(verdict: str, chosen: Choice | None, question: str = "word1") -> PlanReviewed:
    """The verdict of the client's answer to the first question, on the first plan."""
    review = PlanReviewed("plan-mode", 3, verdict, question=question)
    return replace(review, answer=chosen.name, option=chosen.id, kind=chosen.kind) if chosen else review


def proposed(content: str = TEXT) -> PlanSet:
    return PlanSet(MarkdownPlan("plan-mode", content), via=ACP)


def plan_of(talk: Talk, plan_id: str = "plan-mode") -> PlanRecord:
    return talk.state().plans[plan_id]


def test_the_question_is_recorded_after_the_plan_with_the_answers_in_their_order() -> None:
    talk = Talk(PLANS)
    talk.prompt()
    assert talk.agent(question()) == [question()]
    asked = plan_of(talk).asked
    assert asked is not None
    assert tuple(each.name for each in asked.options) == NAMES
    assert overview(talk.state(), 0, 0).state == NEEDS_YOU
    assert talk.client(choice("default")) == [choice("default")]
    assert plan_of(talk).asked is None
    assert talk.plan_events() == [proposed(), ASKED, judged(APPROVED, CHOICES[0])]


@pytest.mark.parametrize("is_answered_first", [False, True], ids=["then answered", "answered first"])
def test_a_question_that_overtakes_its_plan_is_about_it_all_the_same(is_answered_first: bool) -> None:
    """As claude-agent-acp does on a busy machine: the tool call with the text comes behind the request."""
    talk = Talk(PLANS)
    talk.prompt()
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "kind": "switch_mode", "rawInput": {"plan": TEXT}}
    talk.agent(question(plan=None))
    if is_answered_first:
        talk.client(choice("reject"))
    assert talk.agent(line(call)) == [line(call)]
    if not is_answered_first:
        talk.client(choice("reject"))
    talk.end_turn()
    assert talk.plan_events() == [proposed(), ASKED, judged(CHANGES_REQUESTED, CHOICES[2])]


def test_a_text_that_streams_in_is_whole_when_it_is_asked_about() -> None:
    """The question comes right behind it, and would be cleared by a plan that is written after it."""
    talk = Talk(PLANS)
    talk.prompt()
    for end in (5, 9, len(TEXT)):
        talk.agent(text("turn-1-plan", TEXT[:end]))
    talk.agent(question(call_id="plan-review:turn-1-plan"))
    recorded = [action.event for action in talk.actions if isinstance(action, Record)]
    assert recorded[-1] == ReviewAsked("turn-1-plan", CHOICES, "word1")
    assert talk.plan_events() == [
        PlanSet(MarkdownPlan("turn-1-plan", TEXT), via=ACP),
        ReviewAsked("turn-1-plan", CHOICES, "word1"),
    ]


def test_a_plan_that_changes_while_it_is_asked_about_is_still_asked_about() -> None:
    """The client shows its question until somebody answers. What streams in meanwhile is one more version."""
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(question())
    talk.agent(text("plan-mode", TEXT))  # it says the same
    for end in ("\n3. T", "\n3. Te", "\n3. Test"):
        talk.agent(text("plan-mode", TEXT + end))
    assert plan_of(talk).asked
    talk.client(choice("default"))
    talk.agent(text("plan-mode", "# Another one"))
    assert [type(event) for event in talk.plan_events()] == [
        *(PlanSet, ReviewAsked, PlanSet, ReviewAsked, PlanReviewed),
        PlanSet,
    ]
    assert plan_of(talk).asked is None


def test_pieces_of_a_text_that_come_while_it_is_asked_about_are_one_version() -> None:
    talk = Talk({**PLANS, "_meta": {"jetbrains": {"air": {"planContentDelta": True}}}})
    talk.prompt()
    talk.agent(text("p", "# Par"))
    talk.agent(question(plan=None, call_id="plan-review:p"))
    for piece in ("s", "e", "r"):
        talk.agent(streamed("p", piece))
    assert plan_of(talk, "p").asked
    texts = [event.plan.content for event in talk.plan_events() if isinstance(event, PlanSet)]  # type: ignore[union-attr]
    assert texts == ["# Par", "# Parser"]


def test_a_plan_that_comes_after_the_question_is_asked_about_as_long_as_that_is_open() -> None:
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(question(plan=None))
    assert talk.state().plans == {}
    talk.agent(text("plan-mode", TEXT))
    assert plan_of(talk).asked
    talk.client(choice("reject"))
    assert talk.plan_events()[1:] == [ASKED, judged(CHANGES_REQUESTED, CHOICES[2])]


def test_a_plan_that_comes_after_the_answer_is_recorded_as_one_that_came_before_it() -> None:
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(question(plan=None))
    talk.client(choice("auto"))
    talk.agent(text("plan-mode", TEXT))
    assert talk.plan_events() == [proposed(), ASKED, judged(APPROVED, CHOICES[1])]
    assert plan_of(talk).asked is None


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        (answer(0, {"outcome": {"outcome": "cancelled"}}), None),
        (choice("never offered"), None),
        (choice("odd"), Choice("odd", "Perhaps", "_perhaps")),
        (choice("nameless"), Choice("nameless", "nameless")),
        (refusal(0), None),
        (answer(0), None),
        (answer(0, []), None),
        (answer(0, {"outcome": "selected"}), None),
        (answer(0, {"outcome": {"outcome": "selected", "optionId": 7}}), None),
        (answer(0, {"outcome": {"outcome": "some day", "optionId": "default"}}), None),
        (b'{"jsonrpc":"2.0","id":0}', None),
    ],
)
def test_an_answer_that_is_neither_yes_nor_no_has_dismissed_the_question(said: bytes, chosen: Choice | None) -> None:
    """R43: only an option that was offered, with a kind that allows, is an approval."""
    odd = [{"optionId": "odd", "name": "Perhaps", "kind": "_perhaps"}, {"optionId": "nameless"}]
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(question(options=[*OPTIONS, *odd]))
    assert talk.client(said) == [said]
    assert plan_of(talk).asked is None
    assert talk.plan_events()[2:] == [judged(DISMISSED, chosen)]
    assert talk.client(said) == [said]
    assert len(talk.plan_events()) == 3


@pytest.mark.parametrize("odd", [None, 7, "x", [], [None, 7, "x", {}, {"optionId": 1}], {"optionId": "a"}])
def test_a_question_without_answers_to_choose_from_is_a_question(odd: Any) -> None:
    talk = Talk(PLANS)
    assert talk.agent(question(options=odd)) == [question(options=odd)]
    assert talk.plan_events() == [proposed(), ReviewAsked("plan-mode", question="word1")]


def test_of_answers_beyond_any_measure_the_first_are_recorded_and_all_count() -> None:
    """R44 knows no bound."""
    many = [{"optionId": str(each), "name": f"{each} " + "x" * 5_000, "kind": "allow_once"} for each in range(500)]
    talk = Talk(PLANS)
    talk.agent(question(options=many))
    talk.client(choice("499"))
    asked, reviewed = talk.plan_events()[1:]
    assert isinstance(asked, ReviewAsked)
    assert isinstance(reviewed, PlanReviewed)
    assert len(asked.options) == 32
    assert max(len(each.name) for each in asked.options if isinstance(each, Choice)) == 200
    assert reviewed.verdict == APPROVED
    assert (reviewed.answer or "").startswith("499 x")


def test_a_question_that_nobody_answers_ends_with_the_turn() -> None:
    """R41: a client that cancels answers it. Not every one does."""
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(question())
    talk.end_turn()
    assert plan_of(talk).asked is None
    talk.prompt()
    talk.agent(text("plan-mode", "# Another one"))
    assert plan_of(talk).asked is None
    assert [type(event) for event in talk.plan_events()] == [PlanSet, ReviewAsked, PlanSet]


def test_a_question_between_turns_ends_with_the_connection() -> None:
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(text("plan-mode", TEXT))
    talk.end_turn()
    talk.agent(question())
    assert plan_of(talk).asked
    assert talk.events()[-2:] == [ASKED, TurnEnded("closed")]
    assert plan_of(talk).asked is None


def test_a_plan_that_is_removed_is_not_asked_about() -> None:
    """R13."""
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(question())
    talk.agent(removed("plan-mode"))
    assert plan_of(talk).asked is None
    assert talk.client(choice("default")) == [choice("default")]
    assert [type(event).__name__ for event in talk.plan_events()] == ["PlanSet", "ReviewAsked", "PlanRemoved"]


def test_a_session_that_is_loaded_while_a_question_is_open_does_not_ask_again() -> None:
    """R37."""
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(question())
    talk.client(request("session/load", "l", sessionId="s1", cwd="/project", mcpServers=[]))
    talk.agent(line({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "rawInput": {"plan": TEXT}}))
    talk.agent(text("plan-mode", TEXT))
    talk.agent(answer("l", {}))
    assert plan_of(talk).asked
    assert talk.plan_events() == [proposed(), ASKED]
    talk.agent(question(1))  # it asks anew, since the first client is gone: another question
    talk.client(choice("default", 1))
    assert talk.plan_events()[2:] == [replace(ASKED, question="word2"), judged(APPROVED, CHOICES[0], "word2")]


@pytest.mark.parametrize("option", ["default", "reject", "never offered"])
def test_the_agent_is_not_told_the_answer_that_it_was_given(option: str) -> None:
    talk = Talk(PLANS)
    talk.prompt()
    talk.agent(question())
    talk.client(choice(option))
    talk.end_turn()
    talk.learn()
    assert len(talk.prompt("Go on.")["params"]["prompt"]) == 1


def test_what_is_no_request_asks_nothing() -> None:
    """A message without an id gets no answer."""
    talk = Talk(PLANS)
    notice = question().replace(b'"id": 0, ', b"")
    assert notice != question()
    assert talk.agent(notice) == [notice]
    assert talk.plan_events() == []


def test_questions_and_answers_in_batches_are_heard() -> None:
    """R36."""
    talk = Talk(version=2)
    batch = b"[" + question(0) + b"," + question(1, "# Another one", call_id="plan-review:p") + b"]"
    assert talk.agent(batch) == [batch]
    assert {plan_id for plan_id, record in talk.state().plans.items() if record.asked} == {"plan-mode", "p"}
    answers = b"[" + choice("default", 1) + b"," + choice("reject", 0) + b"]"
    assert talk.client(answers) == [answers]
    assert [(event.plan_id, event.verdict) for event in talk.plan_events() if isinstance(event, PlanReviewed)] == [
        ("p", APPROVED),
        ("plan-mode", "changes_requested"),
    ]


# -- what is held back for a text that streams in


def take(history: PendingHistory, event: Event, at: int = 0, *, streams: bool = False) -> list[Event]:
    return [undecided(each.event) for each in history.take(Record("s1", event, streams=streams), at)]


def test_a_question_about_a_text_that_goes_on_waits_for_it_and_no_longer() -> None:
    history = PendingHistory(begin("s1"))
    assert take(history, proposed("# P"), streams=True) == []
    assert take(history, ASKED, streams=True) == []
    assert take(history, proposed("# Plan"), 100, streams=True) == []
    assert take(history, ASKED, 100, streams=True) == []
    assert history.finish_stream(99 + QUIET) == []
    assert [each.event for each in history.finish_stream(100 + QUIET)] == [proposed("# Plan"), ASKED]
    assert history.finish_stream() == []
    assert take(history, PlanReviewed("plan-mode", 0, APPROVED)) == [PlanReviewed("plan-mode", 1, APPROVED)]


def test_a_question_is_about_a_plan_that_is_there_and_is_asked_once() -> None:
    history = PendingHistory(begin("s1"))
    assert take(history, ASKED) == []
    assert take(history, proposed()) == [proposed()]
    assert take(history, ASKED) == [ASKED]
    assert take(history, ASKED) == []
    other = ReviewAsked("plan-mode", (Choice("yes", "Yes"),))
    assert take(history, other) == [other]


DOINGS = st.sampled_from(("grow", "rewrite", "ask", "answer", "another turn", "look"))


@given(st.lists(DOINGS, max_size=25))
def test_a_plan_is_asked_about_exactly_while_the_question_is_open(doings: list[str]) -> None:
    """Whatever streams in, is asked and answered in whatever order."""
    talk = Talk(PLANS)
    talk.prompt()
    content, questions, is_open, versions = "# Plan", 0, False, 0
    for doing in doings:
        match doing:
            case "grow" | "rewrite":
                content = f"{content} more" if doing == "grow" else f"# Plan {len(content)}"
                talk.agent(text("plan-mode", content))
                versions += 1
            case "ask":
                questions += 1
                talk.agent(question(questions, content))
                is_open = True
                versions += 1
            case "answer" if questions:
                talk.client(choice("default", questions))
                is_open = False
            case "another turn":
                talk.end_turn()
                talk.prompt()
                is_open = False
            case "look":
                talk.state()
    record = talk.state().plans.get("plan-mode")
    assert (record is not None and record.asked is not None) == is_open
    if record is not None:
        assert record.state.plan == MarkdownPlan("plan-mode", content)
        assert record.version <= versions
