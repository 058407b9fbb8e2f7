"""The board in a real browser: live, animated, with the keyboard, without JavaScript, in the dark."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Error, expect

from planwire.model.events import ACP, SUGGESTION, PlanSet, Remarked, ReviewAsked, SessionOpened, TurnEnded
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import RewordStep
from tests.waiting import until
from tests.web.board import TOKEN, Running, items, markdown
from tests.web.browsing import MOVING, NewPage, comes_true, is_live, photograph


def steps(*pairs: tuple[str, str]) -> PlanSet:
    return PlanSet(ItemsPlan("main", tuple(Entry(content, "medium", status) for content, status in pairs)), via=ACP)


def test_the_printed_address_opens_the_board_and_the_token_leaves_the_address_bar(
    board: Running, new_page: NewPage
) -> None:
    board.open()
    page = new_page()
    page.context.clear_cookies()
    page.goto(board.server.address)
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    assert TOKEN not in page.url
    page.get_by_role("link", name="A title").click()
    expect(page.get_by_role("heading", name="A title")).to_be_visible()
    assert page.evaluate("document.cookie") == ""


def test_changes_appear_live_and_animate(board: Running, same_page: NewPage) -> None:
    board.open()
    board.write("s1", steps(("one", "in_progress"), ("two", "pending"), ("three", "pending")))
    page = same_page("/sessions/s1", **MOVING)
    is_live(page)
    page.evaluate(
        """() => {
            window.seen = new Set();
            new MutationObserver((records) => {
                for (const { target } of records) {
                    for (const name of target.classList) {
                        if (name.startsWith("just-")) seen.add(`${name} ${target.dataset.step}`);
                    }
                }
            }).observe(document.getElementById("plans"), { attributeFilter: ["class"], subtree: true });
        }"""
    )
    board.write("s1", steps(("one", "completed"), ("two", "in_progress"), ("three", "pending")))
    expect(page.locator("#p0-s1")).to_have_attribute("data-status", "done")
    expect(page.locator("#p0-s2")).to_have_attribute("aria-current", "step")
    expect(page.locator("#session-now")).to_contain_text("two")
    expect(page.locator("#session-progress .number")).to_have_text("1 / 3")
    comes_true(page, "seen.has('just-done s1') && !document.querySelector('[class*=just-]')")
    board.write("s1", steps(("one", "completed"), ("three", "pending"), ("two", "in_progress"), ("four", "pending")))
    expect(page.locator("#p0-steps > li:not(.ghost, [data-my-removed]) .words")).to_have_text(
        ["one", "three", "two", "four"]
    )
    comes_true(page, "seen.has('just-added s4')")
    assert page.evaluate("[...seen].some((each) => each.startsWith('just-moved'))")
    board.write("s1", steps(("one", "completed"), ("four", "pending")))
    expect(page.locator("#p0-steps > li:not(.ghost, [data-my-removed])")).to_have_count(2)
    expect(page.locator("#announcer")).to_have_text("1 of 2 steps done")
    photograph(page, "live")


def test_an_unchanged_update_redraws_nothing_and_a_changed_one_only_what_changed(
    board: Running, same_page: NewPage
) -> None:
    board.write("s1", steps(("one", "in_progress"), ("two", "pending")))
    page = same_page("/sessions/s1")
    is_live(page)
    page.evaluate(
        """() => {
            window.touched = [];
            new MutationObserver((records) => {
                for (const { target } of records) if (target.id !== "p0-at") touched.push(target.closest("[id]").id);
            }).observe(document.getElementById("content"), { attributes: true, childList: true, subtree: true });
        }"""
    )
    kept = page.locator("#p0-s2").element_handle()
    board.write("s1", steps(("one", "in_progress"), ("two", "pending")))
    board.write("s1", steps(("one", "in_progress"), ("two", "pending")))
    version = board.server.app.hub.sessions.position
    assert version == 3
    assert page.evaluate("touched") == []
    board.write("s1", steps(("one!", "in_progress"), ("two", "pending")))
    expect(page.locator("#p0-s1 .words")).to_have_text("one!")
    assert "p0-s2" not in page.evaluate("touched")
    assert kept is not None
    assert kept.evaluate("(row) => row.isConnected")


def test_changes_that_come_while_the_browser_prepares_an_animation_keep_their_order(
    board: Running, same_page: NewPage
) -> None:
    board.write("s1", steps(("one", "pending"), ("two", "pending")))
    page = same_page("/sessions/s1", **MOVING)
    is_live(page)
    page.evaluate(
        """() => {
            const done = { ready: Promise.resolve(), finished: Promise.resolve() };
            document.startViewTransition = (change) => { window.begin = change; return done; };
        }"""
    )
    board.write("s1", steps(("one", "pending"), ("three", "pending"), ("two", "pending")))
    comes_true(page, "window.begin !== undefined")
    board.write("s1", steps(("three", "completed"), ("one", "completed")))
    board.write("s1", steps(("three", "completed"), ("four", "pending"), ("one", "completed")))
    version = board.server.app.hub._topics["s1"].version
    until(lambda: all(each.version == version for each in board.server.app.hub._topics["s1"].watchers))
    page.evaluate("() => window.begin()")
    expect(page.locator("#p0-steps > li:not(.ghost, [data-my-removed]) .words")).to_have_text(["three", "four", "one"])
    expect(page.locator("#p0-steps > .is-done")).to_have_count(2)


def test_a_lost_connection_is_shown_and_mended_with_all_that_was_missed(board: Running, new_page: NewPage) -> None:
    board.write("s1", steps(("one", "in_progress"), ("two", "pending")))
    page = new_page("/sessions/s1")
    is_live(page)
    page.context.set_offline(True)
    board.cut()  # the browser's own cut leaves streams alone
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
    photograph(page, "lost")
    board.write("s1", steps(("one", "completed"), ("two", "in_progress")))
    page.context.set_offline(False)
    is_live(page)
    expect(page.locator("#p0-s1")).to_have_attribute("data-status", "done")


def test_hostile_words_stay_words_in_a_real_browser(board: Running, new_page: NewPage) -> None:
    bad = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>'
    name = f'"><script>window.owned=1</script>{bad}'
    board.write(
        name, SessionOpened(bad, bad, bad, bad), PlanSet(ItemsPlan(bad, (Entry(bad, "high", "in_progress"),)), bad)
    )
    board.write(
        name,
        PlanSet(
            MarkdownPlan("md", f"# {bad}\n\n{bad}\n\n[x](javascript:window.owned=1)\n\n![y](https://evil.example/)")
        ),
    )
    asked: list[str] = []
    page = new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{board.pages}/sessions")
    page.locator(".session-link").click()
    is_live(page)
    board.write(name, PlanSet(ItemsPlan(bad, (Entry(bad, bad, bad), Entry(bad + "2", "low", "pending"))), bad))
    expect(page.locator("#p0-steps > li:not(.ghost, [data-my-removed])")).to_have_count(2)
    page.get_by_role("link", name="History").click()
    page.locator("#slider").press("Home")
    expect(page.locator("#then")).to_have_attribute("data-index", "0")
    assert page.evaluate("window.owned") is None
    assert [url for url in asked if not url.startswith((board.pages, f"{board.base}/static/"))] == []
    page.go_back()
    photograph(page, "hostile")


def test_the_slider_shows_the_plan_as_it_was(board: Running, same_page: NewPage) -> None:
    board.write("s1", steps(("one", "pending"), ("two", "pending")))
    board.write("s1", steps(("one", "completed"), ("two", "pending")))
    board.write("s1", steps(("one", "completed"), ("two", "completed"), ("three", "pending")))
    page = same_page("/sessions/s1/history")
    then = page.locator("#then")
    expect(then.locator(".step")).to_have_count(3)
    slider = page.locator("#slider")
    slider.press("ArrowLeft")
    expect(then.locator(".step")).to_have_count(2)
    expect(then.locator(".is-done")).to_have_count(1)
    slider.press("Home")
    expect(then.locator(".is-done")).to_have_count(0)
    assert page.url.endswith("?moment=0")
    slider.press("End")
    expect(then.locator(".step")).to_have_count(3)
    photograph(page, "history")
    page.locator(".actions").get_by_role("link", name="Compare").click()
    page.get_by_label("From event").fill("1")
    page.get_by_label("From event").press("Enter")
    expect(page.locator("[data-pair=added]")).to_have_count(1)
    photograph(page, "compare")


def test_sessions_are_found_while_typing_and_filtered_by_state(board: Running, same_page: NewPage) -> None:
    board.write("a", SessionOpened("agent", "client", "/work/exporter", "Export"), items("in_progress"))
    board.write("b", SessionOpened("agent", "client", "/work/site", "Site"), items("completed"))
    page = same_page("/sessions")
    is_live(page)
    page.keyboard.press("/")
    page.keyboard.type("exporter")
    expect(page.locator(".session-row")).to_have_count(1)
    expect(page.locator("#search")).to_have_value("exporter")
    expect(page).to_have_url(re.compile("q=exporter"))
    page.locator("#search").fill("")
    expect(page.locator(".session-row")).to_have_count(2)
    page.get_by_role("radio", name="Done").check()
    expect(page.locator(".session-link")).to_have_text(["Site"])
    board.write("a", items("completed"))
    expect(page.locator(".session-row")).to_have_count(2)


def test_everything_can_be_reached_with_the_keyboard_alone(board: Running, same_page: NewPage) -> None:
    board.open("s1", "First")
    board.write("s1", items("in_progress"))
    page = same_page("/sessions")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".session-link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="First")).to_be_visible()
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim()"))
    assert {"History", "JSON", "Copy", "Export"} <= reached


def test_a_plan_is_copied_as_markdown(board: Running, new_page: NewPage) -> None:
    board.write("s1", items("completed", "pending"))
    page = new_page("/sessions/s1", permissions=["clipboard-read", "clipboard-write"])
    copy = page.get_by_role("link", name="Copy")
    copy.click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "# ◈ Plan\n\n- [x] step 1\n- [ ] step 2\n"
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    assert download.value.suggested_filename == "main.md"


def test_a_refusal_is_not_copied_as_a_plan(board: Running, new_page: NewPage) -> None:
    board.write("s1", items("pending"))
    page = new_page("/sessions/s1", permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('from before')")
    page.route("**/*.md", lambda route: route.fulfill(status=401, body="You are not signed in."))
    page.get_by_role("link", name="Copy").click()
    expect(page.get_by_text("Not copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "from before"


def test_a_button_that_copies_has_its_name_again_after_two_clicks(board: Running, new_page: NewPage) -> None:
    board.write("s1", items("pending"))
    page = new_page(permissions=["clipboard-write"])
    page.clock.install()
    page.goto(f"{board.pages}/sessions/s1")
    copy = page.locator("[data-copy]")
    for _ in range(2):
        copy.click()
        expect(copy).to_have_text("Copied")
        page.clock.run_for(1_000)
    page.clock.run_for(1_000)
    expect(copy).to_have_text("Copy")


@pytest.mark.parametrize(
    "address", ["/sessions", "/sessions/s1", "/sessions/s1/history?moment=0", "/sessions/s1/compare"]
)
def test_everything_can_be_read_without_javascript(board: Running, new_page: NewPage, address: str) -> None:
    board.open()
    board.write("s1", items("completed", "in_progress"), markdown("# Text\n\nWords to read.\n"))
    page = new_page(address, java_script_enabled=False)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if address == "/sessions":
        page.locator("#search").fill("nothing like it")
        page.get_by_role("button", name="Find").click()
        expect(page.get_by_text("No matches.")).to_be_visible()
    if address == "/sessions/s1":
        expect(page.get_by_text("Words to read.")).to_be_visible()
    if "moment" in address:
        page.locator("#slider").press("End")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("#then .is-current")).to_have_count(1)


def test_motion_is_left_out_for_those_who_do_not_want_it(board: Running, same_page: NewPage) -> None:
    board.write("s1", steps(("one", "in_progress")))
    page = same_page("/sessions/s1", reduced_motion="reduce")
    is_live(page)
    page.evaluate("() => { window.moved = 0; document.startViewTransition = () => { window.moved++; }; }")
    board.write("s1", steps(("zero", "pending"), ("one", "in_progress")))
    expect(page.locator("#p0-steps > li:not(.ghost, [data-my-removed])")).to_have_count(2)
    assert page.evaluate("moved") == 0
    assert page.evaluate("document.getAnimations().length") == 0


def test_a_page_that_nobody_sees_lets_go_of_its_stream(board: Running, new_page: NewPage) -> None:
    board.write("s1", items("in_progress"))
    page = new_page("/sessions/s1")
    is_live(page)
    hide = """(hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    until(lambda: board.server.app.hub.watchers == 0)
    board.write("s1", items("completed"))
    page.evaluate(hide, False)
    expect(page.locator("#p0-s1")).to_have_attribute("data-status", "done")


def test_two_thousand_steps_stay_smooth(board: Running, same_page: NewPage) -> None:
    def write(done: int) -> None:
        board.write(
            "s1",
            steps(
                *(
                    (f"Port module {n}", "completed" if n < done else "in_progress" if n == done else "pending")
                    for n in range(2_000)
                )
            ),
        )

    write(1_000)
    page = same_page("/sessions/s1", **MOVING)
    expect(page.locator("[aria-current=step]")).to_be_in_viewport()
    assert page.locator(".step").count() < 60
    page.locator(".gap a").first.click()
    comes_true(page, "document.getElementById('connection')?.dataset.state === 'live'")
    assert page.locator(".step").count() == 2_000
    for number in range(1_001, 1_006):
        write(number)
    comes_true(page, "document.getElementById('p0-s1006').getAttribute('aria-current') === 'step'")
    assert page.locator("[aria-current=step]").count() == 1


def test_the_connection_is_told_when_the_board_knows_nobody_any_more(board: Running, new_page: NewPage) -> None:
    board.write("s1", items("in_progress"))
    page = new_page()
    page.clock.install()
    page.goto(f"{board.pages}/sessions/s1")
    is_live(page)
    page.context.clear_cookies()
    board.cut()

    def is_locked_after_a_while() -> bool:
        page.clock.fast_forward(2_000)
        return page.locator("#connection").get_attribute("data-state") == "locked"

    until(is_locked_after_a_while)


#: A page of every kind, with everything that a page can have.
EVERY_PAGE = (
    "/sessions",
    "/sessions?q=nothing+like+it",
    "/sessions/s1",
    "/sessions/s1/plans/fix",
    "/sessions/s2",
    "/sessions/s4",
    "/sessions/s1/history",
    "/sessions/s4/history",
    "/sessions/s1/compare?from=2&to=4",
    "/sessions/s4/compare?from=2&to=3",
    "/sessions/nobody",
)


def fill(board: Running, folder: Path) -> None:
    (folder / "plan.md").write_text("# In a file\n\n- [x] one\n- [~] two\n")
    entries = (
        Entry("A `first` step", "high", "completed"),
        Entry("Another", "low", "in_progress"),
        Entry("Never", "low", "cancelled"),
        Entry("Odd", "_urgent", "_blocked"),
        Entry("Last", "high", "pending"),
    )
    text = (
        "# A text\n\nWith `code`, a [link](https://example.org) and\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] one\n"
    )
    board.write("s1", SessionOpened("agent 1", "client 2", str(folder), "Everything at once"))
    board.write("s1", PlanSet(ItemsPlan("fix", entries), "Because."), markdown(text))
    board.write("s1", PlanSet(FilePlan("file", (folder / "plan.md").as_uri())))
    board.write("s1", PlanSet(FilePlan("gone", "file:///nowhere.md")))
    board.write("s2", items("completed", "in_progress"), TurnEnded("cancelled"))
    board.write("s3", items("completed"), TurnEnded("end_turn"))
    board.write("s4", SessionOpened("agent 1", "client 2", "/work", "Long " * 15), items(*["completed"] * 9, "pending"))
    board.write("s4", Remarked("main", SUGGESTION, changes=(RewordStep("s10", "long " * 99),)), by="ana")
    board.write("s4", ReviewAsked("main"))


@pytest.mark.parametrize(("scheme", "widths"), [("light", (360, 1900, 1280)), ("dark", (1280, 390))])
def test_every_page_fits_any_width_and_people_with_disabilities_can_use_it(
    board: Running, new_page: NewPage, axe: str, scheme: str, widths: tuple[int, ...], tmp_path: Path
) -> None:
    """Screenshots are kept for people to look at; that nothing is cut off at the side is checked here."""
    fill(board, tmp_path)
    page = new_page(color_scheme=scheme)
    for address in EVERY_PAGE:
        page.goto(board.pages + address)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            photograph(page, f"{re.sub(r'[^a-z0-9]+', '-', address.strip('/'))}-{scheme}-{width}")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{address} at {width}"
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert [(address, each["id"], each["nodes"][0]["html"][:200]) for each in serious] == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor").startswith("rgb(16,")
    assert dark == (scheme == "dark")


def test_the_browser_itself_refuses_what_the_policy_forbids(board: Running, same_page: NewPage) -> None:
    board.open()
    page = same_page("/sessions")
    with pytest.raises(Error, match=r"TrustedHTML|Trusted Type"):
        page.evaluate("() => { document.body.innerHTML = '<b>x</b>'; }")
