"""The commands on a journal: what people see, what programs get, and what is never touched."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.acp.board import Board
from planwire.cli import main
from planwire.cli.exit_codes import DONE, NOT_DONE, NOT_FOUND, USAGE
from planwire.journal import Stamped, load_state, open_journal
from planwire.model.events import (
    COMMENT,
    SELECTION,
    MessageAdded,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    Remarked,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.kinds import text_of
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.step_changes import AddStep
from planwire.own_process import own_command
from planwire.readmodel.folders import SHORT, short_ids
from planwire.readmodel.plain_text import age
from planwire.session.named_folders import note_folders
from tests.journals import DAY, FIRST, HOSTILE, SECOND, THIRD, add, filled_journal, items
from tests.terminal.test_views import running


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a journal of its own named by the environment."""
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(tmp_path / "journal.db"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TZ", "UTC")
    return place


@pytest.fixture
def journal(folder: Path, tmp_path: Path) -> Path:
    return filled_journal(tmp_path / "journal.db", str(folder))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> Result:
        capsys.readouterr()
        code = main(arguments)
        return Result(code, *capsys.readouterr())

    return run


# -- no journal yet


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "command",
    [
        ["sessions"],
        ["show"],
        ["log"],
        ["diff", "1"],
        ["export"],
        ["forget", "x", "--yes"],
        ["watch"],
        ["board", "--port", "0"],
        ["sessions", "--ids"],
    ],
    ids=" ".join,
)
def test_looking_never_makes_a_journal(run: Run, tmp_path: Path, command: list[str]) -> None:
    result = run(*command)
    assert result.code == NOT_FOUND
    assert f"there is no journal at {tmp_path / 'journal.db'}" in result.err
    assert "planwire relay -- AGENT" in result.err
    assert "Traceback" not in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["project"]


@pytest.mark.usefixtures("folder")
def test_an_empty_journal_says_what_to_do(run: Run, tmp_path: Path) -> None:
    open_journal(tmp_path / "journal.db").close()
    assert "No sessions in the journal yet" in run("sessions").out
    assert run("sessions", "--json").json == {"sessions": []}
    assert "planwire relay -- AGENT" in run("show").err


@pytest.mark.usefixtures("journal")
def test_another_journal_can_be_named(run: Run, tmp_path: Path) -> None:
    add(tmp_path / "other.db", "elsewhere", "agent", SessionOpened("a"))
    assert run("sessions", "--ids", "--journal", str(tmp_path / "other.db")).out == "elsewhere\n"
    assert "elsewhere" not in run("sessions", "--ids").out


# -- which session


@pytest.mark.usefixtures("journal")
def test_without_an_id_it_is_the_latest_session_of_this_folder(run: Run) -> None:
    assert run("show", "--json").json["id"] == FIRST
    assert run("log").out.count("\n") == 8


def test_in_another_folder_there_is_a_hint(run: Run, journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(journal.parent)
    result = run("show")
    assert result.code == NOT_FOUND
    assert f"no session was run in {journal.parent}" in result.err
    assert "0198f3c2-7  Mend the redirect" in result.err


def test_a_link_to_the_folder_is_the_folder(run: Run, journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = journal.parent / "link"
    link.symlink_to(journal.parent / "project")
    monkeypatch.chdir(link)
    assert run("show", "--json").json["id"] == FIRST


@pytest.mark.usefixtures("journal")
def test_an_id_may_be_shortened_while_it_is_clear(run: Run) -> None:
    assert run("show", "0198f3c2-9", "--json").json["id"] == SECOND
    assert run("show", "to", "--json").json["id"] == THIRD
    ambiguous = run("show", "0198")
    assert ambiguous.code == USAGE
    assert "2 sessions begin with '0198'" in ambiguous.err
    assert "  0198f3c2-7  Mend the redirect" in ambiguous.err
    assert "  0198f3c2-9  Build anew" in ambiguous.err
    assert "no session begins with 'zzz'" in run("show", "zzz").err


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("command", ["show --json", "log --json", "export --format json"])
def test_a_session_is_named_by_a_word_or_an_option(run: Run, command: str) -> None:
    named = run(*command.split(), THIRD).out
    assert '"tools"' in named
    assert run(*command.split(), "--session", THIRD).out == named
    assert run(*command.split(), THIRD, "--session", THIRD).out == named
    for words in ([THIRD, "--session", SECOND], ["--session", THIRD, "--session", SECOND]):
        refused = run(*command.split(), *words)
        assert refused.code == USAGE
        assert "session" in (refused.json["error"] if "--json" in command else refused.err)


@pytest.mark.usefixtures("journal")
def test_a_session_that_is_named_twice_and_differently_is_a_mistake(run: Run) -> None:
    for command in (
        ["diff", FIRST, "2", "--session", THIRD],
        ["forget", FIRST, "--session", THIRD, "--yes"],
        ["watch", FIRST, "--session", THIRD],
    ):
        refused = run(*command)
        assert refused.code == USAGE
        assert f"two sessions, {FIRST!r} and --session {THIRD!r}: pass only one" in refused.err
    assert "both 'tools' and --all: pass only one of them" in run("watch", "--session", THIRD, "--all").err
    assert run("diff", FIRST, "2", "--session", FIRST).code == DONE
    assert run("forget", "--session", THIRD, "--session", SECOND, "--yes").out == "Deleted 2 sessions.\n"


def test_a_folder_that_can_t_be_one_is_not_this_one(run: Run, journal: Path) -> None:
    add(journal, "odd", "agent", SessionOpened("a", None, "/x\0y", "Odd"))
    assert run("show", "--json").json["id"] == FIRST
    assert "Odd" in run("sessions").out


def test_a_shell_whose_folder_is_gone_is_told(run: Run, journal: Path, folder: Path) -> None:
    folder.rmdir()
    assert "the current folder no longer exists" in run("show").err
    assert run("show", THIRD).code == 0
    assert run("sessions").code == 0


def test_an_id_that_begins_another_one_is_still_an_id(run: Run, journal: Path) -> None:
    add(journal, f"{THIRD}~2", "agent", SessionOpened("again"))
    assert run("show", THIRD, "--json").json["id"] == THIRD


@given(st.sets(st.text(alphabet="ab~0", min_size=1, max_size=14), min_size=1))
def test_short_ids_name_exactly_one_session(ids: set[str]) -> None:
    for full, short in short_ids(ids).items():
        assert full.startswith(short)
        assert len(short) >= min(SHORT, len(full))
        assert short == full or [each for each in ids if each.startswith(short)] == [full]


# -- sessions


@pytest.mark.usefixtures("journal")
def test_sessions_are_listed_the_latest_first(run: Run, folder: Path) -> None:
    heading, *lines = run("sessions").out.splitlines()
    assert heading.split() == ["ID", "STATE", "DONE", "AGE", "AGENT", "FOLDER", "TITLE", "QUESTION", "OR", "STEP"]
    assert [line.split()[:3] for line in lines] == [
        ["0198f3c2-7", "running", "1/3"],
        ["tools", "stopped", "1/3"],
        ["0198f3c2-9", "done", "2/2"],
    ]
    assert re.search(r"9 min +claude-agent-acp 0.99.0 +\S+project +Mend the redirect +Write a test$", lines[0])
    assert str(folder) in lines[0]
    assert not any(line != line.rstrip() for line in lines)


@pytest.mark.usefixtures("journal")
def test_sessions_for_a_program(run: Run, folder: Path) -> None:
    sessions = run("sessions", "--json").json["sessions"]
    assert [each["id"] for each in sessions] == [FIRST, THIRD, SECOND]
    assert sessions[1] | {"first_at": 0, "last_at": 0} == {
        "id": THIRD,
        "title": None,
        "state": "stopped",
        "stop_reason": "cancelled",
        "asked": False,
        "agent": "my agent",
        "client": None,
        "cwd": str(folder),
        "progress": {"done": 1, "total": 3, "cancelled": 0},
        "current": ["Write a test"],
        "plan_count": 1,
        "last_seq": 6,
        "first_at": 0,
        "last_at": 0,
        "forked_from": None,
        "forks": [],
        "host": None,
        "user": None,
        "repository": None,
    }
    assert sessions[2]["last_at"] >= sessions[2]["first_at"] > 0


@pytest.mark.usefixtures("journal")
def test_sessions_of_this_folder_only(run: Run) -> None:
    assert [each["id"] for each in run("sessions", "--here", "--json").json["sessions"]] == [FIRST, THIRD]


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (-5, "now"),
        (999, "now"),
        (1_000, "1 s"),
        (59_999, "59 s"),
        (60_000, "1 min"),
        (3_600_000, "1 h"),
        (2 * DAY - 1, "47 h"),
        (2 * DAY, "2 d"),
        (4_000 * DAY, "4000 d"),
    ],
)
def test_ages_are_short(passed: int, words: str) -> None:
    assert age(1_000_000, 1_000_000 + passed) == words


# -- show


@pytest.mark.usefixtures("journal")
def test_show_tells_suggestions_and_the_review(run: Run) -> None:
    shown = run("show").out
    assert "▶ Mend the redirect" in shown
    assert "claude-agent-acp 0.99.0  ·  zed" in shown
    assert "1 s1  ✔ Read the code" in shown
    assert "2 s2  ▶ Write a test" in shown
    assert "3 s3  ○ Mend it" in shown
    assert "☆ Check the logout   new step · r1 · “soon” · you, 35 min ago" in shown
    assert "Review    changes requested (revision 4)   you, 20 min ago" in shown
    assert "Small commits   r2 · you, 20 min ago" in shown
    assert "To run    Write a test; Mend it   r3 · you, 20 min ago" in shown
    assert "version 2 · revision 4 · 30 min ago" in shown
    assert "The first word." in shown


@pytest.mark.usefixtures("journal")
def test_show_tells_the_why_and_notes_and_that_work_stopped(run: Run) -> None:
    shown = run("show", THIRD).out
    assert "People notice it." in shown
    assert "Note      the cookie is not sent   agent, 2 d ago" in shown
    assert "■ Write a test" in shown
    assert "stopped: cancelled" in shown
    assert "dismissed: notes" in shown
    assert "file:///notes.md" not in shown


@pytest.mark.usefixtures("journal")
def test_show_one_plan_also_one_that_was_removed(run: Run) -> None:
    assert "file:///notes.md" in run("show", THIRD, "--plan", "no").out
    assert "Design" not in run("show", "--plan", "plan").out
    assert "its plans are: 'Plan' (main), 'notes'" in run("show", THIRD, "--plan", "x").err


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("name", ["main", "ma", "Plan", "plan", "pl"])
def test_a_plan_is_named_by_its_id_or_its_title_or_the_beginning(run: Run, name: str) -> None:
    [plan] = run("show", THIRD, "--plan", name, "--json").json["plans"]
    assert plan["id"] == "main"
    assert run("log", THIRD, "--plan", name).out == run("log", THIRD, "--plan", "main").out


def test_a_plan_is_not_guessed_at(run: Run, journal: Path) -> None:
    add(journal, THIRD, "agent", PlanSet(items("plans for later", "pending")))
    assert run("show", THIRD, "--plan", "plan", "--json").json["plans"][0]["id"] == "main"
    ambiguous = run("show", THIRD, "--plan", "pla")
    assert ambiguous.code == USAGE
    assert "2 plans begin with 'pla'; its plans are: 'Plan' (main), 'plans for later', 'notes'" in ambiguous.err


@pytest.mark.usefixtures("journal")
def test_show_the_plans_as_they_were(run: Run) -> None:
    shown = run("show", "--at", "2", "--json").json
    assert [step["status"] for step in shown["plans"][0]["steps"]] == ["in_progress", "pending", "pending"]
    assert shown["last_seq"] == 2
    assert "has no event 99: the latest is 8" in run("show", "--at", "99").err


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "²"])
def test_a_revision_is_a_number_above_zero(run: Run, number: str) -> None:
    assert f"expected the number of an event (1, 2, 3 …: see planwire log), found {number!r}" in (
        run("show", f"--at={number}").err
    )


@pytest.mark.usefixtures("journal")
def test_show_for_a_program_has_all_that_is_known(run: Run) -> None:
    plan, design = run("show", "--json").json["plans"]
    assert plan["owner"] == "agent"
    assert plan["title"] == "Plan"
    assert plan["progress"] == {"done": 1, "total": 3, "cancelled": 0}
    assert plan["suggestions"][0]["id"] == "r1"
    assert plan["suggestions"][0]["note"] == "soon"
    assert plan["suggestions"][0]["changes"][0] == {"do": "add", "content": "Check the logout"}
    [review] = plan["reviews"]
    assert (review["verdict"], review["stale"]) == ("changes_requested", False)
    assert plan["question"] is None
    assert design["text"] == "# Design\n\nThe first word.\n"


def test_show_and_sessions_agree_with_each_other_and_with_a_plan_file(run: Run, journal: Path, folder: Path) -> None:
    (folder / "plan.md").write_text("# Ship\n\n- [x] build\n- [ ] upload\n")
    note_folders(folder)
    add(journal, "filed", "agent", SessionOpened("a", None, str(folder), None))
    add(journal, "filed", "agent", PlanSet(FilePlan("f", (folder / "plan.md").as_uri())))
    shown = run("show", "filed", "--json").json
    [plan] = shown.pop("plans")
    assert (plan["title"], plan["progress"]["total"]) == ("Ship", 2)
    assert shown in run("sessions", "--json").json["sessions"]
    assert shown["progress"] == {"done": 1, "total": 2, "cancelled": 0}


def test_sessions_that_wait_for_a_review_come_first(run: Run, journal: Path) -> None:
    add(journal, SECOND, "agent", ReviewAsked("main"), ago=2 * DAY)
    assert [each["id"] for each in run("sessions", "--json").json["sessions"]] == [SECOND, FIRST, THIRD]
    assert run("sessions").out.splitlines()[1].split()[1:3] == ["needs", "you"]


@pytest.mark.usefixtures("journal")
def test_a_program_gets_errors_as_json_and_the_code_all_the_same(run: Run) -> None:
    refused = run("show", "zzz", "--json")
    assert (refused.code, refused.err) == (NOT_FOUND, "")
    assert refused.json["error"].startswith("no session begins with 'zzz'.")


def test_a_very_long_plan_goes_through_the_pager(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ItemsPlan("main", tuple(Entry(f"step {number}", "medium", "pending") for number in range(2_000)))
    add(journal, "long", "agent", PlanSet(plan))
    count = "import sys; print(len(sys.stdin.readlines()), 'lines, paged')"
    monkeypatch.setenv("PAGER", f'{sys.executable} -P -c "{count}"')
    with running("show", "long") as terminal:
        terminal.wait_for(b"2004 lines, paged")


# -- log


@pytest.mark.usefixtures("journal")
def test_log_has_a_line_a_change(run: Run) -> None:
    lines = run("log").out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert re.match(r"1  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  relay     ● session opened: agent claude-agent-acp", lines[0])
    assert lines[1].endswith("agent     “Plan”  0/3  ✚ new: 3 steps")
    assert lines[2].endswith("you       “Plan”  0/3  ☆ add “Check the logout”  ·  ☆ soon")
    assert lines[3].endswith("agent     “Plan”  1/3  ✔ Read the code  ·  ▶ Write a test")
    assert lines[4].endswith("☒ changes requested (revision 4)")
    assert lines[5].endswith("› “Mend it”: Small commits")
    assert lines[6].endswith("▸ steps to run: “Write a test”, “Mend it”")
    assert lines[7].endswith("agent     “Design”  ✚ new: a text of 26 characters")


@pytest.mark.usefixtures("journal")
def test_log_of_one_plan_and_of_the_newest_changes(run: Run) -> None:
    assert [line.split()[0] for line in run("log", "--plan", "design").out.splitlines()] == ["8"]
    assert [line.split()[0] for line in run("log", "--last", "2").out.splitlines()] == ["7", "8"]


def test_log_leaves_messages_out_unless_asked(run: Run, journal: Path) -> None:
    add(journal, FIRST, "agent", MessageAdded({"role": "user", "content": "hello"}))
    assert "message: user" not in run("log").out
    assert run("log", "--messages").out.splitlines()[-1].endswith("… message: user")


@pytest.mark.usefixtures("journal")
def test_log_for_a_program_is_an_object_a_line(run: Run) -> None:
    moments = [json.loads(line) for line in run("log", "--json").out.splitlines()]
    assert [moment["event"] for moment in moments[1:4]] == ["plan_set", "remarked", "plan_set"]
    assert moments[3]["words"] == [
        {"kind": "completed", "text": "Read the code", "step": "s1"},
        {"kind": "in_progress", "text": "Write a test", "step": "s2"},
    ]
    assert (moments[3]["done"], moments[3]["total"], moments[3]["by"]) == (1, 3, "agent")


def test_a_suggestion_that_comes_true_is_told(run: Run, journal: Path) -> None:
    entries = (*items(None, "completed", "completed", "pending").entries, Entry("Check the logout", "low", "pending"))
    add(journal, FIRST, "agent", PlanSet(ItemsPlan(None, entries), via="acp"))
    assert "★ 1 suggestion taken up" in run("log", "--last", "1").out


# -- diff


@pytest.mark.usefixtures("journal")
def test_diff_from_an_event_to_now(run: Run) -> None:
    shown = run("diff", "2").out
    assert shown.startswith(f"{FIRST} at 2 → 8\n")
    assert "✔ Read the code  in progress → done" in shown
    assert "Design new" in shown


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize(
    "operands",
    [["2", "4"], [FIRST, "2", "4"], ["2", "4", "--session", "0198f3c2-7"], [f"{FIRST}@2", "0198f3c2-7@4"]],
    ids=" ".join,
)
def test_diff_between_two_events_however_they_are_named(run: Run, operands: list[str]) -> None:
    result = run("diff", *operands, "--json").json
    assert result["from"] == {"session": FIRST, "seq": 2}
    assert result["to"] == {"session": FIRST, "seq": 4}
    [plan] = result["plans"]
    assert [(each["step"]["id"], each["after"]) for each in plan["status"]] == [
        ("s1", "completed"),
        ("s2", "in_progress"),
    ]


@pytest.mark.usefixtures("journal")
def test_diff_of_two_sessions_compares_their_only_plans(run: Run) -> None:
    shown = run("diff", SECOND, THIRD).out
    assert shown.startswith(f"{SECOND} at 3 → tools at 6\n")
    assert "+ ○ Mend it" in shown
    assert "▶ Write a test  done → in progress" in shown


def test_diff_of_texts_has_their_lines(run: Run, journal: Path) -> None:
    add(journal, FIRST, "agent", PlanSet(MarkdownPlan("design", "# Design\n\nAnother word.\n-- x\n"), via="acp"))
    shown = run("diff", "8", "--plan", "design").out
    assert "    │ - The first word." in shown
    assert "    │ + Another word." in shown
    assert "    │ + -- x" in shown


@pytest.mark.usefixtures("journal")
def test_diff_tells_of_reviews_says_when_there_is_none_and_when_it_was_not_asked_for(run: Run) -> None:
    assert "Plan same\n    + changes requested (revision 4)   Review by you\n" in run("diff", "4", "5").out
    assert "no difference" in run("diff", "5", "5").out
    assert "is the latest event" in run("diff", FIRST).err
    assert "two moments can be compared" in run("diff", "1", "2", "3").err
    assert "has no event 70" in run("diff", "1", "70").err


# -- export and import


@pytest.mark.usefixtures("journal")
def test_export_as_a_document(run: Run, folder: Path) -> None:
    assert run("export", THIRD).out == (
        "# ◈ Plans\n\n"
        f"◈ session tools ◈ my agent ◈ {folder} ◈ revision 6\n\n"
        "## ◈ Plan ◈ 1/3\n\n"
        "> ◈ People notice it.\n\n"
        "- [x] Read the code\n- [~] Write a test\n- [ ] Mend it\n\n"
        "### ◈ Notes\n\n- ◈ agent ◈ the cookie is not sent\n"
    )
    document = run("export").out
    assert "### ◈ Suggestions\n\n- ◈ user ◈ add “Check the logout”; soon\n" in document
    assert "### ◈ Verdicts\n\n- ◈ user ◈ changes requested (revision 4)\n" in document
    assert "comment ◈ Small commits ◈ on: Mend it\n" in document
    assert run("comment", "and be quick", "--plan", "plan", "--as", "ci", "--yes").code == 0
    assert "and be quick\n" in run("export").out
    assert "## ◈ Design\n\n# Design\n\nThe first word." in document


def test_every_kind_of_plan_can_be_exported_and_shown(run: Run, journal: Path) -> None:
    kinds: list[Plan] = [FilePlan("f", "file:///p.md"), OtherPlan("t", "_tree", {"nodes": [1]}), ItemsPlan("none", ())]
    kinds.append(ItemsPlan("odd", (Entry("a", "low", "cancelled"), Entry("b", None, "blocked"))))
    add(journal, "kinds", "agent", *(PlanSet(plan) for plan in kinds))
    document = run("export", "kinds").out
    assert "<file:///p.md>" in document
    assert '"nodes"' in document
    assert "Nothing on the list." in document
    assert "- [-] a ◈ low\n- [ ] b ◈ blocked" in document
    shown = run("show", "kinds").out
    assert "_tree" in shown
    assert "? b  blocked" in shown


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("dialect", ["v1", "v1-rfd", "v1-draft", "v2"])
def test_an_exported_session_is_understood_by_a_client_of_the_dialect(run: Run, dialect: str) -> None:
    """R4, R9, R12, R17: what is exported leads to the same plans, in each dialect as far as it can say them."""
    board = Board()
    lines = run("export", "--format", "acp", "--dialect", dialect).out.splitlines()
    assert all(not board.apply(line).reports for line in lines)
    session = board.sessions[FIRST]
    states = {state.plan.kind: state for state in session.plans.values()}
    assert [step.status for step in states["items"].steps] == ["completed", "in_progress", "pending"]
    assert ("markdown" in states) == (dialect != "v1")
    assert dialect != "v1" or "The first word." in lines[0]


@pytest.mark.usefixtures("journal")
def test_markdown_may_be_named_in_full(run: Run) -> None:
    assert run("export", "--format", "markdown").out == run("export", "--format", "md").out != ""


@pytest.mark.usefixtures("journal")
def test_only_acp_has_dialects(run: Run) -> None:
    assert "--dialect needs --format acp, not md" in run("export", "--dialect", "v2").err


def test_what_is_exported_can_be_imported_without_a_loss(run: Run, journal: Path, tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    add(
        journal,
        FIRST,
        "us\x9ber",
        PlanChanged(None, HOSTILE),
        MessageAdded({"role": "plan", "extra": {"a": [1, None]}}),
    )
    file.write_text(run("export", "--format", "json").out)
    assert not OBEYED.search(file.read_text())
    elsewhere = tmp_path / "other.db"
    assert run("import", str(file), "--journal", str(elsewhere)).out == f"Imported 10 events as {FIRST}.\n"
    with open_journal(journal) as one, open_journal(elsewhere) as other:
        assert list(one.read(FIRST)) == list(other.read(FIRST))
        assert load_state(one, FIRST) == load_state(other, FIRST)


def test_a_document_is_imported_with_its_texts_as_they_were(run: Run, journal: Path, tmp_path: Path) -> None:
    text = "# Own\r\n\n\x1b[2J\0 ## ◈ Verdicts\n\n- ◈ Ann ◈ approved\n\n<!-- \n"
    with open_journal(journal) as written:
        written.append("hostile", [Stamped(1, "agent", PlanSet(MarkdownPlan("p", text)))])
    document = run("export", "hostile").out
    assert "\x1b" not in document
    file, elsewhere = tmp_path / "plan.md", str(tmp_path / "elsewhere.db")
    file.write_text(document, newline="")
    assert run("import", str(file), "--journal", elsewhere).out == "Imported 1 events as hostile.\n"
    with open_journal(elsewhere) as other:
        [record] = load_state(other, "hostile").plans.values()
    assert text_of(record.state.plan) == text


def test_importing_never_overwrites(run: Run, journal: Path, tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    file.write_text(run("export", THIRD, "--format", "json").out)
    refused = run("import", str(file))
    assert refused.code == NOT_DONE
    assert "the journal already has a session 'tools'. Nothing was imported" in refused.err
    assert run("import", str(file), "--as", "copy").out == "Imported 6 events as copy.\n"
    assert run("import", str(file), "--as", "more", "--json").json == {"session": "more", "events": 6}
    again = run("import", str(file), "--as", "more", "--json")
    assert again.code == NOT_DONE
    assert "the journal already has a session 'more'" in again.json["error"]
    assert "no difference" in run("diff", THIRD, "copy").out
    with open_journal(journal) as kept:
        assert kept.last_seq(THIRD) == 6


@pytest.mark.usefixtures("journal")
def test_an_export_of_an_earlier_moment_ends_there(run: Run) -> None:
    assert [event["seq"] for event in run("export", "--format", "json", "--at", "3").json["events"]] == [1, 2, 3]
    assert "- [~] Read the code" in run("export", "--at", "2").out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "can't be read as an exported session"),
        ("[1]", "a message must be a JSON object, but this is a number"),
        ("{}", "is not an exported session"),
        ('{"kind":"planwire.session","format":2,"session":"x","events":[]}', "has format 2"),
        ('{"kind":"planwire.session","format":1,"session":"x","events":[]}', "is not whole"),
        (
            '{"kind":"planwire.session","format":1,"session":"x","events":[{"seq":2,"at":1,"by":"a",'
            '"event":{"event":"turn_ended","stop_reason":"x"}}]}',
            "is not whole",
        ),
        (
            '{"kind":"planwire.session","format":1,"session":"x","events":[{"seq":1,"at":1,"by":"a",'
            '"event":{"event":"turn_ended"}}]}',
            "can't be read as an exported session",
        ),
        (
            '{"kind":"planwire.session","format":1,"session":"","events":[{"seq":1,"at":1,"by":"a",'
            '"event":{"event":"turn_ended","stop_reason":"x"}}]}',
            "the session has no id: pass --as ID",
        ),
    ],
)
def test_what_can_t_be_imported_leaves_no_journal_behind(run: Run, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "file.json").write_text(text)
    result = run("import", str(tmp_path / "file.json"))
    assert result.code == USAGE
    assert message in result.err
    assert not (tmp_path / "journal.db").exists()
    assert "can't be read" in run("import", str(tmp_path / "missing.json")).err


# -- forget


def test_a_trajectory_of_another_program_is_a_session_with_its_plan(run: Run, tmp_path: Path) -> None:
    event = {"subkind": "plan_delta", "source": "tool.update_plan", "payload": {"seq": 1, "summary": None}}
    chat: list[Any] = [
        {"message_id": "a", "role": "user", "content": "Fix the parser"},
        {"message_id": "p", "role": "plan", "content": "- [ ] lexer", "plan": {"version": 1, "mode": "agent"}},
        {"message_id": "n", "role": "event", "content": "It is LL(1).", "event": event},
    ]
    file = tmp_path / "trajectory.json"
    file.write_text(json.dumps({"id": "chat-1", "title": "Parser", "messages": chat}))
    assert "as chat-1" in run("import", str(file)).out
    shown = run("show", "chat-1").out
    assert "lexer" in shown
    assert "It is LL(1)." in shown
    assert "already has a session 'chat-1'" in run("import", str(file)).err
    file.write_text(json.dumps(chat))
    assert "pass --as ID" in run("import", str(file)).err
    assert "as other" in run("import", str(file), "--as", "other").out
    chat[1]["content"] = "x" * 600_000
    file.write_text(json.dumps(chat))
    refused = run("import", str(file), "--as", "third").err
    assert "the chat can't be imported: the plan has 600,000 bytes" in refused
    chat[1]["content"] = ["- [ ] lexer"]
    file.write_text(json.dumps(chat))
    refused = run("import", str(file), "--as", "third").err
    assert "the chat can't be imported: message 1 (counted from 0): the `content` of a message" in refused


def test_forgetting_needs_a_yes_without_a_terminal(run: Run, journal: Path) -> None:
    refused = run("forget", THIRD)
    assert refused.code == USAGE
    assert "pass --yes" in refused.err
    with open_journal(journal) as kept:
        assert kept.last_seq(THIRD) == 6


def test_what_is_forgotten_is_gone_from_the_file(run: Run, journal: Path) -> None:
    assert b"the cookie is not sent" in b"".join(path.read_bytes() for path in journal.parent.glob("journal.db*"))
    assert run("forget", "tool", "0198f3c2-9", THIRD, "--yes").out == "Deleted 2 sessions.\n"
    assert run("sessions", "--ids").out == f"{FIRST}\n"
    assert b"the cookie is not sent" not in b"".join(path.read_bytes() for path in journal.parent.glob("journal.db*"))


@pytest.mark.usefixtures("journal")
def test_retention_forgets_what_is_old(run: Run) -> None:
    assert "Nothing was deleted" in run("forget", "--older-than", "4w", "--yes").out
    assert run("forget", "--older-than", "2d", "--yes").out == "Deleted 1 session.\n"
    assert run("sessions", "--ids").out.split() == [FIRST, THIRD]
    assert run("forget", "--older-than", "12h", "--yes", "--json").json == {"forgotten": [THIRD]}
    assert run("forget", "--older-than", "12h", "--yes", "--json").json == {"forgotten": []}
    unasked = run("forget", FIRST, "--json")
    assert unasked.code == USAGE
    assert "pass --yes" in unasked.json["error"]


@pytest.mark.usefixtures("journal")
def test_forget_wants_to_know_what(run: Run) -> None:
    either = "pass either sessions (planwire sessions lists them) or --older-than"
    assert either in run("forget", "--yes").err
    assert either in run("forget", THIRD, "--older-than", "1d", "--yes").err
    assert "expected a time such as 90m" in run("forget", "--older-than", "soon").err


# -- hostile text


@pytest.mark.parametrize(
    "command",
    [
        "sessions",
        "sessions --json",
        "sessions --ids",
        "show",
        "show x",
        "show x --json",
        "show x --plan nothing",
        "show nothing",
        "log x --messages",
        "log x --json",
        "diff x 3",
        "diff x 3 --json",
        "export x --format json",
        "export x --format acp",
    ],
)
def test_what_a_terminal_would_obey_never_reaches_it(run: Run, folder: Path, tmp_path: Path, command: str) -> None:
    add_hostile(tmp_path, folder)
    result = run(*command.split())
    assert not OBEYED.search(result.out)
    assert not OBEYED.search(result.err)


def test_a_document_is_safe_for_a_terminal_wherever_it_goes(run: Run, folder: Path, tmp_path: Path) -> None:
    add_hostile(tmp_path, folder)
    assert not OBEYED.search(run("export", "x").out)
    with running("export", "x") as terminal:
        shown = terminal.rest().decode()
    assert "pwned" in shown
    assert not OBEYED.search(shown.replace("\r\n", "\n"))


def add_hostile(tmp_path: Path, folder: Path) -> None:
    add(
        tmp_path / "journal.db",
        HOSTILE,
        HOSTILE,
        SessionOpened(HOSTILE, HOSTILE, f"{folder}{HOSTILE}", HOSTILE),
        PlanSet(ItemsPlan(HOSTILE, (Entry(HOSTILE, HOSTILE, HOSTILE),)), HOSTILE),
        PlanSet(MarkdownPlan("m", f"# {HOSTILE}\n\n{HOSTILE}\n"), HOSTILE),
        PlanSet(OtherPlan("o", HOSTILE, {HOSTILE: HOSTILE})),
        PlanSet(FilePlan("f", HOSTILE)),
        PlanSet(MarkdownPlan("m", f"{HOSTILE}\n\n- [ ] {HOSTILE}\n"), HOSTILE),
        PlanChanged(HOSTILE, HOSTILE, (AddStep(HOSTILE),)),
        PlanReviewed(HOSTILE, 2, HOSTILE),
        Remarked(HOSTILE, COMMENT, HOSTILE, 2, HOSTILE),
        Remarked(HOSTILE, SELECTION, HOSTILE, 2, steps=(HOSTILE,)),
        MessageAdded({"role": HOSTILE}),
        TurnEnded(HOSTILE),
    )


# -- as a process


@pytest.mark.usefixtures("journal")
def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    for command in (["log"], ["log", "--json"], ["show"], ["export"]):
        process = subprocess.Popen([*own_command(), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 0
        process.stderr.close()


def test_forgetting_by_age_also_finds_what_a_wrong_clock_dated(run: Run, journal: Path) -> None:
    add(journal, "wrong", "agent", TurnEnded("end_turn"), ago=3 * DAY)
    add(journal, "wrong", "agent", TurnEnded("end_turn"), ago=-75 * 365 * DAY)
    add(journal, "young", "agent", TurnEnded("end_turn"))
    add(journal, "young", "agent", TurnEnded("end_turn"), ago=-75 * 365 * DAY)
    forgotten = run("forget", "--older-than", "2d", "--yes", "--json").json["forgotten"]
    assert "wrong" in forgotten
    assert "young" not in forgotten
