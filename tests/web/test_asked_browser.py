"""The question about a plan in a real browser: it appears while one looks, and gives way to the answer."""

from playwright.sync_api import expect

from planwire.model.events import APPROVED, PlanReviewed, ReviewAsked, SessionOpened
from tests.web.board import Running, items
from tests.web.browsing import NewPage, is_live, photograph
from tests.web.test_asked import ASKS, NAMES, OPTIONS, proposal


def test_a_question_appears_and_gives_way_to_its_answer(board: Running, new_page: NewPage, axe: str) -> None:
    board.write("s1", SessionOpened("claude 1", "Zed 0.210.1", "/work", "Port the parser"), items("in_progress"))
    board.write("s1", proposal("Words.", "", *(f"{n}. Look at file {n}" for n in range(1, 20)), "20. Write it"))
    page = new_page("/sessions/s1")
    is_live(page)
    question = page.get_by_role("region", name=f"{ASKS} in Zed")
    expect(question).to_have_count(0)
    board.write("s1", proposal("Words.", "", *(f"{n}. Look at file {n}" for n in range(1, 20)), "20. Write it slowly"))
    board.write("s1", ReviewAsked("plan-mode", OPTIONS))
    expect(question).to_be_visible()
    expect(question.get_by_role("listitem")).to_have_text(list(NAMES))
    expect(question.locator("tr.pair-changed td")).to_have_text(["20. Write it", "20. Write it slowly"])
    expect(page.locator("#plans > article").first.locator("h2")).to_have_text("Port the parser")
    expect(page.locator("#p1-body li").nth(18)).to_have_text("Look at file 19")
    expect(page.locator(".session-title .state")).to_have_text("needs you")
    expect(page.locator("#announcer")).to_contain_text("Needs you")
    photograph(page, "asked")
    page.evaluate(axe)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run('#p1-asked', { resultTypes: ['violations'] })")["violations"]
        assert [(scheme, each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    changes = question.get_by_text("What changed since version 1")
    changes.click()
    expect(question.locator("table")).to_be_hidden()
    board.write("s1", items("completed"))
    expect(page.locator("#session-progress .number")).to_have_text("1 / 1")
    expect(question.locator("table")).to_be_hidden()
    board.write("s1", PlanReviewed("plan-mode", 3, APPROVED, answer=NAMES[0]), by="client")
    expect(question).to_have_count(0)
    expect(page.locator("#p1-said")).to_contain_text(f"approved: {NAMES[0]}")
