"""Steering in a real browser: with mouse and keys, by several people at once, and with a connection that fails."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from planwire import BlockingPlanSession
from planwire.model.events import (
    ACP,
    AddStep,
    Comment,
    Event,
    MoveStep,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    RemoveStep,
    RewordStep,
    SessionOpened,
    SetPriority,
    SetStatus,
    StepChange,
    SuggestionWithdrawn,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.statuses import STATUSES, after_tick
from planwire.web.frame import STATIC
from tests.waiting import until
from tests.web.board import TOKEN, Running, running_board
from tests.web.browsing import NewPage, comes_true, is_live, photograph

TEXT = """\
# Release

Before we ship.

- [ ] Freeze the branch
- [ ] Run the **whole** `suite`
  - [ ] on Linux
  - [ ] on macOS

After that:

- [ ] Tag it
- [ ] Tell everyone
"""


@pytest.fixture(scope="module")
def board() -> Iterator[Running]:
    with running_board() as running:
        yield running


class Stage:
    """A session of a test's own: what is written to it, and pages that show it."""

    def __init__(self, board: Running, new_page: NewPage) -> None:
        self.board = board
        self.session = f"session-{len(list(board.journal.sessions()))}"
        self._new_page = new_page

    def write(self, *events: Event, by: str = "agent") -> int:
        return self.board.write(self.session, *events, by=by)

    def agent_sends(self, *contents: str, done: int = 0) -> None:
        """The agent's own list, over ACP."""
        self.write(PlanSet(_list(contents, done), via=ACP))

    def planwire_has(self, *contents: str) -> None:
        """A plan that planwire keeps."""
        self.write(PlanSet(_list(contents, 0)))

    def open(self, **options: Any) -> Page:
        page = self._new_page(f"/sessions/{self.session}", **options)
        is_live(page)
        comes_true(
            page, "Boolean(document.querySelector('[data-step][tabindex=\"0\"], [data-steer]:not(:has([data-step]))'))"
        )
        return page

    def said(self) -> list[Event]:
        """What people did."""
        return [each.event for each in self.board.journal.read(self.session) if each.by == "user"]

    def changes(self) -> list[StepChange]:
        return [change for event in self.said() if isinstance(event, PlanChanged) for change in event.changes]

    def comes_to(self, *events: Event) -> None:
        until(lambda: self.said() == list(events))

    def changes_come_to(self, *changes: StepChange) -> None:
        until(lambda: self.changes() == list(changes))


def _list(contents: tuple[str, ...], done: int) -> ItemsPlan:
    statuses = ["completed" if at < done else "pending" for at in range(len(contents))]
    return ItemsPlan(
        "main", tuple(Entry(each, "medium", status) for each, status in zip(contents, statuses, strict=True))
    )


@pytest.fixture
def stage(board: Running, new_page: NewPage) -> Stage:
    return Stage(board, new_page)


def can_steer(page: Page) -> None:
    comes_true(page, "document.documentElement.classList.contains('steering')")


def row(page: Page, step: int, plan: int = 0) -> Locator:
    return page.locator(f"#p{plan}-s{step}")


def words(page: Page) -> Locator:
    return page.locator("#p0-steps > li:not(.ghost) .words")


def write(page: Page, text: str) -> None:
    """Write into what is open, in place of what is there."""
    expect(page.locator(".composer textarea")).to_be_focused()
    page.locator(".composer textarea").fill(text)


def save(page: Page) -> None:
    page.keyboard.press("Enter")
    expect(page.locator(".composer")).to_have_count(0)


# ------------------------------------------------------------------ each thing with the mouse, and with keys


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
    page = stage.open()
    row(page, 1).focus()
    page.keyboard.press("x")
    stage.changes_come_to(SetStatus("s1", becomes))
    expect(row(page, 1)).to_have_attribute("data-status", STATUSES[becomes].look)
    row(page, 1).locator(".mark").click()
    stage.changes_come_to(SetStatus("s1", becomes), SetStatus("s1", after_tick(becomes)))


def test_what_is_already_so_is_not_written_and_said_to_be_so(stage: Stage) -> None:
    stage.planwire_has("one")
    page = stage.open()
    row(page, 1).focus()
    page.keyboard.press("i")
    expect(row(page, 1)).to_have_attribute("data-status", "current")
    page.keyboard.press("i")
    expect(page.get_by_role("status").filter(has_text="Already so: “one” in progress")).to_have_count(1)
    stage.changes_come_to(SetStatus("s1", "in_progress"))


def test_no_script_of_the_board_names_a_status() -> None:
    words = "|".join(STATUSES)
    for script in STATIC.glob("*.js"):
        named = re.findall(rf"[\"'`](?:{words})[\"'`]|\b(?:{words}):", script.read_text())
        assert not named or script.name == "icons.js", script.name


def test_steps_are_changed_with_the_mouse(stage: Stage) -> None:
    stage.planwire_has("one", "two `code`", "three")
    page = stage.open()
    row(page, 1).locator(".mark").click()
    expect(row(page, 1)).to_have_attribute("data-status", "done")
    row(page, 1).hover()
    page.get_by_role("button", name="Not done").click()
    expect(row(page, 1)).to_have_attribute("data-status", "pending")

    row(page, 2).hover()
    page.get_by_role("button", name="Reword").click()
    expect(page.locator(".composer textarea")).to_have_value("two `code`")
    write(page, "two, in other `words`")
    page.get_by_role("button", name="Save").click()
    expect(row(page, 2).locator(".words")).to_have_text("two, in other words")
    expect(row(page, 2)).to_be_focused()

    row(page, 2).hover()
    page.get_by_role("button", name="Add a step below").click()
    write(page, "between")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(words(page)).to_have_text(["one", "two, in other words", "between", "three"])
    page.get_by_role("button", name="Add a step", exact=True).click()
    write(page, "last")
    save(page)
    expect(words(page)).to_have_text(["one", "two, in other words", "between", "three", "last"])

    for name, check in (
        ("In progress", ("data-status", "current")),
        ("Cancelled", ("data-status", "cancelled")),
        ("Not cancelled", ("data-status", "pending")),
    ):
        row(page, 3).hover()
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name=name, exact=True).click()
        expect(row(page, 3)).to_have_attribute(*check)
    row(page, 3).hover()
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Priority high").click()
    expect(row(page, 3).locator(".tag")).to_have_text("high priority")
    row(page, 3).hover()
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Move up").click()
    expect(words(page)).to_have_text(["one", "two, in other words", "three", "between", "last"])
    row(page, 3).hover()
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(words(page)).to_have_text(["one", "two, in other words", "between", "last"])

    row(page, 1).hover()
    page.get_by_role("button", name="Comment", exact=True).click()
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


def test_steps_are_changed_with_keys_alone(stage: Stage) -> None:
    stage.planwire_has("one", "two", "three", "four")
    page = stage.open()
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
    page.keyboard.down("Alt")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    expect(page.locator(".drop-line")).to_be_visible()
    page.keyboard.up("Alt")
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
    assert [change for change in stage.changes() if isinstance(change, MoveStep)] == [MoveStep("s4", "s1")]


def test_keys_that_follow_each_other_quickly_are_all_heard(stage: Stage) -> None:
    """Each is about the plan with what the same person did just before."""
    stage.planwire_has("one", "two", "three", "four")
    page = stage.open()
    row(page, 1).click()
    for _ in range(4):
        page.keyboard.press("x")
        page.keyboard.press("j")
    stage.changes_come_to(*(SetStatus(f"s{number}", "completed") for number in range(1, 5)))
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_step_is_dragged_to_its_place(stage: Stage) -> None:
    stage.planwire_has("one", "two", "three", "four")
    page = stage.open()

    def drag(step: int, to: Locator, share: float) -> None:
        row(page, step).hover()
        page.get_by_role("button", name="Drag to move").hover()
        page.mouse.down()
        box = to.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 40, box["y"] + box["height"] * 0.5)
        page.mouse.move(box["x"] + 40, box["y"] + box["height"] * share)
        expect(page.locator(".drop-line")).to_be_visible()
        page.mouse.up()

    drag(1, row(page, 3), 0.9)
    expect(words(page)).to_have_text(["two", "three", "one", "four"])
    drag(4, row(page, 2), 0.1)
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
    page = stage.open()
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


def test_plans_are_reviewed_with_the_mouse_and_with_keys(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    why = page.locator("#p0-said")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(why).to_contain_text("approved (revision 1)")
    page.get_by_role("button", name="Ask for changes …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_accessible_name("Ask for changes to main")
    dialog.get_by_role("textbox").fill("Smaller steps")
    dialog.get_by_role("button", name="Ask for changes").click()
    expect(why).to_contain_text("changes requested (revision 1) · Smaller steps")
    row(page, 2).click()
    page.keyboard.press("v")
    expect(page.get_by_role("dialog", name="Review main").get_by_role("textbox")).to_be_focused()
    page.keyboard.type("All right")
    page.keyboard.press("Control+Enter")
    expect(why).to_contain_text("All right")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("v")
    page.keyboard.type("Not quite")
    for key in ("Tab", "Tab", "Enter"):
        page.keyboard.press(key)
    expect(why).to_contain_text("Not quite")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("C")
    page.keyboard.type("By the way")
    page.keyboard.press("Control+Enter")
    expect(why).to_contain_text("By the way")
    stage.comes_to(
        PlanReviewed("main", 1, "approved"),
        PlanReviewed("main", 1, "changes_requested", (Comment("Smaller steps"),)),
        PlanReviewed("main", 1, "approved", (Comment("All right"),)),
        PlanReviewed("main", 1, "changes_requested", (Comment("Not quite"),)),
        PlanReviewed("main", 1, "commented", (Comment("By the way"),)),
    )
    stage.agent_sends("one", "two", done=1)
    expect(why.get_by_text("plan changed since")).to_have_count(2)


def test_steps_are_chosen_to_be_run(stage: Stage) -> None:
    stage.agent_sends("one", "two", "three")
    page = stage.open()
    page.get_by_role("button", name="Choose steps to run").click()
    row(page, 3).click()
    row(page, 1).click()
    row(page, 2).click()
    row(page, 2).click()
    expect(row(page, 1)).to_have_attribute("aria-description", "selected to be run")
    photograph(page, "choosing")
    page.get_by_role("button", name="Run these 2 steps").click()
    expect(page.locator("#p0-said")).to_contain_text("to run: one, three")
    expect(page.locator(".run-bar")).to_have_count(0)
    row(page, 2).click()
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="Run this step")).to_be_visible()
    stage.agent_sends("one", "two", "three", done=1)
    expect(row(page, 1)).to_have_attribute("data-status", "done")
    expect(row(page, 2)).to_have_attribute("aria-description", "selected to be run")
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Run this step")).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("run 1 step of main")
    dialog.get_by_role("button", name="Do it anyway").click()
    stage.comes_to(
        PlanReviewed("main", 1, "approved", selected=("s1", "s3")),
        PlanReviewed("main", 3, "approved", selected=("s2",)),
    )


def test_fingers_can_do_it_too(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    page = stage.open(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 800})
    row(page, 2).tap()
    page.get_by_role("toolbar").get_by_role("button", name="Done").tap()
    expect(row(page, 2)).to_have_attribute("data-status", "done")
    page.get_by_role("toolbar").get_by_role("button", name="More").tap()
    page.get_by_role("menuitem", name="Move up").tap()
    expect(words(page)).to_have_text(["two", "one"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    photograph(page, "steered-narrow")


# ------------------------------------------------------------------ an agent's own plan


def test_suggestions_are_shown_over_the_agents_list_until_they_come_true_or_are_taken_back(stage: Stage) -> None:
    stage.agent_sends("Write the parser", "two", "three")
    page = stage.open()
    row(page, 1).click()
    page.keyboard.press("e")
    write(page, "Write the parser well")
    save(page)
    expect(row(page, 1).locator(".suggestion-text")).to_have_text("Write the parser well")
    expect(row(page, 1).locator(".words")).to_have_text("Write the parser")
    assert "line-through" in row(page, 1).locator(".words").evaluate("(e) => getComputedStyle(e).textDecoration")
    page.keyboard.press("a")
    write(page, "one and a half")
    save(page)
    ghost = page.locator("#p0-steps > .ghost")
    expect(ghost).to_contain_text("one and a half")
    expect(page.locator("#p0-steps > li").nth(1)).to_have_class("step ghost")
    row(page, 2).click()
    page.keyboard.press("x")
    expect(row(page, 2).locator(".suggestion-status")).to_contain_text("done")
    expect(row(page, 2)).to_have_attribute("data-status", "pending")
    row(page, 3).click()
    page.keyboard.press("Delete")
    expect(row(page, 3).locator(".suggestion-remove")).to_be_visible()
    photograph(page, "wishes")
    page.locator("#p0-said summary").click()
    expect(page.locator("#p0-said .take-back")).to_have_count(4)

    row(page, 2).click()
    page.keyboard.press("x")  # once more: it is not suggested any more
    expect(row(page, 2).locator(".suggestion-status")).to_have_count(0)
    row(page, 3).get_by_role("button", name="Withdraw").click()
    expect(row(page, 3).locator(".suggestion")).to_have_count(0)
    stage.agent_sends("Write the parser well", "two", "three")
    expect(row(page, 1).locator(".words")).to_have_text("Write the parser well")
    expect(row(page, 1).locator(".suggestion")).to_have_count(0)
    expect(ghost).to_have_count(1)
    ghost.get_by_role("button", name="Withdraw: one and a half").click()
    expect(ghost).to_have_count(0)
    assert stage.changes() == [
        RewordStep("s1", "Write the parser well"),
        AddStep("one and a half", "s1"),
        SetStatus("s2", "completed"),
        RemoveStep("s3"),
    ]
    assert [each for each in stage.said() if isinstance(each, SuggestionWithdrawn)] == [
        SuggestionWithdrawn("main", 4),
        SuggestionWithdrawn("main", 5),
        SuggestionWithdrawn("main", 3),
    ]


def test_whoever_suggests_something_else_takes_the_first_suggestion_back(stage: Stage) -> None:
    stage.agent_sends("one", "two", "three")
    page = stage.open()
    row(page, 1).click()
    page.keyboard.press("x")
    expect(row(page, 1).locator(".suggestion-status")).to_contain_text("done")
    expect(page.locator("[data-my-sending]")).to_have_count(0)
    page.keyboard.press("i")
    expect(row(page, 1).locator(".suggestion")).to_have_text([re.compile("in progress")])
    page.keyboard.press("e")
    write(page, "one `more`")
    save(page)
    expect(row(page, 1).locator(".suggestion-text")).to_have_text(["one more"])
    page.keyboard.press("e")
    expect(page.locator(".composer textarea")).to_have_value("one `more`")
    write(page, "one less")
    save(page)
    expect(row(page, 1).locator(".suggestion-text")).to_have_text(["one less"])
    page.keyboard.press("e")
    write(page, "one")
    save(page)
    expect(row(page, 1).locator(".suggestion-text")).to_have_count(0)
    row(page, 2).click()
    page.keyboard.press("Delete")
    expect(row(page, 2).locator(".suggestion-remove")).to_be_visible()
    page.keyboard.press("Delete")
    expect(row(page, 2).locator(".suggestion-remove")).to_have_count(0)
    page.keyboard.press("J")
    expect(row(page, 2).locator(".suggestion-move")).to_contain_text("after: three")
    page.keyboard.press("K")
    expect(row(page, 2).locator(".suggestion-move")).to_have_text([re.compile("first")])
    page.keyboard.press("u")
    expect(row(page, 2).locator(".suggestion-move")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("plan", [ItemsPlan("main", ()), MarkdownPlan("main", "# Idea\n\nWords without a box.\n")])
def test_the_first_step_is_added_to_a_plan_without_any(
    stage: Stage, new_page: NewPage, plan: ItemsPlan | MarkdownPlan
) -> None:
    stage.write(PlanSet(plan))
    page = new_page(f"/sessions/{stage.session}")
    is_live(page)
    page.get_by_role("button", name="Add a step").click()
    write(page, "Begin")
    save(page)
    expect(row(page, 1)).to_contain_text("Begin")
    row(page, 1).locator(".mark").click()
    expect(row(page, 1)).to_have_attribute("data-status", "done")


def test_hostile_words_stay_words(stage: Stage) -> None:
    bad = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>'
    stage.agent_sends("one", "two")
    page = stage.open()
    for key in ("e", "a", "c"):
        row(page, 1).click()
        page.keyboard.press(key)
        write(page, bad)
        save(page)

    expect(row(page, 1).locator(".suggestion-text")).to_have_text(bad)
    expect(row(page, 1).locator(".comment")).to_contain_text(bad)
    stage.agent_sends(bad, "two")
    row(page, 2).click()
    page.keyboard.press("m")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    stage.agent_sends("one", bad)
    write(page, bad)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator("blockquote")).to_have_text(bad)
    assert page.evaluate("window.owned") is None


# ------------------------------------------------------------------ others at the same time


def test_two_people_see_what_each_other_does(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    ana, ben = stage.open(), stage.open()
    row(ana, 1).locator(".mark").click()
    expect(row(ben, 1)).to_have_attribute("data-status", "done")
    row(ben, 2).locator(".mark").click()
    expect(row(ana, 2)).to_have_attribute("data-status", "done")
    row(ben, 1).click()
    ben.keyboard.press("c")
    write(ben, "Well done")
    save(ben)
    stage.comes_to(
        PlanChanged("main", None, (SetStatus("s1", "completed"),)),
        PlanChanged("main", None, (SetStatus("s2", "completed"),)),
        PlanReviewed("main", 3, "commented", (Comment("Well done", "s1"),)),
    )


def test_of_two_people_who_edit_the_same_revision_the_second_sees_the_difference_and_decides_again(
    stage: Stage,
) -> None:
    stage.planwire_has("one", "two")
    ana, ben = stage.open(), stage.open()
    for page in (ana, ben):
        row(page, 1).click()
        page.keyboard.press("e")
    write(ana, "one, as Ana wants it")
    save(ana)
    expect(row(ben, 1).locator(".words")).to_have_text("one, as Ana wants it")
    expect(ben.locator(".composer-note")).to_contain_text("changed since you began")
    write(ben, "one, as Ben wants it")
    ben.keyboard.press("Enter")
    dialog = ben.get_by_role("dialog", name="The plan has changed meanwhile")
    expect(dialog.locator("[data-pair=changed] .words")).to_have_text(["one", "one, as Ana wants it"])
    expect(dialog.locator("blockquote")).to_have_text("one, as Ben wants it")
    expect(dialog.get_by_role("region", name="what changed")).to_be_focused()
    photograph(ben, "moved-on")
    ben.keyboard.press("Escape")
    expect(ben.locator(".composer textarea")).to_be_focused()
    expect(ben.locator(".composer textarea")).to_have_value("one, as Ben wants it")
    assert stage.changes() == [RewordStep("s1", "one, as Ana wants it")]
    write(ben, "one, as both want it")
    save(ben)
    expect(row(ana, 1).locator(".words")).to_have_text("one, as both want it")

    row(ana, 2).click()
    ana.keyboard.press("Delete")
    row(ben, 2).locator(".mark").click()
    expect(row(ana, 2)).to_have_attribute("data-status", "done")
    ana.get_by_role("dialog").get_by_role("button", name="Remove").click()
    dialog = ana.get_by_role("dialog", name="The plan has changed meanwhile")
    expect(dialog).to_contain_text("remove “two”")
    dialog.get_by_role("button", name="Leave it").click()
    expect(row(ana, 2)).to_be_focused()
    ana.keyboard.press("Delete")
    ana.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row(ben, 2)).to_have_count(0)


def test_what_a_person_writes_outlives_everything_that_the_agent_does_meanwhile(stage: Stage) -> None:
    agent = BlockingPlanSession(stage.board.journal, stage.session)
    agent.call("set_plan", {"entries": ["one", "two", "three"]})
    page = stage.open()
    row(page, 2).click()
    page.keyboard.press("e")
    write(page, "two, in")
    agent.call("update_plan", {"steps": {"s1": "completed"}, "reword": {"s2": "two, as the agent says"}})
    expect(row(page, 2).locator(".words")).to_have_text("two, as the agent says")
    page.keyboard.type(" other")
    agent.call("set_plan", {"entries": ["zero", "one", "three", "two, as the agent says"]})
    expect(words(page)).to_have_text(["zero", "one", "three", "two, as the agent says"])
    below = page.locator(".composer").bounding_box()
    moved = row(page, 2).bounding_box()
    assert below is not None
    assert moved is not None
    assert abs(below["y"] - moved["y"]) < 4  # it goes where the step goes
    page.keyboard.type(" words")
    agent.call("update_plan", {"remove": ["s2"]})
    expect(page.locator(".composer-note")).to_have_text("This step is no longer in the plan.")
    expect(page.locator(".composer textarea")).to_be_focused()
    expect(page.locator(".composer textarea")).to_have_value("two, in other words")
    page.get_by_role("button", name="Add it as a new step").click()
    page.get_by_role("dialog").get_by_role("button", name="Do it anyway").click()
    expect(words(page)).to_have_text(["zero", "one", "three", "two, in other words"])
    stage.changes_come_to(AddStep("two, in other words"))


def test_a_step_that_is_gone_is_told_by_the_difference_and_the_words_are_kept(stage: Stage) -> None:
    """The page has not heard yet that the step is gone."""
    stage.agent_sends("one", "two")
    page = stage.open()
    row(page, 2).click()
    page.keyboard.press("c")
    write(page, "Use the old one")
    page.route("**/live/**", lambda route: route.abort())
    stage.board.server.app.hub._topics[stage.session].end()
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
    stage.agent_sends("one", "quite another thing")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("A step that you meant is no longer in the plan.")
    expect(dialog.get_by_role("button", name="Do it anyway")).to_have_count(0)
    dialog.get_by_role("button", name="Say it of the plan").click()
    stage.comes_to(PlanReviewed("main", 2, "commented", (Comment("Use the old one"),)))


def test_a_page_that_is_not_up_to_date_shows_the_difference_before_anything_is_written(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    page = stage.open()
    page.route("**/live/**", lambda route: route.abort())
    stage.board.server.app.hub._topics[stage.session].end()
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
    stage.write(PlanChanged("main", "Agreed.", (SetStatus("s2", "cancelled"),)))
    row(page, 1).locator(".mark").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Agreed.")
    assert stage.said() == []
    dialog.get_by_role("button", name="Do it anyway").click()
    stage.changes_come_to(SetStatus("s1", "completed"))
    page.unroute("**/live/**")
    is_live(page)
    expect(row(page, 1)).to_have_attribute("data-status", "done")
    expect(row(page, 2)).to_have_attribute("data-status", "cancelled")


def test_a_menu_of_a_step_that_goes_is_closed(stage: Stage) -> None:
    stage.agent_sends("one", "two", "three")
    page = stage.open()
    row(page, 2).click()
    page.keyboard.press("m")
    expect(page.get_by_role("menu")).to_be_visible()
    stage.agent_sends("one", "three")
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(row(page, 3)).to_be_focused()
    stage.write(PlanRemoved("main"))
    expect(page.get_by_text("No plans left")).to_be_visible()


def test_the_toolbar_can_be_used_while_the_plan_changes_all_the_time(stage: Stage) -> None:
    agent = BlockingPlanSession(stage.board.journal, stage.session)
    agent.call("set_plan", {"entries": [f"step {number}" for number in range(1, 9)]})
    page = stage.open()
    row(page, 8).hover()
    done = page.get_by_role("toolbar").get_by_role("button", name="Reword")
    done.hover()
    page.mouse.down()
    for number in range(1, 7):
        agent.call("update_plan", {"steps": {f"s{number}": "completed"}, "reword": {"s8": f"step 8, {number}"}})
    expect(row(page, 8).locator(".words")).to_have_text("step 8, 6")
    page.mouse.up()
    expect(page.locator(".composer textarea")).to_have_value("step 8, 6")


# ------------------------------------------------------------------ a connection that fails


def lose_the_answer(page: Page, path: str) -> None:
    """What is sent arrives, once, and its answer does not."""

    def handle(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")
        page.unroute(path, handle)

    page.route(path, handle)


def test_a_change_whose_answer_was_lost_is_not_made_twice(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    page = stage.open()
    lose_the_answer(page, "**/changes")
    row(page, 1).locator(".mark").click()
    notice = page.get_by_role("alert").filter(has_text="Not done: “one” done")
    expect(notice).to_contain_text("There is no connection")
    photograph(page, "not-done")
    notice.get_by_role("button", name="Try again").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("[data-pair=changed]")).to_have_count(1)
    dialog.get_by_role("button", name="Leave it").click()
    assert stage.changes() == [SetStatus("s1", "completed")]

    lose_the_answer(page, "**/changes")
    row(page, 2).click()
    page.keyboard.press("a")
    write(page, "three")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text("There is no connection")
    expect(page.locator(".composer textarea")).to_have_value("three")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("three")
    dialog.get_by_role("button", name="Leave it").click()
    assert stage.changes() == [SetStatus("s1", "completed"), AddStep("three", "s2")]


def test_a_review_whose_answer_was_lost_is_not_said_twice(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    lose_the_answer(page, "**/reviews")
    page.get_by_role("button", name="Ask for changes …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("Smaller steps")
    dialog.get_by_role("button", name="Ask for changes").click()
    expect(dialog.get_by_role("alert")).to_contain_text("There is no connection")
    expect(dialog.get_by_role("textbox")).to_have_value("Smaller steps")
    dialog.get_by_role("button", name="Ask for changes").click()
    expect(dialog).to_have_count(0)
    lose_the_answer(page, "**/reviews")
    row(page, 1).click()
    page.keyboard.press("c")
    write(page, "This first")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text("There is no connection")
    page.keyboard.press("Enter")
    expect(page.locator(".composer")).to_have_count(0)
    stage.comes_to(
        PlanReviewed("main", 1, "changes_requested", (Comment("Smaller steps"),)),
        PlanReviewed("main", 1, "commented", (Comment("This first", "s1"),)),
    )


def test_without_a_connection_nothing_is_lost_and_all_of_it_can_be_sent_later(stage: Stage) -> None:
    stage.planwire_has("one", "two", "three")
    page = stage.open()
    page.context.set_offline(True)
    row(page, 1).click()
    for _ in range(3):
        page.keyboard.press("x")
        page.keyboard.press("j")
    expect(page.locator(".trouble-notice")).to_have_count(3)
    row(page, 2).click()
    page.keyboard.press("e")
    write(page, "two, later")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text("There is no connection")
    page.context.set_offline(False)
    for number in ("one", "two", "three"):
        page.locator(".trouble-notice", has_text=f"“{number}”").get_by_role("button", name="Try again").click()
    page.get_by_role("button", name="Save").click()
    stage.changes_come_to(
        SetStatus("s1", "completed"),
        SetStatus("s2", "completed"),
        SetStatus("s3", "completed"),
        RewordStep("s2", "two, later"),
    )
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_was_written_outlives_the_board_itself(new_page: NewPage, tmp_path: Path) -> None:
    """The board is ended while somebody writes, and started anew."""
    journal = str(tmp_path / "plans.db")
    with running_board(journal) as first:
        port = first.server.port
        first.write("s1", PlanSet(_list(("one", "two"), 0)))
        page = new_page()
        page.context.add_cookies([{"name": f"planwire-{port}", "value": TOKEN, "url": first.base}])
        page.goto(f"{first.base}/sessions/s1")
        is_live(page)
        can_steer(page)
        row(page, 1).click()
        page.keyboard.press("e")
        write(page, "one, in other words")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text("There is no connection")
    with running_board(journal, port=port) as second:
        save(page)
        said = [each.event for each in second.journal.read("s1") if each.by == "user"]
        assert said == [PlanChanged("main", None, (RewordStep("s1", "one, in other words"),))]
        expect(row(page, 1).locator(".words")).to_have_text("one, in other words")


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (503, '{"error": "the disk is full"}', "the disk is full"),
        (401, "<p>locked</p>", "open the address that it printed"),
        (500, "oops", "error 500"),
    ],
)
def test_what_was_written_stays_when_the_board_fails(stage: Stage, status: int, body: str, words: str) -> None:
    stage.planwire_has("one")
    page = stage.open()
    kind = "application/json" if body.startswith("{") else "text/html"
    page.route("**/changes", lambda route: route.fulfill(status=status, body=body, content_type=kind))
    row(page, 1).click()
    page.keyboard.press("e")
    write(page, "other words")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text(words)
    expect(page.locator(".composer textarea")).to_have_value("other words")
    page.unroute("**/changes")
    page.keyboard.press("Enter")
    stage.changes_come_to(RewordStep("s1", "other words"))


def test_what_was_written_and_not_sent_is_there_again_and_the_page_is_not_left_unasked(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    row(page, 1).click()
    page.keyboard.press("c")
    write(page, "half a thought")
    page.keyboard.press("Escape")
    expect(row(page, 1)).to_be_focused()
    page.keyboard.press("e")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator(".composer textarea")).to_have_value("half a thought")
    with page.expect_event("dialog") as asked:
        page.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    asked.value.accept()


def test_what_the_plan_can_not_do_is_said_where_it_was_written(stage: Stage) -> None:
    stage.write(PlanSet(MarkdownPlan("text", "- [ ] one\n- [ ] two\n")))
    page = stage.open()
    refusal: dict[str, Any] = {"status": 422, "json": {"error": "this would break the text"}}
    page.route("**/changes", lambda route: route.fulfill(**refusal))
    row(page, 1).click()
    page.keyboard.press("e")
    write(page, "other words")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_have_text("this would break the text")
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    notice = page.get_by_role("alert").filter(has_text="this would break the text")
    expect(notice.get_by_role("button", name="Try again")).to_have_count(0)
    notice.get_by_role("button", name="Close").click()
    expect(notice).to_have_count(0)


# ------------------------------------------------------------------ everybody


def test_people_with_disabilities_can_steer(stage: Stage, axe: str) -> None:
    stage.write(SessionOpened("agent", "client", "/work", "Everything"))
    stage.agent_sends("one", "two", "three")
    stage.write(PlanSet(MarkdownPlan("text", TEXT), via=ACP))
    for changes in ((RewordStep("s1", "other"),), (AddStep("new", "s1"),), (RemoveStep("s3"),)):
        stage.write(PlanChanged("main", None, changes), by="user")
    stage.write(PlanChanged("text", None, (AddStep("new", "s2"), SetStatus("s1", "completed"))), by="user")
    page = stage.open(reduced_motion="reduce")
    page.evaluate(axe)

    def nothing_is_wrong(where: str) -> None:
        for scheme, rules in (("dark", "runOnly: ['color-contrast'],"), ("light", "")):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found = page.evaluate(f"axe.run(document, {{ {rules} resultTypes: ['violations'] }})")["violations"]
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(where, scheme, each["id"], each["nodes"][0]["html"][:200]) for each in serious] == []

    row(page, 2).click()
    page.keyboard.press("s")
    nothing_is_wrong("toolbar, wishes, steps to run")
    page.keyboard.press("m")
    nothing_is_wrong("menu")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    nothing_is_wrong("keys")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    nothing_is_wrong("review")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    write(page, "two, better")
    stage.agent_sends("one", "two", "three", "four", done=1)
    expect(page.locator(".composer-note")).not_to_be_empty()
    nothing_is_wrong("writing")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    nothing_is_wrong("difference")
    photograph(page, "difference")


def test_what_was_done_is_said_to_those_who_do_not_see_it(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    row(page, 1).click()
    said = page.get_by_role("status").filter(has_text="one")
    page.keyboard.press("x")
    expect(said).to_have_text("Wished: “one” done")
    page.keyboard.press("s")
    expect(said).to_have_text("“one” selected, 1 step in all")
    page.keyboard.down("Alt")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("status").filter(has_text="behind")).to_have_text("behind “two”")
    page.keyboard.press("Escape")
    page.keyboard.up("Alt")
    assert len(stage.changes()) == 1


def test_without_a_script_there_is_nothing_to_press(stage: Stage, new_page: NewPage) -> None:
    stage.agent_sends("one")
    stage.write(PlanChanged("main", None, (AddStep("wished for"),)), by="user")
    page = new_page(f"/sessions/{stage.session}", java_script_enabled=False)
    expect(page.locator(".ghost")).to_contain_text("wished for")
    expect(page.get_by_role("button")).to_have_count(0)


def test_a_step_that_goes_before_all_that_are_in_sight_goes_behind_the_one_above_them(stage: Stage) -> None:
    entries = [Entry(f"step {n}", "medium", "completed" if n < 70 else "pending") for n in range(1, 101)]
    stage.write(PlanSet(ItemsPlan("main", tuple(entries))))
    page = stage.open()
    first = page.locator("#p0-steps > [data-step]").first
    number = int((first.get_attribute("data-step") or "")[1:])
    assert number > 2
    first.locator("xpath=following-sibling::*[1]").click()
    page.keyboard.press("Alt+ArrowUp")
    stage.changes_come_to(MoveStep(f"s{number + 1}", f"s{number - 1}"))


NOTICES = """
    window.notices = [];
    window.Notification = class {
        static permission = "granted";
        static requestPermission() { return Promise.resolve("granted"); }
        constructor(title, options) { notices.push(`${title}: ${options.body}`); }
        close() {}
    };
    document.hasFocus = () => false;
"""


def test_a_notification_is_shown_to_those_who_asked_for_it(stage: Stage, new_page: NewPage) -> None:
    stage.write(SessionOpened("agent", "client", "/work", "A title"))
    stage.agent_sends("one", "two")
    page = new_page()
    page.context.add_init_script(NOTICES)
    page.goto(f"{stage.board.base}/sessions/{stage.session}")
    is_live(page)
    stage.agent_sends("one", "two", done=2)
    expect(row(page, 2)).to_have_attribute("data-status", "done")
    assert page.evaluate("notices") == []
    stage.agent_sends("one", "two", done=1)
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_role("button", name="Notify me")).to_have_attribute("aria-pressed", "true")
    page.reload()  # it is remembered
    is_live(page)
    comes_true(page, "document.getElementById('notify').ariaPressed === 'true'")
    comes_true(page, "navigator.locks.query().then((locks) => locks.held.length === 1)")
    page.evaluate(
        """() => {
            Object.defineProperty(document, "hidden", { value: true, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    stage.agent_sends("one", "two", done=2)
    comes_true(page, "notices.length === 1")
    assert page.evaluate("notices") == ["A title: Everything on the plan is done."]
