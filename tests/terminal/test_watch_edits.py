"""A plan that is edited and approved in the terminal: the text is there to change, and none of it gets lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.journal import Journal, load_state, open_journal
from planwire.journal.protocol import Terms
from planwire.model.events import ACP, APPROVED, Choice, PlanReviewed, PlanSet, ReviewAsked
from planwire.model.kinds import text_of
from planwire.model.plan import MarkdownPlan
from planwire.model.records import PlanRecord
from planwire.terminal.dialogs import ChoiceDialog
from planwire.terminal.text_dialog import TextField
from tests.journals import add
from tests.terminal.watched import asked, closed, on_a_loop, seen, shows, told, watching, write

HELD = "held"
PROSE = "# Cache\n\nWe move the cache to Redis.\n"
EDITED = "# Cache\n\nWe keep the cache."
OPTIONS = Choice("approve", "Approve", "allow_once"), Choice("changes", "Request changes", "reject_once")


@pytest.fixture
def held(journal: Path) -> Iterator[Journal]:
    """The journal, with a hook that holds a plan back."""
    with open_journal(journal) as opened:
        opened.lease(HELD, Terms("hook", can=("answer", "words"), question="q1"))
        plan = PlanSet(MarkdownPlan("plan-mode", PROSE), via=ACP)
        add(journal, HELD, "agent", plan, ReviewAsked("plan-mode", OPTIONS, "q1", True))
        yield opened


def plan(journal: Journal) -> PlanRecord:
    return load_state(journal, HELD).plans["plan-mode"]


@on_a_loop
async def test_a_plan_is_edited_and_approved(journal: Path, held: Journal) -> None:
    async with watching(journal, HELD) as (app, pilot):
        await shows(app, "1  Approve", "2  Request changes", "e  Edit and approve")
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("e")
        await asked(app)
        assert app.screen.query_one(TextField).text == PROSE
        app.screen.query_one(TextField).text = EDITED
        await pilot.press("escape")
        await closed(app)
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("e")
        await asked(app)
        assert app.screen.query_one(TextField).text == EDITED, "it is there again"
        await pilot.press("enter")
        await closed(app)
        await told(app, "Approved as you edited it.")
        await shows(app, "You answered “Approve”: on its way to the agent", "We keep the cache.")
        assert "Edit and approve" not in seen(app)
        now = plan(held)
        assert (text_of(now.state.plan), now.by, now.version) == (EDITED, "user", 2)


@on_a_loop
async def test_a_text_that_is_left_as_it_was_is_approved(journal: Path, held: Journal) -> None:
    async with watching(journal, HELD) as (app, pilot):
        await shows(app, "e  Edit and approve")
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("e")
        await asked(app)
        await pilot.press("enter")
        await closed(app)
        await shows(app, "You answered “Approve”")
        assert (text_of(plan(held).state.plan), plan(held).version) == (PROSE, 1)


@on_a_loop
async def test_a_question_that_is_over_leaves_the_text_where_it_is(journal: Path, held: Journal) -> None:
    async with watching(journal, HELD) as (app, pilot):
        await shows(app, "e  Edit and approve")
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await write(app, pilot, "e", EDITED)
        add(journal, HELD, "client", PlanReviewed("plan-mode", 1, APPROVED, question="q1", answer="Approve"))
        await pilot.press("enter")
        await told(app, "The agent's question is over: “Approve” was the answer")
        assert app.screen.query_one(TextField).text == EDITED
        assert text_of(plan(held).state.plan) == PROSE
