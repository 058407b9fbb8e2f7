"""One address can't lock a team out: its connections and its wrong codes are its own trouble."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.waiting import until
from tests.web.board import items
from tests.web.team import HTML, TeamBoard, team_board

MOST = 20
STRANGER = "127.0.0.1"
PERSON = "127.0.0.2"

pytestmark = pytest.mark.skipif(os.uname().sysname != "Linux", reason="only Linux has all of 127.0.0.0/8")


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TeamBoard]:
    monkeypatch.setattr("planwire.web.admission.most_connections", lambda: MOST)
    with team_board(tmp_path, host="0.0.0.0", team={"insecure": True}) as board:
        yield board


def own_way(address: str) -> httpx.HTTPTransport:
    return httpx.HTTPTransport(local_address=address)


def connect(board: TeamBoard, said: bytes = b"", address: str = STRANGER) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", board.server.port), 20, (address, 0))
    made.sendall(said)
    return made


def is_hung_up_on(connection: socket.socket) -> bool:
    connection.settimeout(0.01)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: 9\r\n\r\nc",
    ],
    ids=["silent", "half a head", "half a body"],
)
def test_idle_connections_of_one_address_keep_nobody_out(board: TeamBoard, said: bytes) -> None:
    board.base = f"http://127.0.0.1:{board.server.port}"
    with ExitStack() as held:
        crowd = [held.enter_context(connect(board, said)) for _ in range(3 * MOST)]
        for address in (PERSON, STRANGER):  # also not those who share it
            for _ in range(5):
                with board.program("Ann", transport=own_way(address)) as ann:
                    assert ann.get("/sessions").status_code == 200
        until(lambda: sum(map(is_hung_up_on, crowd)) >= 2 * MOST)
        assert not is_hung_up_on(crowd[-1])


def test_a_connection_that_a_person_was_let_in_on_stays(board: TeamBoard) -> None:
    board.base = f"http://127.0.0.1:{board.server.port}"
    with (
        board.program("Ann", transport=own_way(STRANGER)) as ann,
        ExitStack() as held,
        ann.stream("GET", "/live/sessions/s1") as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        crowd = [held.enter_context(connect(board)) for _ in range(3 * MOST)]
        until(lambda: any(map(is_hung_up_on, crowd)))
        board.write("s1", items("pending", summary="Read it twice"))
        assert next(line for line in lines if "Read it twice" in line)


def test_of_two_strangers_the_one_with_the_most_connections_pays(board: TeamBoard) -> None:
    with ExitStack() as held:
        quiet = held.enter_context(connect(board, address=PERSON))
        crowd = [held.enter_context(connect(board)) for _ in range(3 * MOST)]
        until(lambda: sum(map(is_hung_up_on, crowd)) >= 2 * MOST)
        assert not is_hung_up_on(quiet)


def sign_in(board: TeamBoard, address: str, code: str) -> int:
    headers = {**HTML, "Origin": board.base}
    with httpx.Client(transport=own_way(address), timeout=20) as browser:
        return browser.post(f"{board.base}/sign-in", data={"code": code}, headers=headers).status_code


def test_wrong_codes_of_one_address_lock_nobody_else(board: TeamBoard) -> None:
    board.base = f"http://127.0.0.1:{board.server.port}"
    assert {sign_in(board, STRANGER, "AAAA-AAAA") for _ in range(40)} == {403, 429}
    assert sign_in(board, STRANGER, board.users.pairing_code("Ann")) == 429
    assert sign_in(board, PERSON, board.users.pairing_code("Ann")) == 303


@pytest.mark.parametrize("body", ["", "cod", "x=1", "&".join(f"a{n}=1" for n in range(20)), "code=" + 3_000 * "A"])
def test_a_broken_body_is_no_wrong_code(board: TeamBoard, body: str) -> None:
    board.base = f"http://127.0.0.1:{board.server.port}"
    headers = {**HTML, "Origin": board.base, "Content-Type": "application/x-www-form-urlencoded"}
    with httpx.Client(transport=own_way(STRANGER), timeout=20) as browser:
        for _ in range(8):
            answer = browser.post(f"{board.base}/sign-in", content=body, headers=headers)
            assert answer.status_code == 400
            assert 'name="code"' in answer.text
    assert sign_in(board, STRANGER, board.users.pairing_code("Ann")) == 303


def test_a_body_that_never_comes_is_no_wrong_code(board: TeamBoard) -> None:
    board.base = f"http://127.0.0.1:{board.server.port}"
    host = f"127.0.0.1:{board.server.port}"
    head = f"POST /sign-in HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 14\r\n\r\ncode="
    for _ in range(8):
        connect(board, head.encode()).close()
    assert sign_in(board, STRANGER, board.users.pairing_code("Ann")) == 303
