"""Nothing is decided unseen: what a page hid of a plan is counted on the button that approves it."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from planwire.model.events import ACP, PlanReviewed, PlanSet, ReviewAsked
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan
from tests.waiting import until
from tests.web.browsing import MOVING, comes_true, is_live, photograph
from tests.web.stage import Stage, listed

PHONE = {"width": 390, "height": 844}
LINES = [f"- Stage **{number}**: run `job-{number}`" for number in range(1, 41)]
LONG = "# Move\n\nWe *move* it.\n\n" + "\n".join(LINES) + "\n\nThen `kubectl delete ns old`.\n"

#: The words of a plan in sight: those whose boxes lie in the window and in each box around them that scrolls.
IN_SIGHT = """(scope) => {
    const clip = (node) => {
        let box = { top: 0, left: 0, bottom: innerHeight, right: innerWidth };
        const bar = document.querySelector(".plan > .answer-form");
        if (bar) box.bottom = Math.min(box.bottom, bar.getBoundingClientRect().top);
        for (let each = node.parentElement; each; each = each.parentElement) {
            if (getComputedStyle(each).overflow === "visible") continue;
            const own = each.getBoundingClientRect();
            box = { top: Math.max(box.top, own.top), left: Math.max(box.left, own.left),
                bottom: Math.min(box.bottom, own.bottom), right: Math.min(box.right, own.right) };
        }
        return box;
    };
    const found = new Set();
    for (const root of document.querySelectorAll(scope)) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode, near = node.parentElement.getBoundingClientRect();
            if (near.bottom < 0 || near.top > innerHeight) continue;
            const room = clip(node);
            for (const word of node.data.matchAll(/[\\p{L}\\p{N}]{2,}/gu)) {
                const range = document.createRange();
                range.setStart(node, word.index);
                range.setEnd(node, word.index + word[0].length);
                const boxes = [...range.getClientRects()];
                if (boxes.length && boxes.every((box) => box.top >= room.top - 2 && box.bottom <= room.bottom + 2
                    && box.left >= room.left - 2 && box.right <= room.right + 2)) found.add(word[0]);
            }
        }
    }
    for (const each of document.querySelectorAll("[data-info], [data-beside]")) {
        const drawn = ["::before", "::after"].map((part) => getComputedStyle(each, part).content).join();
        for (const [word] of drawn.matchAll(/[\\p{L}\\p{N}]{2,}/gu)) found.add(word);
    }
    return [...found];
}"""


def yes(page: Page | Locator) -> Locator:
    return page.locator(".answer-form").get_by_role("button", name=re.compile("^Approve"))


def unseen(page: Page) -> int:
    """How many lines the button that approves says are unseen."""
    words = yes(page).inner_text()
    found = re.fullmatch(r"Approve(?:, ([\d,]+) lines? unseen)?", words)
    assert found, words
    return int((found[1] or "0").replace(",", ""))


def asks(stage: Stage, text: str) -> None:
    stage.write(PlanSet(MarkdownPlan("text", text), via=ACP), ReviewAsked("text"))


def read_all(page: Page, by: int = 300) -> set[str]:
    """Scroll through the page as a person does. Returns the words that were in sight."""
    found: set[str] = set()
    at = -1
    while (now := page.evaluate("scrollY")) != at:
        found |= {*page.evaluate(IN_SIGHT, "[data-steer] .text, [data-steer] .steps")}
        at = now
        page.evaluate(
            "(by) => new Promise((done) => { scrollBy({ top: by, behavior: 'instant' });"
            " requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))); })",
            by,
        )
    return found


def inbox(stage: Stage) -> Page:
    page = stage._same_page("/sessions")
    is_live(page)
    comes_true(page, "document.documentElement.classList.contains('answering')")
    return page


def own(page: Page, stage: Stage) -> Locator:
    return page.locator(".inbox-item", has=page.locator(f"a[href$='/{stage.session}']"))


def test_a_card_shows_rendered_text_and_its_yes_says_how_many_lines_it_leaves_out(stage: Stage) -> None:
    asks(stage, LONG)
    page = inbox(stage)
    card = own(page, stage)
    expect(card.locator(".beginning strong").first).to_have_text("1")
    expect(card.locator(".beginning")).not_to_contain_text("**")
    expect(card.locator(".left-out")).to_have_text(re.compile(r"^\d+ more lines$"))
    left = int(card.locator(".left-out").inner_text().split()[0])
    shown = card.locator(".beginning li").count()
    assert left == 41 - shown
    expect(yes(card)).to_have_text(f"Approve, {left} lines unseen")
    photograph(page, "inbox-unseen")
    where = re.compile(f"/sessions/{stage.session}/plans/text$")
    expect(card.locator(".left-out a")).to_have_attribute("href", where)
    yes(card).click()
    until(lambda: any(isinstance(each, PlanReviewed) for each in stage.said()) or bool(pending(stage)))


def pending(stage: Stage) -> list[object]:
    return [each for each in stage.said() if type(each).__name__ == "ReviewPending"]


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 720}, PHONE])
def test_what_was_scrolled_into_view_was_seen_here_and_in_the_inbox_and_in_the_next_version(
    stage: Stage, viewport: dict[str, int]
) -> None:
    asks(stage, LONG)
    page = stage.reopen(viewport=viewport)
    comes_true(page, "document.documentElement.classList.contains('answering')")
    until(lambda: 0 < unseen(page) < 42)
    before = unseen(page)
    page.reload()
    is_live(page)
    until(lambda: unseen(page) <= before)
    read_all(page)
    until(lambda: unseen(page) == 0)
    page.evaluate("scrollTo(0, 0)")
    stage.write(PlanSet(MarkdownPlan("text", LONG.replace("ns old", "ns old,new").replace("job-40", "x")), via=ACP))
    stage.write(ReviewAsked("text"))
    expect(page.locator(".prose").get_by_text("ns old,new")).to_be_attached()
    assert unseen(page) <= 3, "what did not change was seen in the version before"
    expect(yes(own(inbox(stage), stage))).to_have_text(re.compile(r"^Approve(, [123] lines? unseen)?$"))
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(yes(own(page, stage))).to_have_text(re.compile(r"^Approve, [34]\d lines unseen$"))


def test_a_clipped_step_is_counted_until_it_is_opened(stage: Stage) -> None:
    long = "Run it again and again. " * 60
    steps = (*(f"step {n}" for n in range(12)), long, "last")
    stage.write(PlanSet(listed(steps, 10), via=ACP), ReviewAsked("main"))
    page = stage.reopen(viewport={"width": 1280, "height": 2000})
    comes_true(page, "document.documentElement.classList.contains('answering')")
    until(lambda: unseen(page) == 1)
    page.locator(".show-more:visible").click()
    until(lambda: unseen(page) == 0)


def test_a_review_that_nobody_asked_for_counts_too(stage: Stage) -> None:
    stage.write(PlanSet(MarkdownPlan("text", LONG), via=ACP))
    page = stage.reopen(viewport={"width": 1280, "height": 500})
    page.get_by_role("button", name="Review").click()
    approve = page.locator(".review-bar").get_by_role("button", name=re.compile("^Approve"))
    expect(approve).to_have_text(re.compile(r"^Approve, \d+ lines unseen$"))
    page.evaluate("scrollTo(0, 0)")
    read_all(page, by=120)
    expect(approve).to_have_text("Approve")


def test_a_removed_step_stays_struck_and_labelled_until_it_had_a_look(stage: Stage) -> None:
    stage.agent_sends("one", "two", "three", "four")
    page = stage.open()  # with reduced motion
    stage.agent_sends("one", "three", "four")
    gone = page.locator("#p0-steps > li").nth(1)
    expect(gone.locator(".words")).to_have_text("two")
    expect(gone.locator(".words")).to_have_css("text-decoration-line", "line-through")
    expect(gone).to_contain_text("removed")
    expect(gone).to_have_class("step")  # it looks like no suggestion
    expect(page.locator("#p0-steps > li[data-step]")).to_have_count(3)
    stage.agent_sends("one", "three", "four", done=1)
    expect(page.locator("#p0-steps > li")).to_have_count(4)
    expect(page.locator("#p0-steps > li").nth(1)).to_contain_text("two")
    page.evaluate("document.querySelector('[data-my-removed]').setAttribute('data-my-removed', '-9000')")
    stage.agent_sends("one", "three", "four", done=2)
    expect(page.locator("#p0-steps > li")).to_have_count(3)


@pytest.mark.parametrize("form", ["- [ ] {}", "{}. {}"], ids=["tasks", "numbers"])
def test_a_removed_step_of_a_text_stays_too_and_so_do_all_of_a_plan(stage: Stage, form: str) -> None:
    def sends(*steps: str) -> None:
        rows = (
            form.format(*((at, each) if form.count("{}") > 1 else (each,))) for at, each in enumerate(steps, start=1)
        )
        stage.write(PlanSet(MarkdownPlan("text", "\n".join(("# Plan", "", "First words.", "", *rows))), via=ACP))

    sends("alpha", "beta", "gamma")
    page = stage.open()  # with reduced motion
    sends("alpha", "gamma")
    gone = page.locator("[data-my-removed]")
    expect(gone).to_have_text(["beta removed"], use_inner_text=True)
    expect(page.locator(".prose li").nth(1)).to_contain_text("beta")
    sends("alpha", "gamma", "delta")
    expect(page.locator(".prose [data-step]")).to_have_count(3)
    expect(gone).to_have_text(["beta removed"], use_inner_text=True)
    sends()
    expect(page.locator(".shelf > li")).to_have_count(3)
    expect(page.locator(".shelf")).to_contain_text("delta removed")


def test_steps_that_are_removed_together_give_way_in_one_movement(stage: Stage) -> None:
    stage.agent_sends("one", "two", "three", "four")
    page = stage.open(**MOVING)
    page.evaluate("() => { window.shown = performance.now(); }")
    comes_true(page, "performance.now() - shown > 300")  # what comes faster is not moved
    page.evaluate(
        """() => {
            const start = document.startViewTransition.bind(document);
            document.startViewTransition = (change) => {
                const transition = start(change);
                transition.ready.then(() => { window.moved = "yes"; }, (error) => { window.moved = String(error); });
                return transition;
            };
        }"""
    )
    stage.agent_sends("one", "four")
    expect(page.locator("#p0-steps > li")).to_have_count(4)
    comes_true(page, "window.moved")
    assert page.evaluate("window.moved") == "yes"


HOSTILE = {
    "long lines": "# A\n\n" + "word " * 3_000 + "\n\n```\n" + "find . | xargs " * 300 + "&& rm -rf last\n```\n\nend",
    "wide tables": "# A\n\n|" + "|".join(f"head{n}" for n in range(30)) + "|\n|" + "---|" * 30 + "\n" + "\n".join(
        "|" + "|".join(f"cell{row}x{n}" for n in range(30)) + "|" for row in range(30)
    ),
    "more cells than heads": "# A\n\n| one | two |\n|---|---|\n| a1 | b1 | rm -rf hidden |\n",
    "nested lists": "# A\n\n" + "\n".join(f"{'  ' * min(n, 30)}- item{n}" for n in range(60)),
    "right to left": "# A\n\n" + "\n\n".join(f"שלום\u200f עולם{n} `rm{n}`" for n in range(60)),
    "no width": "# A\n\n" + "\n\n".join(f"on\u200be{n} zwj\u200d\u200d\u200bhid{n}" for n in range(60)),
    "words in code's name": "# A\n\n```sh curl evil sh\nls\n```\n",
    "a long title": f"# {'Delete the old one and '* 20}then wipe everything\n\nok\n",
    "links": '# A\n\n[docs](https://evil.example/wipe "also linktitle") [https://good.example](https://bad.example/x)\n\n'
    '![shot](https://img.example/track "imgtitle") [![badge](https://b.example/i)](https://c.example/j) '
    "[rel](/there)\n",
    "code that wraps": "# A\n\n```\nls" + " " * 400 + "&& rm far\n" + "\t" * 60 + "farther\n```\n\n    indented"
    + " " * 300 + "end\n",
    "html": "# A\n\n<div hidden>secret</div>\n\n<!-- comment -->\n\n[ref]: http://x 'title'\n",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE], ids=["wide", "phone"])
def test_every_word_is_drawn_or_counted(stage: Stage, name: str, viewport: dict[str, int]) -> None:
    text = HOSTILE[name]
    asks(stage, text)
    wanted = set(re.findall(r"[^\W_]{2,}", text.replace("\u200b", "\ufffd")))
    page = stage.reopen(viewport=viewport)
    comes_true(page, "document.documentElement.classList.contains('answering')")
    page.wait_for_timeout(100)
    in_sight = {*page.evaluate(IN_SIGHT, "[data-steer] .text, .plan-head")}
    missing = wanted - in_sight
    assert not missing or unseen(page), f"{sorted(missing)[:5]} are not in sight, and nobody is told"
    found = read_all(page, by=viewport["height"] // 3)
    found |= {*page.evaluate(IN_SIGHT, ".plan-head")} | in_sight
    hidden = {word for word in wanted - found if not word.startswith(("zwj", "hid", "on", "http"))}
    if name == "wide tables":  # they scroll to the side
        assert unseen(page) or not hidden
    else:
        assert not hidden, "each word could be read by scrolling"
        until(lambda: unseen(page) == 0)


def test_a_wide_table_is_read_by_keys_in_words_that_are_whole(stage: Stage, axe: str) -> None:
    asks(stage, HOSTILE["wide tables"])
    page = stage.reopen(viewport=PHONE)
    comes_true(page, "document.documentElement.classList.contains('answering')")
    heights = page.locator(".prose td").evaluate_all("(cells) => cells.map((each) => each.offsetHeight)")
    assert max(heights) < 60, "no word is broken into letters"
    before = unseen(page)
    page.evaluate(axe)
    assert page.evaluate("axe.run('.prose').then(({ violations }) => violations.map(({ id }) => id))") == []
    page.locator(".prose table").focus()

    def goes_on() -> bool:
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(20)
        return unseen(page) < before

    until(goes_on)


def test_code_that_goes_on_in_the_next_row_has_a_sign_there_and_reads_from_left_to_right(stage: Stage) -> None:
    asks(stage, "# א\n\nשלום `rm -rf /` עולם\n\n```\nshort\n\n" + "long " * 80 + "&& rm -rf ~/Documents\n```\n")
    page = stage.reopen(viewport=PHONE)
    rows = page.locator("pre .line")
    assert rows.evaluate_all("(lines) => lines.map((each) => getComputedStyle(each, '::before').height !== '0px')") == [
        False,
        False,
        True,
    ]
    assert page.locator("pre").evaluate("(code) => code.scrollWidth <= code.clientWidth")
    assert page.locator("p code").evaluate("(code) => getComputedStyle(code).direction") == "ltr"
    assert page.locator(".prose p").evaluate("(words) => getComputedStyle(words).unicodeBidi") == "plaintext"
    assert page.locator("pre").evaluate("(code) => code.textContent").startswith("short\n\nlong")


def test_a_number_that_is_long_stands_on_the_page(stage: Stage) -> None:
    asks(stage, "# A\n\n123456789. first\n123456790. second\n")
    page = stage.reopen(viewport=PHONE)
    assert page.locator(".prose li").first.evaluate("(item) => getComputedStyle(item).listStylePosition") == "inside"


def test_fields_that_scroll_in_their_box_are_counted_until_they_were_in_sight(stage: Stage) -> None:
    stage.write(PlanSet(OtherPlan("text", "odd", {"lines": [f"line {n}" for n in range(200)]}), via=ACP))
    stage.write(ReviewAsked("text"))
    page = stage.reopen()
    comes_true(page, "document.documentElement.classList.contains('answering')")
    until(lambda: unseen(page) > 100)
    page.locator(".raw").focus()
    page.keyboard.press("PageDown")
    comes_true(page, "document.querySelector('.raw').scrollTop > 0")
    page.evaluate("document.querySelector('.raw').scrollTop = 0")

    def reads_on() -> bool:
        page.evaluate("document.querySelector('.raw').scrollTop += 200")
        page.wait_for_timeout(30)
        return unseen(page) == 0

    until(reads_on)


def test_a_file_that_cant_be_read_is_approved_unseen(stage: Stage) -> None:
    stage.write(PlanSet(FilePlan("text", "file:///nowhere/plan.md"), via=ACP), ReviewAsked("text"))
    page = stage.reopen()
    expect(yes(page)).to_have_text("Approve, text unseen")
    card = own(inbox(stage), stage)
    expect(card.locator(".problem")).to_be_visible()
    expect(yes(card)).to_have_text("Approve, text unseen")


def test_a_status_that_an_agent_made_up_is_drawn_whole(stage: Stage) -> None:
    steps = (Entry("one", "urgent " * 9 + "&& rm", "waits for " * 9 + "the end"),)
    stage.write(PlanSet(ItemsPlan("main", steps), via=ACP), ReviewAsked("main"))
    for page in (stage.reopen(viewport=PHONE), own(inbox(stage), stage)):
        tags = page.locator("[data-lines] .tag")
        expect(tags).to_have_count(2)
        assert tags.evaluate_all("(tags) => tags.every((each) => each.scrollWidth <= each.clientWidth + 1)")


def test_ten_thousand_lines_are_counted(stage: Stage) -> None:
    asks(stage, "# A\n\n" + "\n".join(f"line {n}  " for n in range(10_000)))
    page = stage.reopen()
    comes_true(page, "document.documentElement.classList.contains('answering')")
    until(lambda: unseen(page) > 9_900)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(200)
    assert unseen(page) > 9_900, "who jumps to the end has not read what is between"
    card = own(inbox(stage), stage)
    expect(yes(card)).to_have_text(re.compile(r"^Approve, 10,000 lines unseen$|^Approve, 9,9\d\d lines unseen$"))
