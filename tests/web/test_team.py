"""A board for a team: who gets in, what each may do, and that all of it carries their names."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from planwire.errors import InputError
from planwire.journal import Terms, open_journal
from planwire.model.events import Choice, PlanReviewed, Remarked, ReviewAsked
from planwire.session.users_file import UsersFile
from planwire.web import BoardServer
from planwire.web.listening import addresses_of
from planwire.web.sign_in import ALL_TRIES, TRIES, Tries
from planwire.web.team import Team
from tests.waiting import until
from tests.web.board import items
from tests.web.team import HTML, TeamBoard, cookie_in, team_board

ACTS = "/sessions/s1/plans/main/acts"
COMMENT = {"act": "comment", "text": "use SQLite"}
APPROVAL = {"act": "review", "verdict": "approved"}
REQUEST = {"act": "review", "verdict": "changes_requested", "text": "smaller steps"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamBoard]:
    """For tests that only look, or whose people nobody else is."""
    with team_board(tmp_path_factory.mktemp("team")) as running:
        yield running


@pytest.fixture
def team(tmp_path: Path) -> Iterator[TeamBoard]:
    with team_board(tmp_path) as running:
        yield running


@pytest.mark.parametrize("address", ["/sessions", "/sessions/s1", "/sessions/s1/history", "/nothing"])
def test_a_stranger_sees_the_page_to_sign_in_and_nothing_else(shared: TeamBoard, address: str) -> None:
    answer = httpx.get(shared.base + address, headers=HTML)
    assert answer.status_code == 401
    assert 'action="/sign-in"' in answer.text
    assert "step 1" not in answer.text
    program = httpx.get(f"{shared.base}{address}.json")
    assert program.status_code == 401
    assert program.json()["error"].startswith("You are not signed in. ")
    assert httpx.get(f"{shared.base}/live/sessions/s1").status_code == 401


def test_the_token_of_a_personal_board_opens_no_team_board(shared: TeamBoard) -> None:
    token = shared.server.token
    assert httpx.get(f"{shared.base}/sessions", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert httpx.get(f"{shared.base}/sessions?token={token}").status_code == 401


def test_a_code_pairs_a_browser_once_and_leads_to_the_page_that_the_person_wanted(shared: TeamBoard) -> None:
    asked = httpx.get(f"{shared.base}/sessions/s1", headers=HTML)
    assert 'name="next" value="/sessions/s1"' in asked.text
    form = {"code": shared.users.pairing_code("Ann").lower().replace("-", " "), "next": "/sessions/s1"}
    with httpx.Client(headers={**HTML, "Origin": shared.base}) as browser:
        answer = browser.post(f"{shared.base}/sign-in", data=form)
        assert answer.status_code == 303
        assert answer.headers["location"].endswith("/sessions/s1")
        page = browser.get(shared.base + answer.headers["location"])
        assert page.status_code == 200
        assert re.search(r'class="signed-in"><bdi class="name">Ann</bdi><span class="role">can approve', page.text)
    again = httpx.post(f"{shared.base}/sign-in", data=form, headers={"Origin": shared.base})
    assert again.status_code == 403
    assert "set-cookie" not in again.headers


@pytest.mark.parametrize(
    ("asked", "opened"),
    [
        ("/sessions?group=host&repository=github.com/acme/shop&q=%C3%A4+%22", None),
        ("/0123456789abcdefghijklmn/sessions/s1/history?moment=3", "/sessions/s1/history?moment=3"),
        ("/sessions/~" + "A" * 3_000, "/sessions"),
        ("/sessions?q=" + "%3F" * 1_000, "/sessions"),
    ],
)
def test_the_page_to_sign_in_leads_on_to_what_was_looked_for_and_works_at_any_address(
    shared: TeamBoard, asked: str, opened: str | None
) -> None:
    with httpx.Client(base_url=shared.base, headers={**HTML, "Origin": shared.base}) as browser:
        kept = re.search(r'name="next" value="([^"]*)"', browser.get(asked).text)
        form = {"code": shared.users.pairing_code("Ann"), "next": unescape(kept[1]) if kept else ""}
        answer = browser.post("/sign-in", data=form)
        assert answer.status_code == 303
        assert answer.headers["location"][25:] == (opened or asked)


def test_a_plain_cookie_is_kept_to_a_path_that_is_this_browsers_own(shared: TeamBoard) -> None:
    first, pages = shared.browser("Ann")
    second, others = shared.browser("Ann")
    assert pages != others
    [cookie] = first.cookies.jar
    assert cookie.path == httpx.URL(pages).path
    assert cookie.path != "/"
    with first, second:
        assert first.get(f"{pages}/sessions").status_code == 200
        assert second.get(f"{others}/sessions").status_code == 200
        assert second.get(f"{pages}/sessions").status_code == 401
        found = re.findall(r'="(/[^"]+)"', first.get(f"{pages}/sessions/s1").text)
        assert [each for each in found if not each.startswith((cookie.path or "", "/static/"))] == []
    assert httpx.get(f"{shared.base}/sessions", cookies={cookie.name: cookie.value or ""}).status_code == 401
    assert httpx.get(f"{pages}/sessions").status_code == 401


def test_the_cookies_of_other_servers_on_the_machine_lock_nobody_out(shared: TeamBoard) -> None:
    browser, pages = shared.browser("Ann")
    with browser:
        [cookie] = browser.cookies.jar
        for others in ("n=a b; {}", "{}; flag", '"; {}; theme={"a": 1}', "a=\xe9; {}"):
            given = {b"Cookie": others.replace("{}", f"{cookie.name}={cookie.value}").encode("latin-1")}
            assert httpx.get(f"{pages}/sessions", headers=given).status_code == 200


def test_behind_a_tls_proxy_the_cookie_is_for_encrypted_connections_and_this_host_only(tmp_path: Path) -> None:
    with team_board(tmp_path, allow_hosts=["board.example"]) as team:
        there = {"Host": "board.example", "Origin": "https://board.example", **HTML}
        answer = httpx.post(f"{team.base}/sign-in", data={"code": team.users.pairing_code("Ann")}, headers=there)
        name, attributes = cookie_in(answer)
        assert name == f"__Host-planwire-team-{team.server.port}"
        assert attributes == "Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict; Secure"
        assert answer.headers["location"] == "/sessions"


def test_nobody_signs_in_over_a_network_without_encryption_unless_it_was_asked_for(tmp_path: Path) -> None:
    plain = {"Host": "board.example", "Origin": "http://board.example", **HTML}
    for insecure, status in ((False, 403), (True, 303)):
        with team_board(tmp_path, allow_hosts=["board.example"], team={"insecure": insecure}) as team:
            form = {"code": team.users.pairing_code("Ann")}
            assert httpx.post(f"{team.base}/sign-in", data=form, headers=plain).status_code == status


def test_a_form_of_another_site_signs_nobody_in_and_nobody_out(shared: TeamBoard) -> None:
    form = {"code": shared.users.pairing_code("Ann")}
    for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        assert httpx.post(f"{shared.base}/sign-in", data=form, headers=headers).status_code == 403
    browser, pages = shared.browser("Ben")
    with browser:
        assert browser.post(f"{pages}/sign-out", headers={"Origin": "https://evil.example"}).status_code == 403
        assert browser.get(f"{pages}/sign-out").status_code == 404
        assert browser.get(f"{pages}/sessions").status_code == 200


@pytest.mark.parametrize("form", ["a=1&" * 9, "%FF=%", "code", "\0" * 100, "code=" + "B" * 4_000])
def test_a_form_that_no_page_sends_is_no_code(team: TeamBoard, form: str) -> None:
    headers = {"Origin": team.base, "Content-Type": "application/x-www-form-urlencoded", **HTML}
    answer = httpx.post(f"{team.base}/sign-in", content=form, headers=headers)
    assert answer.status_code == 400
    assert "No code came" in answer.text


def test_a_secret_that_somebody_planted_is_not_taken_over_at_sign_in(shared: TeamBoard) -> None:
    cookie = f"planwire-team-{shared.server.port}"
    form = {"code": shared.users.pairing_code("Ann")}
    answer = httpx.post(
        f"{shared.base}/sign-in", data=form, headers={"Origin": shared.base, "Cookie": f"{cookie}=planted"}
    )
    assert answer.status_code == 303
    assert "planted" not in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "wanted", ["https://evil.example", "//evil.example", "/static/x", "/sessions/../x", "/sessions?a b", "x"]
)
def test_a_sign_in_leads_to_no_other_place(shared: TeamBoard, wanted: str) -> None:
    form = {"code": shared.users.pairing_code("Ann"), "next": wanted}
    answer = httpx.post(f"{shared.base}/sign-in", data=form, headers={"Origin": shared.base})
    assert re.fullmatch(r"/[\w-]{24}/sessions", answer.headers["location"])


def test_who_guesses_codes_is_stopped_after_a_few_and_the_right_one_works_a_minute_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with team_board(tmp_path) as team:
        code = team.users.pairing_code("Ann")

        def post(typed: str) -> httpx.Response:
            return httpx.post(f"{team.base}/sign-in", data={"code": typed}, headers={"Origin": team.base})

        assert [post("BCDF-GHJK").status_code for _ in range(TRIES + 1)] == [403] * TRIES + [429]
        refused = post(code)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "60"
        monkeypatch.setattr("planwire.web.sign_in.MINUTE", 0.0)
        assert post(code).status_code == 303
    assert TRIES < ALL_TRIES


def test_the_addresses_of_one_network_have_their_tries_together() -> None:
    tries = Tries()
    addresses = ["2001:db8::1", "2001:db8:0:0:ffff::2", "2001:db8::3", "2001:db8::4", "2001:db8::5"]
    assert all(tries.begin(each) for each in addresses)
    assert not tries.begin("2001:db8::6")
    for other in ("2001:db8:0:1::1", "::ffff:192.0.2.1", "::ffff:192.0.2.2", "192.0.2.3", "a socket"):
        assert tries.begin(other)


def test_a_link_on_another_site_leads_in_although_the_cookie_is_strict(shared: TeamBoard) -> None:
    """A browser leaves the cookie out then; from the answer it asks again, as the same site."""
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", **HTML}
    assert httpx.get(f"{shared.base}/sessions", headers=link).headers["refresh"] == "0"
    own = {**link, "Sec-Fetch-Site": "same-origin"}
    assert "refresh" not in httpx.get(f"{shared.base}/sessions", headers=own).headers


def test_two_people_on_one_board_each_have_their_names_on_what_they_say(team: TeamBoard) -> None:
    browser, pages = team.browser("Ben")
    with team.program("Ann") as ann, browser:
        assert ann.post(ACTS, json=COMMENT).status_code == 200
        assert browser.post(f"{pages}{ACTS}", json={**COMMENT, "text": "use files"}).status_code == 200
        assert ann.post(ACTS, json=APPROVAL).status_code == 200
        assert team.by() == ["agent", "Ann", "Ben", "Ann"]
        page = browser.get(f"{pages}/sessions/s1").text
        plan = ann.get("/sessions/s1/plans/main.json").json()
        history = ann.get("/sessions/s1/history.json").json()
    assert re.search(r"— Ann ", page)
    assert re.search(r"— Ben ", page)
    assert {each["by"] for each in plan["remarks"]} == {"Ann", "Ben"}
    said = [(each["by"], each.get("way", "")) for each in history["moments"]]
    assert said[-3:] == [("Ann", "by a script"), ("Ben", ""), ("Ann", "by a script")]


def test_the_key_of_one_persons_act_is_not_that_of_anothers(team: TeamBoard) -> None:
    with team.program("Ann") as ann, team.program("Ben") as ben:
        for client in (ann, ben, ann):
            assert client.post(ACTS, json=COMMENT, headers={"Idempotency-Key": "k"}).status_code == 200
    assert team.by() == ["agent", "Ann", "Ben"]


def test_each_role_may_what_it_says_and_is_told_what_it_may_not(team: TeamBoard) -> None:
    may = {"Cleo": (403, 403, 403, 403), "Ben": (200, 200, 403, 403), "Ann": (200, 200, 200, 200)}
    for name, expected in may.items():
        with team.program(name) as client:
            acts = (COMMENT | {"text": name}, REQUEST | {"text": name}, APPROVAL, {"act": "dismiss"})
            answers = [client.post(ACTS, json=act) for act in acts]
        assert tuple(each.status_code for each in answers) == expected, name
        for each in answers:
            if each.status_code == 403:
                assert re.search(r"the role “\w+”, and yours is “\w+”\. Nothing was changed", each.json()["error"])
    assert "Cleo" not in team.by()


def test_a_request_for_changes_that_would_answer_an_agent_is_for_those_who_approve(team: TeamBoard) -> None:
    """Also if the question came after the page was drawn: what counts is the moment of writing."""
    options = (Choice("yes", "Go", "allow_once"), Choice("no", "Stop", "reject_once"))
    with team.program("Ben") as ben, team.program("Ann") as ann:
        assert ben.post(ACTS, json=REQUEST).status_code == 200
        team.write("s1", ReviewAsked("main", options, "q1"))
        for act in (REQUEST | {"text": "once more"}, {"act": "review", "option": "no"}, {**REQUEST, "question": "q1"}):
            answer = ben.post(ACTS, json=act)
            assert answer.status_code == 403, act
            assert "Answering an agent" in answer.json()["error"]
        assert ben.post(ACTS, json={"act": "review", "verdict": "commented", "text": "hm"}).status_code == 200
        assert ann.post(ACTS, json=REQUEST).status_code == 200
    assert [type(each.event) for each in team.journal.read("s1") if each.by == "Ben"] == [
        PlanReviewed,
        Remarked,
        Remarked,
    ]


def test_words_are_true_for_every_reader_whatever_their_role(team: TeamBoard) -> None:
    """One page is drawn for all: nobody is called *you* who may be somebody else."""
    team.journal.lease("s1", Terms("relay", True, ("answer",)))
    team.write("s1", ReviewAsked("main", (Choice("yes", "Go", "allow_once"),), "q1"), by="user")
    with team.program("Cleo", headers=HTML) as cleo:
        for page, state in (("/sessions", "Needs a decision"), ("/sessions/s1", "needs a decision")):
            until(lambda page=page: "data-answer" in cleo.get(page).text)  # type: ignore[misc]
            words = re.sub(r"<[^>]*>", " ", cleo.get(page).text)
            for each in (state, "The agent asks for approval", "Waiting for somebody who may approve."):
                assert each in words
            assert not re.search(r"\byou\b|\byour\b(?! words)", words, re.IGNORECASE)


def test_the_stream_of_a_page_for_another_role_is_refused(team: TeamBoard) -> None:
    with team.program("Ben") as ben:
        assert ben.get("/live/sessions/s1?role=approve").status_code == 409
        with ben.stream("GET", "/live/sessions/s1?role=steer") as stream:
            assert stream.status_code == 200


def test_a_page_of_somebody_else_neither_acts_nor_goes_on(team: TeamBoard) -> None:
    act = {"act": "comment", "text": "whose?"}
    with team.program("Ben") as ben:
        refused = ben.post("/sessions/s1/plans/main/acts?person=Ann", json=act)
        assert refused.status_code == 403
        assert "Somebody else is signed in now" in refused.json()["error"]
        assert ben.get("/live/sessions/s1?person=Ann&role=steer").status_code == 403
        assert ben.post("/sessions/s1/plans/main/acts?person=Ben", json=act).status_code == 200
    assert team.by() == ["agent", "Ben"]


def test_pages_hide_what_a_role_may_not(shared: TeamBoard) -> None:
    def body(name: str) -> str:
        browser, pages = shared.browser(name)
        with browser:
            return str(re.findall(r"<body[^>]*>", browser.get(f"{pages}/sessions/s1").text)[0])

    assert "data-only-shows" in body("Cleo")
    assert 'data-may-not="dismiss"' in body("Ben")
    assert "data-only-shows" not in body("Ben")
    assert "data-may-not" not in body("Ann")


def test_who_signs_out_is_out_and_only_there(shared: TeamBoard) -> None:
    browser, pages = shared.browser("Ann")
    other, elsewhere = shared.browser("Ann")
    with browser, other:
        assert f"{shared.base}{browser.get(f'{pages}/sign-in').headers['location']}" == f"{pages}/sessions"
        answer = browser.post(f"{pages}/sign-out")
        assert answer.headers["location"] == "/sign-in"
        assert "Max-Age=0" in answer.headers["set-cookie"]
        assert browser.get(f"{pages}/sessions").status_code == 401
        assert other.get(f"{elsewhere}/sessions").status_code == 200


@pytest.mark.parametrize("how", ["remove", "sign-out", "role"])
def test_a_stream_ends_as_soon_as_its_person_is_out(team: TeamBoard, how: str) -> None:
    ended = threading.Event()
    with team.program("Ben") as ben, team.program("Ann") as ann, ExitStack() as streams:
        gone = streams.enter_context(ben.stream("GET", "/live/sessions/s1"))
        stays = streams.enter_context(ann.stream("GET", "/live/sessions/s1")).iter_lines()

        def read_all() -> None:
            for _ in gone.iter_lines():
                pass
            ended.set()

        reader = threading.Thread(target=read_all, daemon=True)
        reader.start()
        until(lambda: team.server.app.hub.watchers == 2)
        if how == "remove":
            team.users.change(lambda users: users.removed("Ben"))
        elif how == "sign-out":
            team.users.sign_out("Ben")
        else:
            team.users.change(lambda users: users.changed("Ben", lambda user: replace(user, role="look")))
        assert ended.wait(5)
        reader.join(5)
        assert ben.get("/sessions").status_code == (200 if how == "role" else 401)
        team.write("s1", items("pending", "pending", summary="news for Ann"))
        assert next(line for line in stays if "news for Ann" in line)


def test_users_that_can_not_be_read_let_nobody_in_and_no_stranger_hears_where_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with team_board(tmp_path) as team, team.program("Ann") as ann:
        assert ann.get("/sessions").status_code == 200
        team.users.path.write_text("{")
        for _ in range(2):
            answer = ann.get("/sessions")
            assert answer.status_code == 503
            assert str(tmp_path) not in answer.text
    assert capsys.readouterr().err.count(f"nobody can use the board: the users in {team.users.path} can't be read") == 1


def test_while_users_can_not_be_changed_people_are_told_and_no_stranger_hears_where_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with team_board(tmp_path) as team:
        ann, base = team.browser("Ann")
        lock = tmp_path / ".users.json.lock"
        lock.unlink()
        lock.symlink_to(tmp_path / "elsewhere")
        code = {"code": "BBBB-BBBB"}
        stranger = httpx.post(f"{team.base}/sign-in", data=code, headers={**HTML, "Origin": team.base}, timeout=20)
        with ann:
            stays = ann.post(f"{base}/sign-out")
            assert ann.get(f"{base}/sessions").status_code == 200
        for answer in (stranger, stays):
            assert answer.status_code == 503
            assert "can’t change its users" in answer.text.replace("&#39;", "’")
            assert str(tmp_path) not in answer.text
    err = capsys.readouterr().err
    assert err.count(f"nobody can sign in or out: the users in {team.users.path} can't be changed") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize("how", ["remove", "sign-out", "role", "damage"])
def test_an_act_that_began_before_its_person_was_out_is_not_written_after_it(team: TeamBoard, how: str) -> None:
    body = b'{"act": "comment", "text": "one last word"}'
    head = (
        f"POST {ACTS} HTTP/1.1\r\nHost: 127.0.0.1:{team.server.port}\r\nOrigin: {team.base}\r\nConnection: close\r\n"
        f"Authorization: Bearer {team.users.token('Ben')}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", team.server.port), timeout=20) as ben, ben.makefile("rb") as answer:
        ben.sendall(head.encode())
        assert b"100 Continue" in answer.readline()  # the board knows who it is, and waits for the rest
        if how == "remove":
            team.users.change(lambda users: users.removed("Ben"))
        elif how == "sign-out":
            team.users.sign_out("Ben")
        elif how == "role":
            team.users.change(lambda users: users.changed("Ben", lambda user: replace(user, role="look")))
        else:
            team.users.path.write_text("{")
        ben.sendall(body)
        said = answer.read().decode()
    assert "HTTP/1.1 403 " in said
    assert "Nothing was changed." in said
    assert "Ben" not in team.by()


def test_a_board_that_an_agent_started_only_shows_whatever_the_role(tmp_path: Path) -> None:
    with team_board(tmp_path, by=None) as team, team.program("Ann") as ann:
        assert ann.post(ACTS, json=COMMENT).status_code == 403
        assert "data-only-shows" in ann.get("/sessions/s1").text


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example", "127.0.0.2", ""])
def test_a_name_that_was_pointed_at_a_team_board_is_refused(shared: TeamBoard, name: str) -> None:
    assert httpx.get(f"{shared.base}/sign-in", headers={"Host": name}).status_code == 421


def test_a_board_on_all_addresses_answers_to_the_one_that_the_request_came_to(tmp_path: Path) -> None:
    with team_board(tmp_path, host="0.0.0.0", team={"insecure": True}) as team:
        port = team.server.port
        for address in ("127.0.0.1", "127.0.0.2"):
            assert httpx.get(f"http://{address}:{port}/sign-in").status_code == 200
        assert httpx.get(f"http://127.0.0.2:{port}/sign-in", headers={"Host": "127.0.0.3"}).status_code == 421
        assert f"http://{socket.gethostname().lower()}:{port}" in team.server.bases
        assert not any("0.0.0.0" in each for each in team.server.bases)


def test_a_board_on_all_ipv6_addresses_names_no_address_that_it_does_not_answer() -> None:
    for host, version in (("0.0.0.0", 4), ("::", 6)):
        name, *numbers = addresses_of(host)
        assert name == socket.gethostname().lower()
        assert {ip_address(each).version for each in numbers} <= {version}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "board.internal"])
def test_a_team_board_for_other_machines_needs_encryption_a_proxy_or_a_clear_word(tmp_path: Path, host: str) -> None:
    team = Team(UsersFile(tmp_path / "users.json"))
    with (
        open_journal("memory:") as journal,
        pytest.raises(InputError, match="--tls-cert and --tls-key, or put a proxy"),
    ):
        BoardServer(journal, host=host, team=team)
