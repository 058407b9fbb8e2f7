"""`planwire board` as a person starts it and ends it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from planwire.cli import build_parser, main
from planwire.cli.board import _EDITORS
from planwire.cli.relay import _tell as tell
from planwire.extras import PACKAGES
from planwire.journal import Stamped, open_journal
from planwire.model.events import Remarked
from planwire.own_process import own_command
from planwire.web.plan_view import EDITORS
from tests import deciding
from tests.waiting import until
from tests.web.board import Running, items


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*own_command(), "board", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def address_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().split()[-1]


def test_the_command_prints_an_address_that_opens_the_board_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    journal = tmp_path / "j.db"
    with open_journal(journal) as written:
        deciding.write(written, "s1", Stamped(1, "agent", items("completed")))
    with start("--journal", str(journal)) as process:
        address = address_of(process)
        with httpx.Client(follow_redirects=True) as client:
            until(lambda: _answers(client, address))
            assert "s1" in client.get(address).text
        process.send_signal(signal.SIGINT)
        out, problems = process.communicate(timeout=20)
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in out + problems


def _answers(client: httpx.Client, address: str) -> bool:
    try:
        return client.get(address).status_code == 200
    except httpx.HTTPError:
        return False


def test_on_a_fresh_machine_the_board_opens_but_a_mistyped_journal_is_said_to_be_none(tmp_path: Path) -> None:
    with start(PLANWIRE_JOURNAL="", XDG_DATA_HOME=str(tmp_path), HOME=str(tmp_path)) as process:
        assert "http://127.0.0.1:" in address_of(process)
        process.kill()
        process.communicate()
    with start("--journal", str(tmp_path / "typo" / "plans.db")) as process:
        out, problems = process.communicate(timeout=20)
    assert (process.returncode, out) == (3, "")
    assert f"there is no journal at {tmp_path / 'typo' / 'plans.db'}" in problems
    assert "--create" in problems
    assert not (tmp_path / "typo").exists()


def test_the_token_is_new_every_time() -> None:
    tokens = []
    for _ in range(2):
        with start("--create") as process:
            tokens.append(address_of(process).partition("token=")[2])
            process.kill()
            process.communicate()
    assert len({*tokens}) == 2


def test_a_port_that_is_taken_is_said_in_one_line(board: Running, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", "--create", "--port", str(board.server.port)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "(Address already in use): choose another with --port" in said


@pytest.mark.parametrize("package", ["httptools", "starlette", "uvicorn"])
def test_without_a_package_one_is_told_which_and_what_to_install(package: str) -> None:
    """The MCP SDK brings Starlette and uvicorn, but not all that the board needs."""
    code = f"import sys; sys.modules[{package!r}] = None\nfrom planwire.cli import main\nsys.exit(main(['board']))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"the board needs {PACKAGES[package].title}" in done.stderr
    assert "pip install 'planwire[web]'" in done.stderr


def test_the_editors_of_the_command_are_those_that_have_links() -> None:
    assert set(_EDITORS) == {*EDITORS, "none"}


@pytest.mark.parametrize("port", ["x", "-1", "65536", "1.5", ""])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["board", "--port", port])
    assert "0 to 65535" in capsys.readouterr().err


def test_a_relay_serves_the_board_as_long_as_it_lasts(tmp_path: Path) -> None:
    relay = [*own_command(), "relay", "--board", "--", *own_command(module="planwire.demo.agent")]
    with subprocess.Popen(relay, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        address = said.split()[-1]
        assert said.startswith("planwire: the board is at http://127.0.0.1:")
        assert httpx.get(address, follow_redirects=True).status_code == 200
        process.stdin.close()
        assert process.wait(20) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)


def test_a_relay_that_ends_before_its_board_is_there_says_nothing_of_it() -> None:
    relay = own_command("relay", "--board", "--", "true")
    said = subprocess.run(
        relay, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    ).stderr
    assert said == "" or said.startswith("planwire: the board is at http://")


def test_a_board_that_does_not_start_is_said_so_and_the_agent_runs(tmp_path: Path) -> None:
    (tmp_path / "none.db").write_text("this is no journal")
    agent = ["--", *own_command(module="planwire.demo.agent")]
    relay = [*own_command(), "relay", "--board", "--journal", str(tmp_path / "none.db"), *agent]
    with subprocess.Popen(relay, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        assert b"planwire: the board did not start: `planwire board` says why\n" in iter(process.stderr.readline, b"")
        process.stdin.close()
        assert process.wait(20) == 0


def test_without_standard_error_the_address_is_not_written_to_the_client(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    tell("http://127.0.0.1/?token=secret")
    assert capsys.readouterr().out == ""


def test_a_board_that_an_agent_starts_only_shows_unless_it_has_a_name(tmp_path: Path) -> None:
    with open_journal(tmp_path / "default.db") as written:
        deciding.write(written, "s1", Stamped(1, "agent", items("pending")))
    for options, status in (([], 403), (["--as", "bot", "--yes"], 200)):
        with start(*options, PLANWIRE_AGENT="1") as process:
            address = httpx.URL(address_of(process))
            base, token = f"http://127.0.0.1:{address.port}", address.params["token"]
            headers = {"Authorization": f"Bearer {token}", "Origin": base}
            tick = {"act": "tick", "target": "s1"}
            answer = httpx.post(f"{base}/sessions/s1/plans/main/acts", json=tick, headers=headers)
            process.kill()
            _, problems = process.communicate()
        assert answer.status_code == status
        assert ("only shows: with --as NAME --yes" in problems) == (status == 403)
    with open_journal(tmp_path / "default.db") as written:
        [act] = written.read("s1", 1)
    assert isinstance(act.event, Remarked)
    assert (act.by, act.event.way) == ("bot", "below an agent"), "a token in the request hides no agent above the board"


def test_a_board_for_other_machines_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", "--create", "--host", "0.0.0.0"]) == 2
    said = capsys.readouterr().err
    assert "can't listen on 0.0.0.0: without --team it has no users, and is for this machine only" in said
    assert "ssh -L 8414:127.0.0.1:8414" in said


def test_a_delay_for_undo_that_makes_no_sense_is_refused_before_the_board_starts(tmp_path: Path) -> None:
    process = start("--create", PLANWIRE_JOURNAL=str(tmp_path / "j.db"), PLANWIRE_UNDO_SECONDS="soon")
    said, trouble = process.communicate(timeout=20)
    assert (said, process.returncode) == ("", 2)
    assert "PLANWIRE_UNDO_SECONDS is 'soon': set it to a number of seconds from 0 to 60" in trouble
