"""`planwire import --from`: past sessions of agents, with their plans, and nothing that nobody asked for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from planwire.cli import main
from planwire.cli.exit_codes import DONE, USAGE
from planwire.journal import load_state, open_journal
from planwire.model.events import PlanSet
from planwire.model.plan import ItemsPlan, MarkdownPlan
from tests.hooks.test_transcripts import LISTS, PLAN_MODE, PROPOSAL, TASKS, THREADS, TODOS
from tests.hooks.transcripts import HOMES


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The journal that the environment names; there is none yet."""
    place = tmp_path / "journal.db"
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(place))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(HOMES / "claude-code"))
    monkeypatch.setenv("CODEX_HOME", str(HOMES / "codex"))
    return place


@pytest.fixture
def run(journal: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> Result:
        capsys.readouterr()
        code = main(["import", *arguments])
        return Result(code, *capsys.readouterr())

    return run


def test_past_sessions_are_in_the_journal_with_their_plans(run: Run, journal: Path) -> None:
    result = run("--from", "claude-code")
    assert result.code == DONE
    assert result.out.splitlines()[-1] == "Imported 3 sessions with 3 plans."
    with open_journal(str(journal)) as opened:
        tasks = load_state(opened, TASKS)
        plan = tasks.plans["todos"].state.plan
        assert isinstance(plan, ItemsPlan)
        assert [each.content for each in plan.entries] == ["Write the lexer", "Look for other configs"]
        assert tasks.opened is not None
        assert (tasks.opened.agent, tasks.opened.cwd) == ("Claude Code", "/home/user/project")
        assert tasks.opened.title == "Parser for the config"
        assert tasks.at == 1_794_852_610_880
        proposal = load_state(opened, PROPOSAL).plans["plan-mode"]
        assert isinstance(proposal.state.plan, MarkdownPlan)
        assert proposal.asked is None


def test_importing_twice_changes_nothing(run: Run, journal: Path) -> None:
    run("--from", "codex")
    with open_journal(str(journal)) as opened:
        before = [list(opened.read(session)) for session in (LISTS, PLAN_MODE, THREADS)]
    again = run("--from", "codex")
    assert again.out == "Imported 0 sessions with 0 plans.\nLeft out 3: already in the journal.\n"
    with open_journal(str(journal)) as opened:
        assert [list(opened.read(session)) for session in (LISTS, PLAN_MODE, THREADS)] == before


def test_a_dry_run_writes_nothing_and_says_what_would_be(run: Run, journal: Path) -> None:
    result = run("--from", "codex", "--dry-run", "--json")
    assert not journal.exists()
    assert result.json["dry_run"] is True
    assert {each["session"]: each["plans"] for each in result.json["imported"]} == {LISTS: 2, PLAN_MODE: 1, THREADS: 2}
    assert "Would import 3 sessions with 5 plans." in run("--from", "codex", "--dry-run").out


def test_what_a_person_asked_is_kept_only_if_they_say_so(run: Run, journal: Path) -> None:
    run("--from", "claude-code")
    assert b"make a plan" not in journal.read_bytes()
    assert b"Smaller steps" not in journal.read_bytes()
    titles = {
        each["session"]: each["title"] for each in run("--from", "codex", "--with-prompts", "--json").json["imported"]
    }
    assert titles == {LISTS: "make a plan", PLAN_MODE: "plan it", THREADS: "plan it"}


@pytest.mark.parametrize("options", [[], ["--with-thoughts"]], ids=["without", "with"])
def test_what_the_agent_thought_is_kept_only_if_asked_for(run: Run, journal: Path, options: list[str]) -> None:
    run("--from", "claude-code", *options)
    with open_journal(str(journal)) as opened:
        whys = [each.event.why for each in opened.read(TASKS) if isinstance(each.event, PlanSet) and each.event.why]
        thoughts = [each.text for each in opened.thoughts.find(TASKS, whys).values()]
    assert thoughts == (["The config decides what the parser reads."] if options else [])


def test_sessions_of_one_folder_or_of_late_are_chosen(run: Run) -> None:
    assert "Imported 0 sessions" in run("--from", "claude-code", "--folder", "/home/user/elsewhere").out
    assert "Imported 0 sessions" in run("--from", "claude-code", "--since", "0m").out
    assert "Imported 3 sessions" in run("--from", "claude-code", "--folder", "/home/user").out


def test_a_file_is_imported_by_its_path(run: Run) -> None:
    file = HOMES / "claude-code" / "projects" / "-home-user-project" / f"{TODOS}.jsonl"
    imported = run("--from", "claude-code", str(file), "--json").json["imported"]
    assert [each["session"] for each in imported] == [TODOS]


def test_a_session_without_a_plan_is_left_out(run: Run, tmp_path: Path) -> None:
    line = {"type": "user", "sessionId": "s1", "uuid": "u1", "timestamp": "2026-11-16T18:00:00Z"}
    (tmp_path / "s1.jsonl").write_text(json.dumps({**line, "message": {"content": "Hello"}}))
    assert "Left out 1: without a plan." in run("--from", "claude-code", str(tmp_path)).out


def test_an_unknown_format_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rollout-1.jsonl").write_text('{"id": "1", "instructions": "an old format"}\n')
    result = run("--from", "codex", str(tmp_path / "rollout-1.jsonl"))
    assert result.code == USAGE
    assert "rollout-1.jsonl can't be imported: its format is not known" in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "pass a file that planwire export has written, or --from AGENT"),
        (["--dry-run", "session.json"], "--dry-run needs --from AGENT"),
        (["--from", "codex", "--as", "x"], "--as can't be used with --from"),
        (["--from", "codex", "-"], "transcripts are files"),
        (["--from", "codex", "/nowhere/at/all"], "there is no file or folder /nowhere/at/all"),
    ],
)
def test_arguments_that_mean_nothing_together_are_refused(run: Run, arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert result.code == USAGE
    assert words in result.err
