"""Steering in `planwire watch` when something comes in between: races, refusals, slow journals, odd plans and sizes."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from rich.cells import cell_len
from textual.binding import Binding
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Button, Input, OptionList

from planwire.journal import open_journal
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.model.events import (
    ACP,
    SUGGESTION,
    Choice,
    Comment,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    Remarked,
    ReviewAsked,
    SessionOpened,
)
from planwire.model.plan import Entry, FilePlan, ItemsPlan, OtherPlan
from planwire.model.step_changes import AddStep, RewordStep
from planwire.session.named_folders import note_folders
from planwire.session.steering import Steered, steer
from planwire.steering.wanted import Wanted
from planwire.terminal import commander
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog, Dialog, DialogText
from planwire.terminal.history_screen import HistoryScreen
from planwire.terminal.overview_screen import OverviewScreen
from planwire.terminal.session_screen import SPARE, KeysFooter, SessionScreen
from planwire.terminal.text_dialog import TextField
from planwire.terminal.watch_app import WatchApp
from tests.journals import HOSTILE, add, items
from tests.terminal.watched import (
    OURS,
    THEIRS,
    asked,
    click_row,
    closed,
    on_a_loop,
    ours,
    panel,
    press_button,
    ready,
    record,
    report,
    review,
    said,
    shows,
    statuses,
    suggestions,
    texts,
    theirs,
    told,
    watching,
    write,
)
from tests.waiting import eventually

# -- races


@on_a_loop
async def test_an_agent_that_goes_on_does_not_turn_away_what_is_typed(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "e", "Write two tests")
        report(journal, "completed", "completed", "in_progress", "pending")
        await eventually(lambda: "2 / 4" in "".join(line.text for line in panel(app).in_sight()))
        await pilot.press("enter")
        await closed(app)
        assert suggestions(theirs(app)) == [RewordStep("s2", "Write two tests")]
        await review(app, pilot, "a", "go ahead")
        report(journal, "completed", "completed", "completed", "pending")
        await eventually(lambda: theirs(app).revision == 5)
        await pilot.press("enter")
        await closed(app)
        assert theirs(app).reviews[-1].revision == 5


def reworded(journal: Path, *texts: str) -> None:
    """The agent changes the words of its second step and of those behind it."""
    entries = [Entry(text, "medium", "pending") for text in ("Read the code", *texts)]
    add(journal, THEIRS, "agent", PlanSet(ItemsPlan(None, tuple(entries)), via=ACP))


@on_a_loop
async def test_who_decides_on_a_step_that_changed_decides_again(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "e", "Write two tests")
        reworded(journal, "Write a test first", "Mend it", "Tell people")
        await eventually(lambda: theirs(app).revision == 3)
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        await shows(
            app,
            "Reword  Write two tests",
            "Since then, from revision 2 to 3:",
            "~ Write a test → Write a test first",
            kind=DialogText,
        )
        assert not theirs(app).suggestions, "nothing was written yet"
        await pilot.press("enter")
        await asked(app)
        assert app.screen.query_one(TextField).text == "Write two tests", "what was typed is still there"
        assert not theirs(app).suggestions
        reworded(journal, "Write a test first and early", "Mend it", "Tell people")
        await eventually(lambda: theirs(app).revision == 4)
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        await shows(app, "Since then, from revision 3 to 4:", "~ Write a test first → Write", kind=DialogText)
        await press_button(app, pilot, "Send anyway")
        await closed(app)
        assert suggestions(theirs(app)) == [RewordStep("s2", "Write two tests")]


@on_a_loop
async def test_send_anyway_gets_through_while_the_plan_goes_on_changing(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "e", "Write two tests")
        reworded(journal, "Write a test first", "Mend it", "Tell people")
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        reworded(journal, "Write a test first and early", "Mend it", "Tell people")
        await pilot.press("s")
        await closed(app)
        assert suggestions(theirs(app)) == [RewordStep("s2", "Write two tests")]


@on_a_loop
async def test_what_is_discarded_after_a_conflict_does_not_come_back(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "e", "Write two tests")
        reworded(journal, "Write a test first", "Mend it", "Tell people")
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        await pilot.press("d")
        await closed(app)
        assert not app.drafts
        await shows(app, "Write a test first")
        await pilot.press("e")
        await asked(app)
        assert app.screen.query_one(TextField).text == "Write a test first"


@on_a_loop
async def test_a_difference_that_was_looked_at_needs_no_second_look(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await review(app, pilot, "a", "go ahead")
        add(journal, OURS, "agent", PlanChanged("main", "found it", (RewordStep("s2", "Write tests"),)))
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        await shows(app, "✎ found it   agent", "Review  go ahead", kind=DialogText)
        await pilot.press("e")
        await asked(app)
        await pilot.press("enter")
        await closed(app)
        assert ours(app).reviews[-1].revision == 3


@on_a_loop
async def test_a_tick_on_a_step_that_says_something_else_now_is_not_made_without_a_question(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        card, screen = panel(app).sheet.cards[0], app.screen
        assert isinstance(screen, SessionScreen)
        add(journal, OURS, "agent", PlanChanged("main", None, (RewordStep("s3", "Throw it away"),)))
        for key, expected in (("d", "pending"), ("s", "completed")):
            screen.acts.commander.do("main", Wanted("tick", "s3", card.revision))  # of the plan as it was shown
            await asked(app, DecisionDialog)
            await pilot.press(key)
            await eventually(partial(lambda status: statuses(ours(app))[2] == status, expected))
            await closed(app)


@on_a_loop
async def test_what_can_not_be_done_any_more_is_said_and_the_words_stay(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "e", "Other words")
        add(journal, OURS, "agent", PlanSet(items("main", "completed")))
        await eventually(lambda: len(texts(ours(app))) == 1)
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        await shows(app, "the step is gone", kind=DialogText)
        assert [str(button.label) for button in app.screen.query(Button)] == ["Add as a new step", "Edit", "Discard"]
        await pilot.press("e")
        await asked(app)
        assert app.screen.query_one(TextField).text == "Other words"
        add(journal, OURS, "agent", PlanRemoved("main"))
        await pilot.press("enter")
        await told(app, "The plan was dismissed. Nothing was changed.")
        await asked(app)
        await pilot.press("escape")
        await told(app, "Your text is kept")
        await shows(app, "no plans left")
        await pilot.press("a")
        await told(app, "There is no plan here yet")
        with open_journal(journal) as opened:
            opened.forget(OURS)
        await shows(app, "this session is no longer in the journal")
        await pilot.press("x")
        assert isinstance(app.screen, SessionScreen)


@on_a_loop
async def test_words_for_a_step_that_is_gone_become_a_new_step(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "e", "Other words")
        add(journal, OURS, "agent", PlanSet(items("main", "completed")))
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        await pilot.press("a")
        await closed(app)
        await eventually(lambda: texts(ours(app))[-1] == "Other words")


@on_a_loop
async def test_two_people_steer_one_plan(journal: Path) -> None:
    async with watching(journal, THEIRS) as (one, pilot), watching(journal, THEIRS) as (other, second):
        await ready(one)
        await ready(other)
        await review(other, second, "a", "looks good")
        await pilot.press("x")
        await shows(one, "✓ Write a test  ☆ done")
        await eventually(lambda: "✓ Write a test  ☆ done" in "".join(line.text for line in panel(other).in_sight()))
        await second.press("enter")
        await closed(other)
        await shows(one, "Review    approved (revision 2)   you, just now", "Comment   looks good   you, just now")


# -- journals that are slow, or can't be written


@on_a_loop
async def test_a_locked_journal_does_not_freeze_the_screen(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commander, "PATIENCE", 0.05)
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        locker = sqlite3.connect(journal, isolation_level=None)
        try:
            locker.execute("BEGIN IMMEDIATE")
            await write(app, pilot, "c", "take your time")
            await pilot.press("enter")
            await told(app, "The journal is busy: someone else is writing to it.")
            await pilot.press(*"!", "escape")
            await closed(app)
            await pilot.press("up", "T")
            assert panel(app).cursor.row == ("step", "main", "s1")
            assert not said(ours(app))
            assert app.writes.is_writing
        finally:
            locker.execute("ROLLBACK")
            locker.close()
        await eventually(lambda: said(ours(app)))
        await shows(app, "› take your time")
        await told(app, "Comment added to “Write a test”.")


@asynccontextmanager
async def late_conflict(app: WatchApp, pilot: "Pilot[None]", journal: Path) -> AsyncIterator[None]:
    """A step is ticked, but the journal is locked until the person has gone on; the step is reworded first."""
    locked = Event()

    def steer_late(*given: Any, **named: Any) -> Steered:
        assert locked.wait(20)
        return steer(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("planwire.terminal.write_queue.steer", steer_late)
        await pilot.press("x")
        await eventually(lambda: app.writes.is_writing)
        try:
            yield
            add(journal, OURS, "agent", PlanChanged("main", None, (RewordStep("s2", "Throw it away"),)))
        finally:
            locked.set()
    await eventually(lambda: not app.writes.is_writing)
    await pilot.pause()


@on_a_loop
async def test_a_decision_that_comes_late_waits_while_a_comment_is_typed(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        async with late_conflict(app, pilot, journal):
            await write(app, pilot, "c", "")
        await pilot.press(*"hello so")
        assert (await asked(app)).query_one(TextField).text == "hello so"
        await pilot.press("escape")
        await asked(app, DecisionDialog)
        await shows(app, "Tick", "~ Write a test → Throw it away", kind=DialogText)
        assert statuses(ours(app))[1] == "in_progress"
        await pilot.press("s")
        await eventually(lambda: statuses(ours(app))[1] == "completed")


@on_a_loop
async def test_a_decision_that_comes_late_waits_while_sessions_are_searched(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        async with late_conflict(app, pilot, journal):
            await pilot.press("escape", "slash")
        await pilot.press(*"so")
        assert app.screen.query_one(Input).value == "so"
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        await pilot.press("d")
        await eventually(lambda: isinstance(app.screen, OverviewScreen))


@on_a_loop
async def test_a_journal_that_can_not_be_written_says_so_and_the_words_stay(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        assert isinstance(app.journal, SqliteJournal)
        app.journal._writer.execute("PRAGMA query_only = ON")  # as it is with a file that is not ours
        await write(app, pilot, "c", "hello")
        await pilot.press("enter")
        await told(app, "it can't be written: check who owns the file and its folder")
        await asked(app)
        assert app.screen.query_one(TextField).text == "hello"
        await pilot.press("escape")
        app.clear_notifications()
        await pilot.press("x")
        await told(app, "it can't be written")
        await shows(app, "▶ Write a test")


# -- plans that can't be changed here


@on_a_loop
async def test_files_and_other_kinds_are_reviewed_and_commented_on_only(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plan.md").write_text("- [ ] one\n")
    monkeypatch.setenv("VISUAL", "no-such-editor")
    note_folders(tmp_path)
    file, other = FilePlan("notes", (tmp_path / "plan.md").as_uri()), OtherPlan("graph", "dag", {"nodes": [1]})
    add(journal, THEIRS, "agent", PlanSet(file, via=ACP), PlanSet(other, via=ACP))
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "○ one", '"nodes"')
        await click_row(app, pilot, "○ one", 6)
        for key in ("x", "a", "d", "J"):
            app.clear_notifications()
            await pilot.press(key)
            await told(app, "This plan is a file: change it in an editor, or comment on the plan.")
        await pilot.press("e")
        await told(app, "no-such-editor")  # there is no terminal to give away here: it is told, and nothing breaks
        await write(app, pilot, "c", "and two?")
        await pilot.press("enter")
        await closed(app)
        assert said(record(app, THEIRS, "notes")) == [Comment("and two?", "s1")]
        await click_row(app, pilot, " graph ", 3)
        await pilot.press("a")
        await told(app, "A plan of kind 'dag' has no steps to change")
        await review(app, pilot, "a", "")
        await pilot.press("enter")
        await eventually(lambda: record(app, THEIRS, "graph").reviews)
        (tmp_path / "plan.md").unlink()
        await shows(app, "plan.md")
        await click_row(app, pilot, " notes ", 3)
        await pilot.press("x")
        await told(app, "This plan is a file: change it in an editor, or comment on the plan.")
        await click_row(app, pilot, " Plan ", 3)
        await pilot.press("x")
        await told(app, "No step is under the cursor")


@on_a_loop
async def test_an_editor_that_can_not_be_named_and_a_journal_that_fails_are_said(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plan.md").write_text("- [ ] one\n")
    monkeypatch.setenv("VISUAL", "vim '")
    note_folders(tmp_path)
    add(journal, THEIRS, "agent", PlanSet(FilePlan("notes", (tmp_path / "plan.md").as_uri()), via=ACP))
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "○ one")
        await click_row(app, pilot, "○ one", 6)
        await pilot.press("e")
        await told(app, "could not be started (No closing quotation): set $VISUAL or $EDITOR")
        app.sessions.close()
        app.journal.close()
        await pilot.press("e")
        await told(app, "is closed")


@on_a_loop
async def test_the_past_can_not_be_steered(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("h")
        await shows(app, "History of Ours")
        for key in ("x", "e", "v", "u"):
            app.clear_notifications()
            await pilot.press(key)
            await told(app, "This is the past: Esc goes back to the plan as it is now")
        assert isinstance(app.screen, HistoryScreen)


# -- everything in reach


def test_the_footer_leaves_out_keys_by_the_names_that_they_have() -> None:
    assert {*SPARE} <= {binding.description for binding in SessionScreen.BINDINGS if isinstance(binding, Binding)}


@on_a_loop
async def test_everything_is_in_the_menu_and_in_the_command_palette(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("m")
        menu = await asked(app, ChoiceDialog)
        names = [str(option.prompt).split("  ")[1].strip() for option in menu.query_one(OptionList).options]
        assert {"Tick", "Reword", "Add", "Comment", "Select", "Run", "Review", "Move up", "Remove", "Dismiss"} <= set(
            names
        )
        assert "Withdraw" not in names, "there is no suggestion"
        await pilot.press("J")
        await eventually(lambda: texts(ours(app))[2] == "Write a test")
        await closed(app)
        await click_row(app, pilot, "Read the code", 8, button=3)
        await asked(app, ChoiceDialog)
        await pilot.press("j", "k", "enter")
        await eventually(lambda: statuses(ours(app))[0] == "pending")
        await closed(app)
        await pilot.press("ctrl+p", *"set status")
        await eventually(lambda: len(app.screen.query(OptionList).first().options) == 1)
        await pilot.press("enter")
        await asked(app, ChoiceDialog)
        await pilot.press("escape")
        await closed(app)
        assert {command.title for command in app.get_system_commands(app.screen)} >= set(names)


@on_a_loop
async def test_words_that_were_not_sent_come_back(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "c", "half a thou")
        await pilot.press("ctrl+c")
        await closed(app)
        assert app.is_running
        await pilot.press("down")
        await pilot.press("c")
        await asked(app)
        assert app.screen.query_one(TextField).text == "", "that was about another step"
        await pilot.press("escape", "up", "c")
        await asked(app)
        assert app.screen.query_one(TextField).text == "half a thou"
        await pilot.press(*"ght", "enter")
        await closed(app)
        assert said(ours(app)) == [Comment("half a thought", "s2")]
        assert not app.drafts
        for key in ("e", "a"):
            await write(app, pilot, key, "  ")
            await pilot.press("enter")
            await told(app, "The step is empty: write its text.")
            await pilot.press("escape")
            await closed(app)
        assert not app.drafts


@on_a_loop
async def test_words_are_kept_before_their_dialog_closes(journal: Path) -> None:
    """A key that comes right behind Esc opens the dialog anew."""
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "c", "half a thou")
        dialog = await asked(app)
        dialog.action_leave()
        assert list(app.drafts.values()) == ["half a thou"]
        await closed(app)
        await pilot.press("c")
        assert (await asked(app)).query_one(TextField).text == "half a thou"


@pytest.mark.parametrize("size", [(40, 16), (120, 40)])
@on_a_loop
async def test_every_dialog_fits_any_size(journal: Path, size: tuple[int, int]) -> None:
    long = " ".join(["a step that is longer than any terminal is wide"] * 6)
    entries = tuple(Entry(f"{number} {long}", "high", "pending") for number in range(3))
    add(
        journal,
        THEIRS,
        "agent",
        PlanSet(ItemsPlan(None, entries), via=ACP),
        ReviewAsked(None, (Choice("", long), Choice("", "No"))),
    )
    add(
        journal, THEIRS, "user", Remarked(None, SUGGESTION, long, changes=(RewordStep("s5", long), AddStep(long, "s5")))
    )
    async with watching(journal, THEIRS, size=size) as (app, pilot):
        await shows(app, "0 a step that")
        await pilot.press("home", "down", "s")
        for line in panel(app).lines:
            assert cell_len(line.text) <= panel(app).size.width, line.text
        footer = app.screen.query_one(KeysFooter)
        assert sum(key.outer_size.width for key in footer.children) <= size[0]
        for key in ("e", "v", "r", "c", "a", "o", "m"):
            await pilot.press(key)
            dialog = await asked(app, Dialog)
            await pilot.pause()
            box = dialog.query_one("#box").region
            assert box.right <= size[0]
            for widget in dialog.query("#box, Button, TextField, OptionList"):
                assert widget.region.height, f"{widget} is not there after {key}"
                assert widget.region.bottom <= size[1], f"{widget} is out of sight after {key}"
            await pilot.press("escape")
            await closed(app)


@on_a_loop
async def test_hostile_words_stay_words(journal: Path) -> None:
    plan = ItemsPlan(HOSTILE, (Entry(f"[bold]{HOSTILE}", HOSTILE, HOSTILE), Entry("b", "medium", "pending")))
    add(journal, "z", HOSTILE, SessionOpened(HOSTILE, HOSTILE, HOSTILE, HOSTILE), PlanSet(plan, via=ACP))
    add(
        journal,
        "z",
        HOSTILE,
        Remarked(HOSTILE, SUGGESTION, HOSTILE, changes=(AddStep(f"[red]{HOSTILE}", "s1"), RewordStep("s2", HOSTILE))),
    )
    remarks = (
        Remarked(HOSTILE, "comment", HOSTILE, 3, "s2", kept=True),
        Remarked(HOSTILE, "comment", f"[i]{HOSTILE}", 3),
    )
    add(journal, "z", HOSTILE, PlanReviewed(HOSTILE, 3, HOSTILE), *remarks, RemarkAnswered(HOSTILE, "r2", HOSTILE))
    add(journal, "z", "agent", ReviewAsked(HOSTILE, (Choice("", HOSTILE), Choice("", "[b]no[/b]"))))

    def harmless() -> bool:
        return not any(sign in app.export_screenshot() for sign in "\x1b\x07\x9b\u202e")

    async with watching(journal, "z") as (app, pilot):
        await shows(app, "? [bold]x�]0;pwned", "☆ [red]x�]0;pwned", "› x�", "[i]x�", "↳ x�", "[b]no[/b]")
        await pilot.press("home", "down")
        for key in ("e", "v", "r", "c", "o", "m"):
            await pilot.press(key)
            await asked(app, Dialog)
            assert harmless(), key
            await pilot.press("escape")
            await closed(app)
        assert not app.drafts, "a text that was only made safe to show is not anyone's words"
        await pilot.press("c")
        await asked(app)
        app.screen.query_one(TextField).post_message(Paste(f"one\r{HOSTILE}"))
        await eventually(lambda: app.screen.query_one(TextField).text.startswith("one\nx�]0;pwned"))
        assert harmless()
        add(journal, "z", "agent", PlanSet(items(HOSTILE, HOSTILE), via=ACP))
        await pilot.press("escape")
        await closed(app)
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("a")
        await asked(app)
        add(journal, "z", "agent", PlanSet(items(HOSTILE, HOSTILE, HOSTILE), via=ACP))
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        assert harmless()
        await pilot.press("s")
        await told(app, "Approved")
        assert harmless()
