"""Completion in the shells themselves."""

import argparse
import os
import pty
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from planwire.cli import build_parser
from planwire.cli.completion import SHELLS, completion_script
from planwire.cli.offered_ids import offered_ids
from planwire.model.events import PlanSet, RemarkClosed, SessionOpened
from tests.journals import FIRST, SECOND, THIRD, add, filled_journal, items
from tests.terminal.test_views import Terminal

bash_only = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a journal, and with `planwire` as a program."""
    program = tmp_path / "bin" / "planwire"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m planwire "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(filled_journal(tmp_path / "journal.db", str(tmp_path))))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planwire.bash").write_text(completion_script("bash"))
    return tmp_path


def in_bash(*words: str) -> list[str]:
    """What bash would offer for the last of the words."""
    script = (
        "set -u; source planwire.bash; "
        f"COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; "
        '_shtab_planwire; if ((${#COMPREPLY[@]})); then printf "%s\\n" "${COMPREPLY[@]}"; fi'
    )
    result = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return result.stdout.splitlines()


@bash_only
@pytest.mark.usefixtures("home")
def test_bash_completes_commands_options_and_their_values() -> None:
    assert in_bash("planwire", "se") == ["setup", "sessions", "select"]
    assert in_bash("planwire", "show", "--p") == ["--plan"]
    assert in_bash("planwire", "export", "--format", "") == ["md", "json", "acp"]
    assert in_bash("planwire", "setup", "c") == ["claude-code", "codex", "copilot"]
    assert in_bash("planwire", "setup", "z") == ["zed"]
    assert in_bash("planwire", "relay", "--", "--js") == []
    assert in_bash("planwire", "status", "s1", "c") == ["completed", "cancelled"]
    assert in_bash("planwire", "priority", "s1", "") == ["high", "medium", "low"]


@bash_only
def test_bash_completes_the_ids_of_sessions(home: Path) -> None:
    assert in_bash("planwire", "show", "") == [FIRST, THIRD, SECOND]
    assert in_bash("planwire", "log", "0198f3c2-9") == [SECOND]
    assert in_bash("planwire", "diff", "--session", "to") == [THIRD]
    add(home / "other.db", "elsewhere", "agent", SessionOpened("a"))
    assert in_bash("planwire", "show", "--journal", str(home / "other.db"), "") == ["elsewhere"]
    assert in_bash("planwire", "show", "--journal", str(home / "none.db"), "") == []


@bash_only
@pytest.mark.usefixtures("home")
def test_bash_completes_the_ids_of_plans_and_steps() -> None:
    assert in_bash("planwire", "show", "--plan", "") == ["Plan", "design"]
    assert in_bash("planwire", "approve", "too") == ["tools"]
    assert in_bash("planwire", "comment", "--session", SECOND, "--step", "") == ["s1", "s2"]
    assert in_bash("planwire", "select", "--session", "tools", "s1", "") == ["s1", "s2", "s3"]
    assert in_bash("planwire", "move", "s1", "--session", "tools", "--after", "s2") == ["s2"]
    assert in_bash("planwire", "comment", "--session", "no-such", "--step", "") == []


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("kind", "line", "offered"),
    [
        ("plans", "show tools --plan", "main"),
        ("plans", "approve tools --plan", "main"),
        ("plans", f"approve --session {SECOND} --plan", "main"),
        ("steps", "add text --session tools --after", "s1 s2 s3"),
        ("steps", "tick --session tools", "s1 s2 s3"),
        ("steps", "comment --plan plan --step", "s1 s2 s3"),
        ("steps", "comment --plan design --step", ""),
        ("remarks", "withdraw --session tools", ""),
    ],
)
def test_ids_are_those_of_the_session_and_the_plan_that_the_line_names(kind: str, line: str, offered: str) -> None:
    assert offered_ids(kind, ["planwire", *line.split()]) == offered.split()


@bash_only
def test_bash_completes_the_ids_of_open_remarks_and_of_closed_ones_to_reopen(home: Path) -> None:
    add(home / "journal.db", FIRST, "user", RemarkClosed(None, "r3", "withdrawn"))
    assert sorted(in_bash("planwire", "withdraw", "--plan", "plan", "")) == ["r1", "r2"]
    assert offered_ids("remarks", ["planwire", "reopen"]) == ["r3"]


@bash_only
def test_the_id_of_a_plan_that_a_shell_would_run_is_not_offered(home: Path) -> None:
    for hostile in ("$(touch pwned)", "a b", "-rf", "\x1b[2J"):
        add(home / "journal.db", THIRD, "agent", PlanSet(items(hostile, "pending")))
    assert in_bash("planwire", "show", THIRD, "--plan", "") == ["main"]
    assert not (home / "pwned").exists()


@bash_only
def test_an_id_that_a_shell_would_run_is_not_offered(home: Path) -> None:
    for hostile in ("$(touch pwned)", "`touch pwned`", "a b", "a;touch pwned", "-rf", "x\nplain", "\x1b[2J"):
        add(home / "journal.db", hostile, "agent", SessionOpened("a"))
    assert in_bash("planwire", "show", "") == [FIRST, THIRD, SECOND]
    assert not (home / "pwned").exists()


@bash_only
@pytest.mark.usefixtures("home")
def test_a_tab_completes_what_is_clear() -> None:
    """With readline, as a person has it."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "dumb", "PS1": "ready> ", "INPUTRC": os.devnull, "COLUMNS": "200"}
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    try:
        terminal = Terminal(descriptor)
        terminal.wait_for(b"ready> ")
        terminal.type(b"source <(planwire completion bash); echo so''urced\n")
        terminal.wait_for(b"sourced")
        terminal.type(b"planwire exp\t")
        terminal.wait_for(b"planwire export ")
        terminal.type(b"--form\t")
        terminal.wait_for(b"--format ")
        terminal.type(b"md to\t")
        terminal.wait_for(b"md tools ")
    finally:
        os.close(descriptor)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_every_script(shell: str) -> None:
    script = completion_script(shell)
    [commands] = [action.choices for action in build_parser()._actions if isinstance(action.choices, dict)]
    assert {"relay", "show", "import", "completion"} <= commands.keys()
    for name, parser in commands.items():
        assert name in script
        for action in parser._actions:
            if action.help != argparse.SUPPRESS:
                assert all(option.lstrip("-") in script for option in action.option_strings)


def test_without_shtab_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['shtab'] = None; from planwire.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", code, "completion", "bash"]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "planwire: completion needs shtab: pip install 'planwire[terminal]'\n"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_completes_the_same(home: Path) -> None:
    (home / "_planwire").write_text(completion_script("zsh"))
    pid, descriptor = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "dumb", "PS1": "ready> ", "COLUMNS": "200", "ZDOTDIR": str(home)}
        os.execvp("zsh", ["zsh", "-f", "-i"])
    try:
        terminal = Terminal(descriptor)
        terminal.wait_for(b"ready> ")
        terminal.type(b"fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -d dump; echo do''ne\n")
        terminal.wait_for(b"done")
        for line, completed in (
            (b"planwire exp", b"ort "),
            (b"planwire show too", b"tools "),
            (b"planwire show --session too", b"tools "),
            (b"planwire show tools --plan m", b"main "),
            (b"planwire show --plan des", b"design "),
        ):
            terminal.type(b"\x15")
            terminal.type(line + b"\t")
            terminal.wait_for(completed)
    finally:
        os.close(descriptor)
        os.waitpid(pid, 0)


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_completes_the_same(home: Path) -> None:
    (home / "planwire.fish").write_text(completion_script("fish"))

    def in_fish(line: str) -> list[str]:
        script = f"source planwire.fish; complete -C {shlex.quote(line)}"
        result = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True)
        return [offer.split("\t")[0] for offer in result.stdout.splitlines()]

    assert in_fish("planwire sess") == ["sessions"]
    assert in_fish("planwire export --format ") == ["md", "json", "acp"]
    assert in_fish("planwire show to") == [THIRD]
    assert in_fish("planwire show tools --plan ") == ["main"]
    assert in_fish(f"planwire comment --session {SECOND} --step s") == ["s1", "s2"]
    add(home / "other.db", "elsewhere", "agent", SessionOpened("a"))
    assert in_fish("planwire show --journal other.db else") == ["elsewhere"]
