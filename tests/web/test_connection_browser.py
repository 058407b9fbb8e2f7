"""A connection or a board that fails, in a real browser: nothing that a person wrote is lost."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from planwire.model.decide import undecided
from planwire.model.events import COMMENT, REQUEST, PlanChanged, PlanReviewed, PlanSet, Remarked
from planwire.model.plan import MarkdownPlan
from planwire.model.step_changes import AddStep, RewordStep, SetStatus
from planwire.steering.reviews import VIA
from tests.web.board import running_board
from tests.web.browsing import NewPage, is_live, photograph
from tests.web.stage import Stage, can_steer, listed, row, save, write


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
    lose_the_answer(page, "**/acts")
    row(page, 1).locator(".mark").click()
    notice = page.get_by_role("alert").filter(has_text="Tick “one”")
    expect(notice).to_contain_text("Couldn't save: there is no connection")
    photograph(page, "not-done")
    notice.get_by_role("button", name="Try again").click()
    expect(notice).to_have_count(0)
    assert stage.changes() == [SetStatus("s1", "completed")]

    lose_the_answer(page, "**/acts")
    row(page, 2).click()
    page.keyboard.press("a")
    write(page, "three")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text("there is no connection")
    expect(page.locator(".composer textarea")).to_have_value("three")
    save(page)
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert stage.changes() == [SetStatus("s1", "completed"), AddStep("three", "s2")]


def test_a_review_whose_answer_was_lost_is_not_said_twice(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    lose_the_answer(page, "**/acts")
    page.get_by_role("button", name="Review").click()
    review = page.get_by_role("region", name="Review “Plan”")
    review.get_by_role("textbox").fill("Smaller steps")
    review.get_by_role("button", name="Request changes").click()
    expect(review.get_by_role("alert")).to_contain_text("there is no connection")
    expect(review.get_by_role("textbox")).to_have_value("Smaller steps")
    review.get_by_role("button", name="Request changes").click()
    expect(review).to_have_count(0)
    lose_the_answer(page, "**/acts")
    row(page, 1).click()
    page.keyboard.press("c")
    write(page, "This first")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text("there is no connection")
    page.keyboard.press("Enter")
    expect(page.locator(".composer")).to_have_count(0)
    stage.comes_to(
        PlanReviewed("main", 1, "changes_requested", via=VIA),
        Remarked("main", REQUEST, "Smaller steps", 1, review=2),
        Remarked("main", COMMENT, "This first", 1, "s1", about={"s1": "one"}),
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
    expect(page.locator(".composer-trouble")).to_contain_text("there is no connection")
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
        first.write("s1", PlanSet(listed(("one", "two"), 0)))
        page = new_page()
        first.let_in(page.context)
        page.goto(f"{first.pages}/sessions/s1")
        is_live(page)
        can_steer(page)
        row(page, 1).click()
        page.keyboard.press("e")
        write(page, "one, in other words")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text("there is no connection")
    with running_board(journal, port=port) as second:
        save(page)
        said = [undecided(each.event) for each in second.journal.read("s1") if each.by == "user"]
        assert said == [PlanChanged("main", None, (RewordStep("s1", "one, in other words"),))]
        expect(row(page, 1).locator(".words")).to_have_text("one, in other words")


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (503, '{"error": "the disk is full"}', "the disk is full"),
        (401, "<p>locked</p>", "Copy unsent words, then open the link it printed"),
        (500, "oops", "error 500"),
    ],
)
def test_what_was_written_stays_when_the_board_fails(stage: Stage, status: int, body: str, words: str) -> None:
    stage.planwire_has("one")
    page = stage.open()
    kind = "application/json" if body.startswith("{") else "text/html"
    page.route("**/acts", lambda route: route.fulfill(status=status, body=body, content_type=kind))
    row(page, 1).click()
    page.keyboard.press("e")
    write(page, "other words")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_contain_text(words)
    expect(page.locator(".composer textarea")).to_have_value("other words")
    page.unroute("**/acts")
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
    page.route("**/acts", lambda route: route.fulfill(**refusal))
    row(page, 1).click()
    page.keyboard.press("e")
    write(page, "other words")
    page.keyboard.press("Enter")
    expect(page.locator(".composer-trouble")).to_have_text("Couldn't save: this would break the text")
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    notice = page.get_by_role("alert").filter(has_text="this would break the text")
    expect(notice.get_by_role("button", name="Try again")).to_have_count(0)
    notice.get_by_role("button", name="Close").click()
    expect(notice).to_have_count(0)
