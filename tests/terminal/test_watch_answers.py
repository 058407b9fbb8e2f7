"""Questions of the agent's in the terminal: what stands on the screen, and what keys do about them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Button

from planwire.journal import Journal, open_journal
from planwire.journal.protocol import Terms
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    Choice,
    PlanReviewed,
    Remarked,
    ReviewAsked,
    TellAsked,
    Told,
)
from planwire.model.records import ANSWER
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog, DialogText
from tests.journals import add
from tests.terminal.watched import THEIRS, asked, closed, on_a_loop, ready, seen, shows, told, watching, write
from tests.waiting import eventually

OPTIONS = Choice("yes", "Yes", "allow_once"), Choice("no", "No", "reject_once")
YES = PlanReviewed(None, 2, APPROVED, answer="Yes", via="planwire", question="q1", option="yes", kind="allow_once")
LATE = PlanReviewed(None, 2, CHANGES_REQUESTED, answer="No", question="q1", option="no", late=True)


@pytest.fixture
def relayed(journal: Path) -> Iterator[Journal]:
    """The journal, with a relay that runs an idle agent."""
    with open_journal(journal) as opened:
        opened.lease(THEIRS, Terms("relay", can=("answer", "tell", "stop")))
        yield opened


@on_a_loop
async def test_an_answer_is_on_its_way_until_the_agent_has_it(journal: Path, relayed: Journal) -> None:
    add(journal, THEIRS, "agent", ReviewAsked(None, OPTIONS, "q1"))
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "1  Yes   Approve", "2  No    Request changes", "Press v to answer, or answer in zed.")
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("1")
        await asked(app)
        await pilot.press("enter")
        await closed(app)
        await shows(app, "◆ You answered “Yes”: on its way to the agent")
        assert "Press v" not in seen(app)
        add(journal, THEIRS, "relay", Told(ANSWER, 0, request="q1"))
        await shows(app, "approved: Yes", "Delivered just now")
        assert "◆" not in seen(app)


@on_a_loop
async def test_options_of_any_id_and_name_can_be_chosen(journal: Path, relayed: Journal) -> None:
    odd = (Choice("commented", "Same", "allow_once"), Choice("x", "[red]\x1b", "allow_once"), Choice("x", "Same", ""))
    add(journal, THEIRS, "agent", ReviewAsked(None, odd, "q1"))
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "1  Same", "2  [red]\ufffd", "3  Same")
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("c")
        await asked(app)
        await pilot.press(*"hm", "enter")
        await closed(app)
        last = [*relayed.read(THEIRS)][-1].event
        assert isinstance(last, Remarked), "a comment is no answer, whatever the ids of options are"
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("1")
        await asked(app)
        await pilot.press("enter")
        await closed(app)
        await shows(app, "You answered “Same”: on its way to the agent")


@on_a_loop
async def test_a_no_that_came_too_late_says_what_happened_and_what_to_do(journal: Path, relayed: Journal) -> None:
    add(journal, THEIRS, "agent", ReviewAsked(None, OPTIONS, "q1"))
    add(journal, THEIRS, "ana", YES)
    add(journal, THEIRS, "relay", Told(ANSWER, 0, request="q1"))
    add(journal, THEIRS, "client", LATE)
    async with watching(journal, THEIRS, size=(120, 30)) as (app, pilot):
        await shows(app, "◆ The agent goes on with “Yes”, as ana answered. Someone in zed answered “No”, too late.")
        await shows(app, "Tell it now     v", "Keep as it is   v", "◆ needs you")
        await shows(app, "changes requested: No (revision 2), too late: the agent had another answer")
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await shows(app, "what you say now counts", kind=DialogText)
        await pilot.press("a")
        await asked(app)
        await pilot.press("enter")
        await closed(app)
        await eventually(lambda: "◆" not in seen(app))


@on_a_loop
async def test_a_person_agrees_before_a_turn_is_cancelled(journal: Path) -> None:
    with open_journal(journal) as relay:
        relay.lease(THEIRS, Terms("relay", is_working=True, can=("tell", "stop")))
        async with watching(journal, THEIRS) as (app, pilot):
            await ready(app)
            await write(app, pilot, "t", "wait")
            before = relay.last_seq(THEIRS)
            for key, events in (("n", 0), ("y", 2)):
                await pilot.press("enter")
                await asked(app, DecisionDialog)
                await pilot.press(key)
                await eventually(lambda: not isinstance(app.screen, DecisionDialog))
                await eventually(partial(lambda seq: relay.last_seq(THEIRS) == seq, before + events))
            await closed(app)
            await told(app, "The agent's turn is cancelled, and then it hears it.")
            assert [*relay.read(THEIRS)][-1].event == TellAsked(interrupt=True)


@on_a_loop
async def test_a_comment_can_be_told_now_where_the_agent_can_be_reached(journal: Path) -> None:
    async with watching(journal, THEIRS) as (app, pilot):
        await ready(app)
        await write(app, pilot, "c", "look here")
        assert not any("tell now" in str(each.label) for each in app.screen.query(Button))
        await pilot.press("escape")
        await closed(app)
        await pilot.press("S")
        await told(app, "The agent can't be stopped from here")
        with open_journal(journal) as relay:
            relay.lease(THEIRS, Terms("relay", can=("tell", "stop")))
            add(journal, THEIRS, "agent", ReviewAsked(None))
            await shows(app, "The agent is waiting for a review")
            await pilot.press("c")
            await asked(app)
            await pilot.press("ctrl+n")
            await closed(app)
            [remarked, telling] = [each.event for each in [*relay.read(THEIRS)][-2:]]
            assert isinstance(remarked, Remarked)
            assert (remarked.text, telling) == ("look here", TellAsked())
