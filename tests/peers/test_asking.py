"""Real agents that ask about their plans, and real clients whose questions are taken back, without planwire between
them: what an answer from elsewhere, and words for a running turn, have to cope with.
"""

import threading
from pathlib import Path
from typing import Any

import pytest

from planwire.relay.agents import ways_of
from planwire.relay.steer_ways import SteerWay
from tests.peers.agents import claude, codex, deepagents
from tests.peers.client import Client, Hello, leave_open
from tests.peers.model_server import ScriptedModel
from tests.peers.plans import enter_plan_mode, exit_plan_mode, proposed_plan
from tests.peers.script import Turn, say

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]  # the first test may have to install its peer

WORDS = "Smaller steps, please."
BLOCKS = [{"type": "text", "text": WORDS}]
FIRST, SECOND = "# Plan\n\n1. Write it in one go", "# Plan\n\n1. Write it in two steps"
OPTIONS = [("exit-plan-default", "allow_once"), ("exit-plan-auto", "allow_always"), ("reject", "reject_once")]
CODEX_OPTIONS = [("implement_plan", "allow_once"), ("revise_plan", "reject_once")]


def offered(question: dict[str, Any]) -> list[tuple[str, str]]:
    return [(option["optionId"], option["kind"]) for option in question["params"]["options"]]


def steer(client: Client, session: str) -> str:
    """Give the agent the words in the way that it announces; what came of it."""
    way = ways_of("", client.agent).steer
    assert isinstance(way, SteerWay)
    return way.outcome(client.request(way.method, way.params(session, BLOCKS)), is_error=False)


def hears(model: ScriptedModel) -> list[bool]:
    """Whether the model was told the words, by its main requests."""
    return [WORDS in request.text for request in model.main]


def plan_with_codex(client: Client) -> str:
    session = client.new_session()
    wanted = {"sessionId": session, "configId": "collaboration_mode", "value": "plan"}
    client.request("session/set_config_option", wanted)
    return session


def test_claude_ends_the_turn_with_a_rejection(tmp_path: Path) -> None:
    script = [enter_plan_mode(), exit_plan_mode(FIRST), say("Never said.")]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start(policy=leave_open) as client:
        prompt = client.begin(client.new_session(), "Plan it.")
        question = client.wait_for_question()
        assert offered(question) == OPTIONS
        client.choose(question, "reject")
        assert client.end_of(prompt) == "cancelled"
        assert model.left == 1


def test_claude_goes_on_after_a_rejection_if_it_was_given_words_before(tmp_path: Path) -> None:
    """And says in the end that the turn was cancelled, all the same."""
    script = [enter_plan_mode(), exit_plan_mode(FIRST), exit_plan_mode(SECOND), say("On with it.")]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start(policy=leave_open) as client:
        session = client.new_session()
        prompt = client.begin(session, "Plan it.")
        question = client.wait_for_question()
        assert steer(client, session) == "injected"
        client.choose(question, "reject")
        again = client.wait_for_question(2)
        assert hears(model) == [False, False, True]
        client.choose(again, "exit-plan-default")
        assert client.end_of(prompt) == "cancelled"
        assert client.said(session).endswith("On with it.")
        assert WORDS not in "".join(line.text for line in client.lines if line.sender == "agent")


def test_claude_drops_what_its_model_is_saying_for_words_that_come_meanwhile(tmp_path: Path) -> None:
    never = threading.Event()
    script = [Turn("Slow.", hold=never), say("Understood.")]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start() as client:
        session = client.new_session()
        prompt = client.begin(session, "Work.")
        model.wait_for_main(1)
        assert steer(client, session) == "injected"
        assert client.end_of(prompt) == "end_turn"
        assert client.said(session) == "Understood."
        never.set()
        assert hears(model) == [False, True]
        assert steer(client, session) == "idle"


def test_claude_takes_its_question_back_when_the_turn_is_cancelled(tmp_path: Path) -> None:
    """R41: and goes on with the next prompt, whatever its id; an answer that comes too late changes nothing."""
    script = [enter_plan_mode(), exit_plan_mode(FIRST), say("Next.")]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start(policy=leave_open) as client:
        session = client.new_session()
        prompt = client.begin(session, "Plan it.")
        question = client.wait_for_question()
        client.notify("session/cancel", {"sessionId": session})
        assert client.end_of(prompt) == "cancelled"
        assert client.taken_back() == [question["id"]]
        client.choose(question, "exit-plan-default")
        client.ask("session/prompt", {"sessionId": session, "prompt": BLOCKS}, "planwire-1")
        assert client.end_of("planwire-1") == "end_turn"
        assert client.said(session).endswith("Next.")


def test_claude_in_version_2_is_not_steered_and_repeats_the_words_of_a_prompt(tmp_path: Path) -> None:
    with ScriptedModel([say("Understood.")]) as model, claude(model.url, tmp_path).start(Hello(version=2)) as client:
        ways = ways_of("", client.agent)
        assert (ways.steer, ways.queues) == (None, True)
        session = client.new_session()
        client.prompt(session, WORDS)
        assert [update["content"] for update in client.updates("user_message")] == [BLOCKS]


def test_codex_asks_when_its_turn_is_over_and_takes_words_with_the_next_prompt(tmp_path: Path) -> None:
    script = [proposed_plan(FIRST), proposed_plan(SECOND), say("On with it.")]
    with ScriptedModel(script) as model, codex(model.url, tmp_path).start(policy=leave_open) as client:
        session = plan_with_codex(client)
        prompt = client.begin(session, "Plan it.")
        question = client.wait_for_question()
        assert offered(question) == CODEX_OPTIONS
        call = question["params"]["toolCall"]
        assert (call["toolCallId"].split(":")[0], call["kind"]) == ("plan-review", "switch_mode")
        assert call["rawInput"]["plan"].strip() == FIRST
        assert steer(client, session) == "idle"
        client.choose(question, "revise_plan")
        assert client.end_of(prompt) == "end_turn"

        prompt = client.begin(session, WORDS)
        again = client.wait_for_question(2)
        assert hears(model) == [False, True]
        client.choose(again, "implement_plan")
        assert client.end_of(prompt) == "end_turn"
        assert client.said(session).endswith("On with it.")


def test_codex_is_steered_while_its_model_works(tmp_path: Path) -> None:
    later = threading.Event()
    script = [Turn("Slow.", hold=later), say("Understood.")]
    with ScriptedModel(script) as model, codex(model.url, tmp_path).start() as client:
        session = client.new_session()
        prompt = client.begin(session, "Work.")
        model.wait_for_main(1)
        assert steer(client, session) == "injected"
        later.set()
        assert client.end_of(prompt) == "end_turn"
        assert hears(model) == [False, True]


def test_deepagents_answers_two_prompts_at_once(tmp_path: Path) -> None:
    """Which is why a client's prompt is held while the relay's own runs."""
    later = threading.Event()
    script = [Turn("Slow.", hold=later), say("Quick.")]
    with ScriptedModel(script) as model, deepagents(model.url, tmp_path).start() as client:
        ways = ways_of("", client.agent)
        assert (ways.steer, ways.queues) == (None, False)
        session = client.new_session()
        slow = client.begin(session, "Work.")
        model.wait_for_main(1)
        assert client.end_of(client.begin(session, WORDS)) == "end_turn"
        assert client.answer_to(slow) is None
        later.set()
        assert client.end_of(slow) == "end_turn"
