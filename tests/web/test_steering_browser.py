"""Steering in a real browser: with mouse and keys, by touch, and on an agent's own plan."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from planwire.model.events import (
    AddStep,
    Comment,
    MoveStep,
    PlanReviewed,
    PlanSet,
    RemoveStep,
    ReviewAsked,
    RewordStep,
    SetPriority,
    SetStatus,
    SuggestionWithdrawn,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.statuses import STATUSES, after_tick
from planwire.web.frame import STATIC
from tests.waiting import until
from tests.web.board import Running, running_board
from tests.web.browsing import NewPage, is_live, photograph
from tests.web.stage import TEXT, Stage, row, save, words, write


@pytest.fixture(scope="module")
def board() -> Iterator[Running]:
    with running_board() as running:
        yield running


@pytest.fixture
def stage(board: Running, new_page: NewPage) -> Stage:
    return Stage(board, new_page)


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
    expect(page.get_by_role("status").filter(has_text="Nothing changes: the plan already says so.")).to_have_count(1)
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
    said = page.locator("#p0-said")
    page.get_by_role("button", name="Review").click()
    dialog = page.get_by_role("dialog", name="Review “Plan”")
    expect(dialog.get_by_label("Comment (optional)")).to_be_focused()
    dialog.get_by_role("radio", name="Request changes").check()
    dialog.get_by_role("textbox").fill("Smaller steps")
    dialog.get_by_role("button", name="Request changes").click()
    expect(said).to_contain_text("changes requested (revision 1) · Smaller steps")
    row(page, 2).click()
    page.keyboard.press("v")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    dialog.get_by_role("radio", name="Approve").check()
    dialog.get_by_role("textbox").focus()
    page.keyboard.type("All right")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Go on")
    page.keyboard.press("Control+Enter")
    expect(said).to_contain_text("All right")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("v")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("The comment is empty")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.type("Not quite")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("Not quite")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("C")
    expect(page.get_by_role("dialog", name="Comment on “Plan”")).to_be_visible()
    page.keyboard.type("By the way")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("By the way")
    stage.comes_to(
        PlanReviewed("main", 1, "changes_requested", (Comment("Smaller steps"),)),
        PlanReviewed("main", 1, "approved", (Comment("All right\nGo on"),)),
        PlanReviewed("main", 1, "changes_requested", (Comment("Not quite"),)),
        PlanReviewed("main", 1, "commented", (Comment("By the way"),)),
    )
    stage.agent_sends("one", "two", done=1)
    expect(said.get_by_text("plan changed since")).to_have_count(2)


def test_only_an_agent_that_asks_makes_the_answer_loud(stage: Stage) -> None:
    stage.planwire_has("one")
    page = stage.open()
    expect(page.locator("#plans .primary")).to_have_count(0)
    stage.write(ReviewAsked("main"))
    question = page.get_by_role("region", name="The agent is waiting for your review")
    question.get_by_role("button", name="Request changes").click()
    dialog = page.get_by_role("dialog", name="Review “Plan”")
    expect(dialog.get_by_role("radio", name="Request changes")).to_be_checked()
    page.keyboard.press("Escape")
    question.get_by_role("button", name="Approve").click()
    expect(question).to_have_count(0)
    stage.comes_to(PlanReviewed("main", 1, "approved"))
    expect(page.locator(".toast")).to_contain_text("Approved")


def test_steps_are_chosen_to_be_run(stage: Stage) -> None:
    stage.agent_sends("one", "two", "three")
    page = stage.open()
    page.get_by_role("button", name="Select steps to run").click()
    row(page, 3).click()
    row(page, 1).click()
    row(page, 2).click()
    row(page, 2).click()
    expect(row(page, 1)).to_have_attribute("aria-description", "selected to run")
    photograph(page, "choosing")
    page.get_by_role("button", name="Run these 2 steps").click()
    expect(page.locator("#p0-said")).to_contain_text("to run: one, three")
    expect(page.locator(".run-bar")).to_have_count(0)
    row(page, 2).click()
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="Run this step")).to_be_visible()
    stage.agent_sends("one", "two", "three", done=1)
    expect(row(page, 1)).to_have_attribute("data-status", "done")
    expect(row(page, 2)).to_have_attribute("aria-description", "selected to run")
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Run this step")).to_be_focused()
    page.keyboard.press("Enter")
    stage.comes_to(
        PlanReviewed("main", 1, "approved", selected=("s1", "s3")),
        PlanReviewed("main", 3, "approved", selected=("s2",)),
    )
    page.keyboard.press("j")
    row(page, 3).click()
    page.keyboard.press("s")
    stage.agent_sends("quite", "other", "three", done=1)
    expect(row(page, 3)).to_be_visible()
    page.get_by_role("button", name="Run this step").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Run 1 step of “Plan”")
    dialog.get_by_role("button", name="Send anyway").click()
    stage.comes_to(
        PlanReviewed("main", 1, "approved", selected=("s1", "s3")),
        PlanReviewed("main", 3, "approved", selected=("s2",)),
        PlanReviewed("main", 5, "approved", selected=("s3",)),
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
    photograph(page, "suggestions")
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
    expect(page.locator(".toast")).to_have_text("Nothing changes: that is suggested already.")
    page.keyboard.press("u")
    expect(row(page, 2).locator(".suggestion-remove")).to_have_count(0)
    page.keyboard.press("J")
    expect(row(page, 2).locator(".suggestion-move")).to_contain_text("after: three")
    page.keyboard.press("K")
    expect(row(page, 2).locator(".suggestion-move")).to_have_count(0)
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
    page.get_by_role("button", name="Add step").click()
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
