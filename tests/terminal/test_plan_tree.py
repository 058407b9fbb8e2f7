"""Plans below plans in the terminal: on the screen of a session, and in print."""

from pathlib import Path

import pytest
from rich.console import Console

from planwire.cli import main
from planwire.journal import open_journal
from planwire.session.blocking import BlockingPlanSession
from planwire.terminal import lines
from planwire.terminal.nested_plans import NARROWEST
from tests.terminal.watched import click_row, on_a_loop, panel, record, seen, shows, statuses, watching
from tests.waiting import eventually

pytestmark = pytest.mark.usefixtures("prompt_pilot")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "plans.db"
    with open_journal(path) as opened:
        lead = BlockingPlanSession(opened, "s")
        lead.set(["Find out", "Write it"])
        research = lead.child("s1", "research")
        research.set(["Read papers", "Ask experts"])
        research.child("s2", "experts").set(["Call Ann"])
        survey = lead.child("s1", "survey")
        survey.set(["Count them", "Weigh them"])
        survey.change(steps={"s1": "completed", "s2": "completed"})
        lead.fork("t")
    return path


def where(text: str, *words: str) -> list[int]:
    """The columns of words that stand in this order."""
    found = [next((line.find(word) for line in text.splitlines() if word in line), -1) for word in words]
    order = [next(at for at, line in enumerate(text.splitlines()) if word in line) for word in words]
    assert order == sorted(order), text
    return found


@on_a_loop
async def test_plans_stand_indented_below_the_step_that_they_work_for(journal: Path) -> None:
    async with watching(journal, "s") as (app, _):
        await shows(app, "Write it", "Call Ann")
        text = seen(app)
        lead, first, child, deep, second, over, last = where(
            text, "Find out", "Read papers", "Ask experts", "Call Ann", "survey: 2 of 2 done", "survey", "Write it"
        )
        assert lead < first == child < deep
        assert lead == last
        assert second == over < first + 4
        assert "3 of 5 below" not in text
        assert "2 of 5 below" in text
        assert "Count them" not in text
        assert "forks: t" in text


@on_a_loop
async def test_a_plan_that_is_over_unfolds_and_folds(journal: Path) -> None:
    async with watching(journal, "s") as (app, pilot):
        await shows(app, "survey: 2 of 2 done")
        await click_row(app, pilot, "survey: 2 of 2 done", 12)
        await shows(app, "Count them", "Weigh them")


@on_a_loop
async def test_a_click_on_the_sign_of_a_nested_step_ticks_that_step(journal: Path) -> None:
    async with watching(journal, "s") as (app, pilot):
        await shows(app, "Call Ann")
        column = next(line.text.index("○ Call Ann") for line in panel(app).in_sight() if "○ Call Ann" in line.text)
        await click_row(app, pilot, "Call Ann", column)
        await eventually(lambda: statuses(record(app, "s", "experts")) == ["completed"])
        assert statuses(record(app, "s", "main")) == ["pending", "pending"]


@on_a_loop
async def test_a_click_hits_the_sign_of_a_nested_step_where_a_narrow_screen_has_no_room_for_an_indent(
    journal: Path,
) -> None:
    async with watching(journal, "s", size=(NARROWEST + 4, 60)) as (app, pilot):
        await shows(app, "Ask experts")
        line = next(each.text for each in panel(app).in_sight() if "○ Ask experts" in each.text)
        await click_row(app, pilot, "○ Ask experts", line.index("○"))
        await eventually(lambda: statuses(record(app, "s", "research"))[1] == "completed")


def test_show_prints_plans_in_the_boxes_of_those_that_they_work_for(
    journal: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "new_console", lambda: Console(width=70))
    assert main(["show", "s", "--journal", str(journal)]) == 0
    text = capsys.readouterr().out
    boxes = [line.index("╭") for line in text.splitlines() if "╭" in line]
    assert boxes == [0, 5, 10]
    assert [line.rstrip().endswith("╯") or "│" in line for line in text.splitlines() if "╰" in line] == [True] * 3
    assert all(len(line) == 70 for line in text.splitlines() if line.startswith(("│", "╭", "╰"))), text
    assert "survey: 2 of 2 done" in text
    assert "Count them" not in text
    assert main(["show", "s", "--all", "--journal", str(journal)]) == 0
    assert "Count them" in capsys.readouterr().out
    assert main(["show", "s", "--plan", "experts", "--journal", str(journal)]) == 0
    assert "for Find out › Ask experts" in capsys.readouterr().out


def test_in_a_narrow_terminal_plans_keep_a_readable_width(
    journal: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "new_console", lambda: Console(width=NARROWEST))
    assert main(["show", "s", "--journal", str(journal)]) == 0
    assert "Call Ann" in capsys.readouterr().out


def test_show_names_forks_both_ways(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "s", "--journal", str(journal)]) == 0
    assert "  forks: t\n" in capsys.readouterr().out
    assert main(["show", "t", "--journal", str(journal)]) == 0
    assert "  forked from s at event " in capsys.readouterr().out
