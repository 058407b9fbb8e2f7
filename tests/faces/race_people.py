"""Two people in a race with agents: one in a browser, one in `planwire watch` and at a command line.

Each of them does all acts on steps of their own, round by round, until the time is over. Who writes is slow:
the plan changes twice between the first half of the words and the second. No act may ask its person anything or fail.
"""

import asyncio
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Final, TypeAlias

from playwright.sync_api import Page, expect
from textual.pilot import Pilot

from planwire.own_process import own_command
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog
from planwire.terminal.rows import PLAN, STEP
from planwire.terminal.watch_app import WatchApp
from tests.faces.race_acts import ACTS, BROWSER, COMMAND_LINE, SESSIONS, TERMINAL, Did, Face
from tests.terminal.watched import asked, closed, panel, watching
from tests.waiting import eventually
from tests.web.stage import row

__all__ = ["Done", "at_command_line", "in_browser", "in_terminal"]

#: How often the plan changes while a person writes.
CHANGES: Final = 2
#: Milliseconds that a page may take on a busy machine.
PATIENCE: Final = 20_000
WRITTEN: Final = ("comment", "reword", "add", "review")
#: The keys of acts, and those for the two ways of a move.
KEYS: Final = {"comment": "c", "reword": "e", "tick": "x", "add": "a", "review": "v", "down": "J", "back": "K"}

#: What people did by their own account: in which session, and what.
Done: TypeAlias = list[tuple[str, Did]]


def turns(face: Face, end: float) -> Iterator[tuple[str, Did]]:
    """What a person does on a face up to a time, all acts once at least: now in one session, now in the other, so that
    two rounds bring each act to both."""
    for lap in count():
        for number, act in enumerate(ACTS):
            yield SESSIONS[(number + lap) % 2], face.does(act, lap // 2)
        if monotonic() >= end:
            return


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


# -- the browser


def in_browser(pages: Mapping[str, Page], done: Done, end: float) -> None:
    """Act on the pages of both sessions, as in two windows."""
    for session, did in turns(BROWSER, end):
        _begin(pages[session], did)
        if did.act in WRITTEN:
            _go_on(pages[session])
        _finish(pages[session], did)
        done.append((session, did))


def _begin(page: Page, did: Did) -> None:
    """Point at a step, and write half of the words."""
    if did.act == "review":
        page.get_by_role("button", name="Review", exact=True).click()
        area = page.get_by_role("region", name="Review “").get_by_role("textbox")
    else:
        row(page, int(did.step[1:])).locator(".words").first.click()
        area = page.locator(".composer textarea")
    if did.act in WRITTEN:
        if did.act != "review":
            page.keyboard.press(KEYS[did.act])
        expect(area).to_be_focused(timeout=PATIENCE)
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(halves(did.text)[0])


def _go_on(page: Page) -> None:
    """Wait until the agent has changed the plan on the page, and changed it again."""
    page.evaluate(
        """([changes, patience]) => new Promise((done, failed) => {
            const changed = (_, observer) => { changes -= 1; if (!changes) { observer.disconnect(); done(); } };
            const at = document.getElementById("p0-at");
            new MutationObserver(changed).observe(at, { attributeFilter: ["data-revision"] });
            setTimeout(() => failed(new Error("the plan on the page does not change")), patience);
        })""",
        [CHANGES, PATIENCE],
    )


def _finish(page: Page, did: Did) -> None:
    """Write the rest, and send it. The first answer must be that it is done."""
    if did.act in WRITTEN:
        page.keyboard.type(halves(did.text)[1])
    with page.expect_response("**/acts") as answer:
        if did.act == "review":
            page.get_by_role("button", name="Request changes").click()
        elif did.act == "tick":
            row(page, int(did.step[1:])).locator(".mark").first.click()
        else:
            page.keyboard.press(KEYS.get(did.text, "Enter"))
    assert answer.value.status == 200, (did, answer.value.text())
    assert not answer.value.json().get("unchanged"), (did, answer.value.text())
    expect(page.locator(".composer, .review-bar, dialog[open], .trouble-notice")).to_have_count(0, timeout=PATIENCE)


# -- the terminal


def in_terminal(journal: Path, session: str, done: Done, end: float) -> None:
    """Act in a terminal."""
    asyncio.run(_watch(journal, session, done, end))


async def _watch(journal: Path, session: str, done: Done, end: float) -> None:
    async with watching(journal, session, by=TERMINAL.by) as (app, pilot):
        await eventually(lambda: app.screen.is_mounted and panel(app).cursor.row is not None)
        for where, did in turns(TERMINAL, end):
            if where == session:
                await _do(app, pilot, did)
                done.append((session, did))


async def _do(app: WatchApp, pilot: "Pilot[None]", did: Did) -> None:
    [card] = panel(app).sheet.cards
    app.clear_notifications()
    panel(app).cursor.go((STEP, card.id, did.step) if did.step else (PLAN, card.id))
    await pilot.pause()
    await pilot.press(KEYS.get(did.act) or KEYS[did.text])
    if did.act == "review":
        await asked(app, ChoiceDialog)
        await pilot.press("r")
    if did.act in WRITTEN:
        await asked(app)
        begun, rest = halves(did.text)
        await pilot.press("end", "ctrl+u", *begun)
        for _ in range(CHANGES):
            await eventually(partial(lambda seen: panel(app).sheet.cards[0].revision != seen, card.revision))
            [card] = panel(app).sheet.cards
        await pilot.press(*rest, "enter")
    await eventually(lambda: app._notifications or isinstance(app.screen, DecisionDialog))
    assert not isinstance(app.screen, DecisionDialog), did
    assert {each.severity for each in app._notifications} == {"information"}, (did, [*app._notifications])
    await closed(app)


# -- the command line


def at_command_line(journal: Path, done: Done, end: float) -> None:
    """Run a command for each act."""
    for session, did in turns(COMMAND_LINE, end):
        who = ["--as", did.by, "--yes", "--journal", str(journal)]
        where = [session] if did.act == "review" else ["--session", session]
        command = [*own_command(), *_arguments(did), *where, *who]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 0, (did, ran.stdout, ran.stderr)
        done.append((session, did))


def _arguments(did: Did) -> list[str]:
    return {
        "comment": ["comment", did.text, "--step", did.step],
        "reword": ["reword", did.step, did.text],
        "tick": ["tick", did.step],
        "add": ["add", did.text, "--after", did.step],
        "move": ["move", did.step, "--down" if did.text == "down" else "--up"],
        "review": ["approve", "--changes", "--comment", did.text],
    }[did.act]
