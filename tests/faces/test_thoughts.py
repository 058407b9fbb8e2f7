"""What agents thought, on every face that shows it, and nowhere else."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire import BlockingPlanSession
from planwire.cli import main
from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.journal.thoughts import kept_why
from planwire.mcp.resources import JSON, MARKDOWN, plan_text
from planwire.model.events import ACP, PlanSet, SessionOpened, TurnEnded
from planwire.readmodel.cards import cards_of
from planwire.readmodel.rationale import Reasons
from planwire.terminal.history_screen import HistoryScreen
from planwire.terminal.panel import PlanPanel
from tests import deciding
from tests.journals import HOSTILE, add, items
from tests.terminal.watched import on_a_loop, shows, watching
from tests.web.board import Running, running_board

WHY = "The old parser is slow, so a new one."


def fill(journal: Journal, session: str = "s1", why: str = WHY) -> None:
    opened, digest = SessionOpened("agent 1", "client", "/project"), kept_why(journal, session, why)
    events = (
        opened,
        PlanSet(items("main", "pending"), via=ACP, why=digest),
        PlanSet(items("main", "completed"), via=ACP),
        TurnEnded("end_turn"),
    )
    deciding.write(journal, session, *(Stamped(1_000, "agent", event) for event in events))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    with open_journal(path) as journal:
        fill(journal)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(arguments) == code
    out, err = capsys.readouterr()
    return str(out or err)


def planwire(capsys: pytest.CaptureFixture[str], path: Path, *arguments: str, code: int = 0) -> str:
    return run(capsys, *arguments, "--journal", str(path), code=code)


def rows(path: Path) -> list[bytes]:
    with open_journal(path) as journal:
        return [repr(each).encode() for each in journal.read("s1")]


# -- on the command line


def test_log_has_the_why_below_its_event(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = planwire(capsys, path, "log", "s1").splitlines()
    assert [WHY in line for line in lines] == [False, False, True, False, False]
    assert lines[2].split() == ["why", *WHY.split()]
    entries = [json.loads(line) for line in planwire(capsys, path, "log", "s1", "--json").splitlines()]
    assert [entry.get("why") for entry in entries] == [None, WHY, None, None]
    assert WHY in planwire(capsys, path, "log", "s1", "--plan", "main", "--last", "2")


def test_a_long_or_hostile_why_is_one_short_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.db"
    with open_journal(path) as journal:
        fill(journal, why=f"{HOSTILE}\n" + "much to say " * 100 + "so: a parser")
        fill(journal, "s2", why=HOSTILE)
    [line] = [line for line in planwire(capsys, path, "log", "s1").splitlines() if "why" in line]
    assert line.endswith("so: a parser")
    assert len(line) < 220
    for command in (["log", "s2"], ["log", "s2", "--json"], ["show", "s2"]):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", planwire(capsys, path, *command))


def test_show_has_the_last_why_also_of_the_past(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--plan", "main"], ["--at", "2"]):
        assert f"Thinking  {WHY}" in planwire(capsys, path, "show", "s1", *more)


def test_thoughts_go_and_no_row_changes(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, file = rows(path), path.read_bytes()
    assert "pass --yes" in planwire(capsys, path, "forget", "--thoughts", "s1", code=2)
    deleted = planwire(capsys, path, "forget", "--thoughts", "s1", "--yes")
    assert deleted == "Deleted what the agents thought in 1 session.\n"
    assert rows(path) == before
    assert path.read_bytes() == file
    assert WHY not in planwire(capsys, path, "log", "s1") + planwire(capsys, path, "show", "s1")
    assert not [each for each in path.parent.iterdir() if WHY.encode() in each.read_bytes()]


def test_the_thoughts_of_all_sessions_go_at_once(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_journal(path) as journal:
        orphan = kept_why(journal, "nobody", WHY)
    assert "--all needs --thoughts" in planwire(capsys, path, "forget", "--all", "--yes", code=2)
    assert "or --all" in planwire(capsys, path, "forget", "--thoughts", "--yes", code=2)
    forgotten = planwire(capsys, path, "forget", "--thoughts", "--all", "--yes", "--json")
    assert json.loads(forgotten) == {"forgotten": ["s1"]}
    with open_journal(path) as journal:
        assert journal.thoughts.find("nobody", [orphan]) == {}
        assert journal.last_seq("s1") == 4


def test_thoughts_of_old_sessions_go(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(path, "young", "agent", SessionOpened())
    out = planwire(capsys, path, "forget", "--thoughts", "--older-than", "1d", "--yes", "--json")
    assert json.loads(out) == {"forgotten": ["s1"]}


# -- on other machines


def test_an_export_has_thoughts_only_if_asked_and_an_import_takes_them(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("md", "json", "acp"):
        assert WHY not in planwire(capsys, path, "export", "s1", "--format", form)
    assert "--thoughts needs --format json" in planwire(capsys, path, "export", "s1", "--thoughts", code=2)
    for more, expected in (((), None), (("--thoughts",), WHY)):
        file, other = tmp_path / "s1.json", tmp_path / f"other{len(more)}.db"
        file.write_text(planwire(capsys, path, "export", "s1", "--format", "json", *more))
        planwire(capsys, other, "import", str(file), "--as", "copy")
        entries = [json.loads(line) for line in planwire(capsys, other, "log", "copy", "--json").splitlines()]
        assert [entry.get("why") for entry in entries] == [None, expected, None, None]


def test_an_import_takes_no_thought_that_its_digest_does_not_stand_for(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s1.json"
    file.write_text(planwire(capsys, path, "export", "s1", "--format", "json", "--thoughts").replace(WHY, "A lie."))
    planwire(capsys, path, "import", str(file), "--as", "copy")
    assert "A lie." not in planwire(capsys, path, "log", "copy")


# -- on the board


@pytest.fixture
def board() -> Iterator[Running]:
    with running_board() as running:
        fill(running.journal)
        yield running


def test_the_board_shows_the_last_why_and_in_the_history_each_where_it_belongs(board: Running) -> None:
    for page in ("/sessions/s1", "/sessions/s1/plans/main", "/sessions/s1/history?at=2&part=then"):
        assert WHY in board.page(page)
    listed = dict(re.findall(r'<li class="moment[^"]*" id="e(\d+)">(.*?)</p></li>', board.page("/sessions/s1/history")))
    assert [WHY in listed[seq] for seq in "1234"] == [False, True, False, False]
    assert [each.get("why") for each in board.json("/sessions/s1/history.json")["moments"]] == [None, WHY, None, None]


def test_a_page_that_was_shown_is_without_thoughts_once_they_are_forgotten(board: Running) -> None:
    assert WHY in board.page("/sessions/s1")
    board.journal.thoughts.forget("s1")
    assert WHY not in board.page("/sessions/s1") + board.page("/sessions/s1/history")


def test_a_board_for_others_has_no_thoughts() -> None:
    with running_board(thoughts=False) as board:
        fill(board.journal)
        pages = ("/sessions/s1", "/sessions/s1/history", "/sessions/s1/history.json")
        assert WHY not in "".join(board.page(page) for page in pages)


def test_hostile_thoughts_are_words_on_a_page() -> None:
    with running_board() as board:
        fill(board.journal, why="<script>alert(1)</script>\n<b>more</b>")
        page = board.page("/sessions/s1") + board.page("/sessions/s1/history")
        assert "&lt;script&gt;" in page
        assert "<script>alert" not in page
        assert "<b>more" not in page


# -- in the terminal


@on_a_loop
async def test_the_terminal_shows_the_why_now_and_as_it_was(path: Path) -> None:
    with open_journal(path) as journal:
        second = kept_why(journal, "s1", "Now for the second.")
        plan = PlanSet(items("main", "completed", "pending"), why=second)
        deciding.write(journal, "s1", Stamped(2_000, "agent", plan))
    async with watching(path, "s1") as (app, pilot):
        await shows(app, "Now for the second.")
        await pilot.press("h")
        await shows(app, "As it was at event 5")
        await shows(app, "Now for the second.", kind=PlanPanel)
        await pilot.press("left", "left")
        await shows(app, "As it was at event 3")
        await shows(app, WHY, kind=PlanPanel)
        assert isinstance(app.screen, HistoryScreen)


# -- never to a model


def test_no_model_is_ever_told_a_thought(path: Path) -> None:
    with open_journal(path) as journal, BlockingPlanSession.open(journal, "s1", format="anthropic") as plans:
        plans.add({"role": "user", "content": "Go on."})
        told = [plans.pending(), plans.context(), plans.recap(), plans.call("get_plan", {"plan_id": "main"})]
        plans.compact(1_000)
        told += [plans.context()]
        state = load_state(journal, "s1")
        cards = cards_of(state, thinking=Reasons(journal).of(state))
        resources = [plan_text(card, form) for card in cards for form in (MARKDOWN, JSON)]
    assert [card.thinking for card in cards] == [WHY]
    assert WHY not in repr(resources)
    assert "Read the code" in repr(told)
    assert WHY not in repr(told)
