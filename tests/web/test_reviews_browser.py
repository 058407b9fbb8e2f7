"""Reviews and steps to run, in a real browser."""

from playwright.sync_api import expect

from planwire.model.events import (
    Comment,
    PlanReviewed,
    ReviewAsked,
)
from tests.web.browsing import photograph
from tests.web.stage import Stage, row


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
    expect(said.get_by_text("plan changed since")).to_have_count(1)
    expect(said).to_contain_text("Not quite")
    expect(said).to_contain_text("By the way")


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
