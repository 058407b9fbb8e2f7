"""Agents on two machines, a board on a third and a person on a fourth, with nothing in common but a journal's URL."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from planwire.own_process import own_command
from tests.agents.driving import Relayed
from tests.servers.own import ENGINES_WITH_SERVERS, own_server
from tests.waiting import until
from tests.wire import JSON, entry, request

TOKEN = "a-token-for-a-team-of-tests"
#: Seconds until what one machine says is seen on another, also if the server was restarted in between.
SOON = 40.0


def machine(folder: Path) -> dict[str, str]:
    """The environment of a machine of its own: its home, and all that programs keep there."""
    home = folder / "home"
    runtime = folder / "runtime"
    for each in (home, runtime):
        each.mkdir(parents=True)
    runtime.chmod(0o700)
    places = {"XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config"}
    return {"HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), **{k: str(home / v) for k, v in places.items()}}


def planwire(url: str, place: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*own_command(), *arguments],
        env={**os.environ, **place, "PLANWIRE_JOURNAL": url},
        capture_output=True,
        text=True,
        timeout=SOON,
        check=False,
    )


@contextmanager
def board(url: str, place: dict[str, str]) -> Iterator[Callable[[], list[JSON]]]:
    """A board as a process. Gives what it says of all sessions."""
    environment = {**os.environ, **place, "PLANWIRE_JOURNAL": url, "PLANWIRE_BOARD_TOKEN": TOKEN}
    with subprocess.Popen(
        own_command("board", "--create", "--port", "0"),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            base = process.stdout.readline().split()[-1].partition("/?")[0]
            client = httpx.Client(base_url=base, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=SOON)
            with client:
                yield lambda: list(client.get("/sessions.json").json()["sessions"])
        finally:
            process.terminate()


@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_two_machines_are_on_one_board_and_a_third_one_approves_though_the_server_restarts(
    engine: str, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.jsonl"
    places = {name: machine(tmp_path / name) for name in ("first", "second", "third", "board")}
    with own_server(engine) as server, ExitStack() as running:
        url = server.url
        working = running.enter_context(
            Relayed("scripted.py", str(tmp_path / "memory.jsonl"), journal=url, machine=places["first"])
        )
        asking = running.enter_context(Relayed("asks.py", str(notes), journal=url, machine=places["second"]))
        session = working.begin()
        working.prompt(session, {"sessionUpdate": "plan", "entries": [entry("Read"), entry("Write")]})
        asking.begin()
        ask = request("session/prompt", 9, sessionId="s", prompt=[{"type": "text", "text": "Plan it"}])
        asking.write(ask + b"\n")
        assert json.loads(asking.line())["method"] == "session/request_permission"

        shown = running.enter_context(board(url, places["board"]))
        until(lambda: {each["state"] for each in shown()} == {"idle", "needs_you"}, SOON)

        server.restart()
        done = [entry("Read", status="completed"), entry("Write")]
        working.prompt(session, {"sessionUpdate": "plan", "entries": done})
        until(lambda: 1 in {each["progress"]["done"] for each in shown()}, SOON)

        def approved() -> bool:
            answer = planwire(url, places["third"], "approve", "--session", "s", "--as", "eve", "--yes")
            return answer.returncode == 0

        until(approved, SOON)
        until(lambda: '"selected"' in notes.read_text(), SOON)
        log = planwire(url, places["third"], "log", "--session", "s")
        assert "eve" in log.stdout, log
