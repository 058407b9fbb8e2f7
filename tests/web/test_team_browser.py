"""A team's board in a real browser: pair it with a code, say something, be refused what is not yours, sign out."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from planwire.journal import Terms
from planwire.model.events import Choice, PlanReviewed, ReviewAsked, ReviewPending
from planwire.web.team import TrustedProxy
from tests.web.board import items
from tests.web.browsing import STILL, Problems, is_live, photograph
from tests.web.team import TeamBoard, team_board

WATCH_CONNECTION = """
    new MutationObserver(() => {
      const words = document.getElementById("connection")?.textContent;
      if (words && words !== window.said) hear(window.said = words);
    }).observe(document, { subtree: true, childList: true, characterData: true });
"""
OPTIONS = (Choice("yes", "Go ahead", "allow_once"), Choice("no", "Not yet", "reject_once"))


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TeamBoard]:
    monkeypatch.setattr("planwire.web.team_streams.LOOK_PACE", 0.02)
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


def says(page: Page) -> list[str]:
    """All that the page says of its connection from now on, as it comes; a reload begins anew."""
    heard: list[str] = []

    def hear(words: str) -> None:
        heard.append(words)

    page.expose_function("hear", hear)
    page.add_init_script(WATCH_CONNECTION)
    page.evaluate(WATCH_CONNECTION)
    return heard


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


def test_a_page_that_is_open_follows_the_role_of_its_person(page: Page, team: TeamBoard) -> None:
    team.journal.lease("s1", Terms("relay", True, ("answer",)))
    team.write("s1", ReviewAsked("main", OPTIONS, "q1"))
    sign_in(page, team, "Ben")
    waiting, role = page.get_by_text("Waiting for somebody who may approve."), page.locator(".signed-in .role")
    expect(waiting).to_be_visible()
    team.users.change(lambda users: users.changed("Ben", lambda user: replace(user, role="approve")))
    expect(role).to_have_text("can approve")
    expect(page.get_by_role("button", name="Go ahead")).to_be_visible()
    expect(waiting).to_be_hidden()

    page.locator(".answer-form textarea").fill("not lost")
    team.users.change(lambda users: users.changed("Ben", lambda user: replace(user, role="look")))
    expect(page.locator("#connection")).to_have_text("your role has changed: reload the page")
    expect(page.locator(".answer-form textarea")).to_have_value("not lost")


def write_unsent(page: Page, team: TeamBoard) -> None:
    """Ben has written a comment, and not sent it yet."""
    sign_in(page, team, "Ben")
    is_live(page)
    page.keyboard.press("C")
    page.keyboard.type("not lost")


def test_a_page_with_words_that_waits_to_be_reloaded_notices_what_else_becomes_of_its_person(
    page: Page, team: TeamBoard
) -> None:
    write_unsent(page, team)
    connection, bar = page.locator("#connection"), page.locator(".signed-in")
    team.users.change(lambda users: users.changed("Ben", lambda user: replace(user, role="look")))
    expect(connection).to_have_text("your role has changed: reload the page")
    photograph(page, "team-role-changed")
    pill, name = connection.bounding_box(), bar.bounding_box()
    assert pill
    assert name
    assert pill["y"] + pill["height"] <= name["y"], "it covers who is signed in"
    team.users.change(lambda users: users.removed("Ben"))
    expect(connection).to_have_text("you are signed out: reload the page to sign in")
    expect(page.get_by_role("dialog").locator("textarea")).to_have_value("not lost")


def test_unsent_words_are_kept_for_who_wrote_them_and_not_for_the_next_person(browser: Browser, tmp_path: Path) -> None:
    """Behind a proxy, and over TLS, all people see the board at one address."""
    proxy = TrustedProxy("X-Forwarded-User", "127.0.0.1", "approve")
    with team_board(tmp_path, team={"proxy": proxy}) as team, browser.new_context(**STILL) as context:
        team.journal.lease("s1", Terms("relay", True, ("answer",)))
        team.write("s1", ReviewAsked("main", OPTIONS, "q1"))
        team.write("s2", items("pending"))
        page = context.new_page()
        answer, review = page.locator(".answer-form textarea"), page.get_by_role("region", name="Review “")
        for name, kept in (("Ann", False), ("Zoe", False), ("Ann", True)):
            context.set_extra_http_headers({"X-Forwarded-User": name})
            page.goto(f"{team.base}/sessions/s1")
            expect(page.locator(".signed-in .name")).to_have_text(name)
            is_live(page)
            expect(answer).to_have_value("half a thought" if kept else "")
            answer.fill("half a thought")
            page.goto(f"{team.base}/sessions/s2")
            is_live(page)
            expect(review).to_have_count(int(kept))
            if not kept:
                page.get_by_role("button", name="Review", exact=True).click()
            expect(review.get_by_role("textbox")).to_have_value("the other half" if kept else "")
            review.get_by_role("textbox").fill("the other half")


def test_words_on_a_page_of_one_person_are_not_said_by_another_who_signed_in_since(
    browser: Browser, tmp_path: Path
) -> None:
    """Behind a proxy, and over TLS, the tabs of a browser have one person."""
    proxy = TrustedProxy("X-Forwarded-User", "127.0.0.1", "approve")
    with team_board(tmp_path, team={"proxy": proxy}) as team, browser.new_context(**STILL) as context:
        context.set_extra_http_headers({"X-Forwarded-User": "Zoe"})
        page = context.new_page()
        page.goto(f"{team.base}/sessions/s1")
        is_live(page)
        page.keyboard.press("C")
        page.keyboard.type("Zoe's own")
        context.set_extra_http_headers({"X-Forwarded-User": "Ann"})
        send = page.get_by_role("dialog").get_by_role("button", name="Comment")
        send.click()
        expect(page.get_by_role("dialog")).to_contain_text("Somebody else is signed in now")
        team.cut()
        expect(page.locator("#connection")).to_have_text("somebody else is signed in: reload the page")
        context.set_extra_http_headers({"X-Forwarded-User": "Zoe"})
        send.click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert team.by() == ["agent", "Zoe"]


def test_who_only_looks_has_nothing_to_press(page: Page, team: TeamBoard) -> None:
    sign_in(page, team, "Cleo")
    expect(page.locator(".signed-in .role")).to_have_text("can look")
    expect(page.locator(".steer:visible")).to_have_count(0)
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_role("dialog")).not_to_contain_text("Tick")


def test_words_of_a_person_who_was_signed_out_are_to_be_copied_where_the_next_sign_in_has_another_path(
    page: Page, team: TeamBoard
) -> None:
    write_unsent(page, team)
    team.users.sign_out("Ben")
    page.get_by_role("dialog").get_by_role("button", name="Comment").click()
    expect(page.get_by_role("dialog")).to_contain_text("Copy unsent words, then reload the page to sign in.")
    expect(page.get_by_role("dialog").locator("textarea")).to_have_value("not lost")


def test_time_travel_of_a_person_who_was_signed_out_leads_to_the_page_to_sign_in_and_back(
    page: Page, team: TeamBoard
) -> None:
    sign_in(page, team, "Ben")
    page.get_by_role("link", name="History").click()
    slider = page.locator("#slider")
    slider.press("Home")
    expect(page).to_have_url(re.compile(r"/history\?moment=0$"))
    team.users.sign_out("Ben")
    slider.press("End")
    page.get_by_label("Your code").fill(team.users.pairing_code("Ben"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/sessions/s1/history\?moment=1$"))
    expect(slider).to_be_visible()


def test_a_page_whose_person_has_another_role_or_was_removed_says_so_and_not_that_a_connection_was_lost(
    page: Page, team: TeamBoard
) -> None:
    sign_in(page, team, "Cleo")
    heard = says(page)
    team.users.change(lambda users: users.changed("Cleo", lambda user: replace(user, role="steer")))
    expect(page.locator(".signed-in .role")).to_have_text("can steer")
    is_live(page)
    team.users.change(lambda users: users.removed("Cleo"))
    expect(page.locator("#connection")).to_have_text("you are signed out: reload the page to sign in")
    assert [each for each in heard if each != "live"] == ["you are signed out: reload the page to sign in"]
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


def test_only_its_author_is_offered_to_undo_a_verdict_and_others_see_that_it_is_pending(
    page: Page, team: TeamBoard
) -> None:
    team.journal.lease("s1", Terms("relay", can=("answer",)))
    team.write("s1", items("pending"), ReviewAsked("main", OPTIONS, "q1"))
    verdict = PlanReviewed("main", 2, "approved", answer="Go ahead", via="planwire", question="q1", option="yes")
    sign_in(page, team, "Ann")
    team.write("s1", ReviewPending("main", 60_000, verdict), by="Ann")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    expect(page.locator(".undoable .mine")).to_contain_text("Sending “Go ahead” in")
    expect(page.locator(".undoable .theirs")).to_be_hidden()
    team.write("s1", ReviewPending("main", 60_000, verdict), by="Carl")
    expect(page.locator(".undoable .theirs")).to_have_text("Carl answered “Go ahead” · pending")
    expect(undo).to_be_hidden()
    expect(page.locator(".answer-form").get_by_role("button", name="Not yet")).to_be_visible()
