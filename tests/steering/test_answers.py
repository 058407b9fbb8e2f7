"""A person answers the agent's question from planwire: which of its options they mean, and what they read of it."""

import pytest
from msgspec.structs import replace

from planwire.errors import ChoiceNeeded, NothingChanges, PlanError, StaleRevision, UnknownWord
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    DISMISSED,
    REQUEST,
    Choice,
    PlanReviewed,
    PlanSet,
    Remarked,
    ReviewAsked,
    SessionOpened,
    TellAsked,
    Told,
    TurnEnded,
)
from planwire.model.plan import MarkdownPlan
from planwire.model.records import AGENT, ANSWER
from planwire.model.unheard import CLIENT
from planwire.steering import reach
from planwire.steering.reach import Reach
from planwire.steering.target import Decision
from tests.steering.acting import NO, YES, Session

ALWAYS = Choice("always", "Yes, and don't ask again", "allow_always")
NEVER = Choice("never", "No, never", "reject_always")
ODD = Choice("odd", "Perhaps", "_perhaps")
PLAN = MarkdownPlan("main", "# Parser\n\n1. Read\n2. Write")
FULL = Reach(frozenset((reach.ANSWER, reach.TELL, reach.STOP)), is_working=True)
STEERED = Reach(FULL.can | {reach.STEER}, is_working=True)


def asking(*options: Choice, question: str = "q1", reached: Reach = FULL) -> Session:
    session = Session(PLAN, ACP)
    session.append(SessionOpened("agent 1", "Zed 1.2"), by="relay")
    session.append(ReviewAsked("main", options or (YES, ALWAYS, NO), question), by=AGENT)
    session.reach = reached
    return session


def given(decision: Decision) -> PlanReviewed:
    review = decision.events[0]
    assert isinstance(review, PlanReviewed)
    return review


def chosen(choice: Choice, verdict: str) -> PlanReviewed:
    review = PlanReviewed("main", 1, verdict, via="planwire", question="q1")
    return replace(review, answer=choice.name, option=choice.id, kind=choice.kind)


# -- which option


def test_a_plain_approval_takes_the_only_option_that_allows_once() -> None:
    decision = asking(ALWAYS, YES, NO).do("review", verdict=APPROVED)
    assert decision.events == (chosen(YES, APPROVED),)
    assert decision.words == "Approved. Queued for the agent: “Yes, do it”."


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        ((ALWAYS, NO), ("always",)),
        ((YES, Choice("other", "Yes, slowly", "allow_once"), ALWAYS, NO), ("yes", "other", "always")),
        ((NO,), ("no",)),
        ((ODD, NO), ("odd", "no")),
    ],
    ids=["none", "several", "only a no", "an unknown kind"],
)
def test_where_no_option_or_several_allow_once_the_person_chooses(
    options: tuple[Choice, ...], offered: tuple[str, ...]
) -> None:
    with pytest.raises(ChoiceNeeded, match=r"Choose an answer: .*Nothing was sent") as refusal:
        asking(*options).do("review", verdict=APPROVED)
    assert refusal.value.options == offered


def test_a_request_for_changes_takes_the_only_option_that_rejects_once() -> None:
    decision = asking(YES, NO, NEVER).do("review", verdict=CHANGES_REQUESTED)
    assert given(decision) == chosen(NO, CHANGES_REQUESTED)
    with pytest.raises(ChoiceNeeded) as refusal:
        asking(YES, NEVER).do("review", verdict=CHANGES_REQUESTED)
    assert refusal.value.options == ("never",)


@pytest.mark.parametrize("option", ["always", "Yes, and don't ask again", "  YES, AND DON'T ASK AGAIN "])
@pytest.mark.parametrize("verdict", [None, APPROVED])
def test_what_holds_for_ever_is_chosen_by_its_id_or_its_name(option: str, verdict: str | None) -> None:
    assert given(asking().do("review", option=option, verdict=verdict)) == chosen(ALWAYS, APPROVED)


def test_an_id_comes_before_a_name() -> None:
    session = asking(Choice("no", "yes", "reject_once"), Choice("yes", "no", "allow_once"))
    assert given(session.do("review", option="yes")).verdict == APPROVED


def test_an_option_says_its_own_verdict() -> None:
    assert given(asking().do("review", option="no")) == chosen(NO, CHANGES_REQUESTED)
    decision = asking(ODD, YES).do("review", option="Perhaps")
    assert given(decision) == chosen(ODD, DISMISSED)
    assert decision.words == "Answered. Queued for the agent: “Perhaps”."


@pytest.mark.parametrize(
    ("option", "verdict", "words"),
    [
        ("no", APPROVED, "“No, keep planning” does not mean “approved”: choose one of “Yes, do it”"),
        ("yes", CHANGES_REQUESTED, "“Yes, do it” does not mean “changes requested”: choose one of “No, keep planning”"),
        ("yes", COMMENTED, "does not mean “commented”: say one or the other"),
    ],
)
def test_an_option_that_contradicts_the_verdict_is_refused(option: str, verdict: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        asking().do("review", option=option, verdict=verdict)


@pytest.mark.parametrize("option", ["maybe", "", "  "])
def test_an_option_that_is_not_offered_is_refused_with_those_that_are(option: str) -> None:
    with pytest.raises(UnknownWord, match="It offers: “Yes, do it”, “Yes, and don't ask again”, “No, keep planning”"):
        asking().do("review", option=option)


def test_two_options_of_one_name_are_told_apart_by_their_ids() -> None:
    session = asking(Choice("a", "Yes", "allow_once"), Choice("b", "Yes", "allow_once"))
    with pytest.raises(ChoiceNeeded, match="offers “Yes” more than once: choose one by its id") as refusal:
        session.do("review", option="Yes")
    assert refusal.value.options == ("a", "b")
    assert given(session.do("review", option="b")).option == "b"


# -- which question


def test_an_answer_to_the_question_that_the_person_saw_is_sent() -> None:
    assert given(asking().do("review", verdict=APPROVED, question="q1")).question == "q1"


@pytest.mark.parametrize("arguments", [{"verdict": APPROVED}, {"option": "yes"}, {"option": "of the old one"}])
def test_an_answer_to_a_question_that_is_over_is_refused_with_who_answered(arguments: dict[str, str]) -> None:
    session = asking()
    session.append(PlanReviewed("main", 1, APPROVED, answer="Yes, do it", question="q1"), by=CLIENT)
    with pytest.raises(
        PlanError, match=r"question is over: “Yes, do it” was the answer \(someone in Zed\)\. Nothing was sent"
    ):
        session.do("review", question="q1", **arguments)
    session = asking()
    session.do("review", verdict=CHANGES_REQUESTED, author="ana")
    session.append(Told(ANSWER, 0, request="q1"), by="relay")
    session.append(ReviewAsked("main", (YES, NO), "q2"), by=AGENT)
    with pytest.raises(PlanError, match=r"“No, keep planning” was the answer \(ana\)"):
        session.do("review", question="q1", **arguments)


def test_a_question_that_ended_without_an_answer_is_over() -> None:
    session = asking()
    session.append(TurnEnded("cancelled"), by=AGENT)
    with pytest.raises(PlanError, match=r"The agent's question is over\. Nothing was sent"):
        session.do("review", verdict=APPROVED, question="q1")
    with pytest.raises(PlanError, match="The answer was not sent: the agent asks nothing about this plan"):
        session.do("review", option="yes")


def test_a_second_answer_is_refused_while_the_first_is_on_its_way() -> None:
    session = asking()
    session.do("review", verdict=APPROVED, author="ana")
    for verdict in (APPROVED, CHANGES_REQUESTED):
        with pytest.raises(NothingChanges, match="ana answered already: “Yes, do it”"):
            session.do("review", verdict=verdict)


def test_an_approval_is_of_the_plan_as_it_is() -> None:
    session = asking()
    seen = session.revision
    session.append(PlanSet(MarkdownPlan("main", "# Another one"), via=ACP), by=AGENT)
    session.append(ReviewAsked("main", (YES, NO), "q1"), by=AGENT)
    with pytest.raises(StaleRevision):
        session.do("review", option="yes", seen=seen)
    assert given(session.do("review", option="no", seen=seen)).verdict == CHANGES_REQUESTED


# -- questions that only the client can answer


@pytest.mark.parametrize(
    "session",
    [
        asking(reached=reach.NOBODY),
        asking(reached=Reach(frozenset((reach.TELL, reach.STOP)), is_working=True)),
        asking(question=""),
    ],
    ids=["no relay", "a relay that leaves answers alone", "an older question"],
)
def test_a_verdict_on_what_only_the_client_can_answer_is_recorded_and_told_later(session: Session) -> None:
    with pytest.raises(PlanError, match="The answer was not sent: this question can only be answered in Zed"):
        session.do("review", option="yes")
    is_named = bool(session.record.asked and session.record.asked.id)
    decision = session.do("review", verdict=APPROVED)
    assert decision.events == (PlanReviewed("main", 1, APPROVED, via="planwire"),)
    assert decision.words == "Approved. The agent will see it with the next prompt in Zed."
    assert (session.record.asked is not None) == is_named


# -- a dispute


def test_a_person_settles_a_dispute_by_the_same_verdict_as_before() -> None:
    session = asking()
    session.do("review", verdict=APPROVED, author="ana")
    session.append(Told(ANSWER, 0, request="q1"), by="relay")
    session.append(PlanReviewed("main", 1, CHANGES_REQUESTED, question="q1", late=True), by=CLIENT)
    assert session.record.needs_person
    session.do("review", verdict=APPROVED, author="ana")
    assert not session.record.needs_person


# -- words with an answer


@pytest.mark.parametrize(
    ("reached", "now", "words"),
    [
        (STEERED, None, "Your words go along."),
        (STEERED, True, "Your words go along."),
        (FULL, None, "The agent will see your words with the next prompt in Zed."),
        (FULL, True, "The agent hears your words when its turn is over."),
    ],
)
def test_the_sentence_says_when_the_agent_hears_the_words_that_come_with_a_rejection(
    reached: Reach, now: bool | None, words: str
) -> None:
    session = asking(reached=reached)
    before = session.state.seq
    decision = session.do("review", verdict=CHANGES_REQUESTED, text="smaller", now=now)
    assert decision.words == f"Changes requested, with 1 comment. Queued for the agent: “No, keep planning”. {words}"
    review, request, *more = decision.events
    assert review == chosen(NO, CHANGES_REQUESTED)
    assert request == Remarked("main", REQUEST, "smaller", 1, review=before + 1)
    assert more == ([TellAsked()] if now else [])


def test_an_answer_without_words_says_nothing_of_words() -> None:
    decision = asking().do("review", verdict=CHANGES_REQUESTED)
    assert decision.words == "Changes requested. Queued for the agent: “No, keep planning”."
