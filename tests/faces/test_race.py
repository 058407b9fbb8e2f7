"""An agent that changes a step every 250 ms, and two people on every face: each of their words succeeds at the first
try, is written once, on the step that it was meant for, and reaches the agent once."""

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from planwire.chat.said import said_in
from planwire.journal import Journal, load_state
from planwire.model.events import TOLD, Told
from tests.faces.race_acts import RELAYED, SESSIONS, TOOLED, Did, acts_in, acts_told
from tests.faces.race_agents import RelayedAgent, ToolAgent
from tests.faces.race_people import Done, at_command_line, in_browser, in_terminal
from tests.web.board import Running, running_board
from tests.web.browsing import NewPage, is_live


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def board(path: Path) -> Iterator[Running]:
    with running_board(str(path)) as running:
        yield running


def race(path: Path, new_page: NewPage, seconds: float) -> Done:
    """Everyone does what they want, at the same time. Returns what they did, by their own account."""
    done: Done = []
    motion = "no-preference" if seconds else "reduce"  # drawing that takes most of a small machine
    pages = {session: new_page(f"/sessions/{session}", reduced_motion=motion) for session in SESSIONS}
    for page in pages.values():
        is_live(page)
    end = monotonic() + seconds
    with ThreadPoolExecutor() as threads:
        others = [threads.submit(in_terminal, path, session, done, end) for session in SESSIONS]
        others.append(threads.submit(at_command_line, path, done, end))
        in_browser(pages, done, end)
        for each in others:
            each.result()
    return done


def told(journal: Journal, session: str, way: str) -> Counter[str]:
    """How often the agent was told each remark."""
    events = (recorded.event for recorded in journal.read(session))
    tellings = (each for each in events if isinstance(each, Told) and each.way == way and each.stage == TOLD)
    return Counter(remark for each in tellings for remark in each.remarks)


def once(ids: Iterable[str]) -> Counter[str]:
    return Counter(dict.fromkeys(ids, 1))


@pytest.mark.usefixtures("prompt_pilot")
@pytest.mark.parametrize("seconds", [0, pytest.param(60, marks=[pytest.mark.torture, pytest.mark.timeout(300)])])
def test_no_word_of_people_is_refused_lost_or_doubled_by_agents_that_never_rest(
    tmp_path: Path, path: Path, board: Running, new_page: NewPage, seconds: float
) -> None:
    journal = board.journal
    relayed, tooled = RelayedAgent(tmp_path, journal, path), ToolAgent(journal, path)
    with relayed.at_work(), tooled.at_work():
        done = race(path, new_page, seconds)
    wanted = {session: sorted(did for where, did in done if where == session) for session in SESSIONS}
    assert {session: sorted(acts_in(journal.read(session))) for session in SESSIONS} == wanted

    # The agent with the tools hears everything, each word in the answer of its next call.
    assert tooled.problems == []
    assert told(journal, TOOLED, "tool") == once(
        f"r{number + 1}" for number in range(load_state(journal, TOOLED).remarked)
    )
    heard: Counter[Did] = Counter()
    for since, people in tooled.answers:
        heard.update(acts_told(people))
        assert heard >= Counter(acts_in(each for each in journal.read(TOOLED) if each.seq <= since))
    assert sorted(heard.elements()) == wanted[TOOLED]

    # The other one hears with its next prompt what was not taken back.
    is_open = load_state(journal, RELAYED).plans[None].open_remarks
    assert told(journal, RELAYED, "prompt") == once(each.id for each in is_open)
    [_, [_, block]] = relayed.prompts()
    said = Counter(each.text for each in said_in(block) if each.author != "agent")
    for each in is_open:
        assert not each.text or said[each.text] == 1, each
