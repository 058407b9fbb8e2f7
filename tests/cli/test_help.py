"""Help waits for nothing that it does not print."""

import subprocess
import sys

import pytest

from planwire.cli import build_parser

LOADED = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a command line loads."""
    code = f"{LOADED}from planwire.cli import main\nmain({list(arguments)!r})"
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    return set(result.stderr.split())


def commands() -> list[str]:
    [choices] = [action.choices for action in build_parser()._actions if isinstance(action.choices, dict)]
    return list(choices)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["no-such-command"], []])
def test_a_line_without_a_command_imports_no_command(arguments: list[str]) -> None:
    loaded = loaded_by(*arguments)
    files = {"import_" if name == "import" else name for name in commands()}
    assert "planwire.cli" in loaded
    assert loaded.isdisjoint(f"planwire.cli.{name}" for name in files)
    assert "msgspec" not in loaded


@pytest.mark.parametrize("command", commands())
def test_the_help_of_a_command_loads_no_extra_and_no_engine(command: str) -> None:
    loaded = loaded_by(command, "--help")
    assert loaded.isdisjoint({"mcp", "rich", "shtab", "sqlite3", "starlette", "textual", "uvicorn"})


def test_the_relay_loads_msgspec_only_after_it_has_started_its_agent() -> None:
    assert "msgspec" not in loaded_by("relay", "--help")
