"""What runs everywhere needs nothing that only POSIX has.

Only Linux is here to test on, so a process plays a system without those modules and signals. It loads the packages of
others before they go: those choose by the name of the system what to import.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ELSEWHERE = """
import asyncio, importlib, signal, sys
import mcp.server.lowlevel, sqlite3, starlette.applications, starlette.routing, uvicorn

ABSENT = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}

class NotHere:
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT:
            raise ImportError(f"there is no {name} here")

for name in ABSENT:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, NotHere())
for name in "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH".split():
    delattr(signal, name)
"""


def elsewhere(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", ELSEWHERE + code], check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    "code",
    [
        "from planwire import *",
        "from planwire import BlockingPlanSession, Board, PlanSession, open_journal\nopen_journal('memory:').close()",
        "import planwire.mcp.server",
        "import planwire.web.app",
        "from planwire.web import BoardServer",
        "import planwire.adapters.acp_sdk",
        "from planwire.cli import build_parser\nbuild_parser()",
    ],
)
def test_library_mcp_server_board_and_commands_can_be_imported(code: str) -> None:
    result = elsewhere(code)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [["--help"], ["show", "--help"], ["relay", "--help"]])
def test_help_is_printed(arguments: list[str]) -> None:
    result = elsewhere(f"from planwire.cli import main\nmain({arguments!r})")
    assert result.stderr == ""
    assert result.stdout.startswith("usage: planwire ")


def test_a_module_that_only_posix_has_is_noticed() -> None:
    result = elsewhere("import resource")
    assert result.returncode == 1
    assert result.stderr.endswith("ImportError: there is no resource here\n")


def test_a_journal_in_a_file_can_be_written_and_read(tmp_path: Path) -> None:
    code = f"""
from planwire import BlockingPlanSession
for _ in range(2):
    with BlockingPlanSession.open({str(tmp_path / "journal.db")!r}, "s") as plans:
        print(plans.call("set_plan", {{"entries": ["one"]}}).is_error, len(plans.state.plans))
"""
    result = elsewhere(code)
    assert (result.stdout, result.stderr) == ("False 1\nFalse 1\n", "")


def test_scripts_and_styles_of_the_board_can_be_read_where_the_system_prefers_ascii() -> None:
    code = """
from locale import getencoding
from planwire.web.frame import ASSETS, asset
for name in ASSETS:
    asset(name).decode("utf-8")
print(getencoding())
"""
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    result = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, env={**os.environ, **plain}
    )
    assert result.stderr == ""
    assert "utf" not in result.stdout.lower()
