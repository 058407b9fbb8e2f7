"""The table of acts in `planwire watch`: each key does what the table says, is listed, and asks the same way."""

import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.widgets import Button

from planwire.model.events import ACP, Comment, Passage, PlanSet
from planwire.model.plan import MarkdownPlan
from planwire.model.step_changes import RewordStep, SetPriority
from planwire.steering.acts import ACTS
from planwire.steering.wanted import Wanted
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog, DialogText, KeysDialog
from planwire.terminal.keys import SESSION_KEYS
from planwire.terminal.session_screen import SessionScreen
from tests.journals import add
from tests.terminal.watched import (
    DIFFERENCE,
    NESTED,
    OURS,
    THEIRS,
    asked,
    closed,
    on_a_loop,
    ours,
    press_button,
    ready,
    review,
    said,
    shows,
    statuses,
    suggestions,
    texts,
    theirs,
    told,
    two_plans,
    watching,
    write,
)
from tests.waiting import eventually


@on_a_loop
async def test_priorities_and_the_status_of_work_have_keys(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("1")
        await shows(app, "▶ Write a test  high")
        await pilot.press("3")
        await shows(app, "▶ Write a test  low")
        await pilot.press("2", "j", "i")
        await eventually(lambda: statuses(ours(app))[2] == "in_progress")
        assert [step.priority for step in ours(app).state.steps] == ["medium"] * 4
        await told(app, "Changed: “Mend it”: in progress")
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await pilot.press("1")
        await shows(app, "▶ Write a test  ☆ high priority  you, just now · Queued")
        assert suggestions(theirs(app)) == [SetPriority("s2", "high")]


@on_a_loop
async def test_a_step_of_a_text_has_no_priority_and_that_is_said(journal: Path) -> None:
    add(journal, OURS, "agent", PlanSet(MarkdownPlan("main", NESTED)))
    async with watching(journal, OURS) as (app, pilot):
        await shows(app, "numbers")
        await pilot.press("1")
        await told(app, "Steps of a markdown plan have no priority: put it into their text.")


@on_a_loop
async def test_a_plan_is_dismissed_after_a_question(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        for keys in (("X", "enter"), ("X", "n"), ("X", "escape")):
            await pilot.press(keys[0])
            await asked(app, DecisionDialog)
            await pilot.press(keys[1])
            await closed(app)
        assert not ours(app).removed, "what is focused first dismisses nothing"
        await pilot.press("X")
        await asked(app, DecisionDialog)
        await press_button(app, pilot, "Dismiss")
        await told(app, "Plan dismissed. Its history stays.")
        await shows(app, "no plans left")
        assert ours(app).removed


@on_a_loop
async def test_a_step_is_added_at_the_end_from_anywhere(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "A", "Rest")
        await pilot.press("enter")
        await eventually(lambda: texts(ours(app))[-1] == "Rest")


@on_a_loop
async def test_every_key_of_the_table_works_on_the_screen_and_is_listed_and_no_other_is(journal: Path) -> None:
    async with watching(journal, OURS, size=(120, 60)) as (app, pilot):
        await ready(app)
        bound = {binding.key_display for _, binding, *_ in app.screen.active_bindings.values()}
        await pilot.press("question_mark")
        await eventually(lambda: isinstance(app.screen, KeysDialog) and app.screen.is_mounted)
        words = "\n".join(line.text for line in app.screen.query_one(DialogText).lines)
        for act in ACTS.values():
            for gesture in act.gestures:
                assert set(gesture.keys) <= bound
                assert f"  {', '.join(gesture.keys)}" in words
                assert gesture.label in words
        for heading in SESSION_KEYS:
            assert heading in words
        for foreign in ("Scroll", "Page Left", "super+c", "Focus"):
            assert foreign not in words
        await pilot.press("escape")
        await closed(app)


@on_a_loop
async def test_the_same_keys_send_and_break_lines_in_every_text(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        for key in ("e", "a", "c", "C", "A", "r"):
            await write(app, pilot, key, f"by {key}")
            await pilot.press("end", "shift+enter", *"more", "ctrl+j", *"and more", "ctrl+enter")
            await closed(app)
        await review(app, pilot, "r", "by v")
        await pilot.press("end", "ctrl+j", *"more", "enter")
        await closed(app)
        record = ours(app)
        assert "by e\nmore\nand more" in texts(record)
        assert {"by a\nmore\nand more", "by A\nmore\nand more"} < set(texts(record))
        assert [each.text for each in said(record)] == [
            *(f"by {key}\nmore\nand more" for key in ("c", "C", "r")),
            "by v\nmore",
        ]


@on_a_loop
async def test_a_comment_on_a_step_that_goes_meanwhile_is_kept_with_its_words(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "c", "why not two?")
        add(journal, OURS, "agent", PlanSet(MarkdownPlan("main", "- [ ] Read the code\n")))
        await pilot.press("enter")
        await closed(app)
        await told(app, "Comment added to the plan: “Write a test” is gone.")
        assert said(ours(app)) == [Comment("why not two?", passage=Passage("Write a test"))]
        await shows(app, "Comment   “Write a test”:  why not two?   you, just now · Queued", "a passage that is gone")


@on_a_loop
async def test_without_a_terminal_to_give_away_editing_as_text_says_so(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor")
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await pilot.press("E")
        await told(app, "no-such-editor")
        assert isinstance(app.screen, SessionScreen)


def editor(folder: Path, *commands: str) -> str:
    """An editor that does this, the first time it is started, then that, and so on."""
    script = folder / "editor"
    for number, command in enumerate(commands):
        (folder / f"edit{number}").write_text(command)
    script.write_text(
        f'#!/bin/sh\nfor step in {folder}/edit?; do sh "$step" "$1"; code=$?; rm "$step"; exit $code; done\n'
    )
    script.chmod(0o755)
    return str(script)


@on_a_loop
async def test_a_plan_is_edited_as_a_text(journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "VISUAL",
        editor(
            tmp_path,
            "sed -i 's/Write a test/Write two tests/; s/Tell people .*/Tell people {s9}/' \"$1\"",
            "grep -q '# .*there is no step s9' \"$1\" && sed -i 's/{s9}/{s4}/' \"$1\"",
        ),
    )
    async with watching(journal, THEIRS) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)  # there is no terminal here to give away
        await ready(app)
        await pilot.press("E")
        await asked(app, DecisionDialog)
        await shows(app, "there is no step s9; leave the id out for a new step", kind=DialogText)
        assert [str(each.label) for each in app.screen.query(Button)] == ["Edit", "Discard"]
        await pilot.press("enter")
        await eventually(lambda: suggestions(theirs(app)) == [RewordStep("s2", "Write two tests")])
        await closed(app)
        await shows(app, "☆ → Write two tests")


@on_a_loop
async def test_an_edited_text_and_an_agent_that_changed_the_same_step_are_for_the_person_to_decide(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        "from pathlib import Path\nfrom tests.terminal.test_watch_races import reworded\n"
        f"reworded(Path({str(journal)!r}), 'Write a test first', 'Mend it', 'Tell people')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    first = f"{sys.executable} {agent} && sed -i 's/Write a test/Write two tests/' \"$1\""
    second = "grep -q '^# .*Write two tests {s2}' \"$1\" && sed -i 's/Mend it/Mend all/' \"$1\""
    monkeypatch.setenv("VISUAL", editor(tmp_path, first, second))
    async with watching(journal, THEIRS) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        await ready(app)
        await pilot.press("E")
        await asked(app, DecisionDialog)
        await shows(app, "~ Write a test → Write a test first", kind=DialogText)
        await press_button(app, pilot, "Edit")
        await eventually(lambda: suggestions(theirs(app)) == [RewordStep("s3", "Mend all")])


@on_a_loop
async def test_a_text_that_is_left_alone_changes_nothing(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "true")
    async with watching(journal, OURS) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        await ready(app)
        await pilot.press("E")
        await told(app, "Nothing to save: the text is as it was.")
        assert not ours(app).deltas


@on_a_loop
async def test_messages_take_each_others_place(tmp_path: Path) -> None:
    def messages() -> list[list[str]]:
        """The first words of every message on the screen; a holder without one takes room, too."""
        holders = app.screen.query("ToastHolder")
        return [[str(each.render()).partition(":")[0] for each in holder.children] for holder in holders]

    async with watching(two_plans(tmp_path), THEIRS) as (app, pilot):
        await ready(app)
        for words in ("Suggested", "Suggestion withdrawn", "Suggested", "Suggestion withdrawn"):
            await pilot.press("x")
            await told(app, words)
            await eventually(lambda words=words: messages() == [[words]])  # type: ignore[misc]
        await pilot.press("o")
        await asked(app, ChoiceDialog)
        assert not app._notifications  # or the screen and the dialog over it would both show them


@on_a_loop
async def test_a_key_for_a_step_that_was_just_reworded_says_which_step_it_was_for(tmp_path: Path) -> None:
    path = two_plans(tmp_path)
    async with watching(path, THEIRS) as (app, _pilot):
        await ready(app)
        seen_plan = theirs(app)
        add(path, THEIRS, "agent", PlanSet(MarkdownPlan(None, "- [ ] Something else"), via=ACP))
        step = seen_plan.state.steps[1]
        app.screen.acts.commander.do(None, Wanted("tick", step.id, seen_plan.revision))  # type: ignore[attr-defined]
        dialog = await asked(app, DecisionDialog)
        assert dialog.query_one("#box").border_title == "The plan changed since you looked at it."
        await shows(app, f"Tick  {step.content}", kind=DialogText)


@on_a_loop
async def test_the_history_shows_what_people_said_as_a_difference(tmp_path: Path) -> None:
    async with watching(two_plans(tmp_path), THEIRS) as (app, pilot):
        await ready(app)
        await pilot.press("x")
        await eventually(lambda: theirs(app).suggestions)
        await pilot.press("h")
        await shows(app, "As it was at event 3")
        await pilot.press("d")
        await shows(app, "Plan same", "Suggested by you", kind=DIFFERENCE)


@on_a_loop
async def test_below_an_agent_the_screen_only_shows_and_with_a_name_it_steers_as_that(journal: Path) -> None:
    async with watching(journal, OURS, by=None) as (app, pilot):
        await ready(app)
        before = app.journal.last_seq(OURS)
        await pilot.press("x")
        await told(app, "An agent started this, so it only shows: planwire watch --as NAME --yes steers, as NAME")
        await pilot.press("c")
        assert isinstance(app.screen, SessionScreen), "nothing is asked"
        assert app.journal.last_seq(OURS) == before
    async with watching(journal, OURS, by="bot") as (app, pilot):
        await ready(app)
        await pilot.press("x")
        await eventually(lambda: app.journal.last_seq(OURS) > before)
        assert [each.by for each in app.journal.read(OURS, before)] == ["bot"]
