"""`planwire setup` for agents in terminals: installed by their own commands, verified, and taken back to the byte."""

import json
import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from planwire.cli.exit_codes import DONE, NOT_DONE, NOT_FOUND, USAGE
from planwire.cli.terminals import TERMINALS
from planwire.journal import open_journal
from planwire.own_process import own_command
from tests.cli.answers import Answer, answer
from tests.cli.terminal_agents import calls, install_agents

#: Settings as people write them: agents lay them out anew.
SETTINGS = {
    ".claude/settings.json": '{"model": "x",\n\t"env": {"KEY": "é"}}',
    ".copilot/settings.json": '{"trusted_folders": ["/a"]}',
    ".codex/config.toml": 'model = "x" # mine\n\n[projects."/a"]\ntrust_level = "trusted"',
    ".gemini/settings.json": '{ "ui": {} }\n',
    ".gemini/trustedFolders.json": '{"/a": "TRUST_FOLDER"}',
    ".qwen/settings.json": '{ "ui": {} }\n',
    ".config/opencode/opencode.jsonc": '// mine\n{\n  "theme": "x", // dark\n}\n',
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the settings and the programs of all agents."""
    for name, text in SETTINGS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    install_agents(tmp_path / "bin")
    for name in os.environ:
        if name.startswith(("XDG_", "CLAUDE", "CODEX", "GEMINI", "QWEN", "COPILOT", "PLANWIRE_JOURNAL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.defpath}")
    return tmp_path


def setup(*words: str) -> Answer:
    return answer("setup", *words, "--yes")


def settings(home: Path) -> dict[str, str]:
    """All settings of all agents, and whatever else there is in their folders."""
    folders = (".claude", ".copilot", ".codex", ".gemini", ".qwen", ".config")
    found = (each for name in folders for each in (home / name).rglob("*") if each.is_file())
    return {each.relative_to(home).as_posix(): each.read_text() for each in found}


def plugins(home: Path) -> Path:
    return home / ".local/share/planwire/plugins"


@pytest.mark.parametrize("agent", TERMINALS)
def test_a_second_setup_changes_nothing_and_undo_restores_every_byte(home: Path, agent: str) -> None:
    shown = setup(agent)
    assert shown.code == DONE, shown
    assert (plugins(home) / agent).is_dir()
    was, called = settings(home), calls(home)
    assert was != SETTINGS
    again = setup(agent)
    assert (again.code, settings(home), calls(home)) == (DONE, was, called)
    assert "has planwire already. Nothing to change." in again.out
    assert setup(agent, "--undo").code == DONE
    assert settings(home) == SETTINGS
    assert not plugins(home).exists()


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "opencode"])
def test_a_home_without_settings_has_none_afterwards(home: Path, agent: str) -> None:
    for name in SETTINGS:
        (home / name).unlink()
    assert setup(agent).code == DONE
    assert setup(agent, "--undo").code == DONE
    assert settings(home) == {}


@pytest.mark.parametrize("agent", TERMINALS)
def test_what_was_changed_since_stays(home: Path, agent: str) -> None:
    """A person goes on editing, and may want their edits after planwire is gone."""
    setup(agent)
    terminal = TERMINALS[agent]
    for path in {*terminal.settings_paths()} - terminal.own_files():
        if path.suffix == ".toml":
            path.write_text(f"{path.read_text()}\n[mine]\nx = 1\n")
        else:
            path.write_text(re.sub(r"\{", '{"mine": 1,', path.read_text(), count=1))
    assert setup(agent, "--undo").code == DONE
    left = "".join(settings(home).values())
    assert "mine" in left
    assert "planwire" not in left


def test_a_review_replaces_what_was_installed_without_one(home: Path) -> None:
    setup("claude-code")
    hooks = plugins(home) / "claude-code/planwire/hooks/hooks.json"
    assert "PermissionRequest" not in json.loads(hooks.read_text())["hooks"]
    replaced = setup("claude-code", "--review")
    assert replaced.code == DONE
    assert "is installed there already, and will be replaced" in replaced.out
    assert "PermissionRequest" in json.loads(hooks.read_text())["hooks"]
    path = home / ".claude/settings.json"
    path.write_text(path.read_text().replace('"x"', '"y"'))
    assert "its plans no longer wait for your review" in setup("claude-code").out
    setup("claude-code", "--undo")
    assert json.loads(path.read_text()) == {"model": "y", "env": {"KEY": "é"}}


def test_what_will_be_done_is_shown_before_it_is_agreed_to(home: Path) -> None:
    shown = answer("setup", "claude-code")
    assert shown.code == USAGE
    assert "pass --yes to confirm. Nothing was changed" in shown.err
    folder = plugins(home) / "claude-code"
    assert f"run    claude plugin marketplace add {folder}\n" in shown.out
    assert "run    claude plugin install planwire@planwire\n" in shown.out
    assert f"change {home / '.claude/settings.json'}\n" in shown.out
    assert (settings(home), calls(home), folder.exists()) == (SETTINGS, [], False)


@pytest.mark.parametrize(("agent", "name"), [("claude-code", ".claude/settings.json"), ("codex", ".codex/config.toml")])
def test_settings_that_do_not_parse_are_left_alone(home: Path, agent: str, name: str) -> None:
    (home / name).write_text('{"half": [')
    refused = setup(agent)
    assert refused.code == USAGE
    assert f"{home / name} does not parse" in refused.err
    assert (calls(home), plugins(home).exists()) == ([], False)
    assert (home / name).read_text() == '{"half": ['


@pytest.mark.parametrize("url", ["memory:", "nowhere:x"])
def test_a_journal_that_no_hook_can_reach_is_refused(home: Path, url: str) -> None:
    refused = setup("claude-code", "--journal", url)
    assert refused.code == USAGE
    assert f"hooks can't reach the journal {url}" in refused.err
    assert (settings(home), calls(home)) == (SETTINGS, [])


def test_an_agent_that_is_not_there_is_named(home: Path) -> None:
    (home / "bin/qwen").unlink()
    missing = setup("qwen")
    assert missing.code == NOT_FOUND
    assert "there is no qwen on your PATH: install Qwen Code first" in missing.err


@pytest.mark.parametrize("agent", ["codex", "gemini", "copilot"])
def test_a_command_that_fails_leaves_nothing_behind(home: Path, agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILS", {"codex": "plugin add", "gemini": "extensions install"}.get(agent, "plugin install"))
    failed = setup(agent)
    assert failed.code == NOT_DONE
    assert "failed: it would not" in failed.err
    assert settings(home) == SETTINGS
    assert not plugins(home).exists()


def test_a_planwire_from_elsewhere_is_not_touched(home: Path) -> None:
    setup("copilot")
    was = settings(home)
    shutil.rmtree(plugins(home))
    refused = setup("copilot")
    assert refused.code == USAGE
    assert "Copilot CLI has a planwire that this command did not install. Remove it first: copilot" in refused.err
    assert settings(home) == was


def test_codex_is_said_to_need_trust_and_its_trust_is_taken_back(home: Path) -> None:
    installed = setup("codex")
    assert installed.code == DONE
    assert 'does not trust 1 of 1 hooks, and runs none of those: start codex and choose "Trust all"' in installed.out
    config = home / ".codex/config.toml"
    trust = (
        '\n[hooks.state]\n\n[hooks.state."planwire@planwire:hooks/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    )
    config.write_text(config.read_text() + trust)
    assert "its hooks can run" in setup("codex").out
    setup("codex", "--undo")
    assert settings(home) == SETTINGS


def test_gemini_trusts_planwires_own_folder_and_no_other(
    home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It trusts the folder that it is started in as well, which may be anybody's project."""
    monkeypatch.chdir(tmp_path_factory.mktemp("project"))
    setup("gemini")
    trusted = json.loads((home / ".gemini/trustedFolders.json").read_text())
    assert trusted == {"/a": "TRUST_FOLDER", str(plugins(home) / "gemini"): "TRUST_FOLDER"}


def test_a_hook_of_claude_code_really_runs_and_leaves_no_session(home: Path) -> None:
    assert setup("claude-code").code == DONE
    assert [each for each in (home / "calls").read_text().splitlines() if "--init-only" in each]
    with open_journal() as journal:
        assert journal.sessions() == []


def test_a_hook_that_does_not_run_is_noticed(home: Path) -> None:
    program = home / "bin/claude"
    program.write_text(program.read_text().replace('words[:1] == ["--init-only"]', "False"))
    installed = setup("claude-code")
    assert installed.code == NOT_DONE
    assert "to do  Claude Code: no hook ran" in installed.out


@pytest.mark.parametrize("text", ['{"mcp": {"planwire": {"type": "remote"}}}', '{"mcp": []}'])
def test_another_server_of_that_name_stays(home: Path, text: str) -> None:
    (home / ".config/opencode/opencode.jsonc").write_text(text)
    assert setup("opencode").code == USAGE
    assert (home / ".config/opencode/opencode.jsonc").read_text() == text


def test_the_comments_in_opencodes_settings_stay(home: Path) -> None:
    setup("opencode")
    text = (home / ".config/opencode/opencode.jsonc").read_text()
    assert text.startswith('// mine\n{\n  "theme": "x", // dark\n')
    assert '"--hooks"' in text
    assert (home / ".config/opencode/plugin/planwire.js").is_file()


def test_another_journal_replaces_opencodes_server(home: Path) -> None:
    setup("opencode")
    replaced = setup("opencode", "--journal", str(home / "other.db"))
    assert replaced.code == DONE, replaced
    assert "other.db-hooks" in (home / ".config/opencode/opencode.jsonc").read_text()
    setup("opencode", "--undo")
    assert settings(home) == SETTINGS


def test_a_file_that_a_person_edited_is_left_to_them(home: Path) -> None:
    setup("opencode")
    path = home / ".config/opencode/plugin/planwire.js"
    path.write_text(f"{path.read_text()}// mine\n")
    assert f"{path} was changed since, and is left alone" in setup("opencode", "--undo").out
    assert path.read_text().endswith("// mine\n")


def test_folders_that_variables_name_are_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    assert setup("claude-code").code == DONE
    assert (home / "elsewhere/settings.json").is_file()
    assert setup("claude-code", "--undo").code == DONE
    assert settings(home) == SETTINGS


def test_the_receipt_is_for_nobody_elses_eyes(home: Path) -> None:
    setup("claude-code")
    assert stat.S_IMODE((plugins(home) / "claude-code.json").stat().st_mode) == 0o600


def test_without_the_agent_its_settings_are_restored_all_the_same(home: Path) -> None:
    setup("claude-code")
    (home / "bin/claude").unlink()
    assert setup("claude-code", "--undo").code == DONE
    assert settings(home) == SETTINGS


def test_the_server_and_the_hooks_are_for_the_journal_that_was_named(home: Path) -> None:
    (home / "plans").mkdir()
    setup("qwen", "--journal", str(home / "plans/mine.db"))
    folder = str(Path(os.path.realpath(home)) / "plans/mine.db-hooks")
    plugin = plugins(home) / "qwen/planwire"
    [server] = json.loads((plugin / ".mcp.json").read_text())["mcpServers"].values()
    assert [server["command"], *server["args"]] == own_command("mcp", "--hooks", folder)
    assert folder in (plugin / "hooks/hooks.json").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["claude-code", "--undo"], "planwire is not installed in Claude Code: there is nothing to take back"),
        (["claude-code", "--", "claude"], "planwire finds the agent by its own name"),
        (["claude-code", "--tools"], "--tools is for editors"),
        (["claude-code", "--undo", "--review"], "--undo takes back all that planwire installed"),
        (["zed", "--review", "--", "agent"], "--review is for agents in a terminal"),
        (["qwen", "--journal", "memory:"], "hooks can't reach the journal memory:"),
    ],
)
def test_what_makes_no_sense_is_refused(home: Path, words: list[str], said: str) -> None:
    refused = answer("setup", *words[:1], "--yes", *words[1:])
    assert refused.code == USAGE
    assert said in refused.err
    assert settings(home) == SETTINGS
