"""An agent's question that two places can answer: whatever comes in whatever order, there is one outcome."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    Choice,
    Event,
    PlanReviewed,
    PlanSet,
    Recorded,
    ReviewAsked,
    StopAsked,
    Told,
    TurnEnded,
)
from planwire.model.plan import MarkdownPlan
from planwire.model.records import ANSWER, PlanRecord, Review, SessionState
from planwire.model.unheard import has_word, news, standing
from tests.deciding import fold_all
from tests.model.lives import Life

YES, NO = Choice("yes", "Yes", "allow_once"), Choice("no", "No", "reject_once")
CHOICES = {APPROVED: YES, CHANGES_REQUESTED: NO}
PLAN = PlanSet(MarkdownPlan("main", "# Parser"), via=ACP)
ASKED = ReviewAsked("main", (YES, NO), "q1")
TOLD = Told(ANSWER, 0, request="q1")
END = TurnEnded("end_turn")
OTHER = PlanSet(MarkdownPlan("main", "# Another one"), via=ACP)

#: Who says what.
Said = tuple[str, Event]


def decided(verdict: str, question: str = "q1") -> PlanReviewed:
    """A person's decision on the board."""
    choice = CHOICES[verdict]
    review = PlanReviewed("main", 1, verdict, via="planwire", question=question)
    return replace(review, answer=choice.name, option=choice.id, kind=choice.kind)


def answered(verdict: str, *, late: bool = False, question: str = "q1") -> PlanReviewed:
    """The client's own answer."""
    choice = CHOICES.get(verdict)
    review = PlanReviewed("main", 1, verdict, question=question, late=late)
    return replace(review, answer=choice.name, option=choice.id, kind=choice.kind) if choice else review


def asking() -> Life:
    return Life(PLAN, ASKED)


def told(record: PlanRecord) -> Review:
    assert record.review is not None
    return record.review


def verdicts_in_news(state: SessionState) -> list[str]:
    return [item["verdict"] for item in news(state).items if item["said"] == "verdict"]


# -- one answer


@pytest.mark.parametrize("verdict", [APPROVED, CHANGES_REQUESTED])
def test_a_decision_counts_once_the_agent_has_it_and_until_then_the_question_is_open(verdict: str) -> None:
    life = asking()
    assert life.state.needs_person
    life.does(decided(verdict), by="ana")
    assert life.record.asked is not None
    assert life.state.needs_person
    assert life.record.decision == told(life.record)
    assert life.record.approval is None
    assert not life.record.ended
    life = life.does(TOLD, by="relay")
    assert life.record.decision is None
    assert not life.state.needs_person
    review = told(life.record)
    assert (review.by, review.verdict, review.option, review.question) == ("ana", verdict, CHOICES[verdict].id, "q1")
    assert review.told is not None
    assert (life.record.approval is not None) == (verdict == APPROVED)
    assert bool(life.record.ended) == (verdict == CHANGES_REQUESTED)


def test_a_decision_that_is_on_its_way_is_no_news_and_one_that_was_delivered_never_is() -> None:
    life = asking().does(decided(APPROVED), by="ana")
    assert verdicts_in_news(life.state) == []
    life.does(TOLD, by="relay").does(END)
    assert verdicts_in_news(life.state) == []
    assert not has_word(life.state, "main", 0)
    assert [item["verdict"] for item in standing(life.state).items] == [APPROVED]


@pytest.mark.parametrize(
    ("by", "over"),
    [("agent", END), ("agent", answered(DISMISSED)), ("client", answered(DISMISSED))],
    ids=["turn ended", "withdrawn", "dismissed"],
)
def test_a_decision_on_a_question_that_ended_without_an_answer_is_told_with_the_next_prompt(
    by: str, over: Event
) -> None:
    life = asking().does(decided(APPROVED), by="ana").does(over, by=by)
    assert life.record.asked is None
    assert life.record.approval is not None
    assert verdicts_in_news(life.state) == [APPROVED]
    life.does(Told("prompt", life.state.seq, request="m"), by="relay")
    assert verdicts_in_news(life.state) == []


@pytest.mark.parametrize("between", [END, OTHER])
def test_an_answer_that_left_before_the_plan_or_the_turn_moved_on_is_told_all_the_same(between: Event) -> None:
    """The journal hears of the delivery once the line has left, and the agent may have said something by then."""
    life = asking().does(decided(APPROVED), by="ana").does(between).does(TOLD, by="relay")
    assert told(life.record).told is not None
    assert verdicts_in_news(life.state) == []


# -- two answers


@pytest.mark.parametrize("elsewhere", [APPROVED, CHANGES_REQUESTED])
@pytest.mark.parametrize("client", [APPROVED, CHANGES_REQUESTED])
def test_the_client_was_faster_and_the_decision_is_late(client: str, elsewhere: str) -> None:
    life = asking().does(decided(elsewhere), by="ana").does(answered(client), by="client")
    assert life.record.asked is None
    assert (told(life.record).by, told(life.record).verdict) == ("client", client)
    assert [(each.by, each.is_late) for each in life.record.reviews] == [("ana", True), ("client", False)]
    assert life.state.needs_person == (client == APPROVED and elsewhere == CHANGES_REQUESTED)
    assert verdicts_in_news(life.does(TOLD, by="relay").does(END).state) == []
    assert told(life.record).by == "client"


@pytest.mark.parametrize("is_told_first", [True, False])
@pytest.mark.parametrize("elsewhere", [APPROVED, CHANGES_REQUESTED])
@pytest.mark.parametrize("client", [APPROVED, CHANGES_REQUESTED])
def test_the_decision_was_faster_and_the_clients_answer_is_late(
    client: str, elsewhere: str, is_told_first: bool
) -> None:
    """The late answer may be recorded before the delivery is: the line was on its way."""
    life = asking().does(decided(elsewhere), by="ana")
    late, delivered = ("client", answered(client, late=True)), ("relay", TOLD)
    for by, event in (delivered, late) if is_told_first else (late, delivered):
        life.does(event, by=by)
    assert life.record.asked is None
    assert (told(life.record).by, told(life.record).verdict) == ("ana", elsewhere)
    assert life.state.needs_person == (elsewhere == APPROVED and client == CHANGES_REQUESTED)
    assert verdicts_in_news(life.does(END).state) == []


def disputed() -> Life:
    life = asking().does(decided(APPROVED), by="ana").does(TOLD, by="relay")
    return life.does(answered(CHANGES_REQUESTED, late=True), by="client")


@pytest.mark.parametrize(
    ("by", "event"),
    [
        ("ana", PlanReviewed("main", 1, APPROVED, via="planwire")),
        ("ana", PlanReviewed("main", 1, CHANGES_REQUESTED, via="planwire")),
        ("agent", OTHER),
        ("ana", StopAsked()),
    ],
)
def test_a_late_no_needs_a_person_until_one_decides_or_the_plan_is_another(by: str, event: Event) -> None:
    life = disputed()
    assert life.record.needs_person
    assert life.does(END).record.needs_person
    assert not life.does(event, by=by).record.needs_person


def test_a_new_question_ends_a_dispute_by_being_one() -> None:
    life = disputed().does(ReviewAsked("main", (YES, NO), "q2"))
    assert life.record.disputed == 0
    assert life.record.needs_person


def test_two_people_decide_and_the_first_one_counts() -> None:
    life = asking().does(decided(APPROVED), by="ana").does(decided(CHANGES_REQUESTED), by="bo").does(TOLD, by="relay")
    assert (told(life.record).by, told(life.record).verdict) == ("ana", APPROVED)
    assert life.record.needs_person


# -- questions that are not the one


def test_a_decision_on_another_question_leaves_this_one_open() -> None:
    life = asking().does(ReviewAsked("main", (YES, NO), "q2")).does(decided(APPROVED, "q1"), by="ana")
    assert life.record.decision is None
    assert life.does(TOLD, by="relay").record.asked is not None


@pytest.mark.parametrize("verdict", [APPROVED, CHANGES_REQUESTED, DISMISSED])
def test_the_clients_answer_to_an_older_question_leaves_the_newer_one_open(verdict: str) -> None:
    life = asking().does(ReviewAsked("main", (YES, NO), "q2")).does(answered(verdict), by="client")
    assert life.record.asked is not None
    assert life.record.asked.id == "q2"


@pytest.mark.parametrize("verdict", [APPROVED, CHANGES_REQUESTED])
def test_a_verdict_that_can_not_be_the_answer_leaves_the_question_open(verdict: str) -> None:
    life = asking().does(PlanReviewed("main", 1, verdict, via="planwire"), by="ana")
    assert life.record.asked is not None
    assert life.record.decision is None
    assert verdicts_in_news(life.state) == [verdict]


def test_an_approval_of_another_wording_is_no_answer_and_a_rejection_is() -> None:
    """The agent changed its plan and asks on, in the same request."""
    for verdict in (APPROVED, CHANGES_REQUESTED):
        life = asking().does(decided(verdict), by="ana").does(OTHER, ASKED)
        assert (life.record.decision is None) == (verdict == APPROVED)
    life = asking().does(decided(APPROVED), by="ana").does(OTHER, ASKED).does(decided(APPROVED), by="bo")
    assert life.does(TOLD, by="relay").record.asked is None
    assert (told(life.record).by, told(life.record).told is not None) == ("bo", True)


# -- all orders

SAYINGS: tuple[Said, ...] = (
    ("agent", ASKED),
    ("ana", decided(APPROVED)),
    ("relay", TOLD),
    ("client", answered(CHANGES_REQUESTED)),
    ("client", answered(CHANGES_REQUESTED, late=True)),
    ("agent", END),
)


def recorded(said: list[Said]) -> list[Recorded]:
    return [Recorded("s", seq, seq, by, event) for seq, (by, event) in enumerate(said, start=1)]


def check(events: list[Recorded]) -> None:
    """What holds after any events about one question, and before each of them."""
    state = SessionState("s")
    for each in events:
        before, state = state, fold_all("s", [each], state)
        record = state.plans["main"]
        counted = [review for review in record.reviews if review.told is not None]
        assert all(not review.is_late and review.is_known for review in counted)
        for review in counted:
            assert review.verdict not in verdicts_in_news(state) or told(record) != review
        assert record.review is None or not record.review.is_late
        if record.disputed:
            late = next(review for review in record.reviews if review.seq == record.disputed)
            assert (late.is_late, late.verdict) == (True, CHANGES_REQUESTED)
            assert record.needs_person
        if record.decision is not None:
            assert record.asked is not None
            assert record.decision.question == record.asked.id
            assert record.decision != record.review or verdicts_in_news(state) == []
        was_asked = before.plans["main"].asked if "main" in before.plans else None
        if was_asked is not None and record.asked is None:
            assert isinstance(each.event, Told | PlanReviewed | TurnEnded | PlanSet)
            assert not isinstance(each.event, PlanReviewed) or not (each.event.via or each.event.late)


def test_whatever_the_order_the_question_is_open_until_it_has_an_outcome_and_then_has_one() -> None:
    for order in permutations(SAYINGS):
        check(recorded([("agent", PLAN), *order]))


_questions = st.sampled_from(("q1", "q1", "q2"))
_said: st.SearchStrategy[Said] = st.one_of(
    st.builds(lambda question: ("agent", ReviewAsked("main", (YES, NO), question)), _questions),
    st.builds(
        lambda by, verdict, question: (by, decided(verdict, question)),
        st.sampled_from(("ana", "bo")),
        st.sampled_from((APPROVED, CHANGES_REQUESTED)),
        _questions,
    ),
    st.builds(lambda question: ("relay", Told(ANSWER, 0, request=question)), _questions),
    st.builds(
        lambda verdict, late, question: ("client", answered(verdict, late=late, question=question)),
        st.sampled_from((APPROVED, CHANGES_REQUESTED, DISMISSED)),
        st.booleans(),
        _questions,
    ),
    st.sampled_from((("agent", END), ("agent", OTHER), ("agent", PLAN))),
)


@given(st.lists(_said, max_size=12), st.integers(0, 12))
def test_whatever_happens_to_questions_and_wherever_the_fold_is_cut(said: list[Said], cut: int) -> None:
    events = recorded([("agent", PLAN), *said])
    check(events)
    assert fold_all("s", events[cut:], fold_all("s", events[:cut])) == fold_all("s", events)
