"""Settings for editors: each in its editor's own language, with every word of the agent's command intact."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.cli import main
from planwire.cli.editors import EDITORS
from planwire.cli.exit_codes import USAGE
from planwire.own_process import own_command

AWKWARD = ["my agent", "--say", 'a "quoted" \\ word', "tab\tand\nline", "ünï", "'single'", ""]


def settings_for(editor: str, *agent: str, options: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*own_command(), "setup", editor, *options, "--", *agent],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "PYTHONUTF8": "1"},
    )


@pytest.mark.parametrize(
    ("editor", "keys"),
    [
        ("zed", {"type": "custom"}),
        ("jetbrains", {}),
        ("vscode", {}),
    ],
)
def test_json_settings_start_the_relay(editor: str, keys: dict[str, str]) -> None:
    result = settings_for(editor, *AWKWARD, options=("--name", "Mine", "--journal", "./p.db"))
    value: dict[str, Any] = json.loads(result.stdout)
    [top] = value
    assert top == ("acp.agents" if editor == "vscode" else "agent_servers")
    journal = f"sqlite:{Path('p.db').absolute()}"  # the editor starts it in another folder
    command, *arguments = own_command("relay", "--journal", journal, "--", *AWKWARD)
    relay = {"command": command, "args": arguments, "env": {}}
    assert value[top] == {"Mine": {**keys, **relay}}
    assert result.stderr.startswith("For ")


def strings(text: str) -> list[str]:
    """The double-quoted strings of a Lua or Emacs Lisp text, read."""
    unescaped = {"n": "\n", "r": "\r", "t": "\t"}
    found = re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.DOTALL)
    return [re.sub(r"\\(.)", lambda match: unescaped.get(match[1], match[1]), each) for each in found]


@pytest.mark.parametrize("editor", ["neovim", "emacs"])
def test_other_settings_hold_the_same_words(editor: str) -> None:
    text = settings_for(editor, *AWKWARD).stdout
    words = ["planwire", "relay", "--", *AWKWARD]
    found = strings(text)
    assert any(found[at : at + len(words)] == words for at in range(len(found)))
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text, flags=re.DOTALL)
    for opening, closing in ("()", "{}", "[]"):
        assert bare.count(opening) == bare.count(closing)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1), st.text(min_size=1))
def test_any_command_survives_in_every_language(agent: list[str], name: str) -> None:
    for editor, each in EDITORS.items():
        text = each.settings(name, ["planwire", "relay", "--", *agent])
        if editor in ("neovim", "emacs"):
            found = strings(text)
            words = ["relay", "--", *agent]
            assert any(found[at : at + len(words)] == words for at in range(len(found)))
        else:
            [agents] = json.loads(text).values()
            assert agents[name]["args"] == ["relay", "--", *agent]


@pytest.mark.skipif(shutil.which("luac") is None, reason="no Lua here to read the settings")
def test_lua_reads_the_settings_for_neovim(tmp_path: Path) -> None:
    (tmp_path / "init.lua").write_text(settings_for("neovim", *AWKWARD).stdout)
    subprocess.run(["luac", "-p", tmp_path / "init.lua"], check=True)


@pytest.mark.skipif(shutil.which("emacs") is None, reason="no Emacs here to read the settings")
def test_emacs_reads_its_settings(tmp_path: Path) -> None:
    (tmp_path / "init.el").write_text(settings_for("emacs", *AWKWARD).stdout)
    subprocess.run(["emacs", "--batch", "-l", tmp_path / "init.el"], check=True)


def test_codecompanion_uses_the_adapter_that_knows_the_agent() -> None:
    assert 'extend("claude_code"' in settings_for("neovim", "npx", "@x/claude-agent-acp").stdout
    assert 'extend("opencode"' in settings_for("neovim", "my-agent").stdout


def test_planwire_is_named_by_its_place_if_that_is_known(tmp_path: Path) -> None:
    program = tmp_path / "planwire"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    result = subprocess.run(
        own_command("setup", "zed", "--", "my-agent"),
        capture_output=True,
        check=True,
        env={**os.environ, "PATH": str(tmp_path)},
    )
    assert json.loads(result.stdout)["agent_servers"]["my-agent (planwire)"]["command"] == str(program)


def test_a_planwire_that_is_not_on_the_path_is_named_by_its_place() -> None:
    """An editor would not find it by its name either."""
    program = Path(sys.executable).with_name("planwire")
    command = [f"./{program.name}", "setup", "zed", "--", "my-agent"]
    result = subprocess.run(command, capture_output=True, check=True, env={"PATH": ""}, cwd=program.parent)
    assert json.loads(result.stdout)["agent_servers"]["my-agent (planwire)"]["command"] == str(program)


def test_a_journal_that_only_this_shell_knows_is_pointed_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWIRE_JOURNAL", "plans.db")
    said = "does not know PLANWIRE_JOURNAL: --journal URL"
    assert main(["setup", "zed", "--", "my-agent"]) == 0
    assert said in capsys.readouterr().err
    assert main(["setup", "zed", "--journal", "plans.db", "--", "my-agent"]) == 0
    assert said not in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--"], ["--name", "x"], ["--name", "x", "--"]], ids=" ".join)
def test_without_an_agent_it_asks_for_one(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["setup", "zed", *words]) == 2
    assert "the agent's command is missing: planwire setup zed -- AGENT ARGUMENTS" in capsys.readouterr().err


def test_options_may_stand_before_the_editor_and_behind_it(capsys: pytest.CaptureFixture[str]) -> None:
    agent = ["npx", "-y", "--", "my-agent", "--name", "its own"]
    for words in (["--name", "Mine", "zed"], ["zed", "--name", "Mine"], ["zed", "--name=Mine"]):
        assert main(["setup", *words, "--", *agent]) == 0
        arguments = json.loads(capsys.readouterr().out)["agent_servers"]["Mine"]["args"]
        assert arguments[arguments.index("relay") :] == ["relay", "--", *agent]
    assert main(["setup", "zed", "--unheard-of", "--", *agent]) == USAGE
    assert "unrecognized arguments: --unheard-of" in capsys.readouterr().err


#: What agent-shell has, as far as the settings use it.
AGENT_SHELL = """\
(defvar agent-shell-agent-configs nil)
(defvar agent-shell-openai-codex-acp-command '("codex-acp"))
(defun agent-shell-make-agent-config (&rest words)
  (let (config) (while words (push (cons (pop words) (pop words)) config)) config))
(defun agent-shell-make-environment-variables (&rest _) nil)
(defun acp-make-client (&rest words) (cons (plist-get words :command) (plist-get words :command-params)))
(defun agent-shell-openai-make-codex-client (&rest _) agent-shell-openai-codex-acp-command)
(defun agent-shell-openai-make-codex-config ()
  (agent-shell-make-agent-config :identifier 'codex :icon-name "openai.png" :client-maker #'ignore))
(provide 'agent-shell)
"""


@pytest.mark.skipif(shutil.which("emacs") is None, reason="no Emacs here to read the settings")
@pytest.mark.parametrize("agent", ["codex-acp", "my-agent"])
def test_emacs_starts_the_relay(agent: str, tmp_path: Path) -> None:
    """An agent that agent-shell knows logs in as agent-shell has it do; only its command is another."""
    started = '(prin1 (funcall (alist-get :client-maker (car agent-shell-agent-configs)) "buffer"))'
    icon = "(prin1 (alist-get :icon-name (car agent-shell-agent-configs)))"
    text = AGENT_SHELL + settings_for("emacs", agent, "-v").stdout + started + icon
    (tmp_path / "init.el").write_text(text)
    result = subprocess.run(
        ["emacs", "--batch", "-l", tmp_path / "init.el"], check=True, capture_output=True, text=True
    )
    assert strings(result.stdout)[1:] == [
        *own_command("relay", "--", agent, "-v")[1:],
        *(["openai.png"] if agent == "codex-acp" else []),
    ]
