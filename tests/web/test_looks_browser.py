"""The look of the pages in a real browser: room for words, nothing that moves under the pointer, keys, ages."""

import re
from time import time

import pytest
from playwright.sync_api import Page, expect

from planwire.model.events import (
    ACP,
    COMMENT,
    SUGGESTION,
    PlanChanged,
    PlanSet,
    Remarked,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.step_changes import AddStep, SetStatus
from tests.web.board import Running, items, markdown
from tests.web.browsing import MOVING, NewPage, comes_true, is_live, photograph

LONG_TITLE = "Rotate the TLS certificates of the edge proxies without dropping a connection"
WIDE = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}


def steps(*contents: str, done: int = 0) -> PlanSet:
    entries = (
        Entry(each, "medium", "completed" if at < done else "in_progress" if at == done else "pending")
        for at, each in enumerate(contents)
    )
    return PlanSet(ItemsPlan("main", tuple(entries)), via=ACP)


def is_cut(page: Page, selector: str) -> bool:
    return bool(page.locator(selector).first.evaluate("(each) => each.scrollHeight > each.clientHeight + 1"))


@pytest.mark.parametrize("size", [WIDE, {"width": 900, "height": 900}, PHONE])
def test_a_title_has_the_room_that_there_is(board: Running, same_page: NewPage, size: dict[str, int]) -> None:
    title = LONG_TITLE if size is WIDE else LONG_TITLE[:47]
    board.write("s1", SessionOpened("agent", "client", "/work", title), items("pending"), ReviewAsked("main"))
    page = same_page("/sessions", viewport=size)
    assert not is_cut(page, ".session-link")
    for count in page.locator(".choices small").all():
        expect(count).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_actions_of_a_session_stand_beside_its_title(board: Running, same_page: NewPage) -> None:
    board.open(title="Port the exporter to the new pipeline and test it")
    page = same_page("/sessions/s1", viewport=WIDE)
    title, actions = page.locator("h1").bounding_box(), page.locator(".top-line .actions").bounding_box()
    assert title is not None
    assert actions is not None
    assert abs(title["y"] - actions["y"]) < 10
    assert title["x"] + title["width"] <= actions["x"]


def test_a_long_step_is_read_with_a_button_and_stays_open_while_the_plan_changes(
    board: Running, same_page: NewPage
) -> None:
    words = "each request carries its own deadline " * 30
    board.write("s1", steps(words, "short", "x" * 230))
    page = same_page("/sessions/s1", viewport=WIDE)
    is_live(page)
    more = page.get_by_role("button", name="Show more")
    expect(more).to_have_count(1)
    expect(more).to_have_attribute("aria-expanded", "false")
    assert is_cut(page, "#p0-s1 .words")
    more.focus()
    page.keyboard.press("Enter")
    less = page.get_by_role("button", name="Show less")
    expect(less).to_have_attribute("aria-expanded", "true")
    assert not is_cut(page, "#p0-s1 .words")
    board.write("s1", steps(words, "short", "x" * 230, done=1))
    expect(page.locator("#p0-s1")).to_have_attribute("data-status", "done")
    expect(less).to_have_attribute("aria-expanded", "true")
    less.click()
    assert is_cut(page, "#p0-s1 .words")


def test_a_long_step_is_whole_without_javascript(board: Running, new_page: NewPage) -> None:
    board.write("s1", steps("each request carries its own deadline " * 30))
    page = new_page("/sessions/s1", java_script_enabled=False)
    expect(page.locator(".show-more")).to_be_hidden()
    assert page.locator("#p0-s1").bounding_box()["height"] > 6 * 24  # type: ignore[index]


def test_a_fold_keeps_the_current_step_in_sight_and_stays_open_once_opened(board: Running, same_page: NewPage) -> None:
    names = [f"Convert package {number}" for number in range(60)]
    board.write("s1", steps(*names, done=23))
    page = same_page("/sessions/s1", viewport=WIDE, **MOVING)
    is_live(page)
    expect(page.locator("[aria-current=step]")).to_be_in_viewport()
    expect(page.locator("#p0-s5")).to_be_hidden()
    page.keyboard.press("j")
    expect(page.locator("#p0-s24")).to_be_focused()
    board.write("s1", steps(*names, done=24))
    expect(page.locator(".fold summary")).to_have_text("24 done")
    expect(page.locator("#p0-s24")).to_be_focused()
    expect(page.locator("#p0-s23")).to_be_hidden()
    page.evaluate("() => document.activeElement.blur()")
    expect(page.locator("#p0-s24")).to_be_hidden()
    page.locator(".fold summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#p0-s5")).to_be_visible()
    board.write("s1", steps(*names, done=25))
    expect(page.locator(".fold summary")).to_have_text("25 done")
    expect(page.locator("#p0-s25")).to_be_visible()
    assert page.locator("[data-step]").count() == 60


def test_a_fold_opens_without_javascript(board: Running, new_page: NewPage) -> None:
    board.write("s1", steps(*(f"step {number}" for number in range(20)), done=10))
    page = new_page("/sessions/s1", java_script_enabled=False)
    expect(page.locator("#p0-s5")).to_be_hidden()
    page.locator(".fold summary").click()
    expect(page.locator("#p0-s5")).to_be_visible()


def test_no_step_moves_under_the_pointer(board: Running, same_page: NewPage) -> None:
    names = [f"Convert package {number}" for number in range(30)]
    board.write("s1", steps(*names, done=7))
    page = same_page("/sessions/s1", viewport=WIDE, **MOVING)
    is_live(page)
    row = page.locator("#p0-s12")
    row.hover()
    before = row.bounding_box()
    for done in range(8, 11):
        board.write("s1", steps(*names, done=done))
        expect(page.locator(f"#p0-s{done + 1}")).to_have_attribute("aria-current", "step")
        assert row.bounding_box() == pytest.approx(before, abs=1)
    expect(page.locator(".fold summary")).to_have_text("10 done")
    board.write("s1", steps(*names[:11], "A new one", "A long one. " * 60, *names[11:], done=10))
    expect(page.locator("#p0-s31")).to_be_attached()
    long = "Long enough to need a line of its own. " * 3
    board.write("s1", Remarked("main", COMMENT, long, 1, "s11"), by="user")
    expect(page.locator("#p0-s11 .comment")).to_be_attached()
    board.write("s1", Remarked("main", SUGGESTION, changes=(AddStep("Suggested", "s11"),)), by="user")
    expect(page.locator(".ghost")).to_be_attached()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert row.bounding_box() == pytest.approx(before, abs=1)
    page.mouse.move(5, 5)
    comes_true(page, "!document.getElementById('p0-steps').style.paddingBlockStart")


def test_no_step_moves_under_the_pointer_on_a_page_that_is_too_short_to_scroll(
    board: Running, same_page: NewPage
) -> None:
    board.write("s1", steps("one", "two", "three", "four"))
    page = same_page("/sessions/s1", viewport=WIDE, **MOVING)
    is_live(page)
    row = page.locator("#p0-s4")
    row.hover()
    before = row.bounding_box()
    board.write("s1", PlanChanged("main", "a note", (SetStatus("s3", "in_progress"), AddStep("new", "s1"))))
    expect(page.locator("#p0-s3")).to_have_attribute("aria-current", "step")
    board.write("s1", Remarked("main", COMMENT, "Why?", 1, "s2"), by="user")
    expect(page.locator("#p0-s2 .comment")).to_be_attached()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert row.bounding_box() == pytest.approx(before, abs=1)
    page.mouse.move(5, 5)
    comes_true(page, "!document.body.style.minHeight")


def test_no_step_folds_under_the_pointer(board: Running, same_page: NewPage) -> None:
    names = [f"Convert package {number}" for number in range(30)]
    board.write("s1", steps(*names, done=6))
    page = same_page("/sessions/s1", viewport=WIDE, **MOVING)
    is_live(page)
    rows, fold = [page.locator(f"#p0-s{number}") for number in (5, 9, 13)], page.locator(".fold summary")
    rows[0].hover()
    before = [row.bounding_box() for row in rows]
    for done in (12, 14):  # the fold is new, then it grows
        board.write("s1", steps(*names, done=done))
        expect(page.locator(f"#p0-s{done + 1}")).to_have_attribute("aria-current", "step")
        expect(fold).to_be_hidden()
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert [row.bounding_box() for row in rows] == [pytest.approx(each, abs=1) for each in before]
    page.mouse.move(5, 5)
    expect(fold).to_have_text("14 done")
    for row in rows:
        expect(row).to_be_hidden()
    page.locator("#p0-s15").hover()
    board.write("s1", steps(*names, done=15))
    expect(fold).to_have_text("15 done")
    expect(page.locator("#p0-s15")).to_be_visible()
    expect(rows[0]).to_be_hidden()
    fold.click()
    expect(rows[0]).to_be_visible()
    page.mouse.move(5, 5)
    board.write("s1", steps(*names, done=16))
    expect(fold).to_have_text("16 done")
    expect(rows[0]).to_be_visible()


def test_no_session_moves_under_the_pointer(board: Running, same_page: NewPage) -> None:
    past = int(time() * 1_000) - 3_600_000
    for number in range(4):
        board.write(f"s{number}", items("in_progress", "pending"), TurnEnded("end_turn"), at=past + number * 60_000)
    page = same_page("/sessions", viewport=WIDE, **MOVING)
    is_live(page)
    rows = page.locator(".session-link")
    expect(rows).to_have_text(["s3", "s2", "s1", "s0"])
    page.locator("#o-s2").hover()
    place = page.locator("#o-s2").bounding_box()
    board.write("s0", items("completed", "in_progress"))
    expect(page.locator("#runs .number")).to_have_text("1 / 2")
    board.write("new", items("pending"), ReviewAsked("main"))
    expect(rows).to_have_text(["new", "s0", "s3", "s2", "s1", "s0"])
    now = page.locator("#o-s2").bounding_box()
    assert place is not None
    assert now is not None
    assert abs(now["y"] - place["y"]) < 2
    page.mouse.move(5, 5)
    expect(rows).to_have_text(["new", "s0", "s3", "s2", "s1"])


def test_the_toolbar_covers_no_words(board: Running, same_page: NewPage) -> None:
    words = "each request carries its own deadline " * 12
    board.write("s1", steps(words, words), markdown(f"# Text\n\n- [ ] {words}\n- [ ] {words}\n"))
    for width in (1400, 900, 600):
        page = same_page("/sessions/s1", viewport={"width": width, "height": 900})
        is_live(page)
        for selector in ("#p0-s2", "#p1-s2"):
            page.locator(selector).hover()
            toolbar, text = page.locator("#toolbar").bounding_box(), page.locator(f"{selector} .words").bounding_box()
            assert toolbar is not None
            assert text is not None
            assert text["x"] + text["width"] <= toolbar["x"] + 1, (width, selector)
            assert toolbar["x"] + toolbar["width"] <= width


def test_ordered_tasks_keep_their_numbers(board: Running, same_page: NewPage) -> None:
    board.write("s1", markdown("# Text\n\n1. [x] one\n2. [ ] two\n\nand\n\n- [ ] three\n"))
    page = same_page("/sessions/s1")
    looks = [row.evaluate("(row) => getComputedStyle(row).listStyleType") for row in page.locator(".task").all()]
    assert looks == ["decimal", "decimal", "none"]


def test_a_checkbox_is_named_after_its_step(board: Running, same_page: NewPage) -> None:
    board.write("s1", steps("Read the code", "Write it", "Test it", done=1))
    page = same_page("/sessions/s1")
    expect(page.get_by_role("checkbox", name="Read the code")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Test it")).not_to_be_checked()
    expect(page.get_by_role("checkbox", name="Write it")).to_have_attribute("aria-checked", "mixed")


def test_a_lost_connection_stays_in_sight(board: Running, new_page: NewPage) -> None:
    board.write("s1", steps(*(f"step {number}" for number in range(50))))
    for size in (WIDE, PHONE):
        page = new_page("/sessions/s1", viewport=size)
        is_live(page)
        page.evaluate("() => scrollTo(0, 900)")
        page.context.set_offline(True)
        board.cut()
        expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
        expect(page.locator("#connection")).to_be_in_viewport()
        photograph(page, f"lost-{size['width']}")
        page.context.set_offline(False)


@pytest.mark.parametrize("address", ["/sessions", "/sessions/s1", "/sessions/s1/history", "/sessions/s1/compare"])
def test_the_keys_are_a_key_or_a_click_away(board: Running, same_page: NewPage, axe: str, address: str) -> None:
    board.open()
    board.write("s1", items("pending"))
    page = same_page(address)
    if "/compare" not in address and "/history" not in address:
        is_live(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.evaluate(axe)
    assert page.evaluate("axe.run('dialog', { resultTypes: ['violations'] })")["violations"] == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_a_list_of_keys_that_is_longer_than_the_screen_begins_at_its_top(board: Running, same_page: NewPage) -> None:
    board.write("s1", items("pending"))
    page = same_page("/sessions/s1", viewport=PHONE)
    is_live(page)
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Close")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_menu_is_accessible(board: Running, same_page: NewPage, axe: str, scheme: str) -> None:
    board.write("s1", items("pending"))
    page = same_page("/sessions/s1", color_scheme=scheme)
    is_live(page)
    page.keyboard.press("j")
    page.keyboard.press("m")
    expect(page.get_by_role("menu")).to_be_visible()
    page.evaluate(axe)
    assert page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"] == []


def test_every_line_of_a_task_stands_beside_its_mark(board: Running, same_page: NewPage) -> None:
    board.write("s1", markdown("# Text\n\n- [ ] " + "a task of many words " * 9 + "\n  - [ ] " + "nested " * 30))
    page = same_page("/sessions/s1", viewport=PHONE)
    lefts = "(words) => [...words.getClientRects()].map((line) => line.left)"
    for words in page.locator(".task .words").all():
        lines = words.evaluate(lefts)
        assert len(lines) > 2
        assert max(lines) - min(lines) < 1


def test_paper_shows_every_step_whole(board: Running, same_page: NewPage) -> None:
    long = "each request carries its own deadline " * 30
    board.write("s1", steps(*(f"step {number}" for number in range(20)), long, done=12))
    page = same_page("/sessions/s1", viewport=WIDE)
    is_live(page)
    expect(page.get_by_role("button", name="Show more")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    expect(page.locator("#p0-s5")).to_be_visible()
    assert not is_cut(page, "#p0-s21 .words")


def test_a_first_command_is_copied(board: Running, new_page: NewPage) -> None:
    page = new_page("/sessions", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "planwire demo"
    board.open()
    expect(page.get_by_role("link", name="A title")).to_be_visible()
    expect(page.locator("#search")).to_be_visible()


def test_ages_grow_and_have_the_readers_time_under_the_pointer(board: Running, new_page: NewPage) -> None:
    at = int(time() * 1_000) - 3 * 60_000 - 58_000
    board.write("s1", items("pending"), at=at)
    page = new_page(timezone_id="America/New_York", locale="en-US")
    page.clock.install(time=at / 1_000 + 3 * 60 + 58)
    page.goto(f"{board.pages}/sessions")
    age = page.locator(".when time")
    expect(age).to_have_text("3 min ago")
    expect(age).to_have_attribute("title", re.compile(r"\d{4}, \d+:\d\d:\d\d\s[AP]M"))
    page.clock.fast_forward(10_000)
    expect(age).to_have_text("4 min ago")


def test_activity_is_beside_the_plan_and_shows_any_moment_of_it(board: Running, same_page: NewPage) -> None:
    names = [f"Convert package {number}" for number in range(60)]
    for done in range(12):
        board.write("s1", steps(*names, done=done))
    page = same_page("/sessions/s1/history", viewport=WIDE)
    expect(page.get_by_role("heading", name="Activity")).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Time travel")).to_be_in_viewport()
    page.locator("#e3").get_by_role("link", name="Show plan").click()
    expect(page.locator("#then")).to_have_attribute("data-index", "2")
    expect(page.locator("#slider")).to_have_value("2")
    expect(page.locator("[aria-current=true]")).to_have_count(1)
    assert page.url.endswith("?moment=2")
    chart = page.locator(".chart").bounding_box()
    assert chart is not None
    page.mouse.click(chart["x"] + chart["width"] * 0.5, chart["y"] + 40)
    expect(page.locator("#slider")).to_have_value("6")
    expect(page.locator("#then")).to_have_attribute("data-index", "6")
    line = page.locator("#chart-at").bounding_box()
    assert line is not None
    assert line["x"] == pytest.approx(chart["x"] + chart["width"] * 6 / 11, abs=3)
    photograph(page, "history-wide")


def test_both_sides_of_a_comparison_show_the_readers_time(board: Running, new_page: NewPage) -> None:
    board.write("s1", steps("one", "two"), at=1_700_000_000_000)
    board.write("s1", steps("one", "two", done=1), at=1_700_000_060_000)
    page = new_page("/sessions/s1/compare?from=1&to=2", timezone_id="America/New_York", locale="en-US")
    expect(page.locator(".side time").first).to_contain_text("5:13:20")
    expect(page.locator(".sides time").first).to_contain_text("5:13:20")
    page.get_by_role("link", name="to: one event earlier").click()
    expect(page.get_by_label("To event")).to_have_value("1")
