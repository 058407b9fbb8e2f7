"""An agent that changes a step every 250 ms, and two people on every face: each of their words succeeds at the first
try, is written once, on the step that it was meant for, and reaches the agent once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from time import monotonic

import pytest

from tests.faces.race_acts import RELAYED, TOOLED, acts_in
from tests.faces.race_agents import RelayedAgent, ToolAgent
from tests.faces.race_people import Done, at_command_line, in_browser, in_terminal
from tests.web.board import Running, running_board
from tests.web.browsing import NewPage, is_live

SESSIONS = (RELAYED, TOOLED)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def board(path: Path) -> Iterator[Running]:
    with running_board(str(path)) as running:
        yield running


def race(path: Path, new_page: NewPage, seconds: float) -> Done:
    """People do what they want, at the same time. Returns what they did, in their own opinion."""
    done: Done = []
    pages = {session: new_page(f"/sessions/{session}") for session in SESSIONS}
    for page in pages.values():
        is_live(page)
    end = monotonic() + seconds
    with ThreadPoolExecutor(4) as threads:
        faces = [
            threads.submit(face, path, each, done, end) for face in (in_terminal, at_command_line) for each in SESSIONS
        ]
        in_browser(pages, done, end)
        for each in faces:
            each.result()
    return done


@pytest.mark.usefixtures("prompt_pilot")
@pytest.mark.parametrize(
    "seconds",
    [0, pytest.param(60, marks=[pytest.mark.torture, pytest.mark.timeout(300)])],
    ids=["one round", "a minute"],
)
def test_no_word_of_people_is_refused_lost_or_doubled_by_agents_that_never_rest(
    tmp_path: Path, path: Path, board: Running, new_page: NewPage, seconds: float
) -> None:
    relayed, tooled = RelayedAgent(tmp_path, board.journal, path), ToolAgent(board.journal, path)
    with relayed.at_work(), tooled.at_work():
        done = race(path, new_page, seconds)
    for session in SESSIONS:
        wanted = sorted(did for where, did in done if where == session)
        assert sorted(acts_in(board.journal.read(session))) == wanted
