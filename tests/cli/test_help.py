"""Help: in groups, and without waiting for what it does not print."""

import json
import subprocess
import sys

import pytest

from planwire.cli import build_parser
from planwire.cli.exit_codes import DONE, USAGE
from planwire.steering.acts import ACTS
from tests.cli.answers import answer

EXTRAS = {"mcp", "rich", "shtab", "sqlite3", "starlette", "textual", "uvicorn"}
LOADED = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a command line loads."""
    code = f"{LOADED}from planwire.cli import main\nmain({list(arguments)!r})"
    result = subprocess.run([sys.executable, "-P", "-c", code], check=False, capture_output=True, text=True)
    return set(result.stderr.split())


def commands() -> list[str]:
    [choices] = [action.choices for action in build_parser()._actions if isinstance(action.choices, dict)]
    return list(choices)


def test_the_commands_stand_in_groups() -> None:
    shown = answer("--help").out
    titles = ["start:", "look:", "steer:", "data:", "for developers:", "options:", "examples:"]
    assert [line for line in shown.splitlines() if line.endswith(":")] == titles
    listed = [line.split()[0] for line in shown.partition("options:")[0].splitlines() if line.startswith("  ")]
    assert listed == commands()
    assert max(map(len, shown.splitlines())) <= 100


def test_without_a_command_there_is_help() -> None:
    assert answer().out == answer("--help").out == answer("-h").out
    assert (answer().code, answer().err) == (DONE, "")


def test_a_mistyped_command_is_guessed() -> None:
    result = answer("shwo")
    assert (result.code, result.out) == (USAGE, "")
    assert result.err == (
        "planwire: there is no command 'shwo'. Did you mean 'show'?\nplanwire --help lists the commands.\n"
    )
    assert answer("Session").err.startswith("planwire: there is no command 'Session'. Did you mean 'sessions'?\n")
    assert answer("xyzzy").err == "planwire: there is no command 'xyzzy'.\nplanwire --help lists the commands.\n"
    assert "\x1b" not in answer("sh\x1b[2Jow").err


@pytest.mark.parametrize("option", ["--verbose", "-x", "--"])
def test_an_option_without_a_command_is_a_mistake(option: str) -> None:
    result = answer(option)
    assert (result.code, result.out) == (USAGE, "")
    assert option in result.err


@pytest.mark.parametrize("command", ["approve", "board", "import x", "sessions"])
def test_an_argument_too_many_is_answered_with_the_usage_of_the_command(command: str) -> None:
    name, *words = command.split()
    result = answer(name, *words, "--no-such")
    assert (result.code, result.out) == (USAGE, "")
    assert result.err.startswith(f"planwire: unrecognized arguments: --no-such\nusage: planwire {name} [-h]")


def test_a_missing_argument_goes_by_its_name_in_the_help() -> None:
    said = answer("completion").err
    assert said == ("planwire: the following arguments are required: SHELL\nusage: planwire completion [-h] SHELL\n")


def test_a_program_gets_a_mistake_in_its_arguments_as_json() -> None:
    result = answer("show", "--at", "x", "--json")
    assert (result.code, result.err) == (USAGE, "")
    assert json.loads(result.out)["error"].startswith("argument --at: expected the number of an event")
    behind = answer("relay", "--no-such", "--", "my-agent", "--json")
    assert (behind.code, behind.out) == (USAGE, "")


def test_help_is_a_word_too() -> None:
    assert answer("help").out == answer("--help").out
    assert answer("help", "show").out == answer("show", "--help").out
    assert answer("help", "shwo").err.startswith("planwire: there is no command 'shwo'. Did you mean 'show'?")


def test_the_acts_of_people_are_the_commands_that_steer() -> None:
    steering = answer("--help").out.partition("steer:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in steering] == [act.command for act in ACTS.values()]
    for line, act in zip(steering, ACTS.values(), strict=True):
        assert act.help.lower() in line.lower()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["no-such-command"], []])
def test_a_line_without_a_command_imports_no_command(arguments: list[str]) -> None:
    loaded = loaded_by(*arguments)
    files = {"import_" if name == "import" else name for name in commands()}
    assert "planwire.cli" in loaded
    assert loaded.isdisjoint(f"planwire.cli.{name}" for name in files)
    assert ("msgspec" in loaded) == (arguments != ["--version"])  # the table of acts names the commands that steer


def test_the_help_of_no_command_loads_an_extra_or_an_engine() -> None:
    """All of them in one process: what one loads, it prints with its name."""
    code = f"""
import sys
from planwire.cli import main
for command in {commands()!r}:
    try:
        main([command, "--help"])
    except SystemExit:
        print(command, *{EXTRAS} & sys.modules.keys(), file=sys.stderr)
"""
    result = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True)
    assert result.stderr.splitlines() == commands()


def test_the_relay_loads_msgspec_only_after_it_has_started_its_agent() -> None:
    assert "msgspec" not in loaded_by("relay", "--help")
