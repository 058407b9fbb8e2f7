"""Steering for everybody: with a screen reader, without a script, and with notifications."""

from playwright.sync_api import expect

from planwire.model.events import (
    ACP,
    APPROVED,
    COMMENT,
    SUGGESTION,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    ReviewAsked,
    SessionOpened,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetStatus
from tests.web.board import items
from tests.web.browsing import NewPage, comes_true, is_live, photograph
from tests.web.stage import TEXT, Stage, row, save, write


def test_people_with_disabilities_can_steer(stage: Stage, axe: str) -> None:
    stage.write(SessionOpened("agent", "client", "/work", "Everything"))
    stage.agent_sends("one", "two", "three")
    stage.write(PlanSet(MarkdownPlan("text", TEXT), via=ACP))
    stage.write(Remarked("main", COMMENT, "Why?", 1, "s2"), Remarked("main", COMMENT, "All", 1, kept=True), by="user")
    stage.write(RemarkAnswered("main", "r2", "Yes"), RemarkClosed("main", "r1", "withdrawn"))
    for changes in ((RewordStep("s1", "other"),), (AddStep("new", "s1"),), (RemoveStep("s3"),)):
        stage.write(Remarked("main", SUGGESTION, changes=changes), by="user")
    suggested = AddStep("new", "s2"), SetStatus("s1", "completed")
    stage.write(Remarked("text", SUGGESTION, changes=suggested), by="user")
    page = stage.open(reduced_motion="reduce")
    page.evaluate(axe)

    def nothing_is_wrong(where: str) -> None:
        for scheme, rules in (("dark", "runOnly: ['color-contrast'],"), ("light", "")):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found = page.evaluate(f"axe.run(document, {{ {rules} resultTypes: ['violations'] }})")["violations"]
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(where, scheme, each["id"], each["nodes"][0]["html"][:200]) for each in serious] == []

    page.locator("#p0-said summary").click()
    row(page, 2).click()
    page.keyboard.press("s")
    nothing_is_wrong("toolbar, suggestions, steps to run")
    page.keyboard.press("m")
    nothing_is_wrong("menu")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    nothing_is_wrong("keys")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    row(page, 2).locator(".words").click()
    page.keyboard.press("c")
    write(page, "Why?")
    save(page)
    nothing_is_wrong("review")
    page.get_by_role("region", name="Review").get_by_role("button", name="Discard").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    row(page, 2).locator(".words").click()
    page.keyboard.press("e")
    write(page, "two, better")
    stage.agent_sends("one", "two, as the agent says", "three", "four", done=1)
    expect(page.locator(".composer-note")).not_to_be_empty()
    nothing_is_wrong("writing")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    nothing_is_wrong("difference")
    photograph(page, "difference")
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(page.locator(".composer")).to_have_count(0)
    page.keyboard.press("E")
    expect(page.get_by_role("dialog", name="Edit “Plan”")).to_be_visible()
    nothing_is_wrong("edit as text")


def test_what_was_done_is_said_to_those_who_do_not_see_it(stage: Stage) -> None:
    stage.agent_sends("one", "two")
    page = stage.open()
    row(page, 1).click()
    said = page.get_by_role("status").filter(has_text="one")
    page.keyboard.press("x")
    expect(said).to_have_text("Suggested: “one”: done. The agent will see it with the next prompt in the editor.")
    page.keyboard.press("s")
    expect(page.get_by_role("status").filter(has_text="selected")).to_have_text("“one” selected, 1 step in all")
    assert len(stage.changes()) == 1


def test_without_a_script_there_is_nothing_to_press(stage: Stage, new_page: NewPage) -> None:
    stage.agent_sends("one")
    stage.write(Remarked("main", SUGGESTION, changes=(AddStep("asked for"),)), by="user")
    page = new_page(f"/sessions/{stage.session}", java_script_enabled=False)
    expect(page.locator(".ghost")).to_contain_text("asked for")
    expect(page.get_by_role("button")).to_have_count(0)


def test_a_step_that_goes_before_all_that_are_in_sight_goes_behind_the_one_above_them(stage: Stage) -> None:
    entries = [Entry(f"step {n}", "medium", "completed" if n < 70 else "pending") for n in range(1, 101)]
    stage.write(PlanSet(ItemsPlan("main", tuple(entries))))
    page = stage.open()
    first = page.locator("#p0-steps > [data-step]").first
    number = int((first.get_attribute("data-step") or "")[1:])
    assert number > 2
    first.locator("xpath=following-sibling::*[1]").click()
    page.keyboard.press("Alt+ArrowUp")
    stage.changes_come_to(MoveStep(f"s{number + 1}", f"s{number - 1}"))


NOTICES = """
    window.notices = [];
    window.tags = [];
    window.Notification = class {
        static permission = "granted";
        static requestPermission() { return Promise.resolve("granted"); }
        constructor(title, options) { notices.push(`${title}: ${options.body}`); tags.push(options.tag); }
        close() {}
    };
    document.hasFocus = () => false;
"""


def test_a_notification_is_shown_to_those_who_asked_for_it(stage: Stage, new_page: NewPage) -> None:
    stage.write(SessionOpened("agent", "client", "/work", "A title"))
    stage.agent_sends("one", "two")
    page = new_page()
    page.context.add_init_script(NOTICES)
    page.goto(f"{stage.board.pages}/sessions/{stage.session}")
    is_live(page)
    stage.agent_sends("one", "two", done=2)
    expect(row(page, 2)).to_have_attribute("data-status", "done")
    assert page.evaluate("notices") == []
    stage.agent_sends("one", "two", done=1)
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_role("button", name="Notify me")).to_have_attribute("aria-pressed", "true")
    page.reload()  # it is remembered
    is_live(page)
    comes_true(page, "document.getElementById('notify').ariaPressed === 'true'")
    comes_true(page, "navigator.locks.query().then((locks) => locks.held.length === 1)")
    page.evaluate(
        """() => {
            Object.defineProperty(document, "hidden", { value: true, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    stage.agent_sends("one", "two", done=2)
    comes_true(page, "notices.length === 1")
    assert page.evaluate("notices") == ["A title: Everything on the plan is done."]
    page.goto(f"{stage.board.pages}/sessions")
    is_live(page)
    comes_true(page, "document.getElementById('notify').ariaPressed === 'true'")
    stage.write(ReviewAsked("main"))
    comes_true(page, "notices.length === 1")
    stage.board.write("another", SessionOpened(title="Another"), items("pending"), ReviewAsked("main"))
    comes_true(page, "notices.length === 2")
    words = "Plan: the agent waits for an answer"
    assert page.evaluate("notices") == [f"A title: {words}", f"Another: {words}"]


def test_each_question_is_told_once_whatever_becomes_of_it(stage: Stage, new_page: NewPage) -> None:
    board, tags = stage.board, set()
    for number, address in enumerate(("/sessions", "/sessions/{0}")):
        session = f"asks{number}"
        board.write(session, SessionOpened(title="Asks"), items("pending"), items("pending", plan_id="other"))
        page = new_page()
        page.context.add_init_script(NOTICES)
        page.goto(board.pages + address.format(session))
        is_live(page)
        page.get_by_role("button", name="Notify me").click()
        board.write(session, ReviewAsked("main", question="q1"), at=1)
        comes_true(page, "notices.length === 1")
        board.write(session, ReviewAsked("other", question="q2"), at=2)
        comes_true(page, "notices.length === 2")
        board.write(session, PlanReviewed("main", 2, APPROVED, question="q1"), by="client")
        comes_true(page, "document.querySelector('[data-question=\"2\"]') !== null")
        assert page.evaluate("notices.length") == 2, "a question less is no news"
        board.write(session, PlanReviewed("other", 3, APPROVED), ReviewAsked("other", question="q3"), by="client", at=4)
        comes_true(page, "notices.length > 2")
        words = "the agent waits for an answer"
        assert page.evaluate("notices")[2:] == [f"Asks: other: {words}"]
        tags |= {tag.removesuffix(f"/{session}") for tag in page.evaluate("tags")}
    assert len(tags) == 1, "of two pages with the same news the browser shows one"
