"""Remarks in `planwire watch`: collected, sent, withdrawn and reopened; and a screen on which nothing jumps."""

from functools import partial
from pathlib import Path

from planwire.model.events import (
    ACP,
    CHANGES_REQUESTED,
    Comment,
    Passage,
    PlanChanged,
    PlanSet,
    RemarkAnswered,
    Remarked,
    ReviewAsked,
    Told,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.records import PlanRecord
from planwire.model.step_changes import RewordStep
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog, DialogText
from planwire.terminal.text_dialog import TextField
from planwire.terminal.watch_app import WatchApp
from tests.journals import add
from tests.terminal.watched import (
    OURS,
    THEIRS,
    asked,
    click_row,
    closed,
    on_a_loop,
    ours,
    panel,
    ready,
    record,
    said,
    seen,
    shows,
    suggestions,
    texts,
    theirs,
    told,
    watching,
    write,
)
from tests.waiting import eventually

PROPOSAL = "# Sessions in Redis\n\nWe lose them today.\n\n- Add a store.\n- Switch over.\n\n## Risks\n\nNone.\n"


def proposed(journal: Path) -> None:
    """The agent asks for a review of a proposal, its second one."""
    for plan in (MarkdownPlan("old", "# Memcached\n\nSimple.\n"), MarkdownPlan("new", PROPOSAL)):
        add(journal, THEIRS, "agent", PlanSet(plan, via=ACP), ReviewAsked(plan.id))


# -- reviews


@on_a_loop
async def test_comments_on_passages_and_on_the_plan_are_collected_and_sent_with_one_verdict(journal: Path) -> None:
    proposed(journal)
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "The agent is waiting for a review", "• Switch over.")
        assert panel(app).cursor.row == ("plan", "new"), "it begins with the plan that waits for a person"
        await click_row(app, pilot, "Switch over", 8)
        await write(app, pilot, "c", "behind a flag?")
        await shows(app, "“Switch over.”", kind=DialogText)
        await pilot.press("ctrl+t", "enter")
        await closed(app)
        await told(app, "1 comment in your review, not sent yet: press v to send it.")
        await shows(app, "✎ behind a flag?   in your review, not sent yet", "1 to send (v)")
        assert not record(app, THEIRS, "new").remarks
        await write(app, pilot, "C", "not bad")
        await shows(app, "1 comment in your review of this plan so far", kind=DialogText)
        await pilot.press("enter")
        await closed(app)
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await shows(app, "✎ behind a flag?", "✎ not bad", kind=DialogText)
        await write(app, pilot, "r", "smaller")
        await pilot.press("enter")
        await closed(app)
        plan = record(app, THEIRS, "new")
        assert [each.verdict for each in plan.reviews] == [CHANGES_REQUESTED]
        assert said(plan) == [
            Comment("smaller"),
            Comment("behind a flag?", passage=Passage("Switch over.")),
            Comment("not bad"),
        ]
        assert {each.kept for each in plan.open_remarks} == {True}, "the review is kept in force with its comment"
        assert not app.reviews.all


STAGES = "# Stages\n\n" + "\n\n".join(f"## Stage {number}\n\nRun the **embedding** job." for number in range(1, 11))


def below(app: WatchApp, words: str) -> list[str]:
    """The two lines that follow one with these words."""
    lines = [line.text.strip().removeprefix("│ ").partition("   ")[0] for line in panel(app).lines if line.text.strip()]
    place = next((at for at, line in enumerate(lines) if line == words), -3)
    return lines[place + 1 : place + 3]


@on_a_loop
async def test_a_comment_stands_at_the_passage_that_was_pointed_at_though_ten_say_the_same(journal: Path) -> None:
    add(journal, THEIRS, "agent", PlanSet(MarkdownPlan("new", STAGES), via=ACP))
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "Stage 4")
        await click_row(app, pilot, "Stage 4", 4)
        await pilot.press("down")
        await write(app, pilot, "c", "why again?")
        await pilot.press("enter")
        await closed(app)
        await shows(app, "› why again?")
        [comment] = said(record(app, THEIRS, "new"))
        assert comment == Comment("why again?", passage=Passage("Run the embedding job."))
        assert below(app, "Stage 4") == ["Run the embedding job.", "› why again?"]
        changed = STAGES.replace("# Stages\n", "# Stages\n\n## Stage 0\n\nRun the embedding job.\n")
        add(journal, THEIRS, "agent", PlanSet(MarkdownPlan("new", changed.replace("Stage 5", "Five")), via=ACP))
        await eventually(lambda: below(app, "Stage 0") == ["Run the embedding job.", "Stage 1"])
        assert below(app, "Stage 4") == ["Run the embedding job.", "› why again?"]
        add(journal, THEIRS, "agent", PlanSet(MarkdownPlan("new", "# Stages\n\nNothing runs again."), via=ACP))
        await shows(app, "“Run the embedding job.”:  why again?", "↳ This is about a passage that is gone.")


@on_a_loop
async def test_a_comment_is_sent_at_once_or_collected_and_quitting_asks_before_it_is_lost(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "c", "later")
        await pilot.press("ctrl+r")
        await closed(app)
        await shows(app, "    ✎ later   in your review, not sent yet")
        await write(app, pilot, "c", "now")
        await pilot.press("ctrl+s")
        await closed(app)
        assert said(ours(app)) == [Comment("now", "s2")]
        await pilot.press("q")
        await asked(app, DecisionDialog)
        await shows(app, "later", kind=DialogText)
        await pilot.press("enter")
        await closed(app)
        assert app.is_running, "what is focused first loses nothing"
        await pilot.press("u")
        await asked(app, ChoiceDialog)
        await pilot.press("enter")
        await told(app, "Removed from your review.")
        assert not app.reviews.all
        assert "later" not in seen(app)
        await write(app, pilot, "c", " ")
        await pilot.press("ctrl+r")
        await told(app, "The comment is empty.")
        await pilot.press("escape")


@on_a_loop
async def test_of_two_collected_comments_that_say_the_same_one_can_be_withdrawn(journal: Path) -> None:
    async with watching(journal, OURS) as (app, pilot):
        await ready(app)
        for key in ("ctrl+r", "enter"):
            await write(app, pilot, "c", "why?")
            await pilot.press(key)
            await closed(app)
        await pilot.press("u")
        await asked(app, ChoiceDialog)
        await pilot.press("enter")
        await told(app, "Removed from your review.")
        await shows(app, "✎ why?")
        assert [each.text for each in app.reviews.all] == ["why?"]


# -- remarks


@on_a_loop
async def test_a_remark_says_how_far_it_has_come_and_is_withdrawn_and_reopened(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "C", "small commits")
        await pilot.press("ctrl+t", "enter")
        await closed(app)
        await told(app, "Comment added to the plan. The agent will see it with the next prompt in zed.")
        await shows(app, "Comment   small commits   you, just now · kept in force · Queued", "1 remark ·")
        add(journal, THEIRS, "relay", Told("prompt", 3, remarks=("r1",)))
        await shows(app, "small commits   you, just now · kept in force · Delivered just now")
        add(journal, THEIRS, "agent", PlanChanged(None, "on it"))
        await shows(app, "small commits   you, just now · kept in force · Seen just now")
        add(journal, THEIRS, "agent", RemarkAnswered(None, "r1", "I will"))
        await shows(app, "kept in force · Answered", "↳ I will   agent, just now")
        await click_row(app, pilot, "small commits", 14)
        await pilot.press("u")
        await told(app, "Withdrawn: “small commits”")
        await shows(app, "▸ 1 closed   Enter shows them")
        assert "small commits" not in seen(app)
        await pilot.press("end", "enter")
        await shows(app, "▾ 1 closed", "Comment   small commits   you, just now · Withdrawn just now")
        await click_row(app, pilot, "small commits", 14)
        await pilot.press("U")
        await eventually(lambda: said(theirs(app)) == [Comment("small commits")])
        assert "1 closed" not in seen(app)


@on_a_loop
async def test_a_newer_suggestion_of_somebody_else_says_so(journal: Path) -> None:
    add(journal, THEIRS, "ann", Remarked(None, "suggestion", "", 2, changes=(RewordStep("s3", "Mend it well"),)))
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "☆ → Mend it well   ann, just now · Queued")
        await pilot.press("j")
        await write(app, pilot, "e", "Mend it fast")
        await pilot.press("enter")
        await closed(app)
        await shows(app, "☆ → Mend it fast   you, just now · Queued")
        await pilot.press("end", "enter")
        await shows(app, "“Mend it” → Mend it well   ann, just now · Superseded by r2 just now, you")


@on_a_loop
async def test_a_proposal_that_ended_is_one_line_and_can_be_reopened(journal: Path) -> None:
    proposed(journal)
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "▸ Memcached  replaced · just now   Enter shows it")
        assert "Simple." not in seen(app)
        await pilot.press("end", "enter")
        await shows(app, "Simple.")
        await pilot.press("U")
        await asked(app, ChoiceDialog)
        await pilot.press("enter")
        await told(app, "Plan reopened.")
        assert record(app, THEIRS, "old").is_living


# -- nothing jumps


def _is_news(app: WatchApp, before: PlanRecord) -> bool:
    return theirs(app) != before


@on_a_loop
async def test_the_step_under_the_cursor_stays_in_its_place_whatever_a_person_does(journal: Path) -> None:
    entries = tuple(Entry(f"step {number}", "medium", "pending") for number in range(40))
    add(journal, THEIRS, "agent", PlanSet(ItemsPlan(None, entries), via=ACP))
    async with watching(journal, THEIRS, size=(80, 24)) as (app, pilot):
        await shows(app, "step 0")
        await pilot.press(*5 * ["down"])
        row, height = panel(app).cursor.row, panel(app).cursor.height_on_screen()
        for number, keys in enumerate((["x"], ["K"], ["K"], ["d"], ["c", "w", "enter"], ["C", "w", "enter"]), 1):
            before = theirs(app)
            await pilot.press(keys[0])
            if keys[1:]:
                await asked(app)
                app.screen.query_one(TextField).text = "words"
                await pilot.press("enter")
                await closed(app)
            await eventually(partial(_is_news, app, before))
            await pilot.pause()
            assert (panel(app).cursor.row, panel(app).cursor.height_on_screen()) == (row, height), (number, keys)
        assert len(suggestions(theirs(app))) == 3
        panel(app).scroll_home(animate=False)
        assert panel(app).cursor.is_in_sight
        add(journal, THEIRS, "agent", ReviewAsked(None))
        await shows(app, "◆ The agent is waiting for a review")


@on_a_loop
async def test_an_act_that_is_sent_anyway_says_what_it_was_applied_to(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "e", "Write two tests")
        entries = (Entry("Write a test now", "medium", "in_progress"), Entry("Mend it", "medium", "pending"))
        add(journal, THEIRS, "agent", PlanSet(ItemsPlan(None, entries), via=ACP))
        await eventually(lambda: texts(theirs(app))[0] == "Write a test now")
        await pilot.press("enter")
        await asked(app, DecisionDialog)
        await pilot.press("s")
        await closed(app)
        await told(app, "Applied to revision 3 of the plan.")
        assert suggestions(theirs(app)) == [RewordStep("s2", "Write two tests")]
