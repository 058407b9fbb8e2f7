"""A person approves a plan as they edited it: one write, of exactly that text, while the agent asks and takes it."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.errors import EmptyText, NothingChanges, PlanError, StaleRevision
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    DISMISSED,
    HOOKS,
    Comment,
    Passage,
    PlanReviewed,
    PlanSet,
    Remarked,
    ReviewAsked,
    Told,
)
from planwire.model.kinds import text_of
from planwire.model.plan import BODY_CAP, ItemsPlan, MarkdownPlan
from planwire.model.records import AGENT, ANSWER
from planwire.model.unheard import news, standing
from planwire.steering.edits import takes_edit
from planwire.steering.reach import ANSWER as CAN_ANSWER
from planwire.steering.reach import WORDS, Reach
from tests.steering.acting import LIST, NO, YES, Session, agents
from tests.strategies import markdown_texts, texts

PLAN = MarkdownPlan("main", "# Parser\n\n1. Read\n2. Write\n")
EDITED = "# Parser\n\n1. Read\n2. Write, with tests"
HELD = Reach(frozenset((CAN_ANSWER, WORDS)))


def asking(plan: MarkdownPlan | ItemsPlan = PLAN, *, takes: bool = True) -> Session:
    session = agents(plan)
    session.append(ReviewAsked("main", (YES, NO), "q1", takes), by=AGENT)
    session.reach = HELD
    return session


def approve(session: Session, edited: str, author: str = "ana", seen: int | None = 1, **arguments: Any) -> str:
    wanted = {"verdict": APPROVED, "question": "q1", "edited": edited, "seen": seen, **arguments}
    return session.do("review", author=author, **wanted).words


def test_the_text_and_the_approval_of_it_are_one_write() -> None:
    session = asking()
    decision = session.do("review", author="ana", verdict=APPROVED, question="q1", edited=EDITED, seen=1)
    approval = PlanReviewed("main", 3, APPROVED, via="planwire", question="q1")
    plan, review = decision.events
    assert plan == PlanSet(MarkdownPlan("main", EDITED), via=HOOKS)
    assert isinstance(review, PlanReviewed)
    assert (review.revision, review.verdict, review.question) == (3, approval.verdict, approval.question)
    assert (review.option, review.answer, review.kind) == (YES.id, YES.name, YES.kind)
    assert decision.words == "Approved as you edited it. Queued for the agent: “Yes, do it”."


def test_the_plan_stays_the_agents_and_the_version_is_the_persons() -> None:
    session = asking()
    approve(session, EDITED)
    record = session.record
    assert (record.owner, record.by, record.version, record.revision) == (AGENT, "ana", 2, 3)
    assert text_of(record.state.plan) == EDITED


def test_the_question_stays_open_until_the_agent_has_the_text() -> None:
    session = asking()
    approve(session, EDITED)
    assert session.record.asked is not None
    assert session.record.decision is not None
    assert not session.record.decision.is_stale
    assert session.record.approval is None
    session.append(Told(ANSWER, 0, request="q1"), by="hook")
    told = session.record
    assert told.asked is None
    assert told.approval is not None


def test_the_agent_gets_the_text_as_its_answer_and_not_as_news() -> None:
    session = asking()
    approve(session, EDITED)
    assert not news(session.state)
    session.append(Told(ANSWER, 0, request="q1"), by="hook")
    assert not news(session.state)


def test_a_text_that_never_reached_the_agent_is_news_like_its_approval() -> None:
    session = asking()
    approve(session, EDITED)
    session.append(PlanReviewed("main", 0, DISMISSED, question="q1"), by="hook")
    assert session.record.asked is None
    told = {item["said"]: item for item in news(session.state).items}
    assert (told["set"]["by"], told["set"]["text"]) == ("ana", EDITED)
    assert told["verdict"]["verdict"] == APPROVED
    assert any(item["said"] == "verdict" for item in standing(session.state).items)


def test_a_text_that_is_as_it_was_is_a_plain_approval() -> None:
    session = asking()
    decision = session.do("review", verdict=APPROVED, edited="\r\n# Parser\r\n\r\n1. Read\r\n2. Write\r\n", seen=1)
    assert [type(each) for each in decision.events] == [PlanReviewed]
    assert decision.words == "Approved. Queued for the agent: “Yes, do it”."


def test_words_go_with_an_edited_plan_and_belong_to_its_approval() -> None:
    session = asking()
    words = approve(session, EDITED, text="mind the tabs", comments=(Comment("both?", None, Passage("Read")),))
    assert words.startswith("Approved as you edited it, with 2 comments. Queued for the agent:")
    assert [each.review for each in session.record.remarks] == [4, 4]
    assert {each.seq for each in session.record.reviews} == {4}


def test_words_go_along_with_a_request_for_changes_where_the_answer_has_a_place_for_them() -> None:
    words = asking().do("review", verdict=CHANGES_REQUESTED, text="smaller steps").words
    assert words.endswith("Your words go along.")


@pytest.mark.parametrize("verdict", [CHANGES_REQUESTED, COMMENTED])
def test_no_other_verdict_takes_an_edited_plan(verdict: str) -> None:
    with pytest.raises(PlanError, match="Only an approval takes an edited plan"):
        asking().do("review", verdict=verdict, edited=EDITED, text="hm", seen=1)


def test_an_option_that_rejects_takes_no_edited_plan() -> None:
    with pytest.raises(PlanError, match="Only an approval takes an edited plan"):
        asking().do("review", option=NO.id, edited=EDITED, seen=1)


def test_nobody_edits_a_plan_that_no_question_takes_an_edit_of() -> None:
    unasked, over = agents(PLAN), asking()
    unasked.reach = HELD
    over.append(Told(ANSWER, 0, request="q1"), by="hook")
    over.append(PlanReviewed("main", 0, DISMISSED, question="q1"), by="hook")
    for session in (unasked, over, asking(takes=False), asking(LIST)):
        before = session.state
        assert not takes_edit(session.record)
        with pytest.raises(PlanError, match="The agent doesn't take an edited plan"):
            session.do("review", verdict=APPROVED, edited=EDITED, seen=1)
        assert session.state is before


def test_nobody_edits_a_plan_that_only_its_client_can_answer_for() -> None:
    session = asking()
    session.reach = Reach()
    with pytest.raises(PlanError, match="The agent doesn't take an edited plan"):
        session.do("review", verdict=APPROVED, edited=EDITED, seen=1)


def test_a_question_that_is_over_says_so() -> None:
    session = asking()
    session.append(PlanReviewed("main", 1, APPROVED, question="q1", answer=YES.name), by="client")
    with pytest.raises(PlanError, match=r"The agent's question is over: “Yes, do it” was the answer"):
        approve(session, EDITED)


def test_of_two_people_who_edit_the_first_wins() -> None:
    session = asking()
    approve(session, EDITED)
    with pytest.raises(StaleRevision):
        approve(session, "# Another", "ben")
    with pytest.raises(NothingChanges, match="ana answered already"):
        approve(session, "# Another", "ben", session.revision)
    assert text_of(session.record.state.plan) == EDITED


def test_a_person_who_saw_an_older_text_decides_again() -> None:
    session = asking()
    session.append(PlanSet(MarkdownPlan("main", "# Lexer"), via=ACP), by=AGENT)
    assert session.record.asked is None
    session.append(ReviewAsked("main", (YES, NO), "q1", True), by=AGENT)
    with pytest.raises(StaleRevision):
        approve(session, EDITED)


def test_an_edit_needs_the_revision_that_was_edited() -> None:
    with pytest.raises(PlanError, match="An edited plan needs 'seen'"):
        approve(asking(), EDITED, seen=None)


def test_an_edited_plan_has_a_text_and_a_bound() -> None:
    with pytest.raises(EmptyText):
        approve(asking(), " \n")
    with pytest.raises(PlanError, match=f"at most {BODY_CAP:,} are allowed"):
        approve(asking(), "a" * (BODY_CAP + 1))


def test_a_new_text_of_the_agents_ends_the_question_as_ever() -> None:
    session = asking()
    session.append(PlanSet(MarkdownPlan("main", "# Lexer"), via=ACP), by=AGENT)
    assert session.record.asked is None


edits = st.one_of(markdown_texts(), texts, st.sampled_from((PLAN.content, EDITED, "", "\r\n")))


@given(markdown_texts(), st.lists(st.tuples(st.sampled_from(("ana", "ben")), edits, st.booleans()), max_size=4))
def test_whatever_people_edit_one_text_is_approved_and_no_other(
    content: str, tries: list[tuple[str, str, bool]]
) -> None:
    session = asking(MarkdownPlan("main", content))
    done: list[tuple[str, str]] = []
    for author, text, is_late in tries:
        with suppress(PlanError):
            approve(session, text, author, 1 if is_late else session.revision)
            done.append((author, text))
    assert len(done) <= 1
    record = session.record
    assert record.owner == AGENT
    assert record.asked is not None
    if not done:
        assert (record.decision, text_of(record.state.plan)) == (None, content)
        return
    [(author, text)] = done
    assert record.decision is not None
    assert (record.decision.by, record.decision.revision) == (author, record.revision)
    shown = text_of(record.state.plan).replace("\r\n", "\n").replace("\r", "\n")
    assert shown.strip("\n").rstrip() == text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    session.append(Told(ANSWER, 0, request="q1"), by="hook")
    assert session.record.review == session.record.reviews[-1]
    assert not news(session.state)
    assert not any(isinstance(each, Remarked) for each in session.record.remarks)
