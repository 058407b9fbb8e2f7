"""`planwire setup --write`, `--all` and `--undo`: a person's file, changed as they would and changed back."""

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from planwire.cli import main
from planwire.cli.editors import EDITORS, settings_path
from planwire.cli.exit_codes import NOT_DONE, USAGE
from planwire.cli.jsonc import read_settings

SETTINGS = """\
// mine
{
  "theme": "dark", // nice
  "agent_servers": {
    // the best
    "Claude": {
      "type": "custom",
      "command": "claude-agent-acp",
      "args": [
        "--x", // why
        "y"
      ],
      "env": {"KEY": "\\u00e9"},
    },
    "gemini": {"type": "custom", "command": "gemini"},
    "codex": {"type": "registry"},
    "mine": {"type": "custom", "command": "/bin/planwire", "args": ["relay", "--", "mine"]},
  }, // end
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    path.write_text(SETTINGS)
    path.chmod(0o640)
    return path


def setup(*words: str | Path) -> int:
    return main(["setup", *map(str, words)])


def agents(path: Path, key: str = "agent_servers") -> dict[str, dict[str, object]]:
    node = read_settings(path.read_text())
    assert node
    found = node.value[key]
    assert isinstance(found, dict)
    return found


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("editor", ["zed", "jetbrains", "vscode"])
def test_an_agent_is_added_and_taken_back_byte_for_byte(editor: str, file: Path) -> None:
    assert (
        setup(editor, "--file", file, "--write", "--yes", "--name", "Mine", "--tools", "--board", "--", "a", "b") == 0
    )
    entry = agents(file, "acp.agents" if editor == "vscode" else "agent_servers")["Mine"]
    words = [entry["command"], *(entry["args"] if isinstance(entry["args"], list) else [])]
    assert words[words.index("relay") :] == ["relay", "--tools", "--board", "--", "a", "b"]
    assert entry.get("type") == ("custom" if editor == "zed" else None)
    assert file.read_text().replace("\n", "").startswith(SETTINGS.replace("\n", "")[:300])
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert file.with_name("settings.json.before-planwire").read_text() == SETTINGS
    assert setup(editor, "--file", file, "--undo", "--yes") == 0
    assert file.read_text() == SETTINGS
    assert names(file.parent) == ["settings.json"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_all_agents_are_put_behind_the_relay_in_place(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert setup("zed", "--file", file, "--all") == 0
    assert file.read_text() == SETTINGS  # --write does it
    assert setup("zed", "--file", file, "--all", "--write", "--yes") == 0
    found = agents(file)
    for name, words in {"Claude": ["claude-agent-acp", "--x", "y"], "gemini": ["gemini"]}.items():
        arguments = found[name]["args"]
        assert isinstance(arguments, list)
        assert arguments[-len(words) - 2 :] == ["relay", "--", *words]
    assert found["mine"]["command"] == "/bin/planwire"
    assert found["codex"] == {"type": "registry"}
    assert "// why" in file.read_text()
    capsys.readouterr()
    assert setup("zed", "--file", file, "--all", "--write", "--yes") == 0  # again: nothing is wrapped twice
    assert '"Claude" is behind planwire already' in capsys.readouterr().out
    assert agents(file) == found
    assert setup("zed", "--file", file, "--undo", "--yes") == 0
    assert file.read_text() == SETTINGS


def test_what_a_person_changed_since_stays_when_it_is_undone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setup("zed", "--file", file, "--all", "--write", "--yes")
    file.write_text(file.read_text().replace('"dark"', '"light"'))
    setup("zed", "--file", file, "--write", "--yes", "--name", "A", "--", "a")
    setup("zed", "--file", file, "--write", "--yes", "--name", "B", "--", "b")
    file.write_text(file.read_text().replace('"y"', '"y", "z"').replace('"--", "b"]', '"--", "changed"]'))
    assert setup("zed", "--file", file, "--undo", "--yes") == 0
    found = agents(file)
    assert found["B"]["args"] != ["relay", "--", "b"]
    assert '"B" was changed since: it stays as it is' in capsys.readouterr().out
    wanted = SETTINGS.replace('"dark"', '"light"').replace('"y"', '"y", "z"')
    text = file.read_text()
    start = text.index('\n    "B"')
    assert text[:start] + text[text.index("},", text.index('"env": {}', start)) + 2 :] == wanted
    assert names(file.parent) == ["settings.json"]


def test_an_object_that_was_made_for_the_agent_goes_with_it(tmp_path: Path) -> None:
    path = tmp_path / "acp.json"
    path.write_text('{\n  "a": 1\n}\n')
    setup("jetbrains", "--file", path, "--write", "--yes", "--", "x")
    path.write_text(path.read_text().replace('"a": 1', '"a": 2'))
    setup("jetbrains", "--file", path, "--undo", "--yes")
    assert path.read_text() == '{\n  "a": 2\n}\n'


def test_a_file_that_was_not_there_is_made_and_goes_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "acp.json"
    assert setup("jetbrains", "--file", path, "--write", "--yes", "--", "x") == 0
    assert json.loads(path.read_text())["agent_servers"]["x (planwire)"]
    assert setup("jetbrains", "--file", path, "--undo", "--yes") == 0
    assert names(path.parent) == []


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    """Many keep their settings in a repository, and link to them."""
    link = tmp_path / "config" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(file)
    setup("zed", "--file", link, "--write", "--yes", "--", "x")
    assert link.is_symlink()
    assert "x (planwire)" in agents(file)
    setup("zed", "--file", link, "--undo", "--yes")
    assert (link.is_symlink(), file.read_text()) == (True, SETTINGS)


def test_the_same_agent_twice_is_no_change_and_another_of_its_name_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("zed", "--file", file, "--write", "--yes", "--name", "Mine")
    setup(*words, "--", "a")
    text = file.read_text()
    assert setup(*words, "--", "a") == 0
    assert '"Mine" is there already' in capsys.readouterr().out
    assert setup(*words, "--", "b") == USAGE
    assert 'it has another agent named "Mine": choose another with --name' in capsys.readouterr().err
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{\n "a": 1,, }', "does not parse: line 2, column 9: a name in quotes"),
        (b'{"agent_servers": []}', "does not parse: line 1, column 19: "),
        (b"[]", "does not parse: line 1, column 1: an object"),
        (b'{"a": "\xff"}', "is not UTF-8 (byte 7)"),
    ],
)
def test_what_is_no_settings_file_is_left_alone(
    content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    assert setup("zed", "--file", path, "--write", "--yes", "--", "a") == USAGE
    error = capsys.readouterr().err
    assert f"{path}" in error
    assert words in error
    assert path.read_bytes() == content
    assert names(tmp_path) == ["settings.json"]


@pytest.mark.parametrize("odd", ['"--acp"', '{"x": "y"}', "5", "[5]"])
def test_an_agent_with_arguments_that_are_none_is_left_alone(odd: str, tmp_path: Path) -> None:
    path = tmp_path / "acp.json"
    path.write_text(settings := f'{{"agent_servers": {{"A": {{"command": "a", "args": {odd}}}}}}}')
    assert setup("jetbrains", "--file", path, "--all", "--write", "--yes") == 0
    assert path.read_text() == settings


def test_arguments_that_are_null_are_none_and_null_again_after_an_undo(tmp_path: Path) -> None:
    path = tmp_path / "acp.json"
    path.write_text('{"agent_servers": {"A": {"command": "a", "args": null}}}')
    assert setup("jetbrains", "--file", path, "--all", "--write", "--yes") == 0
    arguments = agents(path)["A"]["args"]
    assert isinstance(arguments, list)
    assert arguments[-3:] == ["relay", "--", "a"]
    path.write_text(path.read_text().replace('{"A"', '{ "A"'))
    assert setup("jetbrains", "--file", path, "--undo", "--yes") == 0
    assert path.read_text() == '{"agent_servers": { "A": {"command": "a", "args": null}}}'


def test_a_person_is_asked_in_plain_words(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def declined(question: str, *, otherwise: bool) -> bool:
        asked.append(question)
        return not otherwise

    monkeypatch.setattr("planwire.cli.settings_write.agreed", declined)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert setup("zed", "--file", file, "--write", "--", "a") == NOT_DONE
    assert setup("zed", "--file", file, "--write", "--yes", "--", "a") == 0
    assert setup("zed", "--file", file, "--undo") == NOT_DONE
    assert asked == ["Change it?", "Change it back?"]


def test_a_file_that_changes_in_between_is_left_alone(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An editor saves its settings while the person reads what planwire would do."""

    def saved_by_editor(question: str, *, otherwise: bool) -> bool:
        file.write_text("{}")
        return True

    monkeypatch.setattr("planwire.cli.settings_write.agreed", saved_by_editor)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert setup("zed", "--file", file, "--write", "--", "a") == NOT_DONE
    assert "was changed by another program in the meantime" in capsys.readouterr().err
    assert file.read_text() == "{}"
    assert names(file.parent) == ["settings.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.parent.chmod(0o500)
    try:
        assert setup("zed", "--file", file, "--write", "--yes", "--", "a") == USAGE
    finally:
        file.parent.chmod(0o700)
    assert "can't be written: Permission denied" in capsys.readouterr().err


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert setup("zed", "--file", tmp_path, "--write", "--yes", "--", "a") == USAGE
    assert f"{tmp_path} can't be read: Is a directory" in capsys.readouterr().err


def test_a_write_that_fails_leaves_the_file_and_no_rubbish(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert setup("zed", "--file", file, "--write", "--yes", "--", "a") == USAGE
    assert file.read_text() == SETTINGS
    assert names(file.parent) == ["settings.json"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["zed", "--all", "--", "a"], "--all is for the agents in the file: leave the agent's command out"),
        (["zed", "--undo", "--", "a"], "leave the agent's command out"),
        (["zed", "--undo", "--write"], "--undo takes back all that planwire wrote"),
        (["zed", "--file", "x", "--", "a"], "--file is for --write, --all and --undo"),
        (["emacs", "--undo"], "Emacs' init file is a program of your own, and planwire writes nothing into it"),
    ],
    ids=" ".join,
)
def test_options_that_do_not_go_together_are_explained(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert setup(*words) == USAGE
    assert problem in capsys.readouterr().err


def test_without_a_terminal_it_wants_a_yes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert setup("zed", "--file", file, "--write", "--", "a") == USAGE
    assert "pass --yes to confirm. Nothing was changed" in capsys.readouterr().err
    assert setup("zed", "--file", file, "--undo") == USAGE
    assert "planwire wrote nothing into" in capsys.readouterr().err
    assert file.read_text() == SETTINGS


@pytest.mark.parametrize("editor", ["neovim", "emacs"])
def test_settings_that_are_programs_are_printed_and_not_written(
    editor: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert setup(editor, "--write", "--yes", "--", "a") == NOT_DONE
    result = capsys.readouterr()
    assert '"relay"' in result.out
    assert "paste the text above. Nothing was changed" in result.err


@pytest.mark.parametrize(
    ("editor", "platform", "place"),
    [
        ("zed", "linux", "xdg/zed/settings.json"),
        ("zed", "darwin", "home/.config/zed/settings.json"),
        ("zed", "win32", "roaming/Zed/settings.json"),
        ("vscode", "linux", "xdg/Code/User/settings.json"),
        ("vscode", "darwin", "home/Library/Application Support/Code/User/settings.json"),
        ("vscode", "win32", "roaming/Code/User/settings.json"),
        ("jetbrains", "darwin", "home/.jetbrains/acp.json"),
    ],
)
def test_each_file_is_looked_for_where_the_editor_has_it(
    editor: str, platform: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, folder in {"HOME": "/home", "XDG_CONFIG_HOME": "/xdg", "APPDATA": "/roaming"}.items():
        monkeypatch.setenv(variable, folder)
    monkeypatch.setattr(sys, "platform", platform)
    file = EDITORS[editor].file
    assert file
    assert settings_path(file) == Path("/") / place


def test_a_planwire_in_a_projects_environment_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, is_named in {tmp_path / "project/.venv": True, tmp_path / "pipx/venvs/planwire": False}.items():
        program = folder / "bin" / "planwire"
        program.parent.mkdir(parents=True)
        (folder / "pyvenv.cfg").touch()
        shutil.copy("/bin/sh", program)
        monkeypatch.setenv("PATH", str(program.parent))
        setup("zed", "--", "a")
        assert (f"will start {program}, and can't once {folder} is gone" in capsys.readouterr().err) == is_named
