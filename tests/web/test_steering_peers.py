"""A real agent behind the relay is steered on the board, in a real browser, and its model hears of it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest
from playwright.sync_api import Browser, expect

from planwire.model.events import CHANGES_REQUESTED, REQUEST, PlanReviewed, Remarked
from tests.peers.agents import acpx, claude
from tests.peers.client import Client, Hello
from tests.peers.plans import enter_plan_mode, exit_plan_mode, todo_write
from tests.peers.relayed import Behind
from tests.peers.scene import at_desk
from tests.peers.script import say
from tests.peers.terminal import Terminal
from tests.waiting import until
from tests.web.board import Running, running_board
from tests.web.browsing import NewPage, is_live

pytestmark = pytest.mark.timeout(600)  # the first test may have to install its peer

PATIENCE = 60
SMALLER = "Smaller steps, please: one file at a time."


@pytest.fixture
def behind(tmp_path: Path) -> Behind:
    return Behind(claude, tmp_path)


@pytest.fixture
def board(behind: Behind) -> Iterator[Running]:
    with running_board(str(behind.journal)) as running:
        yield running


def test_claude_is_asked_for_changes_on_the_board_and_its_model_is_told_with_the_next_prompt(
    behind: Behind, board: Running, new_page: NewPage
) -> None:
    sessions: Queue[str] = Queue()
    steered: Queue[None] = Queue()

    def story(client: Client) -> str:
        session = client.new_session()
        client.prompt(session, "Make a plan.")
        sessions.put(session)
        steered.get(timeout=PATIENCE)
        client.prompt(session, "Go on.")
        client.prompt(session, "And on.")
        return session

    script = [todo_write("in_progress", "pending", "pending"), say("Planned."), say("Understood."), say("Done.")]
    with ThreadPoolExecutor(1) as pool:
        talking = pool.submit(behind.talk, story, script, Hello())
        session = sessions.get(timeout=PATIENCE)
        page = new_page(f"/sessions/{session}")
        is_live(page)
        page.get_by_role("button", name="Review").click()
        review = page.get_by_role("region", name="Review")
        review.get_by_role("textbox").fill(SMALLER)
        review.get_by_role("button", name="Request changes").click()
        expect(page.locator(".why")).to_contain_text(SMALLER)
        steered.put(None)
        talk = talking.result(PATIENCE)

    verdict, request = [event for event in behind.events(session) if isinstance(event, PlanReviewed | Remarked)]
    assert isinstance(verdict, PlanReviewed)
    assert isinstance(request, Remarked)
    assert (verdict.verdict, request.kind, request.text) == (CHANGES_REQUESTED, REQUEST, SMALLER)
    heard = [SMALLER in request.text for request in talk.model.main]
    assert heard == [False, False, True, True], heard
    assert talk.model.main[-1].text.count(SMALLER) == 1
    assert SMALLER not in "".join(talk.lines)


@pytest.mark.agents
def test_claude_is_approved_in_a_browser_while_the_dialog_of_acpx_is_open(browser: Browser, tmp_path: Path) -> None:
    script = [enter_plan_mode(), exit_plan_mode("# Port the parser"), say("On with it.")]
    with at_desk(claude, tmp_path, script) as desk, browser.new_context() as context:
        with Terminal(acpx(desk.agent, "Plan it.", "--format", "text")) as terminal:
            until(lambda: "Allow Approve Plan" in terminal.text, PATIENCE)
            desk.board.let_in(context)
            page = context.new_page()
            page.goto(f"{desk.board.pages}/sessions")
            page.get_by_role("button", name="Yes, manually approve edits").click()
            until(lambda: "[done] end_turn" in terminal.text, PATIENCE)
            assert "On with it." in terminal.text
        expect(page.get_by_role("button", name="Yes, manually approve edits")).to_have_count(0)
        assert desk.answers == [{"outcome": "selected", "optionId": "exit-plan-default"}]
