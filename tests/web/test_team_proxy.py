"""A team's board behind a reverse proxy: the real nginx, with the settings of the documentation."""

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from planwire.journal import open_journal
from planwire.session.users_file import UsersFile
from planwire.web import BoardServer
from planwire.web.team import Team, TrustedProxy
from tests.availability import or_skip
from tests.programs import NGINX
from tests.web.board import items
from tests.web.nginx import running_nginx
from tests.web.team import HTML, TeamBoard, team_board

ROOT = Path(__file__).parent.parent.parent
ACTS = "/sessions/s1/plans/main/acts"
COMMENT = {"act": "comment", "text": "use SQLite"}
HEADER = "X-Forwarded-User"
PROXY = TrustedProxy(HEADER, "127.0.0.1")
CRLF = "\r\n"


class Proxied(NamedTuple):
    board: TeamBoard
    base: str


@pytest.fixture(scope="module")
def settings() -> str:
    """The settings in the documentation, without what a test has no use for: TLS and names."""
    or_skip(NGINX.path)
    [block] = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs" / "team.md").read_text(), re.DOTALL)
    return re.sub(r"^ *(ssl_\w+|server_name) .*\n", "", block, flags=re.MULTILINE)


def with_addresses(settings: str, board: str, folder: Path) -> str:
    passwords = folder / "people"
    hashed = subprocess.run(["openssl", "passwd", "-apr1", "pw"], capture_output=True, text=True, check=True)
    passwords.write_text("".join(f"{name}:{hashed.stdout.strip()}\n" for name in ("Ben", "Zoe")))
    changed = settings.replace("listen 443 ssl;", "listen 127.0.0.1:PORT;").replace("http://127.0.0.1:8414", board)
    return re.sub(r"auth_basic_user_file .*;", f"auth_basic_user_file {passwords};", changed)


@pytest.fixture(scope="module")
def proxied(settings: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder = tmp_path_factory.mktemp("proxied")
    with ExitStack() as running:
        board = running.enter_context(team_board(folder, team={"proxy": PROXY}))
        port = running.enter_context(running_nginx(folder, with_addresses(settings, board.base, folder)))
        yield Proxied(board, f"http://127.0.0.1:{port}")


def test_the_proxy_says_who_it_is_and_what_they_do_has_their_name(proxied: Proxied) -> None:
    with httpx.Client(base_url=proxied.base, auth=("Ben", "pw"), headers={"Origin": proxied.base}) as ben:
        page = ben.get("/sessions/s1", headers=HTML).text
        assert '<bdi class="name">Ben</bdi><span class="role">can steer</span>' in page
        assert "Sign out" not in page
        assert ben.post(ACTS, json=COMMENT).status_code == 200
        assert ben.post(ACTS, json={"act": "review", "verdict": "approved"}).status_code == 403
    assert proxied.board.by()[-1] == "Ben"


def test_a_header_that_a_client_sends_is_overwritten_by_the_proxy(proxied: Proxied) -> None:
    for headers in ([(HEADER, "Ann")], [(HEADER, "Ann"), (HEADER, "Ann")], [(HEADER.lower(), "Ann")]):
        answer = httpx.get(f"{proxied.base}/sessions", auth=("Ben", "pw"), headers=[*headers, ("Accept", "text/html")])
        assert '<bdi class="name">Ben</bdi>' in answer.text
        assert "Ann" not in answer.text
    assert httpx.get(f"{proxied.base}/sessions", headers={HEADER: "Ann"}).status_code == 401


def test_the_live_stream_flows_through_the_proxy(proxied: Proxied) -> None:
    with httpx.stream("GET", f"{proxied.base}/live/sessions/s1", auth=("Ben", "pw"), timeout=10) as answer:
        lines = answer.iter_lines()
        assert next(line for line in lines if line.startswith("data:"))
        proxied.board.write("s1", items("pending", summary="news by way of nginx"))
        assert next(line for line in lines if "news by way of nginx" in line)


def test_who_the_proxy_knows_and_the_board_does_not_is_told_so(proxied: Proxied) -> None:
    answer = httpx.get(f"{proxied.base}/sessions", auth=("Zoe", "pw"), headers=HTML)
    assert answer.status_code == 403
    assert "You are not a user of this board" in answer.text


@pytest.mark.parametrize(("role", "status"), [("look", 200), (None, 403)])
def test_others_have_the_role_that_was_given_to_them_or_none(tmp_path: Path, role: str | None, status: int) -> None:
    proxy = TrustedProxy(HEADER, "127.0.0.1", role)
    with team_board(tmp_path, team={"proxy": proxy}) as board:
        headers = {HEADER: "Zoe", "Origin": board.base}
        assert httpx.get(f"{board.base}/sessions", headers=headers).status_code == status
        assert httpx.post(board.base + ACTS, json=COMMENT, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("name", "why"),
    [*((each, "who is not the user") for each in ("ann", "Ａｎｎ", "ANN")), ("\u0410nn", "words of one script")],
)
def test_a_name_that_only_reads_like_a_users_is_nobodys(tmp_path: Path, name: str, why: str) -> None:
    """Whoever may choose a name where the proxy knows people could choose one that looks like Ann's."""
    with team_board(tmp_path, team={"proxy": TrustedProxy(HEADER, "127.0.0.1", "look")}) as board:
        headers = [(HEADER.encode(), name.encode()), (b"Accept", b"text/html")]
        answer = httpx.get(f"{board.base}/sessions", headers=headers)
        assert answer.status_code == 403
        assert why in answer.text
        assert "Not from the proxy" not in answer.text


def test_the_header_from_anywhere_else_is_refused_and_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with team_board(tmp_path, team={"proxy": TrustedProxy(HEADER, "192.0.2.7")}) as board:
        token = board.users.token("Ann")
        for headers in ({HEADER: "Ann"}, {}, {"Authorization": f"Bearer {token}"}, {HEADER: "Ben"}):
            assert httpx.get(f"{board.base}/sessions", headers=headers).status_code == 403
    said = capsys.readouterr().err
    assert said.count("refused a request with X-Forwarded-User from 127.0.0.1: only the proxy at 192.0.2.7") == 1


@pytest.mark.parametrize("names", [["Ann", "Ben"], ["user"], ["agent"], [""], ["Ann\x7f"], [b"\xff"]])
def test_a_proxy_that_does_not_name_one_person_lets_nobody_in(tmp_path: Path, names: list[str | bytes]) -> None:
    with team_board(tmp_path, team={"proxy": PROXY}) as board:
        headers = [(HEADER.encode(), name if isinstance(name, bytes) else name.encode()) for name in names]
        assert httpx.get(f"{board.base}/sessions", headers=headers).status_code in (400, 403)


def test_a_header_after_the_body_names_nobody(tmp_path: Path) -> None:
    """A proxy that sets or removes the header may pass on what follows a body in pieces."""
    with team_board(tmp_path, team={"proxy": PROXY}) as board:
        for names, status in (([], b"401"), ([f"{HEADER}: Ben"], b"200")):
            host = f"Host: 127.0.0.1:{board.server.port}"
            head = ["GET /sessions HTTP/1.1", host, "Connection: close", "Transfer-Encoding: chunked", *names, "", ""]
            with socket.create_connection(("127.0.0.1", board.server.port), timeout=20) as raw:
                raw.sendall(f"{CRLF.join(head)}0{CRLF}{HEADER}: Ann{CRLF}{CRLF}".encode())
                answer = raw.makefile("rb").read()
            assert answer.split()[1] == status
            assert b"Ann" not in answer


def test_behind_a_proxy_nobody_signs_in_with_a_code(tmp_path: Path) -> None:
    with team_board(tmp_path, team={"proxy": PROXY}) as board:
        stranger = httpx.get(f"{board.base}/sign-in", headers=HTML)
        assert stranger.status_code == 401
        assert f"The proxy names people in {HEADER}, and named nobody." in stranger.text
        form = {"code": board.users.pairing_code("Ann")}
        assert httpx.post(f"{board.base}/sign-in", data=form, headers={"Origin": board.base}).status_code == 401


def test_a_board_on_a_unix_socket_believes_whoever_reaches_it(tmp_path: Path) -> None:
    path = tmp_path / "board.sock"
    with team_board(tmp_path, team={"proxy": TrustedProxy(HEADER, "")}, uds=str(path)):
        assert path.stat().st_mode & 0o777 == 0o660
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as client:
            answer = client.get("/sessions", headers={HEADER: "Ann", **HTML})
            assert '<bdi class="name">Ann</bdi>' in answer.text
            assert client.get("/sessions").status_code == 401
    assert not path.exists()


def test_a_board_that_ends_leaves_the_socket_of_the_next_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "board.sock"
    team = Team(UsersFile(tmp_path / "users.json"), TrustedProxy(HEADER, ""))
    with open_journal("memory:") as journal:
        first = BoardServer(journal, team=team, uds=str(path))
        first._socket.close()  # as it does itself, before it waits for requests that are under way
        second = BoardServer(journal, team=team, uds=str(path))
        first.close()
        assert path.exists()
        second.close()
        assert not path.exists()
