"""Requests that hang: a writer that never ends, and a body that never comes. Everybody else goes on."""

import os
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import httpx
import pytest

from planwire.web.act_pool import LINE, THREADS
from tests.waiting import until
from tests.web.board import TOKEN, Running, items, running_board

POSTS = 60
ACTS = "/sessions/s1/plans/main/acts"


def test_while_a_writer_hangs_pages_and_history_are_read_and_acts_are_sent_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.web.act_pool.LINE_SECONDS", 1.0)
    path = tmp_path / "journal.db"
    answers: list[httpx.Response] = []
    with running_board(str(path)) as board:
        board.write("s1", items("pending"))
        headers = {"Authorization": f"Bearer {TOKEN}", "Origin": board.base}
        foreign = sqlite3.connect(path, isolation_level=None)
        foreign.execute("begin immediate")

        def post(number: int) -> None:
            act = {"act": "comment", "text": f"comment {number}"}
            answers.append(httpx.post(board.base + ACTS, json=act, headers=headers, timeout=60))

        posts = [threading.Thread(target=post, args=(number,), daemon=True) for number in range(POSTS)]
        try:
            for each in posts:
                each.start()
            until(lambda: len(answers) >= POSTS - THREADS - LINE)
            before = monotonic()
            for address in ("/sessions", "/sessions/s1", "/sessions/s1/history", "/sessions/s1/plans/main.json"):
                assert httpx.get(board.base + address, headers=headers, timeout=5).status_code == 200
            assert monotonic() - before < 5
            until(lambda: len(answers) >= POSTS - THREADS)
            assert {each.status_code for each in answers} == {503}
            assert {each.headers["retry-after"] for each in answers} == {"5"}
            assert "Try again" in answers[0].json()["error"]
        finally:
            foreign.rollback()
            foreign.close()
        for each in posts:
            each.join(30)
        assert sorted(each.status_code for each in answers) == [200] * THREADS + [503] * (POSTS - THREADS)


@pytest.mark.parametrize(
    "head",
    ["Content-Length: 2\r\n\r\n", "Content-Length: 20\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
    ids=["nothing", "a part", "a chunk"],
)
def test_a_body_that_never_comes_is_cut_off(board: Running, head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.web.server.BODY_SECONDS", 0.2)
    board.write("s1", items("pending"))
    host = f"127.0.0.1:{board.server.port}"
    with socket.create_connection(("127.0.0.1", board.server.port)) as raw:
        raw.settimeout(10)
        raw.sendall(
            f"POST {ACTS} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: application/json\r\n{head}".encode()
        )
        assert raw.recv(65_536) == b""
    assert board.get("/sessions").status_code == 200


def test_an_answer_may_take_longer_than_a_body(board: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline is for what the sender still owes, not for the board's own work."""
    monkeypatch.setattr("planwire.web.server.BODY_SECONDS", 0.1)
    board.write("s1", items("pending"))
    with board.client.stream("GET", "/live/sessions/s1") as answer:
        lines = answer.iter_lines()
        since = monotonic()
        while monotonic() - since < 0.3:
            board.write("s1", items("pending", summary=f"why {monotonic()}"))
            next(line for line in lines if line.startswith("data:"))


def is_locked(port: int) -> bool:
    """Whether the board answers."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/", timeout=5).status_code == 401
    except httpx.TransportError:
        return False


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such limit")
def test_more_connections_than_the_board_may_have_are_hung_up_on_without_a_traceback(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))"
    limited = f"{limit}; import runpy; runpy.run_module('planwire', run_name='__main__')"
    command = [
        sys.executable,
        "-P",
        "-c",
        limited,
        "board",
        "--port",
        "0",
        "--create",
        "--journal",
        str(tmp_path / "journal.db"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as board:
        try:
            assert board.stdout is not None
            port = int(board.stdout.readline().split("127.0.0.1:")[1].partition("/")[0])
            with ExitStack() as held:
                for _ in range(300):
                    held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            until(lambda: is_locked(port))
        finally:
            board.terminate()
            said = board.communicate(timeout=20)[1]
    assert "Traceback" not in said
    assert said.count("can't take more connections now") <= 1
