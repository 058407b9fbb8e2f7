"""Answers from elsewhere, behind the policy: the agent gets exactly one, and the client hears of it. R-numbers:
docs/wire.md."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire.errors import PlanError
from planwire.journal import Journal, open_journal
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    Choice,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    Told,
    TurnEnded,
)
from planwire.model.records import ANSWER
from planwire.relay.actions import ToAgent
from tests import deciding
from tests.agents.driving import JournalledTalk
from tests.relay.test_questions import CHOICES, choice, question
from tests.wire import JSON, answer, request, text

MODE = "plan-mode"
YES, ALWAYS, NO = CHOICES
CANCELLED = {"outcome": {"outcome": "cancelled"}}


@pytest.fixture
def journal() -> Iterator[Journal]:
    with open_journal("memory:") as journal:
        yield journal


@pytest.fixture
def talk(journal: Journal) -> JournalledTalk:
    """An agent that asks, in a turn."""
    return asking(journal)


def asking(journal: Journal, request_id: int | str = 0, version: int = 1, **options: Any) -> JournalledTalk:
    talk = JournalledTalk(journal, version, **options)
    talk.prompt()
    talk.agent(question(request_id) if version == 1 else question_of_version_2(request_id))
    talk.look()
    return talk


def question_of_version_2(request_id: int | str) -> bytes:
    options = [{"optionId": each.id, "name": each.name, "kind": each.kind} for each in CHOICES]
    call = {"toolCallId": "t1", "name": "ExitPlanMode", "kind": "switch_mode", "rawInput": {"plan": "# Plan"}}
    subject = {"type": "tool_call", "toolCall": call}
    params = {"sessionId": "s1", "title": "Ready to code?", "subject": subject, "options": options}
    return request("session/request_permission", request_id, **params)


def wire_answer(option: str, request_id: int | str = 0) -> JSON:
    outcome = {"outcome": "selected", "optionId": option}
    return {"jsonrpc": "2.0", "id": request_id, "result": {"outcome": outcome}}


def taken_back(request_id: int | str = 0) -> JSON:
    return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": request_id}}


def cancel_request(request_id: int | str = 0) -> bytes:
    return json.dumps(taken_back(request_id)).encode()


def refused(request_id: int | str = 0, code: int = -32800) -> bytes:
    error = {"code": code, "message": "Request cancelled"}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()


def reviews(talk: JournalledTalk) -> list[tuple[str, str, bool]]:
    """The verdicts in the journal: who, what, and whether it came too late."""
    found = [(by, event) for by, event in talk.recorded(PlanReviewed) if isinstance(event, PlanReviewed)]
    return [(by, event.verdict, event.late) for by, event in found]


def told(talk: JournalledTalk) -> list[str]:
    return [event.request for _, event in talk.recorded(Told) if isinstance(event, Told) and event.way == ANSWER]


# -- on the wire


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("request_id", [0, 7, "0", "ask-1", ""])
def test_the_agent_gets_the_chosen_option_under_the_id_of_its_request_and_the_client_loses_the_question(
    journal: Journal, request_id: int | str, version: int
) -> None:
    """R43, R44, R54."""
    talk = asking(journal, request_id, version)
    to_agent, to_client = talk.steer("review", MODE, "ana", verdict=APPROVED)
    assert to_agent == [wire_answer("default", request_id)]
    assert type(to_agent[0]["id"]) is type(request_id)
    assert to_client == [taken_back(request_id)]
    assert told(talk) == ["word1"]
    record = talk.now().plans[MODE]
    assert record.asked is None
    assert record.review is not None
    assert (record.review.by, record.review.answer) == ("ana", YES.name)
    assert record.review.told is not None


def test_the_line_is_as_the_schema_has_it(talk: JournalledTalk) -> None:
    talk.say("review", MODE, option="auto")
    talk.look()
    (sent,) = [action.data for action in talk.policy.for_agent() if isinstance(action, ToAgent)]
    assert sent == (b'{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"auto"}}}\n')


def test_nothing_is_recorded_as_told_before_the_line_has_left(talk: JournalledTalk) -> None:
    talk.say("review", MODE, "ana", verdict=APPROVED)
    talk.look()
    assert told(talk) == []
    assert talk.now().plans[MODE].asked is not None
    assert talk.for_agent() == [wire_answer("default")]
    assert told(talk) == ["word1"]


@pytest.mark.parametrize("option", ["reject", "auto", "No, keep planning"])
def test_any_option_can_be_the_answer(talk: JournalledTalk, option: str) -> None:
    expected = {"No, keep planning": "reject"}.get(option, option)
    assert talk.steer("review", MODE, option=option)[0] == [wire_answer(expected)]


def test_the_answer_is_given_once(talk: JournalledTalk) -> None:
    assert talk.steer("review", MODE, verdict=APPROVED)[0] == [wire_answer("default")]
    for _ in range(3):
        talk.look()
        assert talk.for_agent() == talk.for_client() == []


# -- the client is late


@pytest.mark.parametrize("receipt", [refused(), refused(code=-32603), answer(0, CANCELLED), answer(0), answer(0, {})])
def test_a_client_that_takes_its_question_back_says_nothing(talk: JournalledTalk, receipt: bytes) -> None:
    """R54."""
    talk.steer("review", MODE, verdict=APPROVED)
    assert talk.client(receipt) == []
    assert talk.for_agent() == talk.for_client() == []
    assert reviews(talk) == [("user", APPROVED, False)]


@pytest.mark.parametrize("option", ["default", "reject"])
def test_a_late_answer_is_swallowed_recorded_and_said_in_the_editor_once(talk: JournalledTalk, option: str) -> None:
    talk.steer("review", MODE, "ana", verdict=APPROVED)
    assert talk.client(choice(option)) == []
    assert talk.for_agent() == []
    (said,) = talk.for_client()
    update = said["params"]["update"]
    assert said["params"]["sessionId"] == "s1"
    assert update["sessionUpdate"] == "agent_message_chunk"
    name = YES.name if option == "default" else NO.name
    late = f"planwire: your answer “{name}” came too late: ana has answered “{YES.name}”."
    assert update["content"]["text"].strip() == late
    verdict = APPROVED if option == "default" else CHANGES_REQUESTED
    assert reviews(talk) == [("ana", APPROVED, False), ("client", verdict, True)]
    assert talk.now().needs_person == (option == "reject")
    assert talk.client(choice(option)) == [choice(option)]  # whatever that is, it is none of ours
    assert talk.for_client() == []
    assert len(reviews(talk)) == 2


def test_a_late_no_is_a_dispute_though_it_is_recorded_before_the_delivery(talk: JournalledTalk) -> None:
    talk.say("review", MODE, "ana", verdict=APPROVED)
    talk.look()
    assert talk.client(choice("reject")) == []
    assert talk.for_agent() == [wire_answer("default")]
    assert talk.now().needs_person
    assert talk.now().plans[MODE].asked is None


# -- the client is first


@pytest.mark.parametrize("verdict", [APPROVED, CHANGES_REQUESTED])
def test_the_client_answers_first_and_the_decision_does_nothing(talk: JournalledTalk, verdict: str) -> None:
    talk.lags = True
    assert talk.client(choice("default")) == [choice("default")]
    talk.say("review", MODE, "ana", verdict=verdict)  # the journal does not know of the answer yet
    talk.look()
    assert talk.for_agent() == talk.for_client() == []
    record = talk.now().plans[MODE]
    assert record.review is not None
    assert (record.review.by, record.review.verdict) == ("client", APPROVED)
    assert [each.is_late for each in record.reviews] == [True, False]
    assert record.needs_person == (verdict == CHANGES_REQUESTED)
    assert told(talk) == []


def test_a_person_who_saw_the_question_is_told_who_was_faster(talk: JournalledTalk) -> None:
    talk.client(choice("default"))
    with pytest.raises(PlanError, match=r"was the answer \(someone in client\)"):
        talk.say("review", MODE, verdict=APPROVED, question="word1")


DOINGS = ("client", "decide", "look", "agent pipe", "client pipe", "record")


@settings(max_examples=100)
@given(st.permutations([*DOINGS, "look", "agent pipe"]), st.sampled_from(("default", "reject")), st.booleans())
def test_whatever_the_order_the_agent_gets_exactly_one_answer(doings: list[str], option: str, lags: bool) -> None:
    with open_journal("memory:") as journal:
        talk = asking(journal)
        talk.lags = lags
        to_agent: list[JSON] = []
        for doing in (*doings, "record", "look", "agent pipe", "client pipe"):
            match doing:
                case "client":
                    to_agent += map(json.loads, talk.client(choice(option)))
                case "decide":
                    with suppress(PlanError):
                        talk.say("review", MODE, "ana", verdict=APPROVED, question="word1")
                case "look":
                    talk._sessions.look(journal)
                case "agent pipe":
                    to_agent += talk.for_agent()
                case "client pipe":
                    talk.for_client()
                case "record":
                    talk.catch_up()
        assert to_agent in ([wire_answer(option)], [wire_answer("default")])
        record = talk.now().plans[MODE]
        assert record.asked is None
        assert record.review is not None
        assert record.review.option == to_agent[0]["result"]["outcome"]["optionId"]
        assert not record.review.is_late
        talk.end_turn()
        talk.look()
        assert len(talk.prompt()["params"]["prompt"]) == 1  # the agent knows it


# -- questions that are over


def test_the_agent_takes_its_question_back_and_a_decision_comes_too_late_for_it(talk: JournalledTalk) -> None:
    assert talk.agent(cancel_request()) == [cancel_request()]
    assert talk.now().plans[MODE].asked is None
    assert reviews(talk) == [("agent", DISMISSED, False)]
    assert not talk.policy.is_asking()
    with pytest.raises(PlanError, match="question is over"):
        talk.say("review", MODE, verdict=APPROVED, question="word1")
    assert talk.client(answer(0, CANCELLED)) == [answer(0, CANCELLED)]


def test_a_decision_that_crosses_the_agents_withdrawal_is_told_with_the_next_prompt(talk: JournalledTalk) -> None:
    talk.lags = True
    talk.agent(cancel_request())
    talk.say("review", MODE, "ana", verdict=APPROVED)
    talk.look()
    assert talk.for_agent() == talk.for_client() == []
    talk.end_turn()
    talk.look()
    assert len(talk.prompt()["params"]["prompt"]) == 2


@pytest.mark.parametrize("other", [b'{"jsonrpc":"2.0","method":"$/cancel_request"}', cancel_request(5)])
def test_a_withdrawal_of_something_else_leaves_the_question_open(talk: JournalledTalk, other: bytes) -> None:
    assert talk.agent(other) == [other]
    assert talk.steer("review", MODE, verdict=APPROVED)[0] == [wire_answer("default")]


def test_a_question_that_ended_with_its_turn_is_not_asked_any_more(talk: JournalledTalk) -> None:
    assert talk.policy.is_asking()
    talk.end_turn()
    assert not talk.policy.is_asking()
    talk.look()
    assert talk.steer("review", MODE, verdict=APPROVED)[0] == []


def test_a_decision_is_for_its_question_and_no_other(talk: JournalledTalk) -> None:
    talk.client(choice("reject"))
    talk.agent(question(1, "# Another one", call_id="t2"))
    talk.look()
    with pytest.raises(PlanError, match=f"“{NO.name}” was the answer"):
        talk.say("review", MODE, verdict=APPROVED, question="word1")
    assert talk.steer("review", MODE, verdict=APPROVED, question="word2")[0] == [wire_answer("default", 1)]


def test_of_two_questions_about_one_plan_the_newer_is_open_after_the_older_is_answered(talk: JournalledTalk) -> None:
    talk.agent(question(1))
    talk.client(choice("reject", 0))
    assert talk.policy.is_asking()
    asked = talk.now().plans[MODE].asked
    assert asked is not None
    assert asked.id == "word2"
    assert talk.steer("review", MODE, verdict=APPROVED)[0] == [wire_answer("default", 1)]


def test_an_approval_of_a_plan_that_changed_is_not_the_answer(talk: JournalledTalk) -> None:
    talk.lags = True
    talk.agent(text(MODE, "# Another one"))
    talk.say("review", MODE, "ana", verdict=APPROVED)
    talk.look()
    assert talk.for_agent() == []
    assert talk.now().plans[MODE].asked is not None
    assert talk.steer("review", MODE, "ana", verdict=APPROVED)[0] == [wire_answer("default")]


# -- batches


def test_an_answer_in_a_batch_that_comes_too_late_is_taken_out_of_it(journal: Journal) -> None:
    """R36."""
    talk = JournalledTalk(journal, 2)
    talk.prompt()
    batch = b"[" + question(0) + b"," + question(1, "# Other", call_id="plan-review:p") + b"]"
    assert talk.agent(batch) == [batch]
    assert talk.steer("review", MODE, verdict=APPROVED) == ([wire_answer("default", 0)], [taken_back(0)])
    (sent,) = talk.client(b"[" + choice("reject", 0) + b"," + choice("default", 1) + b"]")
    assert json.loads(sent) == [wire_answer("default", 1)]
    assert talk.client(b"[" + choice("reject", 0) + b"]") == [b"[" + choice("reject", 0) + b"]"]


@pytest.mark.parametrize("late", [choice("reject"), answer(0, CANCELLED)])
def test_a_batch_of_nothing_but_late_answers_leaves_nothing(talk: JournalledTalk, late: bytes) -> None:
    """R36."""
    talk.steer("review", MODE, verdict=APPROVED)
    assert talk.client(b"[" + late + b"]") == []


def test_a_withdrawal_in_a_batch_closes_the_question(talk: JournalledTalk) -> None:
    """R36."""
    batch = b"[" + cancel_request() + b"]"
    assert talk.agent(batch) == [batch]
    assert talk.now().plans[MODE].asked is None


# -- what is left alone


def test_without_answers_from_elsewhere_only_the_client_answers(journal: Journal) -> None:
    talk = asking(journal, steers=False)
    with pytest.raises(PlanError, match="can only be answered in client"):
        talk.say("review", MODE, option="default")
    assert talk.steer("review", MODE, "ana", verdict=APPROVED) == ([], [])
    assert talk.now().plans[MODE].asked is not None
    assert talk.client(choice("reject")) == [choice("reject")]
    assert reviews(talk) == [("ana", APPROVED, False), ("client", CHANGES_REQUESTED, False)]


def test_a_decision_on_an_option_that_was_never_offered_is_not_sent(talk: JournalledTalk) -> None:
    """R43. Nobody can choose one, but a journal may hold anything."""
    asked = talk.now().plans[MODE].asked
    assert asked is not None
    from planwire.journal import Stamped

    given = PlanReviewed(MODE, 1, APPROVED, via="planwire", question=asked.id, option="rm -rf", answer="Yes")
    deciding.write(talk.journal, "s1", Stamped(0, "ana", given))
    talk.look()
    assert talk.for_agent() == []


def test_other_permission_requests_are_never_answered(talk: JournalledTalk) -> None:
    call = {"toolCallId": "t9", "name": "Edit", "kind": "edit", "rawInput": {"path": "a"}}
    options = [{"optionId": "default", "name": "Yes", "kind": "allow_once"}]
    other = request("session/request_permission", 9, sessionId="s1", toolCall=call, options=options)
    assert talk.agent(other) == [other]
    assert [sent["id"] for sent in talk.steer("review", MODE, verdict=APPROVED)[0]] == [0]
    assert talk.client(choice("default", 9)) == [choice("default", 9)]
    assert talk.for_client() == []


@pytest.mark.parametrize("session", [{"sessionId": "s1"}, {}])
def test_a_permission_under_the_id_of_a_question_that_is_over_gets_the_clients_answer(
    talk: JournalledTalk, session: JSON
) -> None:
    talk.steer("review", MODE, "ana", verdict=APPROVED)
    options = [{"optionId": "edit", "name": "Edit", "kind": "allow_once"}]
    call = {"toolCallId": "t2", "kind": "edit", "title": "Edit"}
    talk.agent(request("session/request_permission", 0, toolCall=call, options=options, **session))
    given = json.dumps(wire_answer("edit")).encode()
    assert talk.client(given) == [given]


def test_a_question_taken_back_is_told_the_client_before_the_agent_uses_its_id_again(talk: JournalledTalk) -> None:
    talk.say("review", MODE, "ana", verdict=APPROVED)
    talk.look()
    talk.for_agent()
    assert [json.loads(each) for each in talk.agent(question(0))] == [taken_back(), json.loads(question(0))]


def test_a_question_that_a_replay_retells_is_not_answered(journal: Journal) -> None:
    """R37."""
    talk = asking(journal)
    talk.client(request("session/load", "l", sessionId="s1", cwd="/project", mcpServers=[]))
    talk.agent(question(5))
    talk.agent(answer("l", {}))
    assert [type(event) for _, event in talk.recorded(PlanSet, ReviewAsked, TurnEnded)] == [PlanSet, ReviewAsked]


# -- other ends


def test_a_connection_that_ends_before_the_answer_left_leaves_a_verdict_to_be_told(talk: JournalledTalk) -> None:
    talk.say("review", MODE, "ana", verdict=APPROVED)
    talk.look()
    for action in talk.policy.close():
        talk._take(action)
    assert told(talk) == []
    assert talk.recorded(TurnEnded)[-1][1] == TurnEnded("disconnected")
    record = talk.now().plans[MODE]
    assert record.asked is None
    assert record.review is not None
    assert record.review.told is None
    assert not record.review.is_known


def test_options_are_recorded_as_the_agent_offers_them(talk: JournalledTalk) -> None:
    asked = talk.now().plans[MODE].asked
    assert asked is not None
    assert asked.options == CHOICES
    assert all(isinstance(each, Choice) for each in asked.options)
