"""A plan on a team's board: the time from an agent's line until a browser shows it, with PostgreSQL against a file.

Relay, agent, board and browser are processes of their own. In the team's half the relay and the board each have a home,
as on two machines, and share nothing but the URL of the journal. Both halves take turns, line by line.

The browser is the system's Chromium. Where there is none, the benchmark says so and measures nothing.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import sleep, time
from typing import TYPE_CHECKING
from urllib.parse import quote

from bench.fanout import TOKEN, board
from bench.figure import Figure, at_most
from bench.progress import say
from bench.relay import Client
from bench.relay_agent import SESSION
from tests.availability import Unavailable
from tests.programs import CHROMIUM
from tests.servers.postgres import postgres

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["measure"]

LINES = 60
#: Seconds between two lines, as if the agent thought in between: neither half profits from warm loops.
PAUSE = 0.1
PATIENCE = 20.0
#: Milliseconds between two looks at a page, which notes by itself when it changed.
GLANCE = 20

#: Note when the steps on the page look different, by the clock that all programs share.
_WATCH = """() => {
    const look = () => [...document.querySelectorAll('.step')].map(step => step.outerHTML.length + step.className
        + step.innerText).join('|');
    let last = look();
    window.shown = [];
    new MutationObserver(() => {
        const now = look();
        if (now !== last) { last = now; shown.push(performance.timeOrigin + performance.now()); }
    }).observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
}"""


class _Half:
    """A relay and a board on one journal, and a page that shows its session."""

    def __init__(self, running: ExitStack, browser: "Browser", journal: str, homes: tuple[Path, Path]) -> None:
        relay = [sys.executable, "-m", "planwire", "relay", "--", sys.executable, "-m", "bench.relay_agent"]
        for home in homes:
            home.mkdir(parents=True, exist_ok=True)
        self._client = Client(relay, {**os.environ, **_machine(homes[0]), "PLANWIRE_JOURNAL": journal})
        running.callback(self._client.close)
        self._client.trip("plan")
        port = running.enter_context(board(journal, _machine(homes[1])))
        self._page: Page = browser.new_page()
        self._page.goto(f"http://127.0.0.1:{port}/?token={TOKEN}")
        self._page.goto(f"{self._page.url}/{quote(SESSION)}")
        self._wait("document.getElementById('connection').dataset.state === 'live'")
        self._wait("document.querySelectorAll('.step').length > 0")
        self._page.evaluate(_WATCH)

    def line(self) -> float:
        """The milliseconds from an agent's line until the page shows it."""
        seen: int = self._page.evaluate("shown.length")  # the line before may have changed the page more than once
        start = time()
        self._client.trip("plan")
        self._wait(f"shown.length > {seen}")
        first: float = self._page.evaluate(f"shown[{seen}]")
        return first - start * 1_000

    def _wait(self, condition: str) -> None:
        end = time() + PATIENCE
        while not self._page.evaluate(condition):
            if time() > end:
                raise TimeoutError(f"it did not come true: {condition}")
            self._page.wait_for_timeout(GLANCE)


def measure() -> Iterator[Figure]:
    try:
        path = CHROMIUM.path()
    except Unavailable as problem:
        say(f"no browser, nothing measured: {problem}")
        return
    say(f"{LINES} lines of an agent until a browser shows them, through a file and through PostgreSQL")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        url = postgres().fresh_url(local=False)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        running.callback(browser.close)
        alone = _Half(running, browser, str(folder / "journal.db"), (folder / "one", folder / "one"))
        team = _Half(running, browser, url, (folder / "first", folder / "second"))
        taken = []
        for _ in range(LINES):
            sleep(PAUSE)
            taken.append((alone.line(), team.line()))
    local, remote = (median(each) for each in zip(*taken, strict=True))
    yield Figure("local_board_ms", local, "ms")
    yield Figure("team_board_ms", remote, "ms")
    yield Figure("team_board_vs_local_board", remote / local, "", at_most(3))


def _machine(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_RUNTIME_DIR": str(home)}
