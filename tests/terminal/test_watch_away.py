"""`planwire watch` while the journal's server is away: what it says above the plans, and what it refuses."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from planwire.journal import Stamped, Terms, engines
from planwire.journal.waiting import NOT_YET
from planwire.model.events import Choice, PlanSet, ReviewAsked, SessionOpened
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog
from planwire.terminal.trouble_bar import TroubleBar
from planwire.terminal.watch_app import WatchApp
from tests.journal.outages import ENGINE, Outage, open_server
from tests.journals import items
from tests.terminal.watched import asked, closed, on_a_loop, ready, told, watching, write
from tests.waiting import eventually


@pytest.fixture
def outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outage:
    """A server that has a session, whose agent asks something, behind a relay that can do everything."""
    monkeypatch.setitem(engines._ENGINES, "flaky", ENGINE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for pace in ("LOOK", "ROLL_CALL"):
        monkeypatch.setattr(f"planwire.readmodel.sessions.{pace}", 0.02)
    plan = PlanSet(items("main", "in_progress", "pending", "pending"))
    question = ReviewAsked("main", (Choice("yes", "Go ahead", "allow_once"), Choice("no", "Stop", "reject_once")), "q1")
    with open_server(tmp_path) as server:
        server.append("s1", [Stamped(1, "agent", each) for each in (SessionOpened("agent", "ed"), plan, question)])
    return Outage(tmp_path)


def above(app: WatchApp) -> str:
    """The words above everything on the screen, as they are drawn."""
    bar = app.screen.query_one(TroubleBar)
    lines = (bar.render_line(y).text for y in range(bar.region.height))
    return " ".join(" ".join(lines).split())


@on_a_loop
async def test_every_screen_has_all_the_words_about_the_outage_above_what_it_shows(outage: Outage) -> None:
    waits = "1 record waits on this machine and will be delivered"
    async with watching(f"flaky:{outage.folder}", "s1", size=(60, 30)) as (app, pilot):
        await ready(app)
        assert above(app) == ""
        outage.begin()
        await write(app, pilot, "c", "Why?")
        await pilot.press("enter")
        await told(app, NOT_YET)
        await closed(app)
        await eventually(lambda: "server has been away since" in above(app))
        for key in ("", "h", "escape", "escape"):  # the session, its history, and the list
            await pilot.press(*([key] if key else []))
            await eventually(lambda: waits in above(app))
        outage.end()
        await eventually(lambda: above(app) == "")


@on_a_loop
async def test_an_answer_words_to_tell_and_a_stop_are_refused_for_the_servers_sake(outage: Outage) -> None:
    with open_server(outage.folder) as server:
        server.lease("s1", Terms("relay", True, ("answer", "tell", "stop", "steer")))
        async with watching(f"flaky:{outage.folder}", "s1") as (app, pilot):
            await ready(app)
            outage.begin()
            await write(app, pilot, "t", "Hurry")
            await refused(app, pilot, "enter")
            await pilot.press("escape")
            await closed(app)
            await pilot.press("S")
            await asked(app, DecisionDialog)
            await refused(app, pilot, "y")
            await pilot.press("v")
            await asked(app, ChoiceDialog)
            await pilot.press("1")
            await asked(app)
            await refused(app, pilot, "enter")
            outage.end()
        assert server.last_seq("s1") == 3


async def refused(app: WatchApp, pilot: "Pilot[None]", key: str) -> None:
    app.clear_notifications()
    await pilot.press(key)
    await told(app, "The server example.org can't be reached: connection refused. Nothing was written")
