"""Real agents behind the relay are answered and told from the board, while their client's dialog is open.

Whichever answer comes first counts, and the agent hears one. Words reach the model in the agent's own way where it has
one, and with a prompt of the relay's where it has none.
"""

import asyncio
import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, RequestPermissionResponse

from tests.peers.agents import acpx, claude, codex, deepagents
from tests.peers.client import Hello
from tests.peers.plans import enter_plan_mode, exit_plan_mode, proposed_plan, todo_write, write_todos
from tests.peers.scene import Desk, Scene, at_desk, at_work
from tests.peers.script import Turn, say
from tests.peers.terminal import Terminal
from tests.waiting import eventually, until
from tests.web.steering import Here

pytestmark = pytest.mark.timeout(600)  # the first test may have to install its peer

PATIENCE = 60
SMALLER = "Smaller steps, please: one file at a time."
FIRST, SECOND = "# Port the parser\n\n1. Write it in one go", "# Port the parser\n\n1. Write it in two steps"
YES, ALWAYS, NO = "exit-plan-default", "exit-plan-auto", "reject"
PLANNED = (enter_plan_mode(), exit_plan_mode(FIRST))
OPENED = todo_write("in_progress", "pending", "pending")
DEEP = write_todos("in_progress", "pending", "pending")


def chosen(option: str) -> dict[str, str]:
    return {"outcome": "selected", "optionId": option}


def approve(desk: Desk, plan_id: str = "plan-mode", **more: Any) -> None:
    desk.act("review", plan_id, verdict="approved", seen=desk.asked(plan_id)["revision"], **more)


def request_changes(desk: Desk, plan_id: str = "plan-mode", **more: Any) -> None:
    seen = desk.asked(plan_id)["revision"]
    desk.act("review", plan_id, verdict="changes_requested", text=SMALLER, seen=seen, **more)


def tell(desk: Desk, state: str = "idle", **more: Any) -> None:
    """Have the agent told now, about the only plan, once the board has it in this state."""
    until(lambda: desk.state == state)
    [plan] = desk.plans
    desk.act("tell", plan["id"], text=SMALLER, **more)


def shows_words(scene: Scene) -> bool:
    """Whether the client was shown the words as those of the user, once."""
    chunks = scene.client.updates("user_message_chunk", "user_message", session=scene.session)
    return len([chunk for chunk in chunks if SMALLER in str(chunk["content"])]) == 1


def test_claude_is_asked_for_changes_and_then_approved_on_the_board_while_the_dialogs_are_open(tmp_path: Path) -> None:
    """The words are in the model's next request, before it proposes again; the client's questions are taken back."""
    with at_work(claude, tmp_path, [*PLANNED, exit_plan_mode(SECOND), say("On with it.")]) as scene:
        client, desk = scene.client, scene.desk
        prompt = client.begin(scene.session, "Plan it.")
        question = client.wait_for_question()
        request_changes(desk)

        again = client.wait_for_question(2)
        assert desk.hears(SMALLER) == [False, False, True]
        assert client.answer_to(prompt) is None, "the turn goes on"
        assert desk.asked("plan-mode")["text"] == SECOND
        approve(desk)

        client.end_of(prompt)
        assert client.said(scene.session).endswith("On with it.")
        assert client.taken_back() == [question["id"], again["id"]]
        assert desk.answers == [chosen(NO), chosen(YES)]
        assert desk.model.main[-1].text.count(SMALLER) == 1
        assert shows_words(scene)
        until(lambda: [each["way"] for each in desk.events("told")].count("answer") == 2)
        reviews = desk.events("plan_reviewed")
        told = [each["request"] for each in desk.events("told") if each["way"] == "answer"]
    decided = [(each["by"], each["verdict"], each["option"], each["via"]) for each in reviews]
    assert decided == [("user", "changes_requested", NO, "planwire"), ("user", "approved", YES, "planwire")]
    assert told == [each["question"] for each in reviews]


@pytest.mark.agents
def test_claude_in_version_2_is_answered_on_the_board_and_given_the_words_with_a_prompt(tmp_path: Path) -> None:
    """It can't be steered there, and repeats the prompts that it gets: the client sees the words once all the same."""
    script = [*PLANNED, exit_plan_mode(SECOND), say("On with it.")]
    with at_work(claude, tmp_path, script, hello=Hello(version=2)) as scene:
        client, desk = scene.client, scene.desk
        client.begin(scene.session, "Plan it.")
        question = client.wait_for_question()
        request_changes(desk, now=True)
        again = client.wait_for_question(2)
        assert desk.hears(SMALLER) == [False, False, True]
        approve(desk)
        until(lambda: client.said(scene.session).endswith("On with it."))
        assert client.taken_back() == [question["id"], again["id"]]
        assert desk.answers == [chosen(NO), chosen(YES)]
        assert shows_words(scene)
        assert answers_without_a_question(scene) == []


@pytest.mark.agents
def test_an_option_that_allows_for_good_is_taken_only_by_its_name(tmp_path: Path) -> None:
    with at_work(claude, tmp_path, [*PLANNED, say("On with it.")]) as scene:
        prompt = scene.client.begin(scene.session, "Plan it.")
        scene.client.wait_for_question()
        approve(scene.desk, option=ALWAYS)
        assert scene.client.end_of(prompt) == "end_turn"
        assert scene.desk.answers == [chosen(ALWAYS)]


@pytest.mark.agents
def test_an_answer_in_the_client_that_comes_first_counts(tmp_path: Path) -> None:
    with at_work(claude, tmp_path, [*PLANNED, say("On with it.")]) as scene:
        client = scene.client
        prompt = client.begin(scene.session, "Plan it.")
        question = client.wait_for_question()
        seen = scene.desk.asked("plan-mode")["revision"]
        client.choose(question, YES)
        assert client.end_of(prompt) == "end_turn"
        Here(scene.desk.board, scene.session).act(
            "review", "plan-mode", verdict="changes_requested", option=NO, seen=seen
        )
        assert client.prompt(scene.session, "Go on.") == "end_turn"
        assert scene.desk.answers == [chosen(YES)]
        assert client.taken_back() == []


@pytest.mark.agents
def test_an_answer_in_the_client_that_comes_too_late_is_kept_from_the_agent_and_recorded(tmp_path: Path) -> None:
    with at_work(claude, tmp_path, [*PLANNED, say("On with it."), say("Done.")]) as scene:
        client = scene.client
        prompt = client.begin(scene.session, "Plan it.")
        question = client.wait_for_question()
        approve(scene.desk)
        assert client.end_of(prompt) == "end_turn"
        before = len(client.lines)
        client.choose(question, NO)
        until(lambda: len(scene.desk.events("plan_reviewed")) == 2)
        client.wait_for(lambda: client.said(scene.session, before) or None, "a word about the late answer")
        assert client.prompt(scene.session, "Go on.") == "end_turn"
        assert scene.desk.answers == [chosen(YES)]
        assert "Got response to unknown request" not in client.stderr


@pytest.mark.agents
def test_codex_is_approved_on_the_board(tmp_path: Path) -> None:
    with at_work(codex, tmp_path, [proposed_plan(FIRST), say("On with it.")]) as scene:
        prompt, question, plan_id = codex_asks(scene)
        approve(scene.desk, plan_id)
        assert scene.client.end_of(prompt) == "end_turn"
        assert scene.desk.answers == [chosen("implement_plan")]
        assert scene.client.taken_back() == [question["id"]]
        assert scene.client.said(scene.session).endswith("On with it.")


@pytest.mark.agents
def test_codex_is_given_the_words_of_a_rejection_when_its_turn_is_over(tmp_path: Path) -> None:
    """It can't be steered while it asks: its own turn is over by then. So the relay's prompt has them."""
    with at_work(codex, tmp_path, [proposed_plan(FIRST), proposed_plan(SECOND), say("On with it.")]) as scene:
        client, desk = scene.client, scene.desk
        prompt, _, plan_id = codex_asks(scene)
        request_changes(desk, plan_id)
        assert client.end_of(prompt) == "end_turn"
        again = client.wait_for_question(2)
        assert desk.hears(SMALLER) == [False, True]
        assert shows_words(scene)
        client.choose(again, "implement_plan")
        until(lambda: client.said(scene.session).endswith("On with it."))
        assert desk.answers == [chosen("revise_plan"), chosen("implement_plan")]
        assert answers_without_a_question(scene) == []


def codex_asks(scene: Scene) -> tuple[int | str, dict[str, Any], str]:
    """Have Codex plan: the prompt, its question, and the id of its plan."""
    wanted = {"sessionId": scene.session, "configId": "collaboration_mode", "value": "plan"}
    scene.client.request("session/set_config_option", wanted)
    prompt = scene.client.begin(scene.session, "Plan it.")
    question = scene.client.wait_for_question()
    return prompt, question, question["params"]["toolCall"]["toolCallId"].removeprefix("plan-review:")


def answers_without_a_question(scene: Scene) -> list[object]:
    """The ids of answers that the client got and never asked for."""
    asked = {line.message.get("id") for line in scene.client.lines if line.sender == "client"}
    came = [line.message for line in scene.client.lines if line.sender == "agent"]
    return [each["id"] for each in came if "id" in each and "method" not in each and each["id"] not in asked]


# -- told now


@pytest.mark.agents
def test_words_told_now_begin_a_turn_of_their_own_while_claude_is_idle(tmp_path: Path) -> None:
    with at_work(claude, tmp_path, [OPENED, say("Planned."), say("Understood."), say("Done.")]) as scene:
        client = scene.client
        assert client.prompt(scene.session, "Make a plan.") == "end_turn"
        tell(scene.desk)
        until(lambda: client.said(scene.session).endswith("Understood."))
        assert scene.desk.hears(SMALLER) == [False, False, True]
        assert shows_words(scene)

        assert client.prompt(scene.session, "Go on.") == "end_turn"
        assert client.said(scene.session).endswith("Done.")
        assert scene.desk.model.main[-1].text.count(SMALLER) == 1
        assert answers_without_a_question(scene) == []


@pytest.mark.agents
def test_a_comment_can_be_told_now_and_the_turn_that_it_begins_can_be_stopped(tmp_path: Path) -> None:
    never = threading.Event()
    with at_work(claude, tmp_path, [OPENED, say("Planned."), Turn("Slow.", hold=never), say("Done.")]) as scene:
        client, desk = scene.client, scene.desk
        assert client.prompt(scene.session, "Make a plan.") == "end_turn"
        until(lambda: desk.state == "idle")
        [plan] = desk.plans
        desk.act("comment", plan["id"], target="s2", text=SMALLER, now=True)
        desk.model.wait_for_main(3)
        assert desk.hears(SMALLER) == [False, False, True]
        desk.act("stop", plan["id"])
        until(lambda: [each["stop_reason"] for each in desk.events("turn_ended")] == ["end_turn", "cancelled"])
        never.set()
        assert client.prompt(scene.session, "Go on.") == "end_turn"
        assert client.said(scene.session).endswith("Done.")
        assert answers_without_a_question(scene) == []


@pytest.mark.agents
def test_words_told_now_are_in_claudes_running_turn(tmp_path: Path) -> None:
    never = threading.Event()
    with at_work(claude, tmp_path, [OPENED, Turn("Slow.", hold=never), say("Understood."), say("Done.")]) as scene:
        client = scene.client
        prompt = client.begin(scene.session, "Make a plan.")
        scene.desk.model.wait_for_main(2)
        tell(scene.desk, "running")
        assert client.end_of(prompt) == "end_turn"
        never.set()
        assert client.said(scene.session).endswith("Understood.")
        assert scene.desk.hears(SMALLER) == [False, False, True]
        assert shows_words(scene)
        assert answers_without_a_question(scene) == []


@pytest.mark.agents
def test_an_agent_that_can_not_be_steered_is_interrupted_for_words_told_now(tmp_path: Path) -> None:
    """deepagents hears of the cancel when its model says its next word: until then the relay waits."""
    later = threading.Event()
    script = [DEEP, Turn("Slow.", hold=later), say("Understood."), say("Done.")]
    with at_work(deepagents, tmp_path, script) as scene:
        client = scene.client
        prompt = client.begin(scene.session, "Make a plan.")
        scene.desk.model.wait_for_main(2)
        tell(scene.desk, "running", interrupt=True)
        until(lambda: any(each.get("method") == "session/cancel" for each in scene.desk.heard))
        assert len([each for each in scene.desk.heard if each.get("method") == "session/prompt"]) == 1
        later.set()
        assert client.end_of(prompt) == "cancelled"
        until(lambda: client.said(scene.session).endswith("Understood."))
        assert scene.desk.hears(SMALLER) == [False, False, True]
        until(lambda: [each["stop_reason"] for each in scene.desk.events("turn_ended")] == ["cancelled", "end_turn"])


@pytest.mark.agents
@pytest.mark.parametrize("make", [claude, deepagents], ids=["claude queues", "deepagents does not"])
def test_a_prompt_of_the_clients_in_a_turn_of_the_relays_is_answered_after_it(make: Any, tmp_path: Path) -> None:
    later = threading.Event()
    todos = OPENED if make is claude else DEEP
    script = [todos, say("Planned."), Turn("Understood.", hold=later), say("Done.")]
    with at_work(make, tmp_path, script) as scene:
        client = scene.client
        assert client.prompt(scene.session, "Make a plan.") == "end_turn"
        tell(scene.desk)
        scene.desk.model.wait_for_main(3)
        prompt = client.begin(scene.session, "Go on.")
        assert client.answer_to(prompt) is None
        later.set()
        assert client.end_of(prompt) == "end_turn"
        assert client.said(scene.session).endswith("Done.")
        assert ["Go on." in request.text for request in scene.desk.model.main] == [False, False, False, True]


# -- released clients


@pytest.mark.agents
def test_acpx_closes_its_dialog_when_the_plan_is_approved_on_the_board(tmp_path: Path) -> None:
    with at_desk(claude, tmp_path, [*PLANNED, say("On with it.")]) as desk:
        with Terminal(acpx(desk.agent, "Plan it.", "--format", "text")) as terminal:
            until(lambda: "Allow Approve Plan" in terminal.text, PATIENCE)
            approve(desk)
            until(lambda: "[done] end_turn" in terminal.text, PATIENCE)
            assert "On with it." in terminal.text
        assert terminal.code == 5, "acpx says so when it granted nothing by itself"
        assert desk.answers == [chosen(YES)]


class Waiting:
    """A client on the official SDK whose user is elsewhere, and comes back too late."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.is_back = asyncio.Event()
        self.text = ""

    def on_connect(self, conn: Any) -> None:
        """Nothing to keep."""

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        self.is_asked.set()
        await self.is_back.wait()
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=NO))

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.text += getattr(getattr(update, "content", None), "text", "") or ""


@pytest.mark.agents
def test_a_client_on_the_sdk_that_knows_of_no_way_to_take_questions_back_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It logs that it does not know the message; its late answer does no harm."""
    with (
        at_desk(claude, tmp_path, [*PLANNED, say("On with it."), say("Done.")]) as desk,
        caplog.at_level(logging.CRITICAL),
    ):
        asyncio.run(_answered_elsewhere(desk))
        assert desk.answers == [chosen(YES)]


async def _answered_elsewhere(desk: Desk) -> None:
    client, agent = Waiting(), desk.agent
    program, *arguments = agent.command
    started = spawn_agent_process(client, program, *arguments, env=agent.environment, cwd=agent.cwd)  # type: ignore[arg-type]
    async with started as (connection, _process):
        await connection.initialize(protocol_version=PROTOCOL_VERSION)
        session = await connection.new_session(cwd=str(agent.cwd), mcp_servers=[])
        prompt = asyncio.create_task(connection.prompt(session_id=session.session_id, prompt=[text_block("Plan it.")]))
        await client.is_asked.wait()
        await asyncio.to_thread(lambda: approve(desk))
        assert (await prompt).stop_reason == "end_turn"
        await eventually(lambda: client.text.endswith("On with it."))
        client.is_back.set()
        again = await connection.prompt(session_id=session.session_id, prompt=[text_block("Go on.")])
        assert again.stop_reason == "end_turn"
