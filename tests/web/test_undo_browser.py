"""Undo in a real browser: a verdict counts down, and is taken back by a click or by a key."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from planwire.journal import load_state
from planwire.journal.protocol import Terms
from planwire.model.events import ACP, APPROVED, Choice, PlanReviewed, ReviewAsked
from planwire.model.records import PlanRecord
from tests.waiting import until
from tests.web.board import Running, items, running_board
from tests.web.browsing import STILL, is_live, photograph

OPTIONS = Choice("yes", "Yes", "allow_once"), Choice("no", "No", "reject_once")


@pytest.fixture
def asking(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Running, Page]]:
    """A board whose verdicts wait long enough to be undone by a slow machine, and a page of it."""
    monkeypatch.setenv("PLANWIRE_UNDO_SECONDS", "30")
    with running_board(str(tmp_path / "journal.db")) as board, browser.new_context(**STILL) as context:
        board.open()
        board.journal.lease("s1", Terms("relay", can=("answer", "tell")))
        board.write("s1", items("pending", "pending", via=ACP), ReviewAsked("main", OPTIONS, "q1"))
        board.let_in(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.goto(f"{board.pages}/sessions/s1")
        is_live(page)
        yield board, page


def plan(board: Running) -> PlanRecord:
    return load_state(board.journal, "s1").plans["main"]


def test_a_verdict_counts_down_and_undo_takes_it_back_without_a_shift(asking: tuple[Running, Page]) -> None:
    board, page = asking
    form = page.locator(".plan > .answer-form")
    form.get_by_role("textbox").fill("go on")
    form.get_by_role("button", name="Yes", exact=True).click()
    line = form.locator(".undoable")
    expect(line).to_contain_text("Sending “Yes” in")
    expect(page.locator(".toast")).to_contain_text("Sending “Yes” in 30 s.")
    undo = form.get_by_role("button", name="Undo")
    place, seconds = undo.bounding_box(), line.locator(".seconds").text_content()
    photograph(page, "undo")
    until(lambda: line.locator(".seconds").text_content() not in (seconds, "30 s"))
    assert undo.bounding_box() == place
    assert plan(board).decision is None
    undo.click()
    expect(line).to_have_count(0)
    expect(page.locator(".toast")).to_contain_text("Undone. Nothing was sent.")
    assert (plan(board).pending, plan(board).remarks) == (None, ())
    assert plan(board).asked is not None
    expect(form.get_by_role("textbox")).to_have_value("go on")


def test_the_key_of_the_table_undoes_it_in_the_page_and_the_inbox_has_the_button(asking: tuple[Running, Page]) -> None:
    board, page = asking
    page.locator(".plan > .answer-form").get_by_role("button", name="No", exact=True).click()
    expect(page.locator(".undoable")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("u")
    expect(page.locator(".undoable")).to_have_count(0)
    assert plan(board).pending is None
    page.goto(f"{board.pages}/sessions")
    is_live(page)
    item = page.locator("#o-s1")
    item.get_by_role("button", name="Yes", exact=True).click()
    item.get_by_role("button", name="Undo").click()
    expect(item.locator(".undoable")).to_have_count(0)
    until(lambda: plan(board).pending is None)
    assert [each.event for each in board.journal.read("s1") if isinstance(each.event, PlanReviewed)] == []


def test_a_verdict_that_no_agent_asked_for_can_be_undone_too(asking: tuple[Running, Page]) -> None:
    board, page = asking
    board.write("s1", items("pending", plan_id="own", via="tools"))
    own = page.locator(".plan", has=page.get_by_role("button", name="Review", exact=True))
    own.get_by_role("button", name="Review", exact=True).click()
    page.locator(".review-bar").get_by_role("textbox").fill("as you say")
    page.locator(".review-bar").get_by_role("button", name="Approve").click()
    expect(own.locator(".undoable")).to_contain_text("Sending “Approve” in")
    own.get_by_role("button", name="Undo").click()
    expect(own.locator(".undoable")).to_have_count(0)
    expect(page.locator(".review-bar").get_by_role("textbox")).to_have_value("as you say")
    record = load_state(board.journal, "s1").plans["own"]
    assert (record.pending, [each for each in record.reviews if each.verdict == APPROVED]) == (None, [])
