"""Suggestions for an agent's own plan, in a real browser."""

import re

from playwright.sync_api import expect

from planwire.model.events import (
    AddStep,
    RemoveStep,
    RewordStep,
    SetStatus,
    SuggestionWithdrawn,
)
from tests.web.browsing import photograph
from tests.web.stage import Stage, row, save, write


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


def test_the_first_suggestion_moves_nothing_under_the_pointer(stage: Stage) -> None:
    stage.agent_sends("one", "two", "three", "four", done=1)
    page = stage.open()
    row(page, 3).hover()
    before = [row(page, number).bounding_box() for number in range(1, 5)]
    row(page, 3).locator(".mark").click()
    expect(row(page, 3).locator(".suggestion-status")).to_be_visible()
    expect(page.locator("#p0-said")).to_be_visible()
    assert [row(page, number).bounding_box() for number in range(1, 5)] == before


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
