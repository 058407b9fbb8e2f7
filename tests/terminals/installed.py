"""planwire, set up in a real agent as a person does it: `planwire setup`, once, and what it then has in its journal."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.terminals.agents import AGENTS, TerminalAgent

__all__ = ["Installed"]

SECONDS = 110
#: What `planwire setup` calls the agents.
NAMES = {"claude": "claude-code"}


class Installed:
    """An agent with planwire in it, and the planwire of the person beside it."""

    def __init__(self, name: str, model: str, home: Path, *options: str, **settings: str) -> None:
        self.agent: TerminalAgent = AGENTS[name](model, home, **settings)
        self.set_up = self.run("setup", NAMES.get(name, name), "--yes", *options)

    def run(self, *arguments: str, code: int = 0) -> str:
        """What a command of planwire prints."""
        done = subprocess.run(
            [sys.executable, "-m", "planwire", *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=dict(self.agent.environment),
            cwd=self.agent.cwd,
            timeout=SECONDS,
        )
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def session(self) -> Mapping[str, Any]:
        """The newest session and its plans, as `planwire show --json` has them."""
        shown: Mapping[str, Any] = json.loads(self.run("show", "--json"))
        return shown
