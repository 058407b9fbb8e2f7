"""planwire, set up in a real agent as a person does it: `planwire setup`, once, and what it then has in its journal."""

import json
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from planwire.cli.exit_codes import DONE, NOT_FOUND
from planwire.own_process import own_command
from tests.terminals.agents import AGENTS, TerminalAgent
from tests.waiting import until

__all__ = ["Installed"]

SECONDS = 110
#: What `planwire setup` calls the agents.
NAMES = {"claude": "claude-code"}


class Installed:
    """An agent with planwire in it, and the planwire of the person beside it."""

    def __init__(self, name: str, model: str, home: Path, *options: str, **settings: str) -> None:
        self.home = home
        self.agent: TerminalAgent = AGENTS[name](model, home, **settings)
        self.set_up = self.run("setup", NAMES.get(name, name), "--yes", *options)

    def run(self, *arguments: str) -> str:
        """What a command of planwire prints."""
        done = self._run(*arguments)
        assert done.returncode == DONE, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def session(self) -> Mapping[str, Any]:
        """The newest session and its plans, as `planwire show --json` has them."""
        done = self._run("show", "--json")
        if done.returncode == NOT_FOUND:
            return {"asked": False, "plans": []}
        shown: Mapping[str, Any] = json.loads(done.stdout)
        return shown

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*own_command(), *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=dict(self.agent.environment),
            cwd=self.agent.cwd,
            timeout=SECONDS,
        )

    def plan(self) -> Mapping[str, Any]:
        """Its only plan."""
        [plan] = self.session()["plans"]
        return dict(plan)

    def wait_for_question(self, text: str = "") -> Mapping[str, Any]:
        """Wait until the agent asks about a plan with that text. Returns the plan."""
        until(lambda: (session := self.session())["asked"] and text in session["plans"][0]["text"])
        return self.plan()

    def wait_until_answered(self) -> Mapping[str, Any]:
        """Wait until no question is open. Returns the plan."""
        until(lambda: not self.session()["asked"])
        return self.plan()

    def answer_on_board(self, plan: Mapping[str, Any], **wanted: Any) -> None:
        """Answer the question about a plan on a board of the person's, which a browser would send like this."""
        board = subprocess.Popen(
            own_command("board", "--port", "0"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(self.agent.environment),
            cwd=self.agent.cwd,
        )
        try:
            assert board.stdout is not None
            base, _, token = board.stdout.readline().split()[-1].partition("/?token=")
            address = f"{base}/sessions/{self.session()['id']}/plans/{plan['id']}/acts"
            act = {"act": "review", "seen": plan["revision"], "question": plan["question"]["id"], **wanted}
            response = httpx.post(address, json=act, headers={"Authorization": f"Bearer {token}", "Origin": base})
            assert response.status_code == httpx.codes.OK, response.text
        finally:
            board.terminate()
            board.communicate()

    def waiting_hooks(self) -> list[int]:
        """The processes of hooks that hold a plan back."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if b"ask" in words and any(word.startswith(bytes(self.home)) for word in words):
                    found.append(int(folder.name))
        return found
