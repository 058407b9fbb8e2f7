"""Acts whose answers were lost with the board: another board answers as the first one did, and writes nothing."""

import json
import signal
import socket
from pathlib import Path

import httpx

from planwire.journal import Stamped, open_journal
from tests import deciding
from tests.waiting import until
from tests.web.board import items, running_board
from tests.web.steering import Here
from tests.web.test_acts import WRITTEN
from tests.web.test_board_command import address_of, start

PLAN = items("pending", "pending", "pending", via="tools")
ADD = {"act": "add", "text": "New", "seen": 1}


def test_a_board_that_was_restarted_gives_the_answers_of_the_one_before(tmp_path: Path) -> None:
    answers: list[dict[str, object]] = []
    for _ in range(2):
        with running_board(str(tmp_path / "journal.db")) as board:
            said = {}
            for act, (body, _) in WRITTEN.items():
                here = Here(board, f"session-of-{act}")
                if not answers:
                    here.write(PLAN)
                said[act] = here.act(act, key="k1", seen=1, **body).json()
                assert len(here.events()) == 2
            answers.append(said)
    assert answers[0] == answers[1]


def test_one_name_on_two_plans_names_two_acts(here: Here) -> None:
    here.write(PLAN, items("pending", plan_id="other", via="tools"))
    revisions = [here.act("tick", plan, key="k1", target="s1").json()["revision"] for plan in ("main", "other") * 2]
    assert revisions == [3, 4, 3, 4]


def test_an_act_whose_answer_died_with_the_board_is_sent_again_and_written_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with open_journal(path) as journal:
        deciding.write(journal, "s1", Stamped(1, "agent", PLAN))
        with start("--journal", str(path)) as killed:
            url, headers = request_to(address_of(killed))
            with socket.create_connection((url.host, url.port or 0)) as connection:
                body = json.dumps(ADD)
                lines = [f"POST {url.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
                lines += [f"Host: {url.host}:{url.port}", f"Content-Length: {len(body)}", "", body]
                connection.sendall("\r\n".join(lines).encode())
                until(lambda: journal.last_seq("s1") == 2)
                killed.send_signal(signal.SIGKILL)
                killed.communicate()
        with start("--journal", str(path)) as process:
            url, headers = request_to(address_of(process))
            answers = [httpx.post(url, json=ADD, headers=headers).json() for _ in range(2)]
            process.kill()
            process.communicate()
        assert journal.last_seq("s1") == 2
    said = {"words": "Changed: add “New”", "revision": 2, "from": 1, "suggestion": False, "remark": None, "added": "s4"}
    assert answers == [said, said]


def request_to(address: str) -> tuple[httpx.URL, dict[str, str]]:
    """Where to post an act to a board that printed this address, and the headers with the name of the act."""
    board = httpx.URL(address)
    token = {"Authorization": f"Bearer {board.params['token']}", "Origin": f"http://{board.host}:{board.port}"}
    headers = {**token, "Content-Type": "application/json", "Idempotency-Key": "k1"}
    return board.copy_with(path="/sessions/s1/plans/main/acts", query=None), headers
