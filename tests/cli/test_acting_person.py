"""Who acts: what comes from an agent, or from where nobody can be asked, is never recorded as the user's."""

import json
import os
import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from planwire.cli import main
from planwire.cli.acting_person import NAME_VARIABLE, acting_person, steering_person
from planwire.cli.acts import run
from planwire.cli.exit_codes import DONE, USAGE
from planwire.errors import InputError
from planwire.journal import Stamped, open_journal
from planwire.journal.processes import lineage
from planwire.model.events import ACP, COMMENT, SUGGESTION, PlanSet, Recorded, Remarked, SessionOpened
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.records import USER
from planwire.model.step_changes import AddStep
from planwire.own_process import own_command
from planwire.readmodel.audience import audience
from planwire.session import known_agents
from planwire.session.agent_environment import VARIABLE
from planwire.session.known_agents import _folders, agent_above, known_agent, note_agent
from planwire.steering.acts import ACTS
from tests import deciding
from tests.cli.answers import answer
from tests.servers.postgres import postgres

SUGGESTED = 3

#: An agent that tries to pass for the person on its own plan. Arguments: a folder, a journal, and where it reports to.
AGENT = """
import json, os, pty, subprocess, sys, time
from pathlib import Path

runtime, journal, report = sys.argv[1:]
records = Path(runtime)
end = time.monotonic() + 20
mine = lambda: [path for path in records.glob(f"{os.getpid()}-*")]
while not mine() and time.monotonic() < end:
    time.sleep(0.002)
[record] = mine()
planwire = [sys.executable, "-P", "-m", "planwire"]
where = ["--journal", journal, "--session", "s1"]
unmarked = {name: value for name, value in os.environ.items() if name != "PLANWIRE_AGENT"}
acts = {
    "approve": ["approve", "s1", "--journal", journal, "--revision", "2"],
    "comment": ["comment", "I am a person", *where],
    "withdraw": ["withdraw", *where],
}

def start(words, *, terminal, env):
    master, slave = pty.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
    if not terminal:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*planwire, *words], env=env, **streams), master

def orphan(words):
    # its parent ends at once; the variable is all that it has of the agent
    master, slave = pty.openpty()
    done = Path(report).with_suffix(".orphan")
    code = f"import subprocess, sys; sys.stdout.flush(); code = subprocess.call({[*planwire, *words]!r}); " \\
           f"open({str(done)!r}, 'w').write(str(code))"
    outer = f"import subprocess, sys; subprocess.Popen([sys.executable, '-P', '-c', {code!r}], start_new_session=True)"
    subprocess.run([sys.executable, "-P", "-c", outer], stdin=slave, stdout=slave, stderr=slave, check=True)
    while not (done.exists() and done.read_text()) and time.monotonic() < end:
        time.sleep(0.002)
    return int(done.read_text())

tried = {f"{name}, {how}": start(words, terminal=how == "terminal", env=env)
         for name, words in acts.items() for how, env in (("terminal", unmarked), ("pipes", unmarked))}
codes = {name: process.wait() for name, (process, _) in tried.items()}
codes["comment, orphan"] = orphan(acts["comment"])
named, _ = start(["comment", "I am a bot", *where, "--as", "bot", "--yes"], terminal=False, env=unmarked)
codes["named"] = named.wait()
modes = [oct(path.stat().st_mode & 0o777) for path in (records, record)]
secrets = [name for name in os.environ if name.endswith("TOKEN")]
Path(report).write_text(json.dumps({"codes": codes, "modes": modes, "secrets": secrets, "record": record.name}))
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plans.db"
    with open_journal(path) as journal:
        listed = PlanSet(ItemsPlan("main", (Entry("read", "medium", "pending"),)), via=ACP)
        deciding.write(
            journal, "s1", Stamped(1, "agent", SessionOpened(cwd=str(tmp_path))), Stamped(2, "agent", listed)
        )
        deciding.write(journal, "s1", Stamped(3, "user", Remarked("main", SUGGESTION, changes=(AddStep("write"),))))
    return path


def written(path: Path) -> list[Recorded]:
    with open_journal(path, create=False) as journal:
        return [each for each in journal.read("s1") if each.seq > SUGGESTED]


def comment(plan: Path, *options: str, at_terminal: bool = False) -> tuple[int, str]:
    words = "comment", "slowly", "--journal", str(plan), "--session", "s1", *options
    code, out, err = answer(*words, at_terminal=at_terminal)
    return code, out + err


def test_an_agent_behind_the_relay_can_not_pass_for_the_person(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a terminal of its own, only its descent gives it away; without its parents, only its environment."""
    monkeypatch.setenv("PLANWIRE_BOARD_TOKEN", "a-token-for-tests-only")
    script, report, runtime = tmp_path / "agent.py", tmp_path / "report", str(next(_folders()))
    script.write_text(AGENT)
    agent = [sys.executable, str(script), runtime, str(plan), str(report)]
    relay = [*own_command(), "relay", "--grace", "30", "--journal", str(plan), "--", *agent]
    subprocess.run(relay, check=True, stdin=subprocess.DEVNULL, timeout=60)
    said = json.loads(report.read_text())
    assert said["codes"].pop("named") == DONE
    assert len(said["codes"]) == 7
    assert set(said["codes"].values()) == {USAGE}
    assert said["modes"] == ["0o700", "0o600"]
    assert said["secrets"] == []
    assert [each.author for each in written(plan)] == ["bot (below agent.py)"]
    assert not Path(runtime, said["record"]).exists()


@pytest.mark.parametrize("act", ACTS)
def test_every_act_is_refused_before_anything_is_read(act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no such journal, and nobody looks for it."""
    wanted = Namespace(act=act, as_name=None, yes=True, journal="/nowhere/plans.db")
    with pytest.raises(InputError, match="no terminal here to ask on: pass --as NAME and --yes"):
        run(wanted)
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(InputError, match="an agent that planwire knows runs this: pass --as NAME and --yes"):
        run(wanted)


def test_without_a_terminal_an_act_needs_a_name_and_a_yes_and_is_recorded_by_that_name(plan: Path) -> None:
    for options in ([], ["--yes"], ["--as", "release bot"], ["--revision", "2"]):
        code, said = comment(plan, *options)
        assert code == USAGE
        assert "pass --as NAME and --yes" in said
    code, said = comment(plan, "--json")
    assert (code, "--as NAME" in json.loads(said)["error"]) == (USAGE, True)
    assert written(plan) == []
    assert comment(plan, "--as", "release bot", "--yes", "--json")[0] == DONE
    assert [each.author for each in written(plan)] == ["release bot (by a script)"]


def test_at_a_terminal_a_person_needs_no_name_and_may_have_one(plan: Path) -> None:
    assert comment(plan, at_terminal=True)[0] == DONE
    assert comment(plan, "--as", "Ada", at_terminal=True)[0] == DONE
    assert [each.by for each in written(plan)] == ["user", "Ada"]


def test_below_an_agent_a_terminal_does_not_help(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    assert comment(plan, at_terminal=True)[0] == USAGE
    assert comment(plan, "--as", "bot", at_terminal=True)[0] == USAGE
    assert written(plan) == []


@pytest.mark.parametrize(
    "name",
    [
        *("user", "User", " user", "the user", "THE  USER", "ｕｓｅｒ", "you", "agent", "Relay", "client", "planwire"),
        *(
            "\u13aa\u13a1",
            "\ua4ee\ua4e0\ua4e0",
            "\u2c81nn",
            "\U00010409nn",
            "\u1d00\u0274\u0274",
            "A\u0578n",
            "Ann (below x)",
        ),
        *("", " ", "bot ", "\tbot", "a\nb", "a\x1b[1mb", "us\u200ber", "a\u202eb", "a\u2028b", "x" * 65),
    ],
)
def test_a_name_that_reads_as_another_author_is_refused(plan: Path, name: str) -> None:
    for at_terminal in (False, True):
        code, said = comment(plan, f"--as={name}", "--yes", at_terminal=at_terminal)
        assert code == USAGE
        assert "reserved: choose a name other than" in said or "can't be recorded: a name has" in said
    assert written(plan) == []


def test_a_name_in_the_environment_that_is_refused_is_said_to_be_from_there(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWIRE_NAME", "user")
    code, said = comment(plan, at_terminal=True)
    assert code == USAGE
    assert "PLANWIRE_NAME can't be your name: the name 'user' is reserved: choose a name other than agent, " in said
    assert written(plan) == []


def test_a_number_that_another_process_has_by_now_is_not_taken_for_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "planwire" / "agents"
    monkeypatch.setattr(known_agents, "_folders", lambda: iter([folder]))
    assert not agent_above()
    with known_agent(os.getppid(), "x"):
        assert [each.name for each in folder.iterdir()] == [list(lineage())[1]]
        assert agent_above()
    assert not agent_above()
    earlier = folder / f"{os.getppid()}-1"
    earlier.touch()
    assert not agent_above()
    with known_agent(os.getpid(), "x"):
        assert not earlier.exists(), "its relay could not remove it"
    earlier.touch()
    note_agent(list(lineage())[1], "x")
    assert not earlier.exists(), "nobody saw that it ended"
    assert agent_above()


def test_an_agent_runs_where_no_record_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "planwire").write_text("no folder")
    monkeypatch.setattr(known_agents, "_folders", lambda: iter([tmp_path / "planwire" / "agents"]))
    with known_agent(os.getpid(), "x"):
        assert not agent_above()


@pytest.mark.parametrize(
    ("journal", "given", "account", "by"),
    [
        ("postgresql://host/plans", None, "ann", "ann"),
        ("nats://host/plans", None, "user", "user"),
        ("@url", None, "ann", "ann"),
        ("plans.db", None, "ann", "user"),
        ("plans.db", "Ann", "x", "Ann"),
        ("postgresql://host/plans", "Ann", "x", "Ann"),
    ],
)
def test_in_a_journal_of_several_people_each_goes_by_a_name(
    journal: str, given: str | None, account: str, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("url").write_text("postgresql://ann:secret@host/plans")
    monkeypatch.setenv("LOGNAME", account)
    if given:
        monkeypatch.setenv(NAME_VARIABLE, given)
    else:
        monkeypatch.delenv(NAME_VARIABLE, raising=False)
    arguments = Namespace(as_name=None, yes=False, journal=journal)
    assert steering_person(arguments) == by
    monkeypatch.setenv(VARIABLE, "1")
    assert steering_person(arguments) is None
    assert steering_person(Namespace(as_name=None, yes=True, journal=journal)) is None
    with pytest.raises(InputError, match="pass --as NAME and --yes"):
        acting_person(Namespace(as_name=None, yes=True, journal=journal))


def test_who_goes_by_a_name_is_not_taken_for_the_person_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words of a person without a name come to a server with the copy of a file."""
    monkeypatch.setenv(NAME_VARIABLE, "Ben")
    for url, author in ((str(tmp_path / "plans.db"), "you"), (postgres().url_of(tmp_path), "somebody")):
        with open_journal(url) as journal:
            opened, said = (
                PlanSet(ItemsPlan("main", (Entry("Read", "medium", "pending"),))),
                Remarked("main", COMMENT, "smaller steps"),
            )
            deciding.write(journal, "s1", Stamped(1, "agent", opened), Stamped(2, USER, said))
        for command in ("show", "log"):
            assert main([command, "s1", "--journal", url]) == 0
            shown = capsys.readouterr().out
            assert re.findall(r"\b(you|somebody)\b", shown) == [author]
    assert audience().unnamed == "you"
