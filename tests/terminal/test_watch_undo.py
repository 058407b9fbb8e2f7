"""A verdict given in the terminal app can be undone for some seconds, by its author and by nobody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.journal import Journal, load_state, open_journal
from planwire.journal.protocol import Terms
from planwire.model.events import Choice, PlanReviewed, ReviewAsked, ReviewPending
from planwire.model.records import PlanRecord
from planwire.terminal.dialogs import ChoiceDialog
from planwire.terminal.watch_app import WatchApp
from tests.journals import add
from tests.terminal.watched import THEIRS, asked, closed, on_a_loop, review, seen, shows, told, watching
from tests.waiting import eventually

OPTIONS = Choice("yes", "Yes", "allow_once"), Choice("no", "No", "reject_once")


@pytest.fixture
def relayed(journal: Path) -> Iterator[Journal]:
    """The journal, with a relay whose agent asks about its plan."""
    with open_journal(journal) as opened:
        opened.lease(THEIRS, Terms("relay", can=("answer", "tell", "stop")))
        add(journal, THEIRS, "agent", ReviewAsked(None, OPTIONS, "q1"))
        yield opened


def plan(journal: Journal) -> PlanRecord:
    return load_state(journal, THEIRS).plans[None]


async def answer_yes(app: WatchApp, pilot: object) -> None:
    await pilot.press("v")  # type: ignore[attr-defined]
    await asked(app, ChoiceDialog)
    await pilot.press("1")  # type: ignore[attr-defined]
    await asked(app)
    await pilot.press("enter")  # type: ignore[attr-defined]
    await closed(app)


@on_a_loop
async def test_u_undoes_a_verdict_while_its_seconds_count_down(
    journal: Path, relayed: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWIRE_UNDO_SECONDS", "30")
    async with watching(journal, THEIRS) as (app, pilot):
        await answer_yes(app, pilot)
        await told(app, "Sending “Yes” in 30 s. Until then you can undo it.")
        await shows(app, "You answered “Yes” · sending in", "s · u undoes it", "1  Yes   Approve")
        before = seen(app)
        await eventually(lambda: seen(app) != before)
        assert plan(relayed).decision is None
        await pilot.press("u")
        await told(app, "Undone. Nothing was sent.")
        await shows(app, "Press v to answer")
        assert "sending in" not in seen(app)
        assert plan(relayed).asked is not None
        assert plan(relayed).pending is None


@on_a_loop
async def test_the_words_that_went_with_it_come_back_to_be_sent_again(
    journal: Path, relayed: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWIRE_UNDO_SECONDS", "30")
    async with watching(journal, THEIRS) as (app, pilot):
        await review(app, pilot, "2", "smaller steps")
        await pilot.press("enter")
        await closed(app)
        await eventually(lambda: (now := plan(relayed).pending) and now.event.remarks[0].text == "smaller steps")
        await pilot.press("u")
        await told(app, "Undone. Nothing was sent.")
        await shows(app, "1 to send (v)", "smaller steps")
        assert plan(relayed).remarks == ()


@on_a_loop
async def test_the_app_hands_the_verdict_on_when_its_time_is_over(
    journal: Path, relayed: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWIRE_UNDO_SECONDS", "0.2")
    async with watching(journal, THEIRS) as (app, pilot):
        await answer_yes(app, pilot)
        await shows(app, "◆ You answered “Yes”: on its way to the agent")
        await pilot.press("u")
        await told(app, "There is no open remark here")
    decision = plan(relayed).decision
    assert decision is not None
    assert (decision.option, decision.by) == ("yes", "user")


@on_a_loop
async def test_others_see_that_a_verdict_is_pending_and_can_give_their_own(
    journal: Path, relayed: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    no = PlanReviewed(None, 2, "changes_requested", answer="No", via="planwire", question="q1", option="no")
    add(journal, THEIRS, "ben", ReviewPending(None, 60_000, no))
    async with watching(journal, THEIRS) as (app, pilot):
        await shows(app, "Ben answered “No” · sending in")
        await answer_yes(app, pilot)
        await shows(app, "◆ You answered “Yes”: on its way to the agent")
    assert plan(relayed).pending is None
