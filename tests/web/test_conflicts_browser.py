"""Several people and agents at the same time, in a real browser."""

import re

from playwright.sync_api import Page, expect

from planwire import BlockingPlanSession
from planwire.model.events import COMMENT, Passage, PlanChanged, PlanRemoved, PlanReviewed, Remarked
from planwire.model.step_changes import AddStep, RewordStep, SetStatus
from tests.web.browsing import MOVING, is_live, photograph
from tests.web.stage import Stage, row, save, words, write


def test_two_people_see_what_each_other_does(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    ana, ben = stage.open(), stage.open(**MOVING)
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
        Remarked("main", COMMENT, "Well done", 3, "s1", about={"s1": "one"}),
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
    expect(ben.locator(".composer-note")).to_have_text("This step changed while you were typing.")
    write(ben, "one, as Ben wants it")
    ben.keyboard.press("Enter")
    dialog = ben.get_by_role("dialog", name="The plan changed while you were typing.")
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
    row(ben, 2).click()
    ben.keyboard.press("e")
    write(ben, "two, as Ben wants it")
    save(ben)
    expect(row(ana, 2).locator(".words")).to_have_text("two, as Ben wants it")
    ana.get_by_role("dialog").get_by_role("button", name="Remove").click()
    dialog = ana.get_by_role("dialog", name="The plan changed.")
    expect(dialog).to_contain_text("Remove “two”")
    dialog.get_by_role("button", name="Discard").click()
    expect(row(ana, 2)).to_be_focused()
    ana.keyboard.press("Delete")
    ana.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row(ben, 2)).to_have_count(0)


def test_a_person_can_send_it_anyway_or_discard_it(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    page = stage.open()
    for number, choice in ((1, "Send anyway"), (2, "Discard")):
        row(page, number).click()
        page.keyboard.press("e")
        write(page, f"mine {number}")
        stage.write(PlanChanged("main", None, (RewordStep(f"s{number}", f"theirs {number}"),)))
        page.keyboard.press("Enter")
        page.get_by_role("dialog").get_by_role("button", name=choice).click()
        expect(page.locator(".composer")).to_have_count(0)
        expect(page.locator(".toast")).to_have_text("Changed: “theirs 1” → mine 1 · Applied to revision 2")
    stage.changes_come_to(RewordStep("s1", "mine 1"))
    expect(words(page)).to_have_text(["mine 1", "theirs 2"])


def test_what_a_person_writes_outlives_everything_that_the_agent_does_meanwhile(stage: Stage) -> None:
    agent = BlockingPlanSession(stage.board.journal, stage.session)
    agent.call("set_plan", {"entries": ["one", "two", "three"]})
    page = stage.open(**MOVING)
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
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The step is no longer in the plan.")
    expect(dialog.get_by_role("button", name="Send anyway")).to_have_count(0)
    dialog.get_by_role("button", name="Add as a new step").click()
    expect(words(page)).to_have_text(["zero", "one", "three", "two, in other words"])
    stage.changes_come_to(AddStep("two, in other words"))


def lose_the_stream(stage: Stage, page: Page) -> None:
    page.route("**/live/**", lambda route: route.abort())
    stage.board.cut(stage.session)
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")


def test_a_comment_on_a_step_that_is_gone_becomes_one_on_the_plan(stage: Stage) -> None:
    """The page has not heard yet that the step is gone."""
    stage.agent_sends("one", "two")
    page = stage.open()
    row(page, 2).click()
    page.keyboard.press("c")
    write(page, "Use the old one")
    lose_the_stream(stage, page)
    stage.agent_sends("one", "quite another thing")
    save(page)
    expect(page.locator(".toast")).to_contain_text("“two” is gone")
    stage.comes_to(Remarked("main", COMMENT, "Use the old one", 1, passage=Passage("two")))


def test_a_comment_whose_step_goes_while_it_is_typed_goes_to_the_plan_at_the_first_try(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    row(page, 2).click()
    page.keyboard.press("c")
    write(page, "Use the old one")
    stage.agent_sends("one", "quite another thing")
    expect(page.locator(".composer-note")).to_have_text(
        "This step is gone. Your comment will go to the plan, with the words of the step."
    )
    expect(page.locator(".composer textarea")).to_be_focused()
    save(page)
    expect(page.locator("#p0-said .quoted")).to_have_text("two")
    expect(page.locator("#p0-said .said")).to_have_text("Use the old one")
    stage.comes_to(Remarked("main", COMMENT, "Use the old one", 1, passage=Passage("two")))


def test_an_approval_that_is_sent_anyway_says_what_it_is_of(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    page = stage.open()
    page.get_by_role("button", name="Review").click()
    stage.write(PlanChanged("main", None, (RewordStep("s1", "other"),)))
    expect(row(page, 1)).to_contain_text("other")
    page.get_by_role("region", name="Review").get_by_role("button", name="Approve").click()
    page.get_by_role("dialog").get_by_role("button", name="Send anyway").click()
    expect(page.locator(".toast")).to_have_text(re.compile(r"^Approved\. .* · Applied to revision 2$"))
    expect(page.get_by_role("region", name="Review")).to_have_count(0)
    stage.comes_to(PlanReviewed("main", 2, "approved", via="planwire"))


def test_a_page_that_is_not_up_to_date_shows_the_difference_before_anything_is_written(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    page = stage.open()
    lose_the_stream(stage, page)
    stage.write(PlanChanged("main", "Agreed.", (RewordStep("s1", "one, better"), SetStatus("s2", "cancelled"))))
    row(page, 1).locator(".mark").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Agreed.")
    assert stage.said() == []
    dialog.get_by_role("button", name="Send anyway").click()
    stage.changes_come_to(SetStatus("s1", "completed"))
    page.unroute("**/live/**")
    is_live(page)
    expect(row(page, 1)).to_have_attribute("data-status", "done")
    expect(row(page, 2)).to_have_attribute("data-status", "cancelled")


def test_a_page_that_is_not_up_to_date_steers_what_did_not_change(stage: Stage) -> None:
    stage.planwire_has("one", "two")
    page = stage.open()
    lose_the_stream(stage, page)
    stage.write(PlanChanged("main", None, (SetStatus("s2", "cancelled"),)))
    row(page, 1).locator(".mark").click()
    stage.changes_come_to(SetStatus("s1", "completed"))
    expect(page.get_by_role("dialog")).to_have_count(0)


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
    page = stage.open(**MOVING)
    row(page, 8).hover()
    done = page.get_by_role("toolbar").get_by_role("button", name="Reword")
    done.hover()
    page.mouse.down()
    for number in range(1, 7):
        agent.call("update_plan", {"steps": {f"s{number}": "completed"}, "reword": {"s8": f"step 8, {number}"}})
    expect(row(page, 8).locator(".words")).to_have_text("step 8, 6")
    page.mouse.up()
    expect(page.locator(".composer textarea")).to_have_value("step 8, 6")
