"""A team's board in a real browser: pair it with a code, say something, be refused what is not yours, sign out."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from planwire.model.events import Choice, ReviewAsked
from tests.web.board import items
from tests.web.browsing import STILL, Problems, is_live, photograph
from tests.web.team import TeamBoard, team_board

OPTIONS = (Choice("yes", "Go ahead", "allow_once"), Choice("no", "Not yet", "reject_once"))


@pytest.fixture
def team(tmp_path: Path) -> Iterator[TeamBoard]:
    with team_board(tmp_path) as running:
        running.open()
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    problems = Problems()
    with browser.new_context(**STILL) as context:
        opened = context.new_page()
        opened.set_default_timeout(15_000)
        problems.listen_to(opened)
        yield opened
    problems.are_none()


def sign_in(page: Page, team: TeamBoard, name: str, address: str = "/sessions/s1") -> None:
    page.goto(team.base + address)
    page.get_by_label("Your code").fill(team.users.pairing_code(name))
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".signed-in .name")).to_have_text(name)
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def test_a_person_pairs_a_browser_comments_is_refused_an_approval_and_signs_out(page: Page, team: TeamBoard) -> None:
    page.goto(f"{team.base}/sessions/s1")
    photograph(page, "team-sign-in")
    page.get_by_label("Your code").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This code is not right")
    page.get_by_label("Your code").fill(team.users.pairing_code("Ben").lower())
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/sessions/s1$"))
    expect(page.locator(".signed-in")).to_contain_text("Ben")
    expect(page.locator(".signed-in .role")).to_have_text("can steer")
    is_live(page)
    photograph(page, "team-session")

    page.keyboard.press("C")
    page.keyboard.type("use SQLite")
    page.get_by_role("dialog").get_by_role("button", name="Comment").click()
    expect(page.locator("#p0-said")).to_contain_text("use SQLite")
    expect(page.locator("#p0-said")).to_contain_text("— Ben")
    assert team.by()[-1] == "Ben"

    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.locator(".review-bar").get_by_role("button", name="Request changes")).to_be_visible()
    expect(page.locator(".review-bar").get_by_role("button", name="Approve")).to_have_count(0)
    address = page.locator("[data-steer]").first.get_attribute("data-steer")
    status = page.evaluate(
        """async (address) => (await fetch(`${address}/acts`, {
             method: "POST", body: '{"act": "review", "verdict": "approved"}',
             headers: { "content-type": "application/json" },
           })).status""",
        address,
    )
    assert status == 403

    pages = page.url
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Your code")).to_be_visible()
    page.goto(pages)
    expect(page.get_by_label("Your code")).to_be_visible()


def test_only_who_approves_has_the_answers_to_an_agents_question(page: Page, team: TeamBoard) -> None:
    team.write("s1", ReviewAsked("main", OPTIONS, "q1"))
    sign_in(page, team, "Ben")
    expect(page.locator(".question").first).to_be_visible()
    expect(page.locator(".answer-form:visible")).to_have_count(0)


def test_who_only_looks_has_nothing_to_press(page: Page, team: TeamBoard) -> None:
    sign_in(page, team, "Cleo")
    expect(page.locator(".signed-in .role")).to_have_text("can look")
    expect(page.locator(".steer:visible")).to_have_count(0)


def test_a_page_whose_person_was_removed_says_so_and_shows_no_more(page: Page, team: TeamBoard) -> None:
    sign_in(page, team, "Cleo")
    team.users.change(lambda users: users.removed("Cleo"))
    expect(page.locator("#connection")).to_have_text("you are signed out: reload the page to sign in")
    team.write("s1", items("pending", "pending", summary="not for Cleo"))
    expect(page.locator("main")).not_to_contain_text("not for Cleo")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_to_sign_in_and_the_bar_can_be_used_by_everybody(
    browser: Browser, team: TeamBoard, axe: str, scheme: str
) -> None:
    with browser.new_context(**STILL, color_scheme=scheme, bypass_csp=True) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{team.base}/sessions")
        photograph(page, f"team-sign-in-{scheme}")
        assert _troubles(page, axe) == []
        sign_in(page, team, "Ben")
        photograph(page, f"team-session-{scheme}")
        assert _troubles(page, axe) == []


def _troubles(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations.map((each) => `${each.id}: ${each.nodes[0].html}`)")
    assert isinstance(found, list)
    return found
