"""People at the command line: edit, approve, comment, select, and how the agent hears of it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire import BlockingPlanSession, open_journal
from planwire.cli.exit_codes import DONE, NOT_DONE, NOT_FOUND, USAGE
from planwire.journal import Journal, Stamped, load_state
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    PlanChanged,
    PlanRemoved,
    PlanSet,
    ReviewAsked,
    SessionOpened,
    SetStatus,
)
from planwire.model.fold import PlanRecord
from planwire.model.plan import Entry, ItemsPlan
from planwire.session.editor import editor_command
from tests.journals import HOSTILE
from tests.terminal.test_views import running


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.chdir(tmp_path)
    with open_journal(tmp_path / "default.db") as journal:
        yield journal


@pytest.fixture
def plans(journal: Journal, tmp_path: Path) -> BlockingPlanSession:
    plans = BlockingPlanSession(journal, "session-1", about=SessionOpened(cwd=str(tmp_path)))
    plans.call("set_plan", {"entries": ["read", {"content": "write", "priority": "high"}]})
    plans.pending()
    return plans


def planwire(*arguments: str, editor: str | None = None, code: int = DONE) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "planwire", *arguments, *([] if editor is None else ["--editor", editor])],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout if code == DONE else result.stderr


def an_editor(tmp_path: Path, script: str) -> str:
    """An editor that changes the text by itself; `text` is what it finds."""
    path = tmp_path / "editor.py"
    path.write_text(
        "import sys\nfrom pathlib import Path\nfile = Path(sys.argv[-1])\ntext = file.read_text()\n"
        f"{script}\nfile.write_text(text)\n"
    )
    return f"{sys.executable} {path}"


def main_plan(journal: Journal) -> PlanRecord:
    return load_state(journal, "session-1").plans["main"]


def test_an_approval_is_of_the_plan_that_was_seen_and_reaches_the_agent(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    said = planwire("approve", "--revision", "2", "--comment", "go ahead")
    assert said == "approved: main, revision 2\n"
    review = main_plan(journal).review
    assert review is not None
    assert (review.verdict, review.by, review.revision) == (APPROVED, "user", 2)
    assert "go ahead" in json.dumps(plans.pending())
    assert plans.call("get_plan")["plan"]["review"]["verdict"] == "approved"


def test_a_plan_that_moved_on_is_not_approved_unseen(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("update_plan", {"steps": {"s1": "completed"}, "note": "it was short"})
    refused = planwire("approve", "--revision", "2", code=NOT_DONE)
    assert "is at revision 3, and you saw 2" in refused
    assert "it was short" in refused
    assert "--revision 3" in refused
    assert main_plan(journal).review is None
    assert "which revision?" in planwire("approve", code=USAGE)
    planwire("approve", "--yes", "--changes", "--comment", "smaller steps")
    review = main_plan(journal).review
    assert review is not None
    assert (review.verdict, review.revision) == (CHANGES_REQUESTED, 3)


def test_what_was_said_already_is_an_answer_and_no_event(journal: Journal, plans: BlockingPlanSession) -> None:
    approval = ("approve", "--revision", "2")
    for act in (approval, (*approval, "--comment", "go ahead"), ("comment", "slowly"), ("select", "s2", "--yes")):
        planwire(*act)
        events = load_state(journal, plans.id).seq
        assert planwire(*act) == "nothing changes: this was said already\n"
        assert load_state(journal, plans.id).seq == events


def test_a_comment_on_a_step_reaches_the_agent(plans: BlockingPlanSession) -> None:
    planwire("comment", "--step", "s2", "in Rust, please")
    assert "s2 (write): in Rust, please" in json.dumps(plans.pending())
    assert "no step 's9'" in planwire("comment", "--step", "s9", "?", code=NOT_FOUND)
    assert "is at revision 2, and you saw 1" in planwire("comment", "--revision", "1", "too late", code=NOT_DONE)


def test_selected_steps_are_told_so_that_an_agent_can_act_on_it(plans: BlockingPlanSession) -> None:
    assert planwire("select", "s2", "--revision", "2") == "to run: s2 of main, revision 2\n"
    told = plans.pending()[0]["content"]
    assert "Run only these steps now, and leave the others until you are told:\ns2 write\n" in told


def test_a_plan_is_changed_in_an_editor(journal: Journal, plans: BlockingPlanSession, tmp_path: Path) -> None:
    editor = an_editor(tmp_path, "text = text.replace('[ ] read', '[x] read it all') + '[ ] (low) check\\n'")
    assert planwire("edit", "--note", "for you", editor=editor) == "3 changes made\n"
    steps = main_plan(journal).state.steps
    assert [(step.id, step.content, step.status) for step in steps] == [
        ("s1", "read it all", "completed"),
        ("s2", "write", "pending"),
        ("s3", "check", "pending"),
    ]
    told = json.dumps(plans.pending())
    assert "for you" in told
    assert "s1 reworded: read it all" in told


def test_leaving_the_text_as_it_is_changes_nothing(
    journal: Journal, plans: BlockingPlanSession, tmp_path: Path
) -> None:
    assert planwire("edit", editor=an_editor(tmp_path, "")) == "nothing to save\n"
    assert "ended with 3" in planwire("edit", editor=an_editor(tmp_path, "sys.exit(3)"), code=NOT_DONE)
    assert "could not be started" in planwire("edit", editor="no-such-editor", code=USAGE)
    assert "line" in planwire("edit", editor=an_editor(tmp_path, "text = 'what?'"), code=NOT_DONE)
    assert "'what \"' could not be started (No closing quotation)" in planwire("edit", editor='what "', code=USAGE)
    assert main_plan(journal).revision == 2


@pytest.mark.usefixtures("plans")
def test_without_a_terminal_no_editor_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", an_editor(tmp_path, "Path('started').touch()"))
    refused = planwire("edit", code=NOT_DONE)
    assert "there is no terminal to edit on: run it on one, or name an editor with --editor COMMAND" in refused
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("visual", "editor", "words"),
    [("code --wait", "ed", ["code", "--wait"]), (" ", "ed", ["ed"]), ("", "\t", ["vi"]), (None, None, ["vi"])],
)
def test_the_editor_is_the_first_that_is_named(
    visual: str | None, editor: str | None, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("VISUAL", visual), ("EDITOR", editor)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert editor_command() == words


MEANWHILE = """
from planwire import BlockingPlanSession
with BlockingPlanSession.open({journal!r}, "session-1") as agent:
    agent.call("update_plan", {change})
text = text.replace("[ ] read", "[x] read")
"""


def test_what_the_agent_did_meanwhile_is_kept(journal: Journal, plans: BlockingPlanSession, tmp_path: Path) -> None:
    script = MEANWHILE.format(
        journal=str(tmp_path / "default.db"), change={"steps": {"s2": "in_progress"}, "add": ["new"]}
    )
    assert planwire("edit", editor=an_editor(tmp_path, script)) == "1 change made\n"
    assert [step.status for step in main_plan(journal).state.steps] == ["completed", "in_progress", "pending"]


def test_a_step_that_both_changed_is_not_overwritten(
    journal: Journal, plans: BlockingPlanSession, tmp_path: Path
) -> None:
    script = MEANWHILE.format(journal=str(tmp_path / "default.db"), change={"reword": {"s1": "read the config"}})
    said = planwire("edit", editor=an_editor(tmp_path, script), code=NOT_DONE)
    assert "decide again about s1. Nothing was changed. What you wrote:\n[x] read {s1}\n" in said
    assert main_plan(journal).state.steps[0].content == "read the config"
    assert main_plan(journal).state.steps[0].status == "pending"


def test_on_an_agents_own_plan_a_change_is_a_suggestion(journal: Journal, tmp_path: Path) -> None:
    plan = ItemsPlan("main", (Entry("read", "medium", "pending"),))
    opened = Stamped(1, "relay", SessionOpened(cwd=str(tmp_path)))
    journal.append("session-1", [opened, Stamped(1, "agent", PlanSet(plan, via=ACP))])
    editor = an_editor(tmp_path, "text = text.replace('[ ]', '[x]')")
    assert planwire("edit", editor=editor) == "1 change suggested: the agent will see this with its next prompt\n"
    again = planwire("edit", editor=editor)
    assert again == "nothing changes: the plan already says so, or it is wished for already\n"
    record = main_plan(journal)
    assert record.state.steps[0].status == "pending"
    assert len(record.suggestions) == 1


def test_a_suggestion_is_withdrawn(journal: Journal, tmp_path: Path) -> None:
    plan = ItemsPlan("main", (Entry("read", "medium", "pending"),))
    opened = Stamped(1, "relay", SessionOpened(cwd=str(tmp_path)))
    suggestion, other = (Stamped(1, "user", PlanChanged("main", text)) for text in ("be quick", "be careful"))
    journal.append("session-1", [opened, Stamped(1, "agent", PlanSet(plan, via=ACP)), suggestion, other])
    assert "wish 3: be quick" in planwire("show")
    assert planwire("edit", "--withdraw") == "withdrawn: be careful\n"
    assert [each.note for each in main_plan(journal).suggestions] == ["be quick"]
    assert "no wish of event 4 that is still open" in planwire("edit", "--withdraw", "4", code=NOT_DONE)
    assert planwire("edit", "--withdraw", "3") == "withdrawn: be quick\n"
    assert "the open ones are of events: none" in planwire("edit", "--withdraw", code=NOT_DONE)


def test_which_plan_is_meant_is_asked_where_it_is_not_clear(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["other"], "plan_id": "side"})
    assert planwire("approve", "--yes") == "approved: main, revision 2\n"
    assert planwire("approve", "--yes", "--plan", "si") == "approved: side, revision 3\n"
    assert "no plan of this session begins with 'x'" in planwire("approve", "--yes", "--plan", "x", code=NOT_FOUND)


def test_a_plan_that_was_removed_is_none_to_choose(
    journal: Journal, plans: BlockingPlanSession, tmp_path: Path
) -> None:
    journal.append(
        plans.id, [Stamped(1, "agent", PlanSet(ItemsPlan("old", ()))), Stamped(1, "agent", PlanRemoved("old"))]
    )
    editor = an_editor(tmp_path, "text += '[ ] more\\n'")
    refused = planwire("edit", "--plan", "old", editor=editor, code=NOT_FOUND)
    assert "no plan of this session begins with 'old'; its plans are: 'main'" in refused
    assert "removed: old" in planwire("show")
    assert "old" in planwire("show", "--plan", "old")


def test_what_a_terminal_would_obey_is_not_in_an_answer(journal: Journal, tmp_path: Path) -> None:
    opened, plan = SessionOpened(cwd=str(tmp_path)), ItemsPlan(HOSTILE, (Entry(HOSTILE, "medium", "pending"),))
    suggestion = PlanChanged(HOSTILE, None, (SetStatus("s1", "completed"),))
    events = Stamped(1, "relay", opened), Stamped(1, "agent", PlanSet(plan, via=ACP)), Stamped(1, "user", suggestion)
    journal.append("session-1", events)
    for act in (["approve", "--yes"], ["comment", "slowly"], ["select", "s1", "--yes"], ["edit", "--withdraw"]):
        said = planwire(*act)
        assert "pwned" in said
        assert not set("\x1b\x07\x9b\u202e") & set(said)


def test_what_was_written_stays_if_the_journal_fails(plans: BlockingPlanSession, tmp_path: Path) -> None:
    script = f"""
import sqlite3
with sqlite3.connect({str(tmp_path / "default.db")!r}) as journal:
    journal.execute("DROP TABLE events")
text = text.replace("[ ] read", "[x] read")
"""
    said = planwire("edit", editor=an_editor(tmp_path, script), code=NOT_DONE)
    assert "is damaged" in said
    assert "Nothing was changed. What you wrote:\n[x] read {s1}\n" in said


# -- on a terminal


def test_the_end_of_the_input_is_a_no(
    journal: Journal, plans: BlockingPlanSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running("approve") as terminal:
        terminal.wait_for(b"Approve this? [y/N]")
        terminal.type(b"\x04")
        terminal.wait_for(b"planwire: nothing was written")
    monkeypatch.setenv("VISUAL", an_editor(tmp_path, "text = 'what?'"))
    with running("edit") as terminal:
        terminal.wait_for(b"Edit again? [Y/n]")
        terminal.type(b"\n")
        terminal.wait_for(b"Edit again? [Y/n]")
        terminal.type(b"\x04")
        terminal.wait_for(b"Nothing was changed. What you wrote:\r\nwhat?")
    assert main_plan(journal).revision == 2
    assert main_plan(journal).review is None


def test_an_agent_that_waits_for_a_review_is_not_said_to_have_stopped(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    plans.call("update_plan", {"steps": {"s1": "in_progress"}})
    journal.append(plans.id, [Stamped(1, "agent", ReviewAsked("main"))])
    shown = planwire("show")
    assert "▶ read" in shown
    assert "stopped" not in shown
