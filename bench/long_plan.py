"""Whether a plan of 2,000 steps stays smooth in a browser: how long frames take while all of it is on one page and 20
changes a second come in.

The browser is the system's Chromium. Where there is none, the benchmark says so and measures nothing.
"""

import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

from bench.fanout import TOKEN, board
from bench.figure import Figure, at_most
from bench.progress import say
from bench.proof import prove
from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import ACP, PlanSet
from planwire.model.plan import Entry, ItemsPlan
from tests.availability import Unavailable
from tests.programs import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["measure"]

STEPS = 2_000
UPDATES = 60
PER_SECOND = 20

_COUNT_FRAMES = """() => {
    window.frames_taken = [];
    let last = performance.now();
    requestAnimationFrame(function next(now) {
        frames_taken.push(now - last);
        last = now;
        requestAnimationFrame(next);
    });
}"""


def measure() -> Iterator[Figure]:
    try:
        path = CHROMIUM.path()
    except Unavailable as problem:
        say(f"no browser, nothing measured: {problem}")
        return
    say(f"{STEPS:,} steps in a browser, {UPDATES} updates, {PER_SECOND} a second")
    with tempfile.TemporaryDirectory() as folder, open_journal(Path(folder) / "journal.db") as journal:
        _write(journal, 0)
        with board(Path(folder) / "journal.db") as port:
            frames, opened = _watch(path, port, journal)
    yield Figure("board_2000_steps_open_ms", opened, "ms")
    yield Figure("board_2000_steps_frame_p95_ms", quantiles(frames, n=20)[18], "ms", at_most(50))
    yield Figure("board_2000_steps_longest_frame_ms", max(frames), "ms")


def _watch(path: str, port: int, journal: Journal) -> tuple[list[float], float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/?token={TOKEN}")
        start = time.perf_counter()
        page.goto(f"{page.url}/s1/plans/main")
        opened = (time.perf_counter() - start) * 1_000
        prove(page.locator(".step").count(), STEPS, "steps on the page")
        _wait(page, "document.getElementById('connection').dataset.state === 'live'")
        page.evaluate(_COUNT_FRAMES)
        agent = threading.Thread(target=_agent, args=(journal,))
        agent.start()
        _wait(page, f"document.getElementById('p0-s{UPDATES + 1}').getAttribute('aria-current') === 'step'")
        agent.join()
        frames: list[float] = page.evaluate("frames_taken")
        browser.close()
    return frames, opened


def _wait(page: "Page", condition: str) -> None:
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise TimeoutError(f"it did not come true: {condition}")


def _agent(journal: Journal) -> None:
    start = time.perf_counter()
    for number in range(1, UPDATES + 1):
        time.sleep(max(0.0, start + number / PER_SECOND - time.perf_counter()))
        _write(journal, number)


def _write(journal: Journal, done: int) -> None:
    entries = tuple(
        Entry(f"Port module {at}", "medium", "completed" if at < done else "in_progress" if at == done else "pending")
        for at in range(STEPS)
    )
    event = PlanSet(ItemsPlan("main", entries), via=ACP, ids=tuple(f"s{number}" for number in range(1, STEPS + 1)))
    journal.append("s1", [Stamped(time.time_ns() // 1_000_000, "agent", event)])
