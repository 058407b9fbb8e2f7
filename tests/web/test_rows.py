"""Rows of steps: folds for what is finished, checkboxes for everyone, and a way to read long ones."""

import re
from pathlib import Path

import pytest

from planwire.model.events import SUGGESTION, PlanSet, Remarked, TurnEnded
from planwire.model.plan import Entry, FilePlan, ItemsPlan
from planwire.model.step_changes import SetStatus
from planwire.session.named_folders import note_folders
from tests.web.board import Running, items, markdown

FOLD = re.compile(r'<summary id="[^"]*">([^<]*)</summary><ol id="[^"]*">(.*?)</ol></details>')


def folds(page: str) -> list[tuple[str, int]]:
    """The folds of a page: their words, and how many steps each holds."""
    return [(words, rows.count("data-step=")) for words, rows in FOLD.findall(page)]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["completed"] * 7 + ["in_progress"], []),
        (["completed"] * 8 + ["in_progress"], [("8 done", 8)]),
        (["completed"] * 23 + ["in_progress"] + ["pending"] * 36, [("23 done", 23)]),
        (["completed"] * 6 + ["cancelled"] * 2 + ["pending"], [("6 done, 2 cancelled", 8)]),
        (["completed"] * 9 + ["pending"] + ["completed"] * 8, [("9 done", 9), ("8 done", 8)]),
        (["completed"] * 900 + ["in_progress"] + ["pending"] * 1_099, []),
    ],
)
def test_runs_of_finished_steps_fold(board: Running, statuses: list[str], expected: list[tuple[str, int]]) -> None:
    board.write("s1", items(*statuses))
    assert folds(board.page("/sessions/s1")) == expected


def test_a_finished_step_with_a_suggestion_stays_in_sight(board: Running) -> None:
    board.write("s1", items(*["completed"] * 17, "pending"))
    board.write("s1", Remarked("main", SUGGESTION, changes=(SetStatus("s9", "pending"),)), by="ana")
    assert folds(board.page("/sessions/s1")) == [("8 done", 8), ("8 done", 8)]


def test_the_page_of_a_plan_shows_every_step(board: Running) -> None:
    board.write("s1", items(*["completed"] * 20, "pending"))
    assert folds(board.page("/sessions/s1/plans/main")) == []


def test_the_name_of_a_plan_leads_to_its_page(board: Running) -> None:
    board.write("s1", items("pending"))
    assert '<h2 id="p0-name"><a href="/sessions/s1/plans/main"><bdi>Plan</bdi></a></h2>' in board.page("/sessions/s1")
    assert '<h2 id="p0-name"><bdi>Plan</bdi></h2>' in board.page("/sessions/s1/plans/main")


def test_the_items_of_a_numbered_plan_can_be_chosen_and_have_no_checkbox(board: Running) -> None:
    board.write("s1", markdown("# Plan\n\n1. Read the config\n2. Write the *parser*\n   - nested\n"))
    page = board.page("/sessions/s1")
    assert re.findall(r'<li class="task is-pending"[^>]* id="([^"]+)"', page) == ["p0-s1", "p0-s2"]
    assert "checkbox" not in page.split('class="prose"')[1].split("</ol>")[0]
    assert "<progress" not in page.split('id="p0-name"')[1].split('class="prose"')[0]


def test_the_mark_of_a_step_is_a_checkbox(board: Running) -> None:
    board.write("s1", items("completed", "in_progress", "pending", "cancelled"))
    boxes = re.findall(r'role="checkbox" aria-checked="(\w+)" aria-labelledby="([^"]+)">', board.page("/sessions/s1"))
    assert boxes == [("true", "p0-s1-w"), ("mixed", "p0-s2-w"), ("false", "p0-s3-w"), ("false", "p0-s4-w")]
    assert '<span class="unseen">cancelled: </span>' in board.page("/sessions/s1")


def test_a_checkbox_that_nobody_can_use_says_so(board: Running, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("- [x] one\n- [ ] two\n")
    board.open(cwd=str(tmp_path))
    note_folders(tmp_path)
    board.write("s1", PlanSet(FilePlan("file", (tmp_path / "plan.md").as_uri())), markdown("- [ ] a\n"))
    page = board.page("/sessions/s1")
    assert page.count('role="checkbox"') == 3
    assert page.count('aria-disabled="true"') == 2
    then = board.get("/sessions/s1/history?part=then").text
    assert then.count('role="checkbox"') == then.count('aria-disabled="true"') > 0


def test_a_task_keeps_its_checkbox_and_its_number_in_a_text(board: Running) -> None:
    board.write("s1", markdown("1. [x] one\n2. [ ] two\n"))
    page = board.page("/sessions/s1")
    assert 'aria-checked="true" aria-labelledby="p0-s1-w"' in page
    assert re.search(r'<ol>\s*<li class="task', page)


def test_only_a_long_step_has_a_button_for_the_rest(board: Running) -> None:
    board.write("s1", PlanSet(ItemsPlan("main", tuple(Entry(each, "medium", "pending") for each in ("x", "y " * 400)))))
    page = board.page("/sessions/s1")
    assert page.count('class="show-more"') == 1
    assert "y " * 399 in page


def test_a_stopped_step_is_said_to_be_stopped(board: Running) -> None:
    board.write("s1", items("in_progress"), TurnEnded("refusal"))
    page = board.page("/sessions/s1")
    assert "stopped: the model refused" in page
    assert '<span class="unseen">stopped: </span>' in page
