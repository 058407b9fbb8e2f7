"""People's words as acts: never turned away, never too long, taken back, opened again, and sent anyway."""

from typing import Any

import pytest

from planwire.errors import NothingChanges, PlanError, StaleRevision, TooLong, UnknownRemark
from planwire.journal import Stamped, open_journal
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    REQUEST,
    SELECTION,
    Comment,
    Passage,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    ReviewAsked,
    SessionOpened,
    Told,
    TurnEnded,
)
from planwire.model.plan import REMARK_CAP, MarkdownPlan
from planwire.model.records import AGENT
from planwire.model.remarks import RUN_ALL, SUPERSEDED, WITHDRAWN
from planwire.model.step_changes import AddStep, RemoveStep, RewordStep, SetStatus
from planwire.session.moved_on import MovedOn
from planwire.session.steering import steer
from planwire.steering.delivery import delivered, heard_when
from planwire.steering.wanted import Wanted, is_remark
from tests import deciding
from tests.steering.acting import LIST, NO, YES, Session, a_list, agents, suggests

# -- words are about what the person saw


def test_a_request_for_changes_is_never_turned_away_and_keeps_the_revision_that_it_was_about() -> None:
    session = Session(LIST)
    session.agent_does(RewordStep("s1", "x"), RemoveStep("s3"), AddStep("y"))
    decision = session.do("review", verdict=CHANGES_REQUESTED, text="smaller", seen=1)
    assert [each.revision for each in decision.events] == [1, 1]  # type: ignore[union-attr]
    with pytest.raises(StaleRevision):
        session.do("review", verdict=APPROVED, seen=1)


def test_words_with_a_review_go_to_their_steps_and_those_on_a_step_that_is_gone_to_the_plan() -> None:
    session = Session(LIST)
    session.agent_does(RemoveStep("s3"))
    comments = Comment("why?", "s3"), Comment("and this?", "s2"), Comment("here", None, Passage("write"))
    session.do("review", verdict=CHANGES_REQUESTED, text="smaller", comments=comments, seen=1)
    assert [(each.kind, each.text, each.step, each.passage) for each in session.record.remarks] == [
        (REQUEST, "smaller", None, None),
        (COMMENT, "why?", None, Passage("test")),
        (COMMENT, "and this?", "s2", None),
        (COMMENT, "here", None, Passage("write", "read ", " test tag ship")),
    ]
    assert {each.review for each in session.record.remarks} == {session.record.reviews[0].seq}


def test_a_request_needs_no_words_and_stands_as_long_as_one_with_words() -> None:
    session = Session(LIST)
    session.do("review", verdict=CHANGES_REQUESTED)
    [request] = session.record.open_remarks
    assert (request.kind, request.text) == (REQUEST, "")


def test_an_approval_with_words_has_comments_and_no_request() -> None:
    session = Session(LIST)
    session.do("review", verdict=APPROVED, text="but use tomllib")
    assert [each.kind for each in session.record.open_remarks] == [COMMENT]


def test_words_that_a_person_keeps_in_force_say_so() -> None:
    session = Session(LIST)
    session.do("comment", "s3", text="never touch vendor/", keep=True)
    session.do("comment", "s3", text="never touch vendor/")
    assert [each.kept for each in session.record.remarks] == [True, False]


def test_of_two_peoples_rewordings_the_newer_holds_whoever_made_it() -> None:
    session = agents(LIST)
    seen = session.revision
    session.do("reword", "s3", text="test it", author="ana", seen=seen)
    assert session.do("reword", "s3", text="test all", author="bo", seen=seen).events == (
        suggests(RewordStep("s3", "test all"), about={"s3": "test"}),
    )
    first, second = session.record.remarks
    assert first.closed is not None
    assert (first.closed.how, first.closed.by, first.closed.text) == (SUPERSEDED, "bo", second.id)
    assert delivered(first, 0) == "Superseded"


# -- length


@pytest.mark.parametrize(
    ("act", "arguments"),
    [
        ("comment", {"text": "x"}),
        ("comment", {"comments": "x"}),
        ("review", {"verdict": CHANGES_REQUESTED, "text": "x"}),
        ("select", {"steps": ("s2",), "text": "x"}),
        ("suggest", {"text": "x"}),
        ("add", {"text": "x"}),
        ("reword", {"text": "x"}),
    ],
)
def test_a_remark_has_at_most_four_kibibytes(act: str, arguments: dict[str, Any]) -> None:
    def of(size: int) -> dict[str, Any]:
        text = "é" * (size // 2) + "x" * (size % 2)
        given = {"text": text, "comments": (Comment(text),)}
        return {key: given.get(key, value) if value == "x" else value for key, value in arguments.items()}

    session, target = agents(LIST), "s2" if act == "reword" else None
    with pytest.raises(TooLong, match=r"4,097 bytes, and at most 4,096 fit into one remark\. Say it in parts\."):
        session.do(act, target, **of(REMARK_CAP + 1))
    assert session.record.remarks == ()
    assert session.do(act, target, **of(REMARK_CAP)).events


def test_a_passage_counts_for_the_length_and_so_does_a_reason() -> None:
    session = Session(LIST)
    with pytest.raises(TooLong):
        session.do("comment", text="x" * 2_100, passage=Passage("y" * 2_000, "z"))
    session.do("comment", text="why?")
    with pytest.raises(TooLong):
        session.do("withdraw", "r1", text="x" * (REMARK_CAP + 1))


def test_a_step_of_planwires_own_plan_is_no_remark_and_as_long_as_one_likes() -> None:
    Session(LIST).do("add", text="x" * (REMARK_CAP + 1))


# -- steps to run


def test_a_selection_is_no_approval() -> None:
    session = Session(LIST)
    session.append(ReviewAsked("main"), by=AGENT)
    session.do("select", steps=("s3",))
    assert session.record.reviews == ()
    assert session.record.asked is not None, "the agent still waits for a verdict"


def test_all_open_steps_together_end_an_earlier_choice() -> None:
    session = Session(a_list("a", "b", "c"))
    session.do("select", steps=("s1",))
    decision = session.do("select", steps=("s1", "s2", "s3"), author="ana")
    assert decision.events == (RemarkClosed("main", "r1", RUN_ALL),)
    assert decision.words.startswith("All open steps are to run. ")
    for author in ("ana", "user"):
        with pytest.raises(NothingChanges, match="said already"):
            session.do("select", steps=("s1", "s2", "s3"), author=author)
    chosen = Remarked("main", SELECTION, "", 1, steps=("s2",), about={"s2": "b"})
    assert session.do("select", steps=("s2",)).events == (chosen,)


def test_all_open_steps_are_a_choice_where_there_was_none() -> None:
    session = Session(a_list("a", "b"))
    session.do("select", steps=("s1", "s2"))
    session.agent_does(AddStep("c"))
    assert session.record.open_remarks[0].steps == ("s1", "s2"), "and no others for now"
    assert session.do("select", steps=("s1", "s2", "s3")).events == (RemarkClosed("main", "r1", RUN_ALL),)


def test_words_with_a_choice_are_said_once_like_the_choice() -> None:
    session = Session(LIST)
    session.do("select", steps=("s3",), text="then stop")
    with pytest.raises(NothingChanges):
        session.do("select", steps=("s3",), text="then stop")
    [more] = session.do("select", steps=("s3",), text="then wait").events
    assert more == Remarked("main", COMMENT, "then wait", 1)


# -- taken back, and open again


def test_anyone_can_take_back_any_remark_and_say_why() -> None:
    session = agents(LIST)
    session.do("comment", "s3", text="why?")
    session.do("select", steps=("s3",))
    session.do("review", verdict=CHANGES_REQUESTED)
    assert session.do("withdraw", "r1", text=" I see \n", author="ana").events == (
        RemarkClosed("main", "r1", WITHDRAWN, "I see"),
    )
    assert session.do("withdraw", "r2").words == "Withdrawn: run “test”"
    assert session.do("withdraw", "r3").words == "Withdrawn: request"
    with pytest.raises(NothingChanges, match="r1 is closed already"):
        session.do("withdraw", "r1")


def test_a_closed_remark_is_reopened_once_and_the_agent_hears_of_it_anew() -> None:
    session = Session(LIST)
    session.do("comment", "s3", text="why?")
    with pytest.raises(NothingChanges, match="r1 is open"):
        session.do("reopen", "r1")
    session.append(Told("tool", 2, remarks=("r1",)), RemarkAnswered("main", "r1", "because"), by=AGENT)
    decision = session.do("reopen", "r1")
    assert decision.events == (RemarkReopened("main", "r1"),)
    assert decision.words == "Reopened: “why?”. The agent will see it with its next call of a plan tool."
    assert session.record.remarks[0].told is None
    with pytest.raises(UnknownRemark):
        session.do("reopen", "r9")


def test_a_plan_that_was_dismissed_or_has_ended_is_reopened() -> None:
    session = Session(LIST)
    with pytest.raises(NothingChanges, match="the plan is open"):
        session.do("reopen")
    session.append(PlanRemoved("main"))
    assert session.do("reopen").events == (PlanReopened("main"),)
    proposal = Session(MarkdownPlan("main", "# A"))
    proposal.append(ReviewAsked("main"), by=AGENT)
    proposal.do("review", verdict=CHANGES_REQUESTED)
    proposal.do("reopen")
    assert proposal.record.is_living


def test_a_remark_goes_by_its_id_and_a_step_by_its_own() -> None:
    assert [each for each in ("r1", "r12", "s1", "r", "1", "r1x", "", None) if is_remark(each)] == ["r1", "r12"]
    session = agents(LIST)
    session.do("add", text="ship it")
    with pytest.raises(PlanError, match="only suggested"):
        session.do("tick", "r1")


# -- when it is heard


def test_a_sentence_says_when_the_agent_hears_it() -> None:
    prompt, tool = "the next prompt in", "its next call of a plan tool"
    session = agents(LIST)
    assert heard_when(session.state, session.record) == f"The agent will see it with {prompt} the editor."
    session.append(SessionOpened(client="Zed 1.2.0"))
    assert heard_when(session.state, session.record) == f"The agent will see it with {prompt} Zed."
    session.append(PlanSet(MarkdownPlan("notes", "# Notes")), by=AGENT)
    assert heard_when(session.state, session.record) == f"The agent will see it with {tool} or {prompt} Zed."
    session.append(ReviewAsked("main", (YES, NO)), by=AGENT)
    assert heard_when(session.state, session.record) == f"The agent will see it with {tool} or {prompt} Zed."
    session.append(ReviewAsked("main"), by=AGENT)
    assert heard_when(session.state, session.record) == "The agent is waiting for it."
    own = Session(LIST)
    assert heard_when(own.state, own.record) == f"The agent will see it with {tool}."


@pytest.mark.parametrize(
    ("events", "word"),
    [
        ((), "Queued"),
        ((Told("context", 2, remarks=("r1",), stage="offered"),), "Delivered"),
        ((Told("context", 2, remarks=("r1",)),), "Seen"),
        ((Told("tool", 2, remarks=("r1",)),), "Seen"),
        ((Told("prompt", 2, remarks=("r1",)),), "Delivered"),
        ((TurnEnded("end_turn"), Told("prompt", 2, remarks=("r1",))), "Delivered"),
        ((Told("prompt", 2, remarks=("r1",)), TurnEnded("end_turn")), "Seen"),
        ((Told("prompt", 2, remarks=("r1",)), TurnEnded("disconnected")), "Delivered"),
        ((Told("prompt", 2, remarks=("r1",)), PlanChanged("main", "on it")), "Seen"),
        ((Told("steering", 2, remarks=("r1",)),), "Delivered"),
        ((RemarkAnswered("main", "r1", "so"),), "Answered"),
        ((Told("prompt", 2, remarks=("r1",)), PlanChanged("main", None, (SetStatus("s3", "completed"),))), "Done"),
        ((Told("prompt", 2, remarks=("r1",)), PlanChanged("main", None, (RemoveStep("s3"),))), "Step is gone"),
        ((RemarkClosed("main", "r1", WITHDRAWN),), "Withdrawn"),
        ((RemarkClosed("main", "r1", "out_of_scope"),), "Out of scope"),
    ],
)
def test_a_badge_says_how_far_a_remark_has_come(events: tuple[Any, ...], word: str) -> None:
    session = Session(LIST)
    session.do("comment", "s3", text="why?")
    for event in events:
        session.append(event, by="relay" if isinstance(event, Told) else AGENT)
    assert delivered(session.record.remarks[0], session.state.acted) == word


# -- send anyway


def test_send_anyway_is_for_the_plan_at_the_moment_of_writing_and_answers_with_it() -> None:
    with open_journal("memory:") as journal:
        for event in (PlanSet(a_list("read")), PlanChanged("main", None, (AddStep("write"),))):
            deciding.write(journal, "s", Stamped(1, AGENT, event))
        with pytest.raises(MovedOn):
            steer(journal, "s", "main", Wanted("review", seen=1, verdict=APPROVED))
        done = steer(journal, "s", "main", Wanted("review", verdict=APPROVED))
        assert (done.seen, done.revision) == (2, 2)
        *_, recorded = journal.read("s")
        assert recorded.event == PlanReviewed("main", 2, APPROVED, via="planwire")
        changed = steer(journal, "s", "main", Wanted("reword", "s2", text="write it"))
        assert (changed.seen, changed.revision, changed.words) == (2, 4, "Changed: “write” → write it")


def test_an_act_answers_with_the_id_of_its_remark() -> None:
    with open_journal("memory:") as journal:
        deciding.write(journal, "s", Stamped(1, AGENT, PlanSet(a_list("read"), via="acp")))
        first = steer(journal, "s", "main", Wanted("comment", text="hm"))
        second = steer(journal, "s", "main", Wanted("tick", "s1"))
        third = steer(journal, "s", "main", Wanted("withdraw", "r1"))
        assert [first.remark, second.remark, third.remark] == ["r1", "r2", None]
        assert [first.is_suggestion, second.is_suggestion] == [False, True]
