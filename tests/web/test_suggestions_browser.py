"""Suggestions for an agent's own plan, in a real browser."""

import re

from playwright.sync_api import Page, expect

from planwire.model.events import ACP, SUGGESTION, PlanSet, RemarkClosed, Remarked, SessionOpened, Told, TurnEnded
from planwire.model.plan import MarkdownPlan
from planwire.model.remarks import WITHDRAWN
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetStatus
from tests.web.browsing import MOVING, photograph
from tests.web.stage import TEXT, Stage, row, save, write


def test_suggestions_are_drawn_in_the_agents_list_until_they_come_true_or_are_undone(stage: Stage) -> None:
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
    expect(row(page, 2).locator(".suggestion-status")).to_have_text("Suggested by you: doneQueuedUndo")
    expect(row(page, 2)).to_have_attribute("data-status", "pending")
    tick = (
        row(page, 2)
        .locator(".mark")
        .evaluate("(e) => [getComputedStyle(e).borderTopStyle, getComputedStyle(e, '::after').borderRightStyle]")
    )
    assert tick == ["dashed", "solid"], "a tick in a dashed circle"
    row(page, 3).click()
    page.keyboard.press("Delete")
    expect(row(page, 3).locator(".suggestion-remove")).to_be_visible()
    photograph(page, "suggestions")
    expect(page.locator("#p0-said")).to_have_count(0)

    stage.write(Told("prompt", 4, remarks=("r3",)), by="relay")
    expect(row(page, 2).locator(".delivery")).to_have_text("Delivered")
    stage.write(TurnEnded("end_turn"))
    expect(row(page, 2).locator(".delivery")).to_have_text(re.compile(r"^Seen \d+:\d\d"))
    expect(row(page, 3).locator(".delivery")).to_have_attribute("title", re.compile("^The agent will see it with "))
    row(page, 2).click()
    page.keyboard.press("x")  # once more: it is not suggested any more
    expect(row(page, 2).locator(".suggestion-status")).to_have_count(0)
    row(page, 3).get_by_role("button", name="Undo: remove").click()
    expect(row(page, 3).locator(".suggestion")).to_have_count(0)
    stage.agent_sends("Write the parser well", "two", "three")
    expect(row(page, 1).locator(".words")).to_have_text("Write the parser well")
    expect(row(page, 1).locator(".suggestion")).to_have_count(0)
    expect(ghost).to_have_count(1)
    ghost.get_by_role("button", name="Undo: one and a half").click()
    expect(ghost).to_have_count(0)
    assert stage.changes() == [
        RewordStep("s1", "Write the parser well"),
        AddStep("one and a half", "s1"),
        SetStatus("s2", "completed"),
        RemoveStep("s3"),
    ]
    assert [each for each in stage.said() if isinstance(each, RemarkClosed)] == [
        RemarkClosed("main", remark, WITHDRAWN) for remark in ("r3", "r4", "r2")
    ]


def test_a_moved_step_has_a_ghost_where_it_is_to_go(stage: Stage) -> None:
    stage.agent_sends("one", "two", "three")
    stage.write(PlanSet(MarkdownPlan("text", TEXT), via=ACP))
    page = stage.open()
    row(page, 3).click()
    page.keyboard.press("K")
    page.keyboard.press("K")
    places = page.locator("#p0-steps > li .words")
    expect(places).to_have_text(["three", "one", "two", "three"])
    expect(page.locator("#p0-steps > li").first).to_contain_text("Suggested by you: moves here")
    assert row(page, 3).locator(".words").evaluate("(e) => getComputedStyle(e).opacity") == "0.6"
    page.locator(".ghost-moved").get_by_role("button", name="Undo: three").click()
    expect(places).to_have_text(["one", "two", "three"])
    row(page, 4, plan=1).click()
    page.keyboard.press("K")
    expect(page.locator("#p1-s2 li > .about > .words, #p1-s2 li > .words")).to_have_text(
        ["on Linux", "on macOS", "on Linux"]
    )
    assert stage.changes()[-1] == MoveStep("s3", "s4")


def test_whoever_suggests_something_else_withdraws_the_first_suggestion(stage: Stage) -> None:
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


def tops(page: Page) -> dict[str, float]:
    """Where every step stands, once nothing moves any more."""
    page.evaluate(
        """() => Promise.all(document.getAnimations().filter((each) => each.effect.getTiming().iterations < Infinity)
            .map((each) => each.finished.catch(() => 0)))"""
    )
    rows = "[...document.querySelectorAll('#p0-steps > [data-step]')]"
    return dict(page.evaluate(f"{rows}.map((each) => [each.id, each.getBoundingClientRect().top])"))


def test_no_word_of_a_person_moves_the_step_that_it_is_on_nor_those_above_it(stage: Stage) -> None:
    stage.write(SessionOpened("agent", "Zed 1.0", "/work", "A title"))
    stage.agent_sends("one", "two", "three", "four", "five", done=1)
    page = stage.open(**MOVING)
    row(page, 3).hover()
    before = tops(page)
    row(page, 3).locator(".mark").click()
    expect(row(page, 3).locator(".suggestion-status")).to_be_visible()
    expect(page.locator(".toast")).to_contain_text("The agent will see it with the next prompt in Zed.")
    assert tops(page) == before, "a tick moves nothing at all"
    for key, text, shown in (("e", "three, in other words", ".suggestion-text"), ("c", "Why?", ".comment")):
        page.keyboard.press(key)
        write(page, text)
        save(page)
        expect(row(page, 3).locator(shown)).to_contain_text(text)
        after = tops(page)
        assert [after[f"p0-s{number}"] for number in (1, 2, 3)] == [before[f"p0-s{number}"] for number in (1, 2, 3)]
    before = tops(page)
    page.keyboard.press("A")
    write(page, "six")
    save(page)
    expect(page.locator(".ghost")).to_contain_text("six")
    assert tops(page) == before, "a step at the end moves nothing"
    page.keyboard.press("C")
    page.keyboard.type("Of all of it")
    page.keyboard.press("Enter")
    expect(page.locator("#p0-said")).to_contain_text("Of all of it")
    assert tops(page) == before, "words on the plan stand below its steps"


def test_the_newer_of_two_peoples_rewordings_stands_in_the_step(stage: Stage) -> None:
    stage.agent_sends("one")
    stage.write(Remarked("main", SUGGESTION, "", 1, changes=(RewordStep("s1", "as Ann says"),)), by="ann")
    page = stage.open()
    expect(row(page, 1).locator(".suggestion")).to_contain_text("Suggested by ann")
    row(page, 1).click()
    page.keyboard.press("e")
    expect(page.locator(".composer textarea")).to_have_value("as Ann says")
    write(page, "as I say")
    save(page)
    expect(page.locator(".toast")).to_contain_text("It replaces the suggestion by ann.")
    expect(row(page, 1).locator(".suggestion-text")).to_have_text(["as I say"])
    expect(row(page, 1).locator(".suggestion")).to_contain_text("Suggested by you, replacing the one by ann")


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
