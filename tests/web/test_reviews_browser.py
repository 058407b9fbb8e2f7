"""Reviews, comments on passages and steps to run, in a real browser."""

import re

from playwright.sync_api import Locator, Page, expect

from planwire.model.events import (
    ACP,
    COMMENT,
    REQUEST,
    SELECTION,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    Remarked,
    ReviewAsked,
    Told,
    TurnEnded,
)
from planwire.model.passages import passage_at, reading
from planwire.model.plan import MarkdownPlan
from planwire.steering.reviews import VIA
from tests.web.browsing import comes_true, is_live, photograph
from tests.web.stage import TEXT, Stage, row, save, write

PROSE = "# Cache\n\nWe move the cache to Redis.\n\nKeys are hashed with `sha256`, and expire after a day.\n"


def reviewing(page: Page) -> Locator:
    return page.get_by_role("region", name="Review “")


def select_text(page: Page, words: str) -> None:
    """Select words in a paragraph of a plan with the mouse, from their first letter to their last."""
    ends = page.evaluate(
        """(words) => {
            const walker = document.createTreeWalker(document.querySelector(".prose"), NodeFilter.SHOW_TEXT);
            while (walker.nextNode() && !walker.currentNode.data.includes(words));
            const range = document.createRange(), at = walker.currentNode.data.indexOf(words);
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + words.length);
            const { left, right, top, bottom } = range.getBoundingClientRect();
            return [left, right, (top + bottom) / 2];
        }""",
        words,
    )
    page.mouse.move(ends[0] + 0.5, ends[2])
    page.mouse.down()
    page.mouse.move(ends[1] - 0.5, ends[2], steps=3)
    page.mouse.up()


def painted(page: Page, name: str) -> str:
    return str(page.evaluate(f"[...(CSS.highlights.get('{name}') ?? [])].map(String).join()"))


def test_plans_are_reviewed_with_the_mouse_and_with_keys(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    said, review = page.locator("#p0-said"), reviewing(page)
    page.get_by_role("button", name="Review").click()
    expect(review.get_by_label("Comment (optional)")).to_be_focused()
    review.get_by_role("textbox").fill("Smaller steps")
    review.get_by_role("button", name="Request changes").click()
    expect(said).to_contain_text("Changes requested")
    expect(said).to_contain_text("Smaller steps")
    row(page, 2).click()
    page.keyboard.press("v")
    expect(review.get_by_role("textbox")).to_be_focused()
    page.keyboard.press("Enter")
    expect(review.get_by_role("alert")).to_contain_text("The comment is empty")
    page.keyboard.type("All right")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Go on")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("All right")
    expect(said).to_contain_text("approved (revision 1)")
    expect(row(page, 2)).to_be_focused()
    page.keyboard.press("v")
    page.keyboard.press("Escape")
    expect(review).to_have_count(0)
    expect(row(page, 2)).to_be_focused()
    stage.comes_to(
        PlanReviewed("main", 1, "changes_requested", via=VIA),
        Remarked("main", REQUEST, "Smaller steps", 1, review=2),
        PlanReviewed("main", 1, "approved", via=VIA),
        Remarked("main", COMMENT, "All right\nGo on", 1, review=4),
    )
    stage.agent_sends("one", "two", "three")
    expect(said.get_by_text("plan changed since")).to_have_count(1)
    expect(said).to_contain_text("Smaller steps")


def test_comments_on_passages_and_steps_are_collected_and_sent_once(stage: Stage) -> None:
    stage.write(PlanSet(MarkdownPlan("text", PROSE + TEXT.partition("\n")[2]), via=ACP))
    page = stage.open()
    select_text(page, "expire after a day")
    page.get_by_role("button", name="Comment", exact=True).click()
    write(page, "Why a day?")
    save(page)
    review, drafts = reviewing(page), page.locator(".draft")
    expect(review).to_contain_text("1 comment pending")
    expect(drafts).to_contain_text("Why a day?")
    select_text(page, "the cache")
    page.keyboard.press("c")
    write(page, "All of it?")
    save(page)
    row(page, 1).locator(".words").click()
    page.keyboard.press("c")
    write(page, "Since when?")
    save(page)
    expect(review).to_contain_text("3 comments pending")
    expect(row(page, 1).locator("> .draft")).to_contain_text("Since when?")
    assert painted(page, "draft") == "expire after a day,the cache"
    photograph(page, "reviewing")
    assert stage.said() == [], "nothing is sent yet"

    page.evaluate("window.step = document.getElementById('p0-s2')")
    changed = PROSE.replace("to Redis", "of the API to Redis") + TEXT.partition("\n")[2]
    stage.write(PlanSet(MarkdownPlan("text", changed), via=ACP))
    expect(page.get_by_text("of the API")).to_be_visible()
    expect(drafts).to_have_count(3)
    assert page.evaluate("step.isConnected"), "what stands below a draft stays the same element, with its focus"
    assert (
        drafts.first.evaluate("(e) => e.previousElementSibling.textContent") == "We move the cache of the API to Redis."
    )
    page.reload()
    is_live(page)
    expect(drafts).to_have_count(3)
    assert painted(page, "draft") == "expire after a day,the cache"
    row(page, 1).get_by_role("button", name="Discard: Since when?").click()
    drafts.first.get_by_role("button", name="Edit").click()
    write(page, "All of the cache?")
    save(page)
    review.get_by_role("textbox").fill("Not yet")
    review.get_by_role("button", name="Request changes").click()
    expect(review).to_have_count(0)
    expect(drafts).to_have_count(0)
    text = reading((PROSE + TEXT.partition("\n")[2]).removeprefix("# Cache"))
    starts = [(text.index(words), len(words)) for words in ("the cache", "expire after a day")]
    cache, day = (passage_at(text, start, start + length) for start, length in starts)
    stage.comes_to(
        PlanReviewed("text", 1, "changes_requested", via=VIA),
        Remarked("text", REQUEST, "Not yet", 1, review=3),
        Remarked("text", COMMENT, "Why a day?", 1, passage=day, review=3),
        Remarked("text", COMMENT, "All of the cache?", 1, passage=cache, review=3),
    )
    quotes = page.locator("#p0-said .quoted")
    expect(quotes).to_have_text(["the cache", "expire after a day"])
    comes_true(page, "CSS.highlights.get('remark')?.size === 2")
    stage.write(PlanSet(MarkdownPlan("text", changed.replace("a day", "an hour")), via=ACP))
    comes_true(page, "CSS.highlights.get('remark')?.size === 1")
    assert painted(page, "remark") == "the cache"
    expect(quotes).to_have_text(["the cache", "expire after a day"])


def test_only_an_agent_that_asks_makes_the_answer_loud_and_an_answered_proposal_folds(stage: Stage) -> None:
    stage.write(PlanSet(MarkdownPlan("text", PROSE), via=ACP))
    page = stage.open()
    expect(page.locator("#plans .primary")).to_have_count(0)
    stage.write(ReviewAsked("text"))
    question = page.get_by_role("region", name="The agent is waiting for a review")
    answers = page.locator(".answer-form")
    expect(answers.locator(".primary")).to_have_text("Approve")
    answers.get_by_role("textbox").fill("Smaller")
    answers.get_by_role("button", name="Request changes").click()
    expect(question).to_have_count(0)
    fold = page.locator("#p0-fold")
    expect(fold.locator("> summary")).to_contain_text("Changes requested")
    expect(fold.get_by_role("button", name="Review")).to_have_count(0)
    expect(page.locator("#p0-said")).to_contain_text("Smaller")
    stage.write(PlanSet(MarkdownPlan("next", PROSE.replace("Cache", "Smaller cache")), via=ACP), ReviewAsked("next"))
    expect(page.locator("#plans > article").first).to_contain_text("Smaller cache")
    answers.get_by_role("button", name="Approve").click()
    expect(question).to_have_count(0)
    expect(page.locator(".toast")).to_contain_text("Approved")
    fold.get_by_role("button", name="Reopen").click()
    expect(fold).to_have_count(0)
    expect(page.locator("#p0-steer").get_by_role("button", name="Review")).to_be_visible()


def test_a_comment_says_how_far_it_has_come_and_what_the_agent_answered(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    row(page, 1).click()
    page.keyboard.press("c")
    write(page, "Why?")
    save(page)
    comment = row(page, 1).locator(".comment")
    expect(comment.locator(".delivery")).to_have_text("Queued")
    expect(comment.locator(".delivery")).to_have_attribute("title", re.compile("^The agent will see it with "))
    stage.write(Told("prompt", 2, remarks=("r1",)), by="relay")
    expect(comment.locator(".delivery")).to_have_text("Delivered")
    stage.write(TurnEnded("end_turn"), by="agent")
    expect(comment.locator(".delivery")).to_have_text(re.compile(r"^Seen \d+:\d\d"))
    stage.write(RemarkAnswered("main", "r1", "Since it is first"), by="agent")
    expect(comment).to_have_count(0)
    closed = page.locator("#p0-said-closed")
    closed.get_by_text("1 closed").click()
    expect(closed).to_contain_text("Answered")
    expect(closed).to_contain_text("Since it is first")
    closed.get_by_role("button", name="Reopen: Why?").click()
    expect(comment.locator(".answer")).to_contain_text("Since it is first")
    expect(comment.locator(".delivery")).to_have_text("Answered")
    comment.get_by_role("button", name="Withdraw: Why?").click()
    expect(comment).to_have_count(0)


def test_steps_are_chosen_to_be_run(stage: Stage) -> None:
    stage.agent_sends("zero", "one", "two", "three", done=1)
    page = stage.open()
    page.get_by_role("button", name="Select steps to run").click()
    row(page, 1).click()
    expect(page.locator(".run-bar")).to_have_count(0)
    for number in (4, 2, 3):
        row(page, number).click()
    expect(page.get_by_role("button", name="Tell the agent to run all steps")).to_be_visible()
    row(page, 3).click()
    expect(row(page, 2)).to_have_attribute("aria-description", "selected to run")
    tag = row(page, 2).locator(".words").evaluate("(e) => getComputedStyle(e, '::after').content")
    assert tag == '"to run"'
    photograph(page, "choosing")
    page.get_by_role("button", name="Tell the agent to run 2 steps").click()
    expect(page.locator("#p0-said")).to_contain_text("run “one”, “three”")
    expect(page.locator(".run-bar")).to_have_count(0)
    expect(page.locator(".tag-to-run")).to_have_count(2)
    row(page, 3).click()
    page.keyboard.press("s")
    run = page.get_by_role("button", name="Tell the agent to run 1 step")
    expect(run).to_be_visible()
    stage.agent_sends("zero", "one", "two", "three", done=2)
    expect(row(page, 2)).to_have_attribute("data-status", "done")
    expect(row(page, 3)).to_have_attribute("aria-description", "selected to run")
    page.keyboard.press("r")
    expect(run).to_be_focused()
    page.keyboard.press("Enter")
    first, second = (
        Remarked("main", SELECTION, "", 1, steps=("s2", "s4"), about={"s2": "one", "s4": "three"}),
        Remarked("main", SELECTION, "", 3, steps=("s3",), about={"s3": "two"}),
    )
    stage.comes_to(first, second)
    row(page, 4).click()
    page.keyboard.press("s")
    stage.agent_sends("quite", "other", "things", "three", done=1)
    expect(row(page, 4)).to_be_visible()
    run.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Run 1 step of “Plan”")
    dialog.get_by_role("button", name="Send anyway").click()
    expect(page.locator(".toast")).to_contain_text("To run: “three”.")
    stage.comes_to(first, second, Remarked("main", SELECTION, "", 5, steps=("s4",), about={"s4": "three"}))
