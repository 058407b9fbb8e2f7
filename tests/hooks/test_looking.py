"""What a hook only points to is looked up: steps in a database, plans in files of the user's home."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from planwire.hooks.happenings import Happening, HookCall, ListHeard, Proposed, TodosInDatabase, TurnBegan
from planwire.hooks.looking import looked_up
from planwire.hooks.recording import LARGEST_PLAN
from planwire.model.plan import Entry


def found(*what: Happening) -> tuple[Happening, ...]:
    return looked_up(HookCall("copilot", "s", "PostToolUse", what=what)).what


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_steps_in_a_database_become_a_list(home: Path) -> None:
    with closing(sqlite3.connect(home / "session.db")) as opened, opened:
        opened.execute("CREATE TABLE todos (title TEXT, status TEXT)")
        opened.execute("INSERT INTO todos VALUES ('Read', 'done')")
    assert found(TodosInDatabase("todos", "~/session.db")) == (ListHeard("todos", (Entry("Read", None, "done"),)),)


def test_a_plan_is_found_in_the_home_of_the_user(home: Path) -> None:
    (home / "plan.md").write_text("# Plan")
    assert found(Proposed("plan-mode", path="~/plan.md")) == (Proposed("plan-mode", "# Plan", "~/plan.md"),)


def test_a_plan_is_whole_or_too_large_and_never_cut(home: Path) -> None:
    for text in ("é" * LARGEST_PLAN, "x" * 5 * LARGEST_PLAN):
        (home / "plan.md").write_text(text)
        [plan] = found(Proposed("plan-mode", path="~/plan.md"))
        assert isinstance(plan, Proposed)
        assert plan.text == text or len(plan.text) > LARGEST_PLAN


@pytest.mark.parametrize("path", ["~/missing", "~", "a\0b", "~nobody-here/plan.md", ""])
def test_what_is_not_there_says_nothing(path: str) -> None:
    assert found(TodosInDatabase("todos", path), Proposed("plan-mode", path=path), TurnBegan()) == (TurnBegan(),)
