"""`planwire doctor`: a line for each place where planwire was set up, with what to do."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from planwire.cli.exit_codes import DONE, NOT_DONE
from planwire.journal import Once, open_journal
from planwire.journal.away.delivery import AwayFolder, WaitingAppend
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.hook_folders import hooks_path
from planwire.journal.spool import Spool
from planwire.journal.user_files import away_path
from tests.cli.answers import Answer, answer
from tests.cli.terminal_agents import install_agents
from tests.servers.nats import fresh_url
from tests.servers.postgres import postgres


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install_agents(tmp_path / "bin", "qwen", "codex", "opencode")
    for name in os.environ:
        if name.startswith(("XDG_", "CODEX", "QWEN", "PLANWIRE_JOURNAL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.defpath}")
    return tmp_path


def doctor(*words: str) -> Answer:
    return answer("doctor", *words)


def line(what: str) -> str:
    """What the doctor says of one thing."""
    [found] = [each for each in doctor().out.splitlines() if each[7:].startswith(f"{what}:")]
    return found


def plugin(home: Path, agent: str) -> Path:
    return home / ".local/share/planwire/plugins" / agent


def test_a_machine_without_anything_is_well(home: Path) -> None:
    assert doctor() == (
        DONE,
        f"ok     journal: sqlite:{home}/.local/share/planwire/journal.db is not there yet: the first plan makes it\n"
        "ok     hooks: none has said anything yet\n"
        "ok     plan tools: the MCP SDK is installed\n",
        "",
    )
    assert not (home / ".local").exists()


def test_an_installation_is_well_and_its_agents_version_is_named(home: Path) -> None:
    answer("setup", "qwen", "--review", "--yes")
    assert doctor().code == DONE
    assert re.fullmatch(
        r"ok     Qwen Code: planwire [\w.+]+ is installed, and its hooks can run, and its plans wait for review "
        r"\(qwen 9\.8\.7\)",
        line("Qwen Code"),
    )


def test_an_older_agent_is_said_to_be_untested(home: Path) -> None:
    answer("setup", "qwen", "--yes")
    program = home / "bin/qwen"
    program.write_text(program.read_text().replace("9.8.7", "0.1.0"))
    assert re.search(r"\(qwen 0\.1\.0, tested with [\d.]+\)$", line("Qwen Code"))


def test_json_says_the_same(home: Path) -> None:
    answer("setup", "codex", "--yes")
    said = json.loads(doctor("--json").out)
    assert (said["ok"], doctor("--json").code) == (False, NOT_DONE)
    assert [each["what"] for each in said["checks"]] == ["journal", "hooks", "plan tools", "Codex"]
    assert said["checks"][-1]["words"].startswith("it does not trust 1 of 1 hooks")


def replace(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def test_a_python_that_is_gone_is_named(home: Path) -> None:
    answer("setup", "qwen", "--yes")
    replace(plugin(home, "qwen") / "planwire/hooks/hooks.json", sys.executable, "/gone/python")
    assert line("Qwen Code") == "to do  Qwen Code: /gone/python is gone: planwire setup qwen"


def test_a_plugin_of_another_planwire_is_named(home: Path) -> None:
    answer("setup", "qwen", "--yes")
    (plugin(home, "qwen") / "planwire/hooks/more.json").write_text("{}")
    expected = "to do  Qwen Code: its plugin is not the one of this planwire: planwire setup qwen"
    assert line("Qwen Code") == expected
    answer("setup", "qwen", "--yes")
    assert line("Qwen Code").startswith("ok")


def test_a_version_that_differs_only_in_its_number_asks_for_nothing(home: Path) -> None:
    """Codex would want to be told again that it may trust the hooks."""
    answer("setup", "qwen", "--yes")
    for path in (plugin(home, "qwen").with_suffix(".json"), *plugin(home, "qwen").rglob("*.json")):
        path.write_text(re.sub(r'"version": ?"[^"]*"', '"version": "0.0.1"', path.read_text()))
    assert line("Qwen Code").startswith("ok     Qwen Code: planwire 0.0.1 is installed")


def test_a_copy_that_the_agent_changed_is_named(home: Path) -> None:
    answer("setup", "qwen", "--yes")
    replace(home / ".qwen/extensions/planwire/hooks/hooks.json", '"timeout": 3', '"timeout": 4')
    assert "its copy of the plugin is not the one of this planwire" in line("Qwen Code")


def test_a_plugin_that_the_agent_does_not_list_is_named(home: Path) -> None:
    answer("setup", "qwen", "--yes")
    replace(home / "bin/qwen", "Enabled (User): true", "Enabled (User): false")
    assert "it does not list planwire as installed and enabled" in line("Qwen Code")


def test_an_agent_that_is_gone_is_named(home: Path) -> None:
    answer("setup", "qwen", "--yes")
    (home / "bin/qwen").unlink()
    said = "there is no qwen on your PATH. If it is gone for good: planwire setup qwen --undo"
    assert line("Qwen Code") == f"to do  Qwen Code: {said}"


def test_opencodes_files_are_looked_for(home: Path) -> None:
    answer("setup", "opencode", "--yes")
    assert line("opencode").startswith("ok")
    (home / ".config/opencode/plugin/planwire.js").unlink()
    assert line("opencode") == "to do  opencode: its files are gone: planwire setup opencode"


def test_what_hooks_said_is_counted(home: Path) -> None:
    folder = hooks_path()
    assert folder
    spool = Spool(folder)
    folder.parent.mkdir(parents=True)
    spool.append({}, b"{}")
    assert re.fullmatch(r"ok     hooks: \d+ bytes wait, and the next planwire command records it", line("hooks"))
    lock = DrainerLock(folder)
    assert lock.acquire()
    (folder / "overflow").write_bytes(b"lost")
    assert line("hooks").startswith("to do  hooks: some of what they said was lost")
    (folder / "overflow").unlink()
    lock.release()
    spool.append({}, bytes(2 << 20))
    assert line("hooks") == "to do  hooks: 2 MB wait to be recorded: run planwire sessions"


def test_a_file_that_is_no_journal_is_named(home: Path) -> None:
    path = home / "notes.txt"
    path.write_text("these are not plans, and never were")
    said = doctor("--journal", str(path))
    assert (said.code, "to do  journal: " in said.out) == (NOT_DONE, True)
    assert path.read_text() == "these are not plans, and never were"


@pytest.mark.usefixtures("home")
def test_a_name_that_the_system_does_not_take_is_named() -> None:
    said = doctor("--journal", "x" * 300)
    assert (said.code, said.out.count("File name too long")) == (NOT_DONE, 2)


def test_what_waits_for_a_journal_that_could_not_be_made_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = fresh_url()
    monkeypatch.setenv("PLANWIRE_JOURNAL", url)
    assert "is not there yet: the first plan makes it" in line("journal")
    folder = AwayFolder(away_path(url))
    folder.put(WaitingAppend("s", 0, ((1, "agent", "{}"),), Once("writer", 1)))
    folder.outage.note("this user may not make one", 0.01)
    assert doctor().code == NOT_DONE
    found = line("journal")
    assert "could not be made: 1 record waits on this machine" in found
    assert "(this user may not make one)" in found


def test_sessions_are_counted(home: Path) -> None:
    with open_journal():
        pass
    assert line("journal").endswith("journal.db has 0 sessions")


def test_relays_in_editors_are_checked(home: Path) -> None:
    agents = {
        "Good": {"command": sys.executable, "args": ["-m", "planwire", "relay", "--", "qwen", "--acp"]},
        "Moved": {"command": "/gone/planwire", "args": ["relay", "--", "qwen"]},
        "Lost": {"command": sys.executable, "args": ["-m", "planwire", "relay", "--", "no-such-agent"]},
        "Not ours": {"command": "/gone/agent"},
    }
    path = home / ".config/zed/settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(f"// mine\n{json.dumps({'agent_servers': agents})}")
    said = doctor()
    assert said.code == NOT_DONE
    again = "planwire setup zed --undo, then --write again"
    assert said.out.splitlines()[3:] == [
        "ok     Zed, Good: it runs behind the relay",
        f"to do  Zed, Moved: /gone/planwire is gone: {again}",
        f"to do  Zed, Lost: there is no no-such-agent on your PATH: {again}",
    ]


def test_settings_of_an_editor_that_do_not_parse_matter_if_they_name_planwire(home: Path) -> None:
    path = home / ".jetbrains/acp.json"
    path.parent.mkdir()
    path.write_text("{")
    assert doctor().code == DONE
    path.write_text('{"planwire')
    assert "does not parse" in line("your JetBrains IDE")


@pytest.mark.parametrize("setting", ["sync_interval", "fsync"])
@pytest.mark.usefixtures("home")
def test_a_setting_of_a_server_that_can_cost_acknowledged_events_is_named(setting: str) -> None:
    url = fresh_url() if setting == "sync_interval" else postgres().fresh_url()
    open_journal(url).close()
    [said] = [each for each in doctor("--journal", url).out.splitlines() if each.startswith("ok     journal")]
    assert f"A risk: {setting}" in said
    assert setting in json.loads(answer("journal", "info", "--journal", url, "--json").out)["facts"]["risk"]
