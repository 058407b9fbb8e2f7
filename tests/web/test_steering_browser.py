"""Steering in a real browser: with mouse and keys, by touch, and on an agent's own plan."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from planwire.model.events import PlanChanged, PlanSet
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.statuses import STATUSES, after_tick
from planwire.model.step_changes import MoveStep, RemoveStep, SetPriority, SetStatus
from planwire.web.frame import STATIC
from tests.waiting import until
from tests.web.browsing import MOVING, NewPage, is_live, photograph
from tests.web.stage import TEXT, Stage, row, save, words, write


@pytest.mark.parametrize(
    ("status", "becomes"),
    [
        ("pending", "completed"),
        ("in_progress", "completed"),
        ("completed", "pending"),
        ("done", "pending"),
        ("cancelled", "completed"),
        ("blocked", "completed"),
    ],
)
def test_a_tick_means_the_same_on_the_board_as_everywhere(stage: Stage, status: str, becomes: str) -> None:
    stage.write(PlanSet(ItemsPlan("main", (Entry("one", "medium", status),))))
    page = stage.reopen()
    row(page, 1).focus()
    page.keyboard.press("x")
    stage.changes_come_to(SetStatus("s1", becomes))
    expect(row(page, 1)).to_have_attribute("data-status", STATUSES[becomes].look)
    row(page, 1).locator(".mark").click()
    stage.changes_come_to(SetStatus("s1", becomes), SetStatus("s1", after_tick(becomes)))


def test_what_is_already_so_is_not_written_and_said_to_be_so(stage: Stage) -> None:
    stage.planwire_has("one")
    page = stage.reopen()
    row(page, 1).focus()
    page.keyboard.press("i")
    expect(row(page, 1)).to_have_attribute("data-status", "current")
    page.keyboard.press("i")
    expect(page.get_by_role("status").filter(has_text="Nothing changes: the plan already says so.")).to_have_count(1)
    stage.changes_come_to(SetStatus("s1", "in_progress"))


def test_no_script_of_the_board_names_a_status() -> None:
    words = "|".join(STATUSES)
    for script in STATIC.glob("*.js"):
        named = re.findall(rf"[\"'`](?:{words})[\"'`]|\b(?:{words}):", script.read_text())
        assert not named or script.name == "icons.js", script.name


def test_steps_are_changed_with_the_mouse(stage: Stage) -> None:
    stage.planwire_has("one", "two `code`", "three")
    page = stage.reopen()
    row(page, 1).locator(".mark").click()
    expect(row(page, 1)).to_have_attribute("data-status", "done")
    row(page, 1).hover()
    page.get_by_role("button", name="Not done").click()
    expect(row(page, 1)).to_have_attribute("data-status", "pending")

    row(page, 2).hover()
    page.get_by_role("toolbar").get_by_role("button", name="Reword").click()
    expect(page.locator(".composer textarea")).to_have_value("two `code`")
    write(page, "two, in other `words`")
    page.get_by_role("button", name="Save").click()
    expect(row(page, 2).locator(".words")).to_have_text("two, in other words")
    expect(row(page, 2)).to_be_focused()

    row(page, 2).hover()
    page.get_by_role("toolbar").get_by_role("button", name="Add").click()
    write(page, "between")
    page.locator(".composer").get_by_role("button", name="Add").click()
    expect(words(page)).to_have_text(["one", "two, in other words", "between", "three"])
    page.get_by_role("button", name="Add step").click()
    write(page, "last")
    save(page)
    expect(words(page)).to_have_text(["one", "two, in other words", "between", "three", "last"])

    for name, check in (
        ("In progress", ("data-status", "current")),
        ("Cancelled", ("data-status", "cancelled")),
        ("Not cancelled", ("data-status", "pending")),
    ):
        row(page, 3).hover()
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name=name, exact=True).click()
        expect(row(page, 3)).to_have_attribute(*check)
    row(page, 3).hover()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="High priority").click()
    expect(row(page, 3).locator(".tag")).to_have_text("high priority")
    row(page, 3).hover()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Move up").click()
    expect(words(page)).to_have_text(["one", "two, in other words", "three", "between", "last"])
    row(page, 3).hover()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(words(page)).to_have_text(["one", "two, in other words", "between", "last"])

    row(page, 1).hover()
    page.get_by_role("toolbar").get_by_role("button", name="Comment").click()
    write(page, "Why this one?")
    page.locator(".composer").get_by_role("button", name="Comment").click()
    expect(row(page, 1).locator(".comment")).to_contain_text("Why this one?")
    assert stage.changes()[-4:] == [
        SetStatus("s3", "pending"),
        SetPriority("s3", "high"),
        MoveStep("s3", "s2"),
        RemoveStep("s3"),
    ]
    photograph(page, "steered")


def test_the_composer_stays_in_its_place_when_the_pointer_comes_to_it(stage: Stage) -> None:
    stage.planwire_has("one", "two", "three")
    page = stage.reopen(**MOVING)
    row(page, 3).hover()
    place = row(page, 3).bounding_box()
    stage.write(PlanChanged("main", None, (RemoveStep("s1"),)))
    expect(row(page, 1)).to_have_count(0)
    assert row(page, 3).bounding_box() == pytest.approx(place, abs=0.5), "the list keeps its place under the pointer"
    page.get_by_role("toolbar").get_by_role("button", name="Comment").click()
    composer = page.locator(".composer")
    before = composer.bounding_box()
    composer.get_by_role("button", name="Comment").hover()
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert composer.bounding_box() == before


def test_steps_are_changed_with_keys_alone(stage: Stage) -> None:
    stage.planwire_has("one", "two", "three", "four")
    page = stage.reopen()
    page.keyboard.press("j")
    expect(row(page, 1)).to_be_focused()
    page.keyboard.press("x")
    expect(row(page, 1)).to_have_attribute("data-status", "done")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("i")
    expect(row(page, 2)).to_have_attribute("data-status", "current")
    page.keyboard.press("e")
    write(page, "two again")
    save(page)
    expect(row(page, 2).locator(".words")).to_have_text("two again")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("a")
    write(page, "new")
    save(page)
    expect(words(page)).to_have_text(["one", "two again", "new", "three", "four"])
    page.keyboard.press("1")
    expect(row(page, 2).locator(".tag-high")).to_be_visible()
    page.keyboard.press("End")
    expect(row(page, 4)).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Alt+ArrowUp")
    expect(words(page)).to_have_text(["one", "four", "two again", "new", "three"])
    expect(row(page, 4)).to_be_focused()
    page.keyboard.press("c")
    write(page, "Is it needed?")
    save(page)
    expect(row(page, 4).locator(".comment")).to_contain_text("Is it needed?")
    page.keyboard.press("Delete")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(["one", "two again", "new", "three"])
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("m")
    expect(page.get_by_role("menuitem", name="Done", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("toolbar").get_by_role("button", name="Done")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("toolbar").get_by_role("button", name="Reword")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(row(page, 2)).to_be_focused()
    assert [change for change in stage.changes() if isinstance(change, MoveStep)] == [
        MoveStep("s4", "s5"),
        MoveStep("s4", "s2"),
        MoveStep("s4", "s1"),
    ]


def test_keys_that_follow_each_other_quickly_are_all_heard(stage: Stage) -> None:
    """Each is about the plan with what the same person did just before."""
    stage.planwire_has("one", "two", "three", "four")
    page = stage.reopen(**MOVING)
    row(page, 1).click()
    for _ in range(4):
        page.keyboard.press("x")
        page.keyboard.press("j")
    stage.changes_come_to(*(SetStatus(f"s{number}", "completed") for number in range(1, 5)))
    expect(page.get_by_role("dialog")).to_have_count(0)


def drag(page: Page, step: int, to: Locator, share: float) -> None:
    row(page, step).hover()
    page.get_by_role("button", name="Drag to move").hover()
    page.mouse.down()
    box = to.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] * 0.5)
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] * share)
    expect(page.locator(".drop-line")).to_be_visible()
    page.mouse.up()


def test_a_step_is_dragged_to_the_top_of_a_nested_list(stage: Stage) -> None:
    stage.write(PlanSet(MarkdownPlan("text", TEXT)))
    page = stage.reopen(**MOVING)
    drag(page, 4, row(page, 3), 0.1)
    stage.changes_come_to(MoveStep("s3", "s4"))
    expect(page.locator("#p0-s2 li .words")).to_have_text(["on macOS", "on Linux"])
    drag(page, 6, row(page, 4), 0.1)
    expect(page.locator("#p0-s2 li .words")).to_have_text(["Tell everyone", "on macOS", "on Linux"])


def test_a_step_is_dragged_to_its_place(stage: Stage) -> None:
    stage.planwire_has("one", "two", "three", "four")
    page = stage.reopen(**MOVING)
    drag(page, 1, row(page, 3), 0.9)
    expect(words(page)).to_have_text(["two", "three", "one", "four"])
    drag(page, 4, row(page, 2), 0.1)
    expect(words(page)).to_have_text(["four", "two", "three", "one"])
    row(page, 3).hover()
    page.get_by_role("button", name="Drag to move").hover()
    page.mouse.down()
    page.mouse.move(500, 300)
    page.keyboard.press("Escape")
    page.mouse.up()
    assert stage.changes() == [MoveStep("s1", "s3"), MoveStep("s4", "")]


def test_tasks_inside_a_text_are_steered_like_any_other(stage: Stage) -> None:
    stage.write(PlanSet(MarkdownPlan("text", TEXT)))
    page = stage.reopen()
    row(page, 3).locator(".mark").click()
    expect(row(page, 3)).to_have_attribute("data-status", "done")
    row(page, 2).locator("> .words, > p > .words").click()
    page.keyboard.press("e")
    expect(page.locator(".composer textarea")).to_have_value("Run the **whole** `suite`")
    write(page, "Run *everything*")
    save(page)
    expect(row(page, 2).locator("em")).to_have_text("everything")
    page.keyboard.press("a")
    write(page, "Look at it")
    save(page)
    expect(row(page, 7).locator(".words")).to_have_text("Look at it")
    page.keyboard.press("1")  # a text has no priorities
    row(page, 6).click()
    page.keyboard.press("Alt+ArrowUp")
    until(lambda: "Tell everyone\n- [ ] Tag it" in stage.board.get(f"/sessions/{stage.session}/plans/text.md").text)
    row(page, 4).click()
    page.keyboard.press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row(page, 4)).to_have_count(0)
    assert stage.board.get(f"/sessions/{stage.session}/plans/text.md").text == (
        "# Release\n\nBefore we ship.\n\n- [ ] Freeze the branch\n- [ ] Run *everything*\n  - [x] on Linux\n"
        "- [ ] Look at it\n\nAfter that:\n\n- [ ] Tell everyone\n- [ ] Tag it\n"
    )


def test_fingers_can_do_it_too(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    page = stage.open(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 800})
    row(page, 2).tap()
    page.get_by_role("toolbar").get_by_role("button", name="Done").tap()
    expect(row(page, 2)).to_have_attribute("data-status", "done")
    page.get_by_role("toolbar").get_by_role("button", name="More", exact=True).tap()
    page.get_by_role("menuitem", name="Move up").tap()
    expect(words(page)).to_have_text(["two", "one"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    photograph(page, "steered-narrow")


@pytest.mark.parametrize("plan", [ItemsPlan("main", ()), MarkdownPlan("main", "# Idea\n\nWords without a box.\n")])
def test_the_first_step_is_added_to_a_plan_without_any(
    stage: Stage, same_page: NewPage, plan: ItemsPlan | MarkdownPlan
) -> None:
    stage.write(PlanSet(plan))
    page = same_page(f"/sessions/{stage.session}")
    is_live(page)
    page.get_by_role("button", name="Add step").click()
    write(page, "Begin")
    save(page)
    expect(row(page, 1)).to_contain_text("Begin")
    row(page, 1).locator(".mark").click()
    expect(row(page, 1)).to_have_attribute("data-status", "done")


def test_hidden_rows_of_a_fold_are_no_places_and_no_stops(stage: Stage) -> None:
    stage.planwire_has(*(f"step {number}" for number in range(1, 14)))
    for number in range(1, 11):
        stage.write(PlanChanged("main", None, (SetStatus(f"s{number}", "completed"),)))
    page = stage.reopen()
    expect(row(page, 5)).to_be_hidden()
    row(page, 12).click()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    expect(row(page, 11)).to_be_focused()
    box = row(page, 11).bounding_box()
    assert box is not None
    row(page, 13).hover()
    page.get_by_role("button", name="Drag to move").hover()
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 12)
    page.mouse.move(box["x"] + 40, box["y"] + 2)
    page.mouse.up()
    stage.changes_come_to(MoveStep("s13", "s10"))
