"""People at the command line: each act on a plan, and how the agent hears of it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire import BlockingPlanSession, open_journal
from planwire.cli.exit_codes import DONE, NOT_DONE, NOT_FOUND, USAGE
from planwire.cli.steered_plan import conflict_error
from planwire.journal import Journal, Stamped, load_state
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    Event,
    Passage,
    PlanRemoved,
    PlanSet,
    Remarked,
    ReviewAsked,
    SessionOpened,
    Told,
)
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.model.records import PlanRecord
from planwire.model.step_changes import SetStatus
from planwire.readmodel.history import HistoryEntry
from planwire.session.editor import editor_command
from planwire.session.moved_on import MovedOn
from planwire.session.named_folders import note_folders
from planwire.steering.wanted import Wanted
from tests import deciding
from tests.cli.answers import answer
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
    ended, out, err = answer(*arguments, *([] if editor is None else ["--editor", editor]), at_terminal=True)
    assert ended == code, err
    return out if code == DONE else err


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
    assert said == "Approved, with 1 comment. The agent will see it with its next call of a plan tool.\n"
    review = main_plan(journal).review
    assert review is not None
    assert (review.verdict, review.by, review.revision) == (APPROVED, "user", 2)
    assert "go ahead" in json.dumps(plans.pending())
    assert plans.call("get_plan")["plan"]["verdict"]["verdict"] == "approved"


def test_a_plan_that_moved_on_is_not_approved_unseen(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("update_plan", {"steps": {"s1": "completed"}, "add": ["ship"], "note": "it was short"})
    refused = planwire("approve", "--revision", "2", code=NOT_DONE)
    assert refused == (
        "planwire: Plan changed since you looked at it. Nothing was written. Since then:\n"
        "  3  agent: done: read; added: ship; note: it was short\n"
        "Look at it again (planwire show), then pass --revision 3.\n"
    )
    assert main_plan(journal).review is None
    assert "nothing was changed" in planwire("approve", code=NOT_DONE)  # asked, nobody said yes
    assert "pass --revision N" in answer("approve", "--json", at_terminal=True).out
    planwire("approve", "--yes", "--changes", "--comment", "smaller steps", "--comment", "and tests")
    review = main_plan(journal).review
    assert review is not None
    assert (review.verdict, review.revision) == (CHANGES_REQUESTED, 3)
    said = [(each.kind, each.text) for each in main_plan(journal).open_remarks]
    assert said == [("request", "smaller steps"), ("comment", "and tests")]


def test_a_conflict_says_how_much_it_does_not_list() -> None:
    moments = tuple(HistoryEntry("s", seq, 0, "agent", "set", "Plan", ()) for seq in range(3, 13))
    lines = str(conflict_error(MovedOn("main", Wanted("tick", "s1", 2), None, None, moments))).splitlines()
    assert lines[1] == "  2 earlier (planwire log)"
    assert [line.split()[0] for line in lines[2:-1]] == ["5", "6", "7", "8", "9", "10", "11", "12"]


def test_what_was_said_already_is_an_answer_and_no_event(journal: Journal, plans: BlockingPlanSession) -> None:
    approval = ("approve", "--revision", "2")
    for act in (approval, (*approval, "--comment", "go ahead"), ("comment", "slowly"), ("select", "s2", "--yes")):
        planwire(*act)
        events = load_state(journal, plans.id).seq
        assert planwire(*act) == "Nothing changes: this was said already.\n"
        assert load_state(journal, plans.id).seq == events


def test_a_comment_on_a_step_reaches_the_agent(plans: BlockingPlanSession) -> None:
    said = planwire("comment", "--step", "2", "in Rust, please")
    assert said == "Comment added to “write”. The agent will see it with its next call of a plan tool.\n"
    assert "in Rust, please" in json.dumps(plans.pending())
    assert "no step matches 's9'" in planwire("comment", "--step", "s9", "?", code=NOT_FOUND)


@pytest.mark.usefixtures("plans")
def test_a_comment_is_never_too_late(journal: Journal) -> None:
    planwire("remove", "s1")
    said = planwire("comment", "--revision", "2", "--step", "read", "all of it")
    assert said.startswith("Comment added to the plan: “read” is gone. The agent will see it with its next call")
    [comment] = main_plan(journal).open_remarks
    assert (comment.text, comment.step, comment.passage) == ("all of it", None, Passage("read"))


def test_a_comment_on_a_step_of_a_plan_file_is_about_the_step(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("# Ship\n\n- [x] build\n- [ ] upload\n")
    plan = FilePlan("f", (tmp_path / "plan.md").as_uri())
    opened = Stamped(1, "relay", SessionOpened(cwd=str(tmp_path)))
    note_folders(tmp_path)
    deciding.write(journal, "session-1", opened, Stamped(1, "agent", PlanSet(plan, via=ACP)))
    assert planwire("comment", "--step", "upload", "to both hosts").startswith("Comment added to “upload”.")
    [comment] = load_state(journal, "session-1").plans["f"].open_remarks
    assert (comment.text, comment.step, comment.about) == ("to both hosts", "s2", {"s2": "upload"})
    assert "this plan is a" in planwire("tick", "upload", code=NOT_DONE)


def test_selected_steps_are_told_so_that_an_agent_can_act_on_it(plans: BlockingPlanSession) -> None:
    assert planwire("select", "s2", "--revision", "2").startswith("To run: “write”. The agent will see it")
    told = plans.pending()[0]["content"]
    assert 'means="run only these steps now, and leave the others until you are told"' in told
    assert ">s2</selection>" in told


def test_a_plan_is_changed_in_an_editor(journal: Journal, plans: BlockingPlanSession, tmp_path: Path) -> None:
    editor = an_editor(tmp_path, "text = text.replace('[ ] read', '[x] read it all') + '[ ] (low) check\\n'")
    assert planwire("edit", "--note", "for you", editor=editor) == (
        "Changed: “read” → read it all; “read”: done; add “check”; for you\n"
    )
    steps = main_plan(journal).state.steps
    assert [(step.id, step.content, step.status) for step in steps] == [
        ("s1", "read it all", "completed"),
        ("s2", "write", "pending"),
        ("s3", "check", "pending"),
    ]
    told = json.dumps(plans.pending())
    assert "for you" in told
    assert "read it all" in told


def test_leaving_the_text_as_it_is_changes_nothing(
    journal: Journal, plans: BlockingPlanSession, tmp_path: Path
) -> None:
    assert planwire("edit", editor=an_editor(tmp_path, "")) == "Nothing to save: the text is as it was.\n"
    assert "ended with 3" in planwire("edit", editor=an_editor(tmp_path, "sys.exit(3)"), code=NOT_DONE)
    assert "started (No such file or directory): set" in planwire("edit", editor="no-such-editor", code=USAGE)
    assert "line" in planwire("edit", editor=an_editor(tmp_path, "text = 'what?'"), code=NOT_DONE)
    assert "'what \"' could not be started (No closing quotation)" in planwire("edit", editor='what "', code=USAGE)
    assert main_plan(journal).revision == 2


@pytest.mark.usefixtures("plans")
def test_without_a_terminal_no_editor_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", an_editor(tmp_path, "Path('started').touch()"))
    refused = planwire("edit", code=NOT_DONE)
    assert "no terminal for an editor: run this on one, or pass --editor with a command that opens a window" in refused
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
    assert planwire("edit", editor=an_editor(tmp_path, script)) == "Changed: “read”: done\n"
    assert [step.status for step in main_plan(journal).state.steps] == ["completed", "in_progress", "pending"]


def test_a_step_that_both_changed_is_not_overwritten(
    journal: Journal, plans: BlockingPlanSession, tmp_path: Path
) -> None:
    script = MEANWHILE.format(journal=str(tmp_path / "default.db"), change={"reword": {"s1": "read the config"}})
    said = planwire("edit", editor=an_editor(tmp_path, script), code=NOT_DONE)
    assert "decide again about “read the config”. Nothing was changed. What you wrote:\n[x] read {s1}\n" in said
    assert main_plan(journal).state.steps[0].content == "read the config"
    assert main_plan(journal).state.steps[0].status == "pending"


def test_on_an_agents_own_plan_a_change_is_a_suggestion(journal: Journal, tmp_path: Path) -> None:
    plan = ItemsPlan("main", (Entry("read", "medium", "pending"),))
    opened = Stamped(1, "relay", SessionOpened(cwd=str(tmp_path)))
    deciding.write(journal, "session-1", opened, Stamped(1, "agent", PlanSet(plan, via=ACP)))
    editor = an_editor(tmp_path, "text = text.replace('[ ]', '[x]')")
    heard = "The agent will see it with the next prompt in the editor."
    assert planwire("edit", editor=editor) == f"Suggested: “read”: done. {heard}\n"
    assert planwire("edit", editor=editor) == "Nothing changes: that is suggested already.\n"
    record = main_plan(journal)
    assert record.state.steps[0].status == "pending"
    assert len(record.suggestions) == 1


def an_agents_plan(journal: Journal, folder: Path) -> None:
    plan = ItemsPlan("main", (Entry("read", "medium", "pending"), Entry("write", "medium", "pending")))
    opened = Stamped(1, "relay", SessionOpened(client="Zed 1", cwd=str(folder)))
    deciding.write(journal, "session-1", opened, Stamped(1, "agent", PlanSet(plan, via=ACP)))


def test_remarks_are_withdrawn_and_reopened_by_their_ids(journal: Journal, tmp_path: Path) -> None:
    an_agents_plan(journal, tmp_path)
    other = Remarked("main", "comment", "be careful", 2)
    deciding.write(journal, "session-1", Stamped(1, "ann", other))
    planwire("tick", "s1")
    planwire("comment", "--step", "s2", "be quick")
    assert planwire("withdraw") == "Withdrawn: “be quick”\n", "the newest one of the person's own"
    assert planwire("withdraw") == "Withdrawn: “read”: done\n", "a suggestion is a remark, too"
    refused = planwire("withdraw", code=NOT_FOUND)
    assert "no remark of yours is open on this plan: name one by its id. Open ones: r1 by ann" in refused
    planwire("comment", "by a script", "--as", "ci", "--yes")
    assert planwire("withdraw", "--as", "ci", "--yes") == "Withdrawn: “by a script”\n"
    assert planwire("withdraw", "r1", "she agrees") == "Withdrawn: “be careful”\n"
    assert [each.closed.text for each in main_plan(journal).remarks if each.closed] == ["she agrees", "", "", ""]
    assert planwire("withdraw", "r1") == "Nothing changes: r1 is closed already.\n"
    assert planwire("reopen", "r3").startswith(
        "Reopened: “be quick”. The agent will see it with the next prompt in Zed."
    )
    assert [each.id for each in main_plan(journal).open_remarks] == ["r3"]


def test_a_remark_is_found_in_whichever_plan_it_is_on(journal: Journal, tmp_path: Path) -> None:
    an_agents_plan(journal, tmp_path)
    notes, proposal = MarkdownPlan("notes", "Read **this** first.\n"), MarkdownPlan("p", "# Do it\n\nAll of it.\n")
    plans: list[Event] = [PlanSet(notes, via=ACP), PlanSet(proposal, via=ACP), ReviewAsked("p")]
    deciding.write(journal, "session-1", *(Stamped(1, "agent", event) for event in plans))
    twice = planwire("comment", "why?", "--quote", "s", "--plan", "notes", "--keep", code=NOT_DONE)
    assert "“s” 2 times: say which one, 1 to 2" in twice
    assert "no “**this**”" in planwire("comment", "why?", "--quote", "**this**", "--plan", "notes", code=NOT_DONE)
    planwire("comment", "why?", "--quote", "this", "--occurrence", "1", "--plan", "notes", "--keep")
    planwire("approve", "--plan", "p", "--changes", "--yes")
    [comment] = load_state(journal, "session-1").plans["notes"].open_remarks
    assert (comment.passage, comment.kept) == (Passage("this", "Read ", " first."), True)
    assert planwire("withdraw", "r1") == "Withdrawn: “why?”\n"
    assert load_state(journal, "session-1").plans["p"].ended == "rejected"
    assert planwire("reopen") == "Plan reopened.\n", "the plan that has ended is meant"
    assert load_state(journal, "session-1").plans["p"].is_living
    planwire("dismiss", "--plan", "notes", "--yes")
    assert planwire("reopen", "--plan", "notes") == "Plan reopened.\n"


def test_show_says_who_said_what_and_whether_the_agent_has_seen_it(journal: Journal, tmp_path: Path) -> None:
    an_agents_plan(journal, tmp_path)
    planwire("tick", "s1")
    planwire("comment", "--keep", "small commits")
    planwire("comment", "--step", "s2", "in Rust")
    planwire("comment", "never mind")
    planwire("withdraw", "r4", "it is fine")
    journal.append("session-1", [Stamped(1, "relay", Told("prompt", 6, remarks=("r2",)))])
    old, new = (MarkdownPlan(name, f"# Way {name}\n\nGo.\n") for name in ("one", "two"))
    for plan in (old, new):
        events = (PlanSet(plan, via=ACP), ReviewAsked(plan.id))
        deciding.write(journal, "session-1", *(Stamped(1, "agent", event) for event in events))
    shown = planwire("show")
    for words in (
        "1 s1  ○ read  ☆ done  r1 · you, just now · Queued",
        "› in Rust   r3 · you, just now · Queued",
        "Comment   small commits   r2 · you, just now · kept in force · Seen ",
        "Not seen yet: the agent will see it with the next prompt in Zed.",
        "▸ 1 closed   planwire show --all",
        "1 earlier proposal: planwire show --all",
    ):
        assert words in shown, shown
    assert "Way one" not in shown
    everything = planwire("show", "--all")
    assert "Comment   never mind   r4 · you, just now · Withdrawn just now" in everything
    assert "↳ it is fine" in everything
    assert "Way one" in everything
    remarks = json.loads(planwire("show", "--json", "--plan", "main"))["plans"][0]["remarks"]
    assert [(each["id"], each["kept"], each["closed"]) for each in remarks] == [
        ("r2", True, None),
        ("r3", False, None),
        ("r4", False, "withdrawn"),
    ]


# -- single steps


@pytest.mark.parametrize(
    ("command", "words", "steps"),
    [
        (["tick", "s1"], "Changed: “read”: done", "read completed medium, write pending high"),
        (["tick", "2"], "Changed: “write”: done", "read pending medium, write completed high"),
        (["status", "wri", "doing"], "Changed: “write”: in progress", "read pending medium, write in_progress high"),
        (["status", "s1", "cancelled"], "Changed: “read”: cancelled", "read cancelled medium, write pending high"),
        (["reword", "s1", "read on"], "Changed: “read” → read on", "read on pending medium, write pending high"),
        (["add", "ship"], "Changed: add “ship”", "read pending medium, write pending high, ship pending medium"),
        (
            ["add", "ship", "--first"],
            "Changed: add “ship”",
            "ship pending medium, read pending medium, write pending high",
        ),
        (
            ["add", "ship", "--after", "1"],
            "Changed: add “ship”",
            "read pending medium, ship pending medium, write pending high",
        ),
        (["move", "write", "--up"], "Changed: move “write” to the top", "write pending high, read pending medium"),
        (["move", "1", "--down", "1"], "Changed: move “read” after “write”", "write pending high, read pending medium"),
        (
            ["move", "s1", "--after", "s2"],
            "Changed: move “read” after “write”",
            "write pending high, read pending medium",
        ),
        (["move", "s2", "--first"], "Changed: move “write” to the top", "write pending high, read pending medium"),
        (["remove", "s1"], "Changed: remove “read”", "write pending high"),
        (["priority", "s1", "low"], "Changed: “read”: low priority", "read pending low, write pending high"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_step_is_changed(
    journal: Journal, plans: BlockingPlanSession, command: list[str], words: str, steps: str
) -> None:
    assert planwire(*command) == f"{words}\n"
    shown = [f"{step.content} {step.status} {step.priority}" for step in main_plan(journal).state.steps]
    assert ", ".join(shown) == steps
    assert plans.pending()


@pytest.mark.usefixtures("plans")
@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        (["tick", "s9"], NOT_FOUND, "no step matches 's9'. The steps are:\n  s1  read\n  s2  write\n"),
        (["tick", "r"], USAGE, "2 steps match 'r'"),
        (["status", "s1", "later"], USAGE, "there is no status 'later': choose one of pending, "),
        (["priority", "s1", "purple"], USAGE, "there is no priority 'purple': choose one of high, "),
        (["reword", "s1", " "], USAGE, "planwire: the step is empty: write its text\n"),
        (["add", ""], USAGE, "planwire: the step is empty: write its text\n"),
        (["comment", ""], USAGE, "planwire: the comment is empty\n"),
        (["approve", "--yes", "--comment", " "], USAGE, "planwire: the comment is empty\n"),
        (["add", "x", "--after", "s9"], NOT_FOUND, "no step matches 's9'"),
        (["move", "s1"], USAGE, "one of the arguments --after --before --first --up --down is required"),
        (["move", "s1", "--up", "0"], USAGE, "expected a number above 0"),
        (["tick", "s1", "--revision", "99"], NOT_FOUND, "session 'session-1' has no event 99: the latest is 2"),
        (["tick", "s1", "--plan", "other"], NOT_FOUND, "no plan of this session begins with 'other'"),
        (["withdraw", "x"], USAGE, "expected the id of a remark (r1, r2, r3 …: see planwire show), found 'x'"),
        (["withdraw", "r9"], NOT_FOUND, "there is no remark 'r9' on this plan. Open ones: none"),
        (["withdraw"], NOT_FOUND, "no remark of yours is open on this plan: name one by its id. Open ones: none"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_possible_says_why(journal: Journal, command: list[str], code: int, error: str) -> None:
    assert error in planwire(*command, code=code)
    assert main_plan(journal).revision == 2


def test_steps_are_those_of_the_plan_that_was_seen(journal: Journal, plans: BlockingPlanSession) -> None:
    """Line 2 of the list that the person saw is another step now."""
    plans.call("update_plan", {"add": [{"content": "think", "after": "s1"}]})
    assert [step.content for step in main_plan(journal).state.steps] == ["read", "think", "write"]
    assert planwire("tick", "2", "--revision", "2") == "Changed: “write”: done\n"
    assert planwire("tick", "2") == "Changed: “think”: done\n"


@pytest.mark.usefixtures("plans")
def test_a_step_that_was_reworded_since_is_left_alone(journal: Journal) -> None:
    planwire("reword", "s1", "read it twice")
    refused = planwire("tick", "s1", "--revision", "2", code=NOT_DONE)
    assert "Since then:\n  3  user: reworded: read → read it twice\n" in refused
    assert "then pass --revision 3" in refused
    assert planwire("tick", "s1", "--revision", "3") == "Changed: “read it twice”: done\n"


def test_a_second_tick_withdraws_the_suggestion(journal: Journal, tmp_path: Path) -> None:
    plan = ItemsPlan("main", (Entry("read", "medium", "pending"),))
    opened = Stamped(1, "relay", SessionOpened(cwd=str(tmp_path)))
    deciding.write(journal, "session-1", opened, Stamped(1, "agent", PlanSet(plan, via=ACP)))
    assert planwire("tick", "1").startswith("Suggested: “read”: done. The agent will see it")
    assert "☆ done  r1 · you" in planwire("show")
    assert planwire("tick", "1") == "Suggestion withdrawn: “read”: done\n"
    assert not main_plan(journal).suggestions


@pytest.mark.usefixtures("plans")
def test_a_dismissed_plan_keeps_its_history(journal: Journal) -> None:
    assert "nothing was changed" in planwire("dismiss", code=NOT_DONE)
    assert planwire("dismiss", "--yes") == "Plan dismissed. Its history stays.\n"
    assert main_plan(journal).removed
    assert "has no plan" in planwire("dismiss", "--yes", code=NOT_FOUND)
    assert "read" in planwire("show", "--plan", "main")


# -- for programs


def test_a_program_hears_what_came_of_an_act(journal: Journal, tmp_path: Path) -> None:
    plan = ItemsPlan("main", (Entry("read", "medium", "pending"),))
    opened = Stamped(1, "relay", SessionOpened(cwd=str(tmp_path)))
    deciding.write(journal, "session-1", opened, Stamped(1, "agent", PlanSet(plan, via=ACP)))
    suggested = json.loads(planwire("tick", "1", "--json"))
    words = "Suggested: “read”: done. The agent will see it with the next prompt in the editor."
    came = {"done": True, "words": words, "revision": 2, "suggestion": True, "remark": "r1", "answer": None}
    assert suggested == came
    assert json.loads(planwire("withdraw", suggested["remark"], "--json"))["done"] is True
    said = json.loads(planwire("comment", "slowly", "--json"))
    assert (said["done"], said["suggestion"]) == (True, False)
    again = json.loads(planwire("comment", "slowly", "--json"))
    assert again == {"done": False, "words": "Nothing changes: this was said already."}


@pytest.mark.usefixtures("plans")
@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        (["tick", "s9"], NOT_FOUND, "no step matches 's9'"),
        (["approve"], USAGE, "pass --revision N"),
        (["approve", "--revision", "1"], NOT_DONE, "then pass --revision 2."),
        (["edit"], NOT_DONE, "no terminal for an editor"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_program_gets_a_refusal_as_json(command: list[str], code: int, error: str) -> None:
    ended, out, err = answer(*command, "--json", at_terminal=True)
    assert (ended, err) == (code, "")
    assert error in json.loads(out)["error"]


# -- which plan


def test_which_plan_is_meant_is_asked_where_it_is_not_clear(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["other"], "plan_id": "side"})
    planwire("tick", "1")
    planwire("tick", "1", "--plan", "si")
    assert "no plan of this session begins with 'x'" in planwire("tick", "1", "--plan", "x", code=NOT_FOUND)
    live = load_state(journal, plans.id).live()
    assert [record.state.progress.done for record in live.values()] == [1, 1]
    planwire("dismiss", "--plan", "plan", "--yes")
    plans.call("set_plan", {"entries": ["more"], "plan_id": "back"})
    asked = planwire("tick", "1", code=USAGE)
    assert asked == "planwire: the session has 2 plans: pass --plan with one of 'side', 'back'\n"


def test_a_command_without_words_of_its_own_takes_the_session_as_one(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    assert planwire("approve", plans.id[:4], "--yes").startswith("Approved")
    assert "only one of them" in planwire("approve", plans.id, "--session", "other", "--yes", code=USAGE)
    assert "no session begins with 'other'" in planwire("edit", "other", code=NOT_FOUND)
    planwire("dismiss", plans.id, "--yes")
    assert not load_state(journal, plans.id).live()


def test_a_plan_file_is_not_opened_as_a_list_of_steps(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("- [ ] read\n")
    plan = PlanSet(FilePlan("main", (tmp_path / "plan.md").as_uri()), via=ACP)
    note_folders(tmp_path)
    deciding.write(journal, "f", Stamped(1, "agent", SessionOpened(cwd=str(tmp_path))), Stamped(1, "agent", plan))
    refused = planwire("edit", "--session", "f", editor=an_editor(tmp_path, "text = '[ ] more'"), code=NOT_DONE)
    assert refused == "planwire: this plan is a file: change it in an editor, or comment on the plan\n"


def test_a_plan_that_was_removed_is_none_to_choose(
    journal: Journal, plans: BlockingPlanSession, tmp_path: Path
) -> None:
    journal.append(
        plans.id, [Stamped(1, "agent", PlanSet(ItemsPlan("old", ()))), Stamped(1, "agent", PlanRemoved("old"))]
    )
    editor = an_editor(tmp_path, "text += '[ ] more\\n'")
    refused = planwire("edit", "--plan", "old", editor=editor, code=NOT_FOUND)
    assert "planwire: the plan “old” was dismissed. Nothing was changed" in refused
    assert refused == planwire("dismiss", "--plan", "old", "--yes", code=NOT_FOUND)
    refused = planwire("edit", "--plan", "older", editor=editor, code=NOT_FOUND)
    assert "no plan of this session begins with 'older'; its plans are: 'Plan' (main)" in refused
    assert "dismissed: old" in planwire("show")
    assert "old" in planwire("show", "--plan", "old")


def test_a_name_of_a_dismissed_plan_never_means_its_child_whose_id_begins_so(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    research = plans.child("s1", plan_id="research")
    research.set(["look", "find"])
    research.child("s2").set(["deep"])
    planwire("dismiss", "--plan", "research", "--yes")
    assert "the plan “research” was dismissed" in planwire("tick", "1", "--plan", "research", code=NOT_FOUND)
    assert planwire("reopen", "--plan", "research") == "Plan reopened.\n"
    live = load_state(journal, plans.id).live()
    assert [(name, record.state.progress.done) for name, record in live.items()] == [
        ("main", 0),
        ("research", 0),
        ("research/s2", 0),
    ]


def test_what_a_terminal_would_obey_is_not_in_an_answer(journal: Journal, tmp_path: Path) -> None:
    opened, plan = SessionOpened(cwd=str(tmp_path)), ItemsPlan(HOSTILE, (Entry(HOSTILE, "medium", "pending"),))
    suggestion = Remarked(HOSTILE, "suggestion", "", 2, changes=(SetStatus("s1", "completed"),))
    events = Stamped(1, "relay", opened), Stamped(1, "agent", PlanSet(plan, via=ACP)), Stamped(1, "user", suggestion)
    journal.append("session-1", events)
    for act in (["select", "s1", "--yes"], ["comment", "--step", "1", "slowly"], ["withdraw", "r1"], ["tick", "1"]):
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
        terminal.wait_for(b"planwire: nothing was changed")
    monkeypatch.setenv("VISUAL", an_editor(tmp_path, "text = 'what?'"))
    with running("edit") as terminal:
        terminal.wait_for(b"Edit again? [Y/n]")
        terminal.type(b"\n")
        terminal.wait_for(b"Edit again? [Y/n]")
        terminal.type(b"\x04")
        terminal.wait_for(b"Nothing was changed. What you wrote:\r\nwhat?")
    assert main_plan(journal).revision == 2
    assert main_plan(journal).review is None


def test_after_a_conflict_the_editor_has_the_plan_as_it_is_now_with_the_other_changes(
    journal: Journal, plans: BlockingPlanSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile = MEANWHILE.format(journal=str(tmp_path / "default.db"), change={"reword": {"s1": "read the config"}})
    once = "\n    ".join(meanwhile.strip().splitlines())
    script = f"""
if Path("second").exists():
    Path("second").write_text(text)
else:
    Path("second").touch()
    {once}
    text = text.replace("[ ] (high) write", "[x] (high) write")
"""
    monkeypatch.setenv("VISUAL", an_editor(tmp_path, script))
    with running("edit") as terminal:
        terminal.wait_for(b"Edit again? [Y/n]")
        terminal.type(b"\n")
        terminal.wait_for("Changed: “write”: done".encode())
    first, *_, above, below = (tmp_path / "second").read_text().splitlines()
    assert first == "# The plan changed while you edited it: decide again about “read the config”."
    assert (above, below) == ("# You wrote:", "# [x] read {s1}")
    assert "\n[ ] read the config {s1}\n[x] (high) write {s2}\n" in (tmp_path / "second").read_text()
    assert [step.status for step in main_plan(journal).state.steps] == ["pending", "completed"]


@pytest.mark.usefixtures("plans")
def test_a_plan_is_shown_before_it_is_dismissed(journal: Journal) -> None:
    with running("dismiss") as terminal:
        terminal.wait_for(b"2 s2")
        terminal.wait_for(b"Dismiss this? [y/N]")
        terminal.type(b"y\n")
        terminal.wait_for(b"Plan dismissed. Its history stays.")
    assert main_plan(journal).removed


def test_an_agent_that_waits_for_a_review_is_not_said_to_have_stopped(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    plans.call("update_plan", {"steps": {"s1": "in_progress"}})
    journal.append(plans.id, [Stamped(1, "agent", ReviewAsked("main"))])
    shown = planwire("show")
    assert "▶ read" in shown
    assert "stopped" not in shown
