"""The pictures in the README and in docs/: `make pictures`.

They show the sessions below, with times up to now. This needs a Chromium, as the tests of the board do.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from planwire.journal import Journal, Stamped, Terms, load_state, open_journal
from planwire.model.events import ACP, Choice, Event, PlanReviewed, PlanSet, ReviewAsked, SessionOpened, TurnEnded
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.statuses import BOXES
from planwire.session.steering import steer
from planwire.session.writer import append_latest
from planwire.steering.wanted import Wanted
from planwire.terminal.watch_app import WatchApp
from planwire.web import BoardServer
from tests.programs import CHROMIUM

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
Scheme = Literal["light", "dark"]
#: The session that most pictures show, and its plan.
SESSION, PLAN = "export-umlauts", "Nightly export"
WHY = "The exporter writes with the locale's encoding, and skips every row that this can't hold."
FIRST = ("Reproduce the loss with a small fixture", "Find where rows are skipped", "Write UTF-8 in the exporter")
FOUND = "Set the locale in the cron job"
LAST = ("Raise instead of skipping", "Repair the files of last week", "Run the test suite")
PRIORITIES = dict.fromkeys(FIRST, "high") | {"Repair the files of last week": "low"}
PROPOSAL = """\
# Limit login attempts

Count failures in Redis, for each account and address.

1. Count failures
2. Answer 429 after ten in an hour
3. Mail the owner
"""
OPTIONS = (
    Choice("default", "Yes, and approve edits by hand", "allow_once"),
    Choice("acceptEdits", "Yes, and accept all edits", "allow_always"),
    Choice("plan", "No, keep planning", "reject_once"),
)


def main() -> None:
    with open_journal("memory:") as journal:
        write_session_at_work(journal)
        write_other_sessions(journal)
        drawn = asyncio.run(draw_terminal(journal))
        with browser() as chrome:
            picture_terminal(drawn, chrome)
            picture_board(journal, chrome)


def write_session_at_work(journal: Journal) -> None:
    """An agent in the middle of its work, and a person who steers it."""
    write(
        journal,
        SESSION,
        (24, SessionOpened("claude-agent-acp", "Zed", "/home/mia/exporter", "Fix the export that drops umlauts")),
        (20, steps("~     ", *FIRST, *LAST)),
        (16, steps("x~    ", *FIRST, *LAST)),
        (11, steps("xx~    ", *FIRST, FOUND, *LAST)),
        (4, steps("xxx~   ", *FIRST, FOUND, *LAST, why=WHY)),
    )
    steer(journal, SESSION, PLAN, Wanted("comment", "s7", text="LC_ALL=C.UTF-8 is enough on this host."))
    steer(journal, SESSION, PLAN, Wanted("set_status", "s5", status="cancelled"))
    steer(journal, SESSION, PLAN, Wanted("add", text="Tell the data team", after="s6"))


def write_other_sessions(journal: Journal) -> None:
    """The other sessions in the list: one of each state."""
    write(
        journal,
        "login-limit",
        (9, SessionOpened("claude-agent-acp", "Zed", "/home/mia/shop", "Stop password guessing")),
        (8, PlanSet(MarkdownPlan("plan-mode", PROPOSAL), via=ACP)),
        (7, PlanReviewed("plan-mode", 2, "changes_requested", answer="No, keep planning")),
        (5, PlanSet(MarkdownPlan("plan-mode", PROPOSAL.replace("owner", "owner, at most once a day")), via=ACP)),
        (5, ReviewAsked("plan-mode", OPTIONS, "q1")),
    )
    journal.lease("login-limit", Terms("relay", is_working=True, can=("answer", "tell", "stop")))
    write(
        journal,
        "toml",
        (40, SessionOpened("codex-acp", "IntelliJ IDEA", "/home/mia/parser", "Read TOML 1.1 in the config parser")),
        (
            3,
            steps(
                "xx~  ", "Read the spec", "Extend the lexer", "Extend the grammar", "Run the tests", "Update the docs"
            ),
        ),
    )
    write(
        journal,
        "prices",
        (260, SessionOpened("gemini", "Zed", "/home/mia/shop", "Move the cart to the new price service")),
        (190, steps("x~ ", "Map the old calls", "Switch the cart", "Remove the old client")),
        (180, TurnEnded("cancelled")),
    )
    write(
        journal,
        "slow-build",
        (1600, SessionOpened("codex-acp", "IntelliJ IDEA", "/home/mia/parser", "Why is the build slow?")),
        (1510, steps("xx", "Profile the build", "Cache the dependencies")),
        (1500, TurnEnded("end_turn")),
    )


def write(journal: Journal, session: str, *story: tuple[int, Event]) -> None:
    """Append what an agent did, each event with how many minutes ago it happened."""
    now = time.time_ns() // 1_000_000
    events = [Stamped(now - ago * 60_000, "agent", event) for ago, event in story]
    append_latest(journal, lambda: load_state(journal, session), lambda _: events)


def steps(boxes: str, *texts: str, why: str | None = None) -> PlanSet:
    """An agent's list: `x~ ` is a step that is done, one in progress, and one to do."""
    entries = [
        Entry(text, PRIORITIES.get(text, "medium"), BOXES[box].word) for box, text in zip(boxes, texts, strict=True)
    ]
    return PlanSet(ItemsPlan(PLAN, tuple(entries)), summary=why, via=ACP)


async def draw_terminal(journal: Journal) -> str:
    """The session in `planwire watch`, as SVG."""
    app = WatchApp(journal, SESSION, None, "planwire-dark")
    async with app.run_test(size=(96, 22)) as pilot:
        await pilot.pause(0.5)
        return app.export_screenshot(title="planwire watch")


def picture_terminal(drawn: str, chrome: Browser) -> None:
    page = chrome.new_page(viewport={"width": 1240, "height": 900})
    page.set_content(f'<body style="margin:0;background:#fff">{drawn}</body>')
    page.locator("svg").first.screenshot(path=PICTURES / "watch.png")


def picture_board(journal: Journal, chrome: Browser) -> None:
    server = BoardServer(journal)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    page = f"/{SESSION}"
    take(chrome, server.address, "", "light", "sessions.png", height=1010)
    take(chrome, server.address, "/login-limit", "light", "question.png")
    take(chrome, server.address, page, "light", "board.png")
    take(chrome, server.address, page, "dark", "board-dark.png")
    take(chrome, server.address, f"{page}/history", "light", "history.png")
    server.stop()
    thread.join()


def take(chrome: Browser, door: str, below: str, scheme: Scheme, name: str, height: int = 780) -> None:
    """Picture a page of the board, below the list of sessions. `door` is the address with the token."""
    context = chrome.new_context(viewport={"width": 1120, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(door)
    page.goto(page.url + below)
    page.wait_for_timeout(400)
    page.screenshot(path=PICTURES / name)
    context.close()


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=CHROMIUM.path(), args=["--no-sandbox"])
        try:
            yield chrome
        finally:
            chrome.close()


if __name__ == "__main__":
    main()
