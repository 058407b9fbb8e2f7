"""The sessions of a team on the board: by machine, user and repository, and as before where there is one of each."""

import re

from playwright.sync_api import Page, expect

from planwire.model.events import ReviewAsked, SessionOpened, TurnEnded
from tests.web.board import Running, items
from tests.web.browsing import NewPage, is_live, photograph

REPOSITORY = "github.com/acme/tool"
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


def about(title: str, host: str, user: str, repository: str = REPOSITORY) -> SessionOpened:
    return SessionOpened(
        "Claude Code", "the terminal", "/work/tool", title, host=host, user=user, repository=repository
    )


def team(board: Running) -> None:
    board.write("asks", about("Port the exporter", "devbox", "ann"), items("completed", "pending"), ReviewAsked("main"))
    board.write("works", about("Upgrade the parser", "laptop", "bo"), items("completed", "in_progress", "pending"))
    board.write("idle", about("Find the leak", "devbox", "ann"), items("completed", "pending"), TurnEnded("end_turn"))
    board.write("done", about("Write it down", "laptop", "bo"), items("completed"), TurnEnded("end_turn"))
    board.write("old", SessionOpened("Codex", cwd="/work/tool", title="Before"), items("completed"), TurnEnded("x"))


def titles(page: Page) -> set[str]:
    return {each.inner_text() for each in page.locator(".session-link").all()}


def test_one_machine_looks_as_it_did(board: Running) -> None:
    board.write("s1", about("One", "devbox", "ann"), items("pending"), TurnEnded("end_turn"))
    board.write("s2", SessionOpened("agent", cwd="/work", title="Old"), items("pending"), TurnEnded("end_turn"))
    page = board.page("/sessions")
    assert "<select" not in page
    assert "fact-host" not in page
    assert "devbox" not in page
    head = board.page("/sessions/s1")
    assert re.search(r'fact-repository"><span class="unseen">repository </span><bdi>github.com/acme/tool<', head)
    assert re.search(r'fact-account"><span class="unseen">account </span><bdi>ann@devbox<', head)


def test_the_address_filters_and_groups(board: Running) -> None:
    team(board)
    ids = {each["id"] for each in board.json("/sessions.json?host=devbox")["sessions"]}
    assert ids == {"asks", "idle"}
    assert {each["id"] for each in board.json("/sessions.json?user=bo&state=done")["sessions"]} == {"done"}
    page = board.page("/sessions?group=host")
    names = re.findall(r'<details id="by-host-\w+" class="part day" open><summary[^>]*><bdi>([^<]*)</bdi>', page)
    assert sorted(names) == ["No host", "devbox", "laptop"]
    assert names[-1] == "No host"
    assert "No matches" in board.page("/sessions?host=nowhere")
    assert '<option value="nowhere" selected>nowhere (0)</option>' in board.page("/sessions?host=nowhere")
    assert "by-" not in board.page("/sessions?group=nonsense")


def test_states_and_facets_count_what_they_would_find_with_the_rest_of_the_search(board: Running) -> None:
    team(board)
    page = board.page("/sessions?host=devbox")
    states = re.findall(r'value="(\w*)"[^>]*><span>[^<]*<small>(\d+)</small>', page)
    assert dict(states) == {"": "2", "needs_you": "1", "running": "0", "idle": "1", "stopped": "0", "done": "0"}
    assert re.findall(r'<option value="\w+"[^>]*>(\w+ \(\d\))', page) == ["devbox (2)", "laptop (2)", "ann (2)"]
    assert "devbox (0)" in board.page("/sessions?host=devbox&user=bo")


def test_a_group_does_not_repeat_its_name_in_every_row(board: Running) -> None:
    team(board)
    page = board.page("/sessions?group=user")
    needs, groups = page[: page.index('id="by-user-')], page[page.index('id="by-user-') :]
    assert "fact-user" in needs
    assert "fact-user" not in groups
    assert "fact-host" in groups


def test_names_of_others_are_only_text(board: Running) -> None:
    team(board)
    evil = '"><script>alert(1)</script>'
    board.write("evil", SessionOpened("a", cwd="/w", host=evil, user=evil, repository=evil), items("pending"))
    for address in ("/sessions", "/sessions?group=repository", f"/sessions?host={evil}", "/sessions/evil"):
        assert "<script>alert" not in board.page(address)


def test_people_choose_what_they_see_and_it_stays_live(board: Running, new_page: NewPage) -> None:
    team(board)
    page = new_page("/sessions", viewport=WIDE)
    is_live(page)
    photograph(page, "team-overview")
    expect(page.locator(".facets select")).to_have_count(3)
    page.get_by_label("Host").select_option("laptop")
    expect(page.locator(".session-link")).to_have_count(2)
    assert titles(page) == {"Upgrade the parser", "Write it down"}
    assert page.url.endswith("host=laptop")
    is_live(page)
    board.write("more", about("One more", "laptop", "bo"), items("pending"), TurnEnded("end_turn"))
    board.write("other", about("Not here", "devbox", "ann"), items("pending"), TurnEnded("end_turn"))
    expect(page.locator(".session-link")).to_have_count(3)
    assert "Not here" not in titles(page)
    page.get_by_label("Host").select_option("")
    page.get_by_label("Group").select_option("user")
    expect(page.locator("summary bdi").first).to_be_visible()
    someone = re.compile("ann|bo")
    expect(page.locator("[id^=by-user] > summary bdi")).to_contain_text([someone, someone, "No user"])
    photograph(page, "team-by-user")
    assert "group=user" in page.url


def test_the_choices_fit_on_a_phone(board: Running, new_page: NewPage) -> None:
    team(board)
    far = about("Far", "a-machine-with-a-rather-long-name-in-the-cloud", "cy", f"{REPOSITORY}/{'x' * 80}")
    board.write("far", far, items("pending"))
    page = new_page("/sessions", viewport=PHONE)
    is_live(page)
    photograph(page, "team-phone")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
