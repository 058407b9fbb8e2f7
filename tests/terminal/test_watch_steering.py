"""Steering in `planwire watch`, through Textual's pilot: what keys and the mouse do, and what is on the screen then."""

from functools import partial
from pathlib import Path

from textual.widgets import OptionList

from planwire.journal import open_journal
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    Choice,
    Comment,
    PlanChanged,
    PlanRemoved,
    PlanSet,
    ReviewAsked,
    SessionOpened,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetStatus
from planwire.steering.wanted import Wanted
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog, DialogText
from planwire.terminal.session_screen import SessionScreen
from planwire.terminal.steps_panel import StepsPanel
from planwire.terminal.text_dialog import TextDialog, TextField
from planwire.terminal.watch_app import WatchApp
from tests.journals import add, items
from tests.terminal.watched import (
    HEAD,
    NESTED,
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
    rows,
    said,
    seen,
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


def steps_and_ghosts(app: WatchApp) -> list[str]:
    """The lines of a plan that begin with the sign of a step."""
    texts = [line.text.strip() for line in panel(app).in_sight()]
    return [text for text in texts if text[:2] in ("✔ ", "▶ ", "○ ", "✗ ", "☆ ", "✓ ") and text[2] != "→"]


# -- the cursor


@on_a_loop
async def test_the_cursor_walks_over_plans_and_steps(journal: Path) -> None:
    add(journal, OURS, "agent", PlanSet(MarkdownPlan("todo", NESTED)))
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        assert panel(app).cursor.row == ("step", "main", "s2"), "it begins with the current step"
        for keys, row in (
            (["down"], ("step", "main", "s3")),
            (["j", "j"], ("plan", "todo")),
            (["k"], ("step", "main", "s4")),
            (["home"], ("plan", "main")),
            (["end"], ("step", "todo", "s5")),
            (["up", "up"], ("step", "todo", "s3")),
            (["pageup"], ("plan", "main")),
            (["pagedown"], ("step", "todo", "s5")),
            (["full_stop"], ("step", "main", "s2")),
        ):
            await pilot.press(*keys)
            assert panel(app).cursor.row == row
        await click_row(app, pilot, "grammar", 8)
        assert panel(app).cursor.row == ("step", "todo", "s4")
        await click_row(app, pilot, " Parser ", 8)
        assert panel(app).cursor.row == ("plan", "todo")


@on_a_loop
async def test_a_text_between_two_rows_can_be_read_with_the_arrows(journal: Path) -> None:
    text = "\n\n".join([*(f"Paragraph {number}." for number in range(40)), "- [ ] Read it again"])
    add(journal, OURS, "agent", PlanSet(MarkdownPlan("text", text)))
    async with watching(journal, OURS, size=(80, 20)) as (app, pilot):
        await ready(app)
        await pilot.press("down", "down", "down")
        assert panel(app).cursor.row == ("plan", "text")
        for _ in range(11):
            await pilot.press("down")
        assert "Paragraph 10." in seen(app)
        assert panel(app).cursor.row == ("text", "text", "Paragraph 10.", 1), "every passage is a row to comment on"
        await pilot.press("end")
        await shows(app, "Paragraph 39.", "○ Read it again")
        assert panel(app).cursor.row == ("step", "text", "s1")
        panel(app).scroll_home(animate=False)
        await pilot.press("x")
        await told(app, "The cursor was out of sight: here it is, press the key again")
        assert panel(app).cursor.is_in_sight
        assert statuses(record(app, OURS, "text")) == ["pending"]


@on_a_loop
async def test_the_cursor_stays_on_its_step_and_in_its_place(journal: Path) -> None:
    entries = tuple(Entry(f"step {number}", "medium", "pending") for number in range(100))
    add(journal, OURS, "agent", PlanSet(ItemsPlan("long", entries)), PlanRemoved("main"))
    async with watching(journal, OURS, size=(80, 24)) as (app, pilot):
        await shows(app, "step 0")
        await pilot.press("pagedown", "pagedown", "down")
        cursor = panel(app).cursor.row
        y = next(y for y, line in enumerate(panel(app).in_sight()) if line.row == cursor)
        new = tuple(Entry(f"new {number}", "medium", "pending") for number in range(7))
        add(journal, OURS, "agent", PlanSet(ItemsPlan("long", (*new, *entries))))
        await eventually(lambda: panel(app).sheet.cards[0].state.steps[0].content == "new 0")
        assert panel(app).cursor.row == cursor
        assert panel(app).in_sight()[y].row == cursor
        changed = [entry for entry in entries if entry.content != panel(app).in_sight()[y].text.strip("○ ")]
        add(journal, OURS, "agent", PlanSet(ItemsPlan("long", tuple(changed))))
        await eventually(lambda: panel(app).cursor.row != cursor)
        assert panel(app).cursor.is_in_sight, "its step is gone: it is on a neighbour"


@on_a_loop
async def test_a_person_who_moves_the_cursor_is_not_pulled_away(journal: Path, tmp_path: Path) -> None:
    async with watching(journal, here=tmp_path) as (app, pilot):
        await shows(app, "Theirs", kind=HEAD)
        await pilot.press("down")
        opened = SessionOpened("new agent", None, str(tmp_path), "A new one")
        add(journal, "fresh", "agent", opened, PlanSet(items("main", "pending")))
        await eventually(lambda: any(each.id == "fresh" for each in app.sessions.glances()))
        await eventually(lambda: app._due is None and not app._news)
        assert "Theirs" in seen(app, HEAD)


# -- a plan of planwire's


@on_a_loop
async def test_steps_are_ticked_with_keys_and_with_the_mouse(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("x")
        await eventually(lambda: statuses(ours(app))[1] == "completed")
        await shows(app, "✔ Write a test")
        await pilot.press("space")
        await eventually(lambda: statuses(ours(app))[1] == "pending")
        await shows(app, "○ Write a test")
        await click_row(app, pilot, "Mend it", 2)
        await eventually(lambda: statuses(ours(app))[2] == "completed")
        assert not ours(app).suggestions
        assert {delta.by for delta in ours(app).deltas} == {"user"}
        await pilot.press("o")
        assert [str(each.prompt) for each in (await asked(app, ChoiceDialog)).query_one(OptionList).options] == [
            "t  Not done",
            "i  In progress",
            "c  Cancelled",
        ]
        await pilot.press("c")
        await eventually(lambda: statuses(ours(app))[2] == "cancelled")
        await pilot.press("o")
        await asked(app, ChoiceDialog)
        await pilot.click(OptionList, offset=(3, 1))
        await eventually(lambda: statuses(ours(app))[2] == "in_progress")


@on_a_loop
async def test_a_tick_makes_a_cancelled_step_done_and_a_done_one_pending(journal: Path) -> None:
    add(journal, OURS, "agent", PlanChanged("main", None, (SetStatus("s2", "cancelled"),)))
    async with watching(journal, OURS) as (app, pilot):
        await shows(app, "✗ Write a test")
        await click_row(app, pilot, "Write a test", 8)
        for status in ("completed", "pending", "completed"):
            await pilot.press("x")
            await eventually(partial(lambda status: statuses(ours(app))[1] == status, status))


@on_a_loop
async def test_what_changes_nothing_is_not_written_and_that_is_said(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        before = ours(app).revision
        await pilot.press("i")
        await told(app, "Nothing changes: the plan already says so.")
        await pilot.press("e", "enter")
        await told(app, "Nothing to save: the text is as it was.")
        await closed(app)
        await pilot.press("home", "down", "K")
        await told(app, "Nothing changes: the step is already the first of its list.")
        app.clear_notifications()
        await write(app, pilot, "e", " Read the code ")
        await pilot.press("enter")
        await told(app, "Nothing changes: the plan already says so.")
        await pilot.press("escape")
        await closed(app)
        with open_journal(journal) as opened:
            assert opened.last_seq(OURS) == ours(app).revision == before


@on_a_loop
async def test_a_suggestion_that_is_open_already_is_not_written_again(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await pilot.press("o", "c")
        await eventually(lambda: suggestions(theirs(app)) == [SetStatus("s2", "cancelled")])
        seq = theirs(app).suggestions[0].seq
        await shows(app, "× Write a test  ☆ cancelled")
        await pilot.press("o", "c")
        await told(app, "Nothing changes: that is suggested already.")
        assert [suggestion.seq for suggestion in theirs(app).suggestions] == [seq]


@on_a_loop
async def test_who_is_faster_than_the_screen_is_not_told_that_the_plan_moved_on(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        screen = app.screen
        assert isinstance(screen, SessionScreen)
        card = panel(app).sheet.cards[0]
        for step in card.state.steps[1:]:  # all of them for the revision that is shown
            screen.acts.commander.do("main", Wanted("tick", step.id, card.revision))
        await eventually(lambda: statuses(ours(app)) == ["completed"] * 4)
        assert app.screen is screen
        await pilot.press("x")
        await eventually(lambda: statuses(ours(app))[1] == "pending")


@on_a_loop
async def test_a_step_is_reworded(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("e")
        await asked(app)
        assert app.screen.query_one(TextField).text == "Write a test"
        await pilot.press(*" first", "ctrl+j", *"then run it", "enter")
        await closed(app)
        assert texts(ours(app))[1] == "Write a test first\nthen run it"
        await shows(app, "▶ Write a test first then run it")
        before = ours(app).revision
        await pilot.press("e", "enter")
        await closed(app)
        assert ours(app).revision == before, "nothing was changed"
        await click_row(app, pilot, "Mend it", 8, times=2)
        await asked(app)
        app.screen.query_one(TextField).text = "Mend all of it"
        await press_button(app, pilot, "Reword")
        await closed(app)
        assert texts(ours(app))[2] == "Mend all of it"


@on_a_loop
async def test_steps_are_added_one_below_the_other(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        for words in ("one", "two"):
            await write(app, pilot, "a", words)
            await pilot.press("enter")
            await closed(app)
        assert texts(ours(app)) == ["Read the code", "Write a test", "one", "two", "Mend it", "Tell people"]
        assert panel(app).cursor.row == ("step", "main", "s6")
        await pilot.press("home")
        await write(app, pilot, "a", "first of all")
        await press_button(app, pilot, "Add")
        await closed(app)
        assert texts(ours(app))[0] == "first of all"


@on_a_loop
async def test_steps_are_moved_with_keys_and_dragged_with_the_mouse(journal: Path) -> None:
    add(journal, OURS, "agent", PlanSet(MarkdownPlan("todo", NESTED)))
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("J")
        await eventually(lambda: texts(ours(app)) == ["Read the code", "Mend it", "Write a test", "Tell people"])
        await pilot.press("alt+down")
        await eventually(lambda: texts(ours(app))[-1] == "Write a test")
        await pilot.press("alt+down")
        await told(app, "Nothing changes: the step is already the last of its list.")
        await pilot.press("K", "K", "alt+up")
        await eventually(lambda: texts(ours(app))[0] == "Write a test")
        assert texts(ours(app)) == ["Write a test", "Read the code", "Mend it", "Tell people"]
        for words, key, expected in (
            ("strings", "K", ["lexer", "strings", "numbers", "grammar", "macros"]),
            ("strings", "J", ["lexer", "numbers", "strings", "grammar", "macros"]),
            ("lexer", "J", ["grammar", "lexer", "numbers", "strings", "macros"]),
        ):
            await click_row(app, pilot, words, 12)
            await pilot.press(key)
            await eventually(partial(lambda order: rows(app, "todo") == order, expected))
        lines = [line.text for line in panel(app).in_sight()]
        start, end = (next(y for y, text in enumerate(lines) if words in text) for words in ("Write a test", "Mend it"))
        await pilot.mouse_down(StepsPanel, offset=(8, start))
        await pilot.hover(StepsPanel, offset=(8, end))
        await pilot.mouse_up(StepsPanel, offset=(8, end))
        await eventually(lambda: texts(ours(app)) == ["Read the code", "Mend it", "Write a test", "Tell people"])
        await eventually(lambda: "Write a test" in panel(app).in_sight()[end].text)
        await pilot.mouse_down(StepsPanel, offset=(8, end))
        await pilot.hover(StepsPanel, offset=(8, 0))
        await pilot.mouse_up(StepsPanel, offset=(8, 0))
        await eventually(lambda: texts(ours(app))[0] == "Write a test")


@on_a_loop
async def test_a_step_is_removed_after_a_question(journal: Path) -> None:
    add(journal, OURS, "agent", PlanSet(MarkdownPlan("todo", NESTED)))
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("d")
        await asked(app, DecisionDialog)
        await pilot.press("enter")
        await closed(app)
        assert len(texts(ours(app))) == 4, "what is focused first removes nothing"
        await pilot.press("delete")
        await asked(app, DecisionDialog)
        await pilot.press("y")
        await eventually(lambda: texts(ours(app)) == ["Read the code", "Mend it", "Tell people"])
        await eventually(lambda: panel(app).cursor.row == ("step", "main", "s3"))
        await click_row(app, pilot, "lexer", 8)
        await pilot.press("d")
        await asked(app, DecisionDialog)
        assert "and 2 more nested in it" in seen(app, DialogText)
        await press_button(app, pilot, "Remove")
        await eventually(lambda: texts(record(app, OURS, "todo")) == ["grammar", "macros"])


# -- words


@on_a_loop
async def test_steps_and_plans_are_commented_on(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "c", "use the old fixture")
        await pilot.press("enter")
        await closed(app)
        assert said(ours(app)) == [Comment("use the old fixture", "s2")]
        assert not ours(app).reviews
        await shows(app, "    › use the old fixture   you, just now · Queued")
        await told(app, "Comment added to “Write a test”. The agent will see it with its next call of a plan tool")
        await write(app, pilot, "C", "small commits")
        await press_button(app, pilot, "Comment")
        await closed(app)
        await shows(app, "Comment   small commits   you, just now · Queued")
        assert said(ours(app))[1:] == [Comment("small commits")]
        await pilot.press("home")
        await write(app, pilot, "c", "on the head it is about the plan, too")
        await pilot.press("enter")
        await eventually(lambda: len(said(ours(app))) == 3)
        assert said(ours(app))[2].step is None


@on_a_loop
async def test_plans_are_approved_with_and_without_comments_and_changes_requested(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("enter")
        await asked(app)
        await pilot.press("enter")
        await closed(app)
        assert (ours(app).reviews[-1].verdict, said(ours(app))) == (APPROVED, [])
        await shows(app, "Review    approved (revision 2)   you, just now")
        await told(app, "Approved. The agent will see it with its next call of a plan tool")
        await review(app, pilot, "a", "go ahead")
        await press_button(app, pilot, "Approve")
        await closed(app)
        assert said(ours(app)) == [Comment("go ahead")]
        await review(app, pilot, "r", "smaller steps")
        await pilot.press("enter")
        await closed(app)
        assert ours(app).reviews[-1].verdict == CHANGES_REQUESTED
        await shows(app, "Comment   go ahead   you, just now", "Changes   smaller steps   you, just now · Queued")
        await review(app, pilot, "c", "")
        await pilot.press("enter")
        await told(app, "The comment is empty.")
        assert isinstance(app.screen, TextDialog)
        await pilot.press("escape")
        await closed(app)
        await click_row(app, pilot, "smaller steps", 14)
        await pilot.press("u")
        await shows(app, "Review    changes requested (revision 2)", "▸ 1 closed   Enter shows them")
        await write(app, pilot, "A", "Rest")
        await pilot.press("enter")
        await shows(app, "changes requested (revision 2) · the plan has changed since")


@on_a_loop
async def test_some_steps_are_selected_and_run(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("j", "s")
        await click_row(app, pilot, "Tell people", 0)
        await shows(app, "▸ ○ Mend it", "▸ ○ Tell people")
        await pilot.press("enter")
        await asked(app)
        await shows(app, "▸ Mend it", "▸ Tell people", kind=DialogText)
        assert "Tell the agent to run 2 steps, and no others for now" in str(app.screen.query_one("#box").border_title)
        await pilot.press("enter")
        await closed(app)
        selection = ours(app).open_remarks[-1]
        assert (selection.kind, selection.steps, ours(app).reviews) == ("selection", ("s3", "s4"), ())
        await shows(app, "  ○ Mend it  ▸ to run", "To run    Mend it; Tell people   you, just now · Queued")
        assert not panel(app).marks_of("main")
        await pilot.press("s", "s", "home", "down")
        for key in ("r", "s"):
            app.clear_notifications()
            await pilot.press(key)
            await told(app, "Nothing to run: the selected step is done or cancelled.")
            assert isinstance(app.screen, SessionScreen), "nothing is asked that would be refused"
        await pilot.press("down")
        await write(app, pilot, "r", "and then stop")
        await press_button(app, pilot, "Run")
        await closed(app)
        assert [each.steps for each in ours(app).open_remarks if each.kind == "selection"] == [("s2",)]
        assert said(ours(app)) == [Comment("and then stop")]
        await pilot.press("s", "j", "s")
        await eventually(lambda: len(panel(app).marks_of("main")) == 2)
        add(journal, OURS, "agent", PlanChanged("main", None, (SetStatus("s2", "completed"),)))
        await eventually(lambda: panel(app).marks_of("main") == {"s3"})


@on_a_loop
async def test_finished_steps_in_a_row_are_one_line_until_a_person_wants_to_see_them(journal: Path) -> None:
    def steps() -> list[str]:
        return [line.text.strip() for line in panel(app).in_sight() if line.row and line.row[0] in ("fold", "step")]

    finished = ["completed"] * 9 + ["cancelled"]
    statuses = [*finished, "in_progress", *finished]
    entries = (Entry(f"step {at}", "medium", status) for at, status in enumerate(statuses, 1))
    add(journal, OURS, "agent", PlanSet(ItemsPlan("main", tuple(entries))))
    async with watching(journal, OURS, size=(100, 40)) as (app, pilot):
        folded = "✔ 9 done, 1 cancelled   Enter shows them"
        await eventually(lambda: steps() == [folded, "▶ step 11", folded])
        await pilot.press("x")
        await eventually(lambda: steps() == [folded, "✔ step 11  ●", folded])
        await pilot.press("x")
        await eventually(lambda: any(line.startswith("○ step 11") for line in steps()))
        await pilot.press("up", "enter")
        await eventually(lambda: len(steps()) == 12)
        assert panel(app).cursor.row == ("step", "main", "s5")
        assert isinstance(app.screen, SessionScreen), "nothing is asked about steps that are out of sight"
        await click_row(app, pilot, folded, 8)
        await eventually(lambda: len(steps()) == 21)
        assert panel(app).cursor.row == ("step", "main", "s16")


@on_a_loop
async def test_an_agent_that_waits_is_at_the_head_of_its_plan(journal: Path) -> None:
    add(journal, OURS, "agent", ReviewAsked("main"))
    async with watching(journal, OURS) as (app, pilot):
        await shows(app, "◆ The agent is waiting for a review   just now", "◆ needs you · now")
        add(journal, OURS, "agent", ReviewAsked("main", (Choice("", "Yes"), Choice("", "No, go on planning"))))
        await shows(app, "◆ The agent asks for approval in zed:  Yes  /  No, go on planning")
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await shows(app, "The agent is waiting for an answer in zed", kind=DialogText)
        await pilot.press("enter")
        await asked(app)
        await pilot.press("enter")
        await closed(app)
        await eventually(lambda: "The agent asks" not in seen(app))


# -- a plan of the agent's: suggestions


@on_a_loop
async def test_the_first_entry_of_the_menu_of_statuses_is_a_tick(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await pilot.press("x")
        await eventually(lambda: suggestions(theirs(app)) == [SetStatus("s2", "completed")])
        await pilot.press("o")
        await asked(app, ChoiceDialog)
        await pilot.press("d")
        await eventually(lambda: not theirs(app).suggestions)


@on_a_loop
async def test_a_tick_on_an_agents_plan_is_a_suggestion_until_the_agent_does_it(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await pilot.press("x")
        await shows(app, "  ✓ Write a test  ☆ done  you, just now · Queued")
        await told(app, "Suggested: “Write a test”: done. The agent will see it with the next prompt in zed.")
        assert statuses(theirs(app))[1] == "in_progress"
        await pilot.press("x")
        await eventually(lambda: not theirs(app).suggestions)
        await told(app, "Suggestion withdrawn: “Write a test”: done")
        await eventually(lambda: "☆" not in seen(app))
        await pilot.press("o", "c")
        await eventually(lambda: suggestions(theirs(app)) == [SetStatus("s2", "cancelled")])
        await pilot.press("o", "d")
        await eventually(lambda: suggestions(theirs(app)) == [SetStatus("s2", "completed")])
        report(journal, "completed", "completed", "in_progress", "pending")
        await shows(app, "✔ Write a test", "2 / 4")
        assert "☆" not in seen(app)
        assert not theirs(app).suggestions


@on_a_loop
async def test_suggested_words_and_places_replace_those_suggested_before(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "e", "Write two tests")
        await pilot.press("enter")
        await closed(app)
        await shows(app, "▶ Write a test", "    ☆ → Write two tests   you, just now · Queued")
        [line] = [line for line in panel(app).in_sight() if line.text.startswith("  ▶ Write a test")]
        assert line.parts[-1] == ("Write a test", "struck muted"), "the agent's wording is struck through"
        await pilot.press("e")
        await asked(app)
        assert app.screen.query_one(TextField).text == "Write two tests"
        await pilot.press(*" now")
        await press_button(app, pilot, "Suggest")
        await eventually(lambda: suggestions(theirs(app)) == [RewordStep("s2", "Write two tests now")])
        await closed(app)
        await pilot.press("J")
        await shows(app, "▶ Write a test  ☆ ↓ moves  you, just now · Queued")
        assert steps_and_ghosts(app)[2:4] == ["○ Mend it", "☆ Write a test   moves here · you, just now · Queued"]
        await pilot.press("J")
        await eventually(lambda: suggestions(theirs(app))[1:] == [MoveStep("s2", "s4")])
        await eventually(lambda: steps_and_ghosts(app)[-1].startswith("☆ Write a test   moves here"))
        await pilot.press("J")
        await told(app, "Nothing changes: the step is already the last of its list.")
        await write(app, pilot, "e", "Write a test")
        await pilot.press("enter")
        await closed(app)
        await eventually(lambda: suggestions(theirs(app)) == [MoveStep("s2", "s4")])
        await pilot.press("K", "K")
        await eventually(lambda: not theirs(app).suggestions)


@on_a_loop
async def test_new_steps_are_ghosts_at_their_place_until_they_are_withdrawn(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "a", "Check the logout")
        await pilot.press("enter")
        await closed(app)
        await shows(app, "☆ Check the logout   new step · you, just now · Queued")
        lines = [line.text.strip() for line in panel(app).in_sight()]
        place = next(y for y, text in enumerate(lines) if text.startswith("☆"))
        assert (lines[place - 1], lines[place + 1]) == ("▶ Write a test", "○ Mend it")
        assert texts(theirs(app)) == ["Read the code", "Write a test", "Mend it", "Tell people"]
        cursor = panel(app).cursor.row
        assert cursor is not None
        assert cursor[:3] == ("remark", None, "r1")
        await pilot.press("x")
        await told(app, "This step is only suggested: reword it or withdraw it.")
        await write(app, pilot, "e", "Check the login")
        await pilot.press("enter")
        await eventually(lambda: suggestions(theirs(app)) == [AddStep("Check the login", "s2")])
        await write(app, pilot, "a", "And then the logout")
        await pilot.press("enter")
        await closed(app)
        assert len(theirs(app).suggestions) == 2
        await pilot.press("d")
        await eventually(lambda: suggestions(theirs(app)) == [AddStep("Check the login", "s2")])
        await pilot.press("home", "u")
        await asked(app, ChoiceDialog)
        await pilot.press("enter")
        await eventually(lambda: not theirs(app).suggestions)
        await pilot.press("u")
        await told(app, "There is no open remark here")


@on_a_loop
async def test_a_removal_is_suggested_without_a_question_and_a_suggestion_for_a_step_that_is_gone_is_still_there(
    journal: Path,
) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await pilot.press("end", "d")
        await shows(app, "○ Tell people  ☆ ✗ remove  you, just now · Queued")
        assert suggestions(theirs(app)) == [RemoveStep("s4")]
        await pilot.press("d")
        await told(app, "Nothing changes: that is suggested already.")
        await pilot.press("k", "x", "x", "o", "i")
        await eventually(lambda: len(theirs(app).suggestions) == 2)
        await click_row(app, pilot, "remove", 8)
        await pilot.press("u")
        await eventually(lambda: suggestions(theirs(app)) == [SetStatus("s3", "in_progress")])
        report(journal, "completed", "in_progress")
        await shows(app, "Suggested “Mend it”: in progress   you, just now · Queued")
        await click_row(app, pilot, "Suggested", 14)
        await pilot.press("u")
        await eventually(lambda: not theirs(app).suggestions)
