"""Attacks from other pages, other machines and other programs: each is tried, and refused."""

import re
import socket
from collections.abc import Iterator
from time import monotonic

import httpx
import pytest

from planwire.errors import InputError
from planwire.journal import open_journal
from planwire.web import BoardServer
from planwire.web.guard import LARGEST_BODY, LONGEST_ADDRESS
from planwire.web.server import LARGEST_HEAD, TOKEN_VARIABLE, new_token
from tests.web.board import TOKEN, Running, items, running_board

ADDRESSES = ("/sessions", "/sessions.json", "/sessions/s1", "/sessions/s1/history", "/live/sessions/s1", "/about.json")


@pytest.fixture(scope="module")
def board() -> Iterator[Running]:
    """One for all: nobody gets in, so nobody changes it."""
    with running_board() as running:
        running.write("s1", items("pending"))
        yield running


def host(board: Running) -> str:
    return f"127.0.0.1:{board.server.port}"


def test_the_board_listens_on_this_machine_only() -> None:
    with running_board() as board:
        assert board.server._socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("address", ADDRESSES)
def test_without_the_token_nothing_is_shown(board: Running, address: str) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Cookie": "planwire=x"},
    ):
        answer = httpx.get(board.base + address, headers=headers)
        assert answer.status_code == 401
        assert "step 1" not in answer.text


@pytest.mark.parametrize("wrong", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ä" * 20])
def test_a_token_that_is_nearly_right_is_wrong(board: Running, wrong: str) -> None:
    answer = httpx.get(f"{board.base}/sessions", params={"token": wrong})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_the_token_goes_from_the_address_into_a_cookie_that_stands_for_it_below_one_path(board: Running) -> None:
    answer = httpx.get(board.server.address)
    assert answer.status_code == 303
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == f"planwire-{board.server.port}"  # another board on another port has another one
    assert rest == f"{board.key.value}; Path={board.key.path}; HttpOnly; SameSite=Strict"
    assert answer.headers["location"] == f"{board.key.path}/"
    assert TOKEN not in str(answer.headers)
    assert httpx.get(f"{board.pages}/sessions", cookies={name: board.key.value}).status_code == 200


def test_a_cookie_is_no_token_and_counts_below_its_path_only(board: Running) -> None:
    cookie, key = board.cookie, board.key
    for address in ADDRESSES:
        assert httpx.get(board.base + address, cookies={cookie: key.value}).status_code == 401
        assert httpx.get(board.base + address, cookies={cookie: TOKEN}).status_code == 401
        assert httpx.get(board.pages + address, cookies={cookie: TOKEN}).status_code == 401
        assert httpx.get(board.pages + address).status_code == 401
        assert httpx.get(f"{board.base}/x{key.path[2:]}{address}", cookies={cookie: key.value}).status_code == 401
        for given in (key.value, key.path, key.path[1:]):
            assert httpx.get(board.base + address, headers={"Authorization": f"Bearer {given}"}).status_code == 401
            assert httpx.get(board.base + address, params={"token": given}).status_code == 401


def test_no_board_takes_the_cookie_of_another_not_even_with_the_same_token(board: Running) -> None:
    with running_board() as other:
        assert other.key.path != board.key.path
        there = other.base + board.key.path + "/sessions"
        cookies = {other.cookie: board.key.value, board.cookie: board.key.value}
        assert httpx.get(there, cookies=cookies).status_code == 401
        assert httpx.get(f"{other.pages}/sessions", cookies=cookies).status_code == 401


def test_a_browser_stays_below_its_path_wherever_it_goes(board: Running) -> None:
    """Every address in a page and in a stream leads back there; a program is led by none."""
    cookies = {board.cookie: board.key.value}
    assert httpx.get(f"{board.pages}/", cookies=cookies).headers["location"] == f"{board.key.path}/sessions"
    for address in ("/sessions", "/sessions/s1", "/sessions/s1/plans/main", "/sessions/s1/history", "/sessions/nobody"):
        answer = httpx.get(board.pages + address, cookies=cookies)
        found = re.findall(r'="(/[^"]+)"', answer.text)
        assert found
        assert [each for each in found if not each.startswith((board.key.path + "/", "/static/"))] == []
        assert board.key.path not in board.get(address).text
    with httpx.stream("GET", f"{board.pages}/live/sessions/s1", cookies=cookies) as answer:
        page = next(line for line in answer.iter_lines() if line.startswith("data:"))
    assert f'href=\\"{board.key.path}/sessions/s1/plans/main\\"' in page
    assert '=\\"/sessions' not in page


def test_the_token_in_an_address_leads_to_that_address_and_never_to_another_machine(board: Running) -> None:
    query = f"?at=3&token={TOKEN}&x=%0d%0aSet-Cookie:a=b"
    for base in (board.base, board.pages):
        answer = httpx.get(f"{base}/sessions/s1{query}", cookies={board.cookie: board.key.value})
        assert answer.headers["location"] == f"{board.key.path}/sessions/s1?at=3&x=%0D%0ASet-Cookie%3Aa%3Db"
    for path in ("//evil.example/", "/%2f%2fevil.example", "/\\evil.example", "/%5c%5cevil.example"):
        answer = httpx.get(f"{board.base}{path}?token={TOKEN}")
        assert answer.headers["location"] == f"{board.key.path}/"


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.7", "board.internal", "", "2130706433"])
def test_the_board_listens_on_no_address_that_other_machines_reach(address: str) -> None:
    with open_journal("memory:") as journal, pytest.raises(InputError, match=r"ssh -L 8414:127\.0\.0\.1:8414"):
        BoardServer(journal, host=address, port=8414)


@pytest.mark.parametrize(
    "name",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "", "127.0.0.2", "[::2]"],
)
def test_a_name_that_was_pointed_at_this_machine_is_refused(board: Running, name: str) -> None:
    """DNS rebinding: the browser sends the attacker's name, and even the right token does not help."""
    for address in (*ADDRESSES, "/static/board.js"):
        assert board.get(address, headers={"Host": name}).status_code == 421


def test_two_names_at_once_are_refused(board: Running) -> None:
    with socket.create_connection(("127.0.0.1", board.server.port)) as raw:
        raw.sendall(
            f"GET /sessions HTTP/1.1\r\nHost: {host(board)}\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode()
        )
        answer = raw.makefile("rb").readline()
    assert answer.split()[1] in (b"400", b"421")


def test_no_stranger_writes_lines_for_whoever_runs_the_board(capfd: pytest.CaptureFixture[str]) -> None:
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket"
    with running_board() as board:
        host = f"Host: 127.0.0.1:{board.server.port}"
        for request in ("no HTTP at all", f"GET / HTTP/1.1\r\n{host}\r\n{upgrade}"):
            with socket.create_connection(("127.0.0.1", board.server.port), timeout=20) as raw:
                raw.sendall(f"{request}\r\n\r\n".encode())
                assert raw.recv(12) in (b"HTTP/1.1 400", b"HTTP/1.1 401")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "localhost:9999"])
def test_the_names_of_this_machine_are_accepted_behind_any_port(board: Running, name: str) -> None:
    assert board.get("/sessions", headers={"Host": name}).status_code == 200


def test_another_name_is_accepted_once_it_is_allowed() -> None:
    with running_board(allow_hosts=["board.internal"]) as board:
        assert board.get("/sessions", headers={"Host": "board.internal:8414"}).status_code == 200
        assert board.get("/sessions", headers={"Host": "other.internal"}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://localhost:3000", "null", "http://127.0.0.1", "http://evil.example@127.0.0.1", "x"],
)
def test_a_request_that_another_site_made_is_refused_even_with_the_token(board: Running, origin: str) -> None:
    for address in ADDRESSES:
        assert board.get(address, headers={"Origin": origin}).status_code == 403
    assert board.get("/sessions", headers={"Origin": board.base}).status_code == 200


def test_a_request_that_names_two_origins_is_refused_whichever_comes_first(board: Running) -> None:
    for origins in ((board.base, "https://evil.example"), ("https://evil.example", board.base)):
        answer = board.client.post("/sessions/s1/plans/main", headers=[("Origin", each) for each in origins])
        assert answer.status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pictures_scripts_frames_and_fetches_of_other_sites_are_refused(board: Running, site: str) -> None:
    """Another port of this machine is the same site, and would send the cookie along."""
    for mode, target in (("no-cors", "script"), ("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": target}
        assert board.get("/sessions", headers=headers).status_code == 403
    link = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert board.get("/sessions", headers=link).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed_and_a_form_of_another_site_is_not_even_looked_at(board: Running, method: str) -> None:
    assert board.client.request(method, "/sessions/s1").status_code == 403
    assert board.client.request(method, "/sessions/s1", headers={"Origin": "https://evil.example"}).status_code == 403
    assert board.client.request(method, "/sessions/s1", headers={"Origin": board.base}).status_code == 405


@pytest.mark.parametrize("address", [*ADDRESSES[:4], "/nothing", "/static/board.css"])
def test_every_answer_forbids_what_the_pages_do_not_need(board: Running, address: str) -> None:
    headers = board.get(address).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "form-action 'self'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert ("no-store" in headers["cache-control"]) == (not address.startswith("/static/"))


def test_no_page_has_scripts_or_styles_in_line(board: Running) -> None:
    for address in ("/sessions", "/sessions/s1", "/sessions/s1/history", "/sessions/s1/compare"):
        page = board.page(address)
        assert "style=" not in page
        assert "<style" not in page
        assert page.count("<script") == 1
        assert '<script src="/static/board.js?' in page
        assert "://" not in page.replace("http://127", "")


def test_a_body_that_is_too_large_is_refused_before_it_is_read(board: Running) -> None:
    answer = board.client.post("/sessions", content=b"x" * (LARGEST_BODY + 1), headers={"Origin": board.base})
    assert answer.status_code == 413


def test_a_body_that_never_ends_is_not_kept(board: Running) -> None:
    def endless() -> object:
        for _ in range(LARGEST_BODY // 1_000 + 50):
            yield b"x" * 1_000

    try:
        answer = board.client.post("/sessions", content=endless(), headers={"Origin": board.base})  # type: ignore[arg-type]
    except httpx.HTTPError:
        return  # the board hung up, which is as good
    assert answer.status_code in (405, 413)


def test_an_address_or_a_header_that_is_too_long_is_refused(board: Running) -> None:
    assert board.get("/sessions?q=" + "x" * LONGEST_ADDRESS).status_code == 414
    with socket.create_connection(("127.0.0.1", board.server.port)) as raw:
        raw.settimeout(20)
        token = f"Authorization: Bearer {TOKEN}".encode()
        try:
            raw.sendall(
                b"GET /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n" + token + b"\r\nX: " + b"x" * 500_000 + b"\r\n\r\n"
            )
            answer = raw.makefile("rb").readline()
        except OSError:  # the board hung up while it was still being talked to
            answer = b""
    assert b" 431 " in answer or not answer or b" 400 " in answer
    assert board.get("/sessions").status_code == 200


def test_an_address_with_a_slash_behind_it_leads_nowhere_else(board: Running) -> None:
    assert httpx.get(f"{board.pages}/sessions/", cookies={board.cookie: board.key.value}).status_code == 404


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: ",
        b"GET /",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
    ],
    ids=["headers", "one header", "an address", "trailers"],
)
def test_a_request_that_never_ends_is_cut_off(board: Running, beginning: bytes) -> None:
    line = b"x: " + b"x" * 4_000 + b"\r\n" if beginning.endswith(b"\n") else b"x" * 4_000

    def say_all(raw: socket.socket) -> None:
        raw.sendall(beginning)
        for _ in range(40 * LARGEST_HEAD // len(line)):
            raw.sendall(line)

    raw = socket.create_connection(("127.0.0.1", board.server.port), timeout=20)
    with raw, pytest.raises((BrokenPipeError, ConnectionResetError)):
        say_all(raw)
    assert board.get("/sessions").status_code == 200


@pytest.mark.parametrize("said", [b"", b"\r\n", b"GET /sess", b"GET / HTTP/1.1\r\nHost: x\r\nX: "])
def test_who_does_not_say_what_they_want_holds_no_connection(
    board: Running, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.web.server.HEAD_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", board.server.port)) as raw:
        raw.settimeout(10)
        raw.sendall(said)
        assert raw.recv(65_536) == b""


def test_a_stream_lasts_longer_than_the_head_of_a_request_may_take(
    board: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.web.server.HEAD_SECONDS", 0.1)
    board.open()
    with board.client.stream("GET", "/live/sessions/s1") as answer:
        lines = answer.iter_lines()
        since = monotonic()
        while monotonic() - since < 0.3:  # every note is an event on the stream
            board.write("s1", items("pending", summary=f"why {monotonic()}"))
            next(line for line in lines if line.startswith("data:"))


@pytest.mark.parametrize(
    "path",
    [
        "/sessions?" + "&".join(["a=1"] * 400),
        "/sessions?token&token&q=%ff%fe&page=99999&state=%00",
        "/sessions?page=%D9%A1&q=" + "%F0%9F%92%A9" * 100,
        "/sessions/%FF",
        "/sessions/~_____",
        "/sessions/.json",
        "/.json",
        "/live/sessions/s1/plans/.md",
    ],
)
def test_odd_requests_are_answered_and_never_break_the_board(board: Running, path: str) -> None:
    assert board.get(path).status_code < 500
    assert httpx.get(board.base + path).status_code == 401
    assert board.get("/sessions").status_code == 200


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"]
)
def test_static_files_are_those_of_the_board_and_no_others(board: Running, path: str) -> None:
    with socket.create_connection(("127.0.0.1", board.server.port)) as raw:
        request = (
            f"GET {path} HTTP/1.1\r\nHost: {host(board)}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
        )
        raw.sendall(request.encode())
        assert raw.makefile("rb").readline().split()[1] == b"404"


def test_a_token_of_the_environment_must_be_hard_to_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "short")
    with pytest.raises(InputError, match="at least"):
        new_token()
    monkeypatch.setenv(TOKEN_VARIABLE, "x" * 16 + "; Domain=evil.example")
    with pytest.raises(InputError):
        new_token()
    monkeypatch.delenv(TOKEN_VARIABLE)
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 32


def test_a_port_that_is_taken_is_said_so(board: Running) -> None:
    with open_journal("memory:") as journal, pytest.raises(InputError, match="--port"):
        BoardServer(journal, port=board.server.port)
