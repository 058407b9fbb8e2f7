"""Every act of the table in a real browser: done with its key, and written as the event that it means."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from planwire.model.events import (
    APPROVED,
    COMMENT,
    SELECTION,
    SUGGESTION,
    Event,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    SessionOpened,
)
from planwire.model.plan import FilePlan
from planwire.model.remarks import SUPERSEDED, WITHDRAWN
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.session.named_folders import note_folders
from planwire.steering.acts import ACTS
from planwire.steering.reviews import VIA
from tests.web.browsing import photograph
from tests.web.stage import Stage, row, save, words, write
from tests.web.test_plan_tree import TREE


def changed(*changes: object) -> PlanChanged:
    return PlanChanged("main", None, changes)  # type: ignore[arg-type]


def suggested(change: StepChange, **about: str) -> Remarked:
    return Remarked("main", SUGGESTION, "", 1, changes=(change,), about=about)


#: For each key of each act: what is typed after it, if it asks for something, and the event that is written.
KEYS: dict[str, tuple[str | None, Event]] = {
    "x": (None, changed(SetStatus("s2", "completed"))),
    "Space": (None, changed(SetStatus("s2", "completed"))),
    "i": (None, changed(SetStatus("s2", "in_progress"))),
    "e": ("Other words", changed(RewordStep("s2", "Other words"))),
    "a": ("New", changed(AddStep("New", "s2"))),
    "A": ("New", changed(AddStep("New"))),
    "K": (None, changed(MoveStep("s2", ""))),
    "J": (None, changed(MoveStep("s2", "s3"))),
    "Alt+ArrowUp": (None, changed(MoveStep("s2", ""))),
    "Alt+ArrowDown": (None, changed(MoveStep("s2", "s3"))),
    "1": (None, changed(SetPriority("s2", "high"))),
    "3": (None, changed(SetPriority("s2", "low"))),
    "c": ("Why?", Remarked("main", COMMENT, "Why?", 1, "s2", about={"s2": "two"})),
}


@pytest.fixture
def page(stage: Stage) -> Page:
    """A list of planwire's own, with the focus on its second step."""
    stage.planwire_has("one", "two", "three")
    page = stage.reopen()
    row(page, 2).click()
    return page


@pytest.mark.parametrize("key", KEYS)
def test_a_key_does_its_act(stage: Stage, page: Page, key: str) -> None:
    text, event = KEYS[key]
    page.keyboard.press(key)
    if text is not None:
        write(page, text)
        save(page)
    stage.comes_to(event)
    expect(page.locator(".toast")).not_to_be_empty()


@pytest.mark.parametrize("key", ["d", "Delete", "Backspace"])
def test_a_step_is_removed_once_that_is_confirmed(stage: Stage, page: Page, key: str) -> None:
    page.keyboard.press(key)
    dialog = page.get_by_role("dialog", name="Remove this step?")
    dialog.get_by_role("button", name="Cancel").click()
    assert stage.said() == []
    page.keyboard.press(key)
    page.keyboard.press("Enter")
    stage.comes_to(changed(RemoveStep("s2")))


def test_a_status_is_chosen_from_the_menu(stage: Stage, page: Page) -> None:
    page.keyboard.press("o")
    page.get_by_role("menuitem", name="Cancelled").click()
    stage.comes_to(changed(SetStatus("s2", "cancelled")))


def test_a_comment_on_the_plan_has_a_dialog_and_a_review_a_bar(stage: Stage, page: Page) -> None:
    page.keyboard.press("C")
    page.keyboard.type("By the way")
    page.get_by_role("dialog").get_by_label("Keep in force").check()
    page.get_by_role("dialog").get_by_role("button", name="Comment").click()
    expect(page.locator("#p0-said")).to_contain_text("By the way")
    expect(page.locator("#p0-said")).to_contain_text("kept in force")
    page.keyboard.press("v")
    page.get_by_role("region", name="Review “Plan”").get_by_role("button", name="Approve").click()
    stage.comes_to(
        Remarked("main", COMMENT, "By the way", 1, kept=True),
        PlanReviewed("main", 1, APPROVED, via=VIA),
    )


def test_the_step_is_run(stage: Stage, page: Page) -> None:
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Tell the agent to run 1 step")).to_be_focused()
    page.keyboard.press("Enter")
    stage.comes_to(Remarked("main", SELECTION, "", 1, steps=("s2",), about={"s2": "two"}))


def test_a_suggested_step_can_not_be_selected_to_run(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.reopen()
    row(page, 2).click()
    page.keyboard.press("a")
    write(page, "three")
    save(page)
    page.locator(".ghost .words").click()
    expect(page.locator(".ghost")).to_be_focused()
    page.keyboard.press("s")
    expect(page.get_by_role("status").filter(has_text="Run steps is not possible here")).to_have_count(1)
    expect(page.get_by_role("region", name="Steps to run")).to_have_count(0)


def test_the_steps_of_a_plan_file_are_selected_to_run(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("- [ ] one\n- [ ] two\n")
    note_folders(tmp_path)
    stage.write(SessionOpened("agent", "client", str(tmp_path)), PlanSet(FilePlan("main", path.as_uri())))
    page = stage.reopen()
    row(page, 1).locator(".words").click()
    expect(row(page, 1)).to_be_focused()
    expect(page.locator("#p0-at")).to_have_attribute("data-revision", "3")  # the board has recorded its text
    page.keyboard.press("s")
    page.get_by_role("button", name="Tell the agent to run 1 step").click()
    stage.comes_to(Remarked("main", SELECTION, "", 3, steps=("s1",), about={"s1": "one"}))
    expect(row(page, 1).locator(".tag-to-run")).to_be_visible()


def test_what_has_ended_is_reopened(stage: Stage, page: Page) -> None:
    page.keyboard.press("c")
    write(page, "Why?")
    save(page)
    expect(row(page, 2).locator(".comment")).to_contain_text("Queued")
    page.keyboard.press("u")
    expect(row(page, 2).locator(".comment")).to_have_count(0)
    page.keyboard.press("U")
    expect(row(page, 2).locator(".comment")).to_contain_text("Why?")
    stage.write(PlanRemoved("main"))
    page.get_by_text("Dismissed plans").click()
    page.get_by_role("button", name="Reopen").click()
    expect(row(page, 2).locator(".comment")).to_contain_text("Why?")
    stage.comes_to(
        Remarked("main", COMMENT, "Why?", 1, "s2", about={"s2": "two"}),
        RemarkClosed("main", "r1", WITHDRAWN),
        RemarkReopened("main", "r1"),
        PlanReopened("main"),
    )


def test_a_plan_is_edited_as_a_text(stage: Stage, page: Page) -> None:
    page.keyboard.press("E")
    area = page.get_by_role("dialog", name="Edit “Plan”").get_by_role("textbox")
    expect(area).to_have_value("[ ] one {s1}\n[ ] two {s2}\n[ ] three {s3}\n")
    area.fill("[x] one {s1}\n[ ] three {s3}")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("[ ] four")
    page.keyboard.press("Control+Enter")
    expect(words(page)).to_have_text(["one", "three", "four"])
    stage.comes_to(changed(RemoveStep("s2"), SetStatus("s1", "completed"), AddStep("four", "s3")))


def test_an_edited_text_that_no_longer_fits_is_edited_on(stage: Stage, page: Page) -> None:
    page.keyboard.press("E")
    area = page.get_by_role("dialog", name="Edit “Plan”").get_by_role("textbox")
    area.fill("[ ] mine {s1}\n[x] two {s2}\n[ ] three {s3}\n")
    stage.write(changed(RewordStep("s1", "theirs")))
    page.keyboard.press("Control+Enter")
    page.get_by_role("dialog", name="The plan changed").get_by_role("button", name="Edit").click()
    expect(area).to_have_value("[ ] theirs {s1}\n[x] two {s2}\n[ ] three {s3}\n# You wrote:\n# [ ] mine {s1}\n")
    page.keyboard.press("Control+Enter")
    stage.comes_to(changed(SetStatus("s2", "completed")))


def test_an_edited_text_that_is_left_is_there_again_and_conflicts_as_if_it_had_stayed_open(
    stage: Stage, page: Page
) -> None:
    page.keyboard.press("E")
    area = page.get_by_role("dialog", name="Edit “Plan”").get_by_role("textbox")
    mine = "[ ] mine {s1}\n[x] two {s2}\n[ ] three {s3}\n"
    area.fill(mine)
    page.keyboard.press("Escape")
    stage.write(PlanChanged("main", "by the way"))
    expect(page.get_by_text("by the way").first).to_be_attached()
    page.keyboard.press("E")
    expect(area).to_have_value(mine)
    page.keyboard.press("Escape")
    stage.write(changed(RewordStep("s1", "theirs")))
    expect(words(page).first).to_have_text("theirs")
    page.keyboard.press("E")
    expect(area).to_have_value(mine)
    page.keyboard.press("Control+Enter")
    page.get_by_role("dialog", name="The plan changed").get_by_role("button", name="Edit").click()
    merged = "[ ] theirs {s1}\n[x] two {s2}\n[ ] three {s3}\n# You wrote:\n# [ ] mine {s1}\n"
    expect(area).to_have_value(merged)
    page.keyboard.press("Escape")
    page.keyboard.press("E")
    expect(area).to_have_value(merged)
    page.keyboard.press("Control+Enter")
    stage.comes_to(changed(SetStatus("s2", "completed")))


def test_a_plan_is_dismissed_once_that_is_confirmed(stage: Stage, page: Page) -> None:
    page.keyboard.press("X")
    page.get_by_role("dialog", name="Dismiss this plan?").get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Dismiss").click()
    page.get_by_role("dialog").get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("No plans left")).to_be_visible()
    stage.comes_to(PlanRemoved("main"))


def test_a_suggestion_is_withdrawn_and_a_suggested_step_is_reworded(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.reopen()
    row(page, 2).click()
    page.keyboard.press("x")
    expect(row(page, 2).locator(".suggestion-status")).to_be_visible()
    page.keyboard.press("u")
    expect(row(page, 2).locator(".suggestion-status")).to_have_count(0)
    page.keyboard.press("a")
    write(page, "three")
    save(page)
    ghost = page.locator(".ghost")
    expect(ghost).to_contain_text("three")
    page.keyboard.press("j")
    expect(ghost).to_be_focused()
    page.keyboard.press("e")
    expect(page.locator(".composer textarea")).to_have_value("three")
    write(page, "third")
    save(page)
    expect(ghost).to_contain_text("third")
    ghost.locator(".words").click()
    page.keyboard.press("a")
    write(page, "fourth")
    save(page)
    expect(ghost).to_have_count(2)
    ghost.filter(has_text="third").locator(".words").click()
    page.keyboard.press("Delete")
    expect(ghost).to_have_count(1)
    stage.comes_to(
        suggested(SetStatus("s2", "completed"), s2="two"),
        RemarkClosed("main", "r1", WITHDRAWN),
        suggested(AddStep("three", "s2")),
        suggested(AddStep("third", "s2")),
        RemarkClosed("main", "r2", SUPERSEDED),
        suggested(AddStep("fourth", "s2")),
        RemarkClosed("main", "r3", WITHDRAWN),
    )


def test_every_key_of_the_table_is_pressed_here_or_said_to_be_elsewhere() -> None:
    names = {"Alt+Up": "Alt+ArrowUp", "Alt+Down": "Alt+ArrowDown"}
    known = {names.get(key, key) for act in ACTS.values() for gesture in act.gestures for key in gesture.keys}
    assert known == {*KEYS, "2", *"dCEXoruUvtS", "Delete"}


def test_every_key_of_the_table_is_on_the_list_of_keys(page: Page) -> None:
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    shown = keys.locator("kbd").all_text_contents()
    assert {key for act in ACTS.values() for gesture in act.gestures for key in gesture.keys} <= set(shown)


def test_a_plan_that_is_over_folds_into_a_line_and_a_nested_step_can_be_ticked(stage: Stage) -> None:
    stage.write(*TREE)
    page = stage.reopen()
    fold = page.locator("#p3 > details")
    expect(fold.locator("summary")).to_contain_text("survey")
    expect(fold.locator("summary")).to_contain_text("2 of 2 done")
    expect(page.get_by_text("Weigh them")).to_be_hidden()
    fold.locator("summary").click()
    expect(page.get_by_text("Weigh them")).to_be_visible()
    widths = [page.locator(each).bounding_box() for each in ("#p0", "#p1", "#p2")]
    assert [each["x"] for each in widths if each] == sorted({each["x"] for each in widths if each})
    photograph(page, "plan-tree")
    page.locator("#p2-s1 > .mark").click()
    expect(page.locator("#p2-s1")).to_have_attribute("data-status", "done")
    expect(page.locator("#p2 > details > summary")).to_contain_text("1 of 1 done")
    expect(page.locator("#p0-s1")).to_contain_text("3 of 5 below")
    assert stage.changes() == [SetStatus("s1", "completed")]
