"""A real agent behind the relay asks its client about a plan, and a person looks at the board meanwhile."""

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from tests.peers.agents import claude
from tests.peers.client import Client, Hello
from tests.peers.plans import enter_plan_mode, exit_plan_mode
from tests.peers.relayed import Behind
from tests.peers.script import say
from tests.waiting import until
from tests.web.board import Running, running_board

pytestmark = pytest.mark.timeout(600)  # the first test may have to install its peer

PATIENCE = 30
OPTIONS = ("Yes, manually approve edits", "Yes, and use auto mode", "No, keep planning")
LINES = "\n".join(f"{number}. Look at file {number}" for number in range(1, 41))
FIRST = f"# Port the parser\n\n{LINES}\n41. Write it in one go"
SECOND = f"# Port the parser\n\n{LINES}\n41. Write it in two steps"


class Person:
    """Somebody at the client, who looks at the board before they answer."""

    def __init__(self) -> None:
        self.questions: Queue[list[str]] = Queue()
        self.answers: Queue[int] = Queue()

    def policy(self, params: Mapping[str, Any]) -> str | None:
        options = params["options"]
        self.questions.put([option["name"] for option in options])
        return str(options[self.answers.get(timeout=PATIENCE)]["optionId"])


def shown(board: Running, session: str, *words: str) -> str:
    """The page of the session, once it says this."""
    until(lambda: all(word in board.page(f"/sessions/{session}") for word in words))
    return board.page(f"/sessions/{session}")


def cells(page: str) -> list[str]:
    """What is in the tables that show a difference."""
    return re.findall(r"<td[^>]*>([^<]+)</td>", page)


@pytest.mark.agents
def test_claude_asks_for_approval_and_the_board_shows_what_about_and_what_was_answered(tmp_path: Path) -> None:
    """R43. The text is on the board while the client asks, in full and with what has changed; then the answer is."""
    script = [enter_plan_mode(), exit_plan_mode(FIRST), exit_plan_mode(SECOND), say("On with it.")]
    behind, person = Behind(claude, tmp_path), Person()

    def story(client: Client) -> str:
        session = client.new_session()
        client.prompt(session, "Plan it.")
        client.prompt(session, "In smaller steps, please.")
        return session

    with running_board(str(behind.journal)) as board, ThreadPoolExecutor(1) as pool:
        talking = pool.submit(behind.talk, story, script, Hello(), person.policy)

        assert tuple(person.questions.get(timeout=PATIENCE)) == OPTIONS
        until(lambda: board.json("/sessions.json")["sessions"])
        [glance] = board.json("/sessions.json")["sessions"]
        session = glance["id"]
        page = shown(board, session, "The agent asks for approval", "This is the first version.")
        for words in (*OPTIONS, "needs you", "Look at file 1<", "Look at file 40<", "Write it in one go"):
            assert words in page, words
        [plan] = board.json(f"/sessions/{session}.json")["plans"]
        names = tuple(option["name"] for option in plan["question"]["options"])
        assert (plan["text"], names) == (FIRST, OPTIONS)
        assert "needs you" in board.page("/sessions")
        person.answers.put(2)

        assert tuple(person.questions.get(timeout=PATIENCE)) == OPTIONS
        page = shown(board, session, "asks for approval", "What changed since version 1")
        assert "changes requested: No, keep planning" in page
        assert "40 unchanged lines" in cells(page)
        assert cells(page)[-2:] == ["41. Write it in one go", "41. Write it in two steps"]
        assert "Look at file 20<" in page
        person.answers.put(0)

        page = shown(board, session, "approved: Yes, manually approve edits")
        assert "asks for approval" not in page
        talk = talking.result(PATIENCE)

    assert talk.session == session
    assert [line for line in talk.sent if '"outcome"' in line] == [line for line in behind.heard if '"outcome"' in line]
    events = [event for event in behind.events(session) if not isinstance(event, SessionOpened)]
    assert [type(event) for event in events] == [PlanSet, ReviewAsked, PlanReviewed, TurnEnded] * 2
    said = [(event.verdict, event.answer) for event in events if isinstance(event, PlanReviewed)]
    assert said == [(CHANGES_REQUESTED, OPTIONS[2]), (APPROVED, OPTIONS[0])]
