"""The pictures in the README and in docs/, made from the demo while it runs: `make pictures`.

It needs a Chromium, as the tests of the board do.
"""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from planwire.demo.client import DemoConversation
from planwire.journal import Journal, open_journal
from planwire.terminal.watch_app import WatchApp
from planwire.web import BoardServer
from tests.web.browser import chromium

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
#: The demo is looked at when this comes along: some steps are done, one is being worked on, one was found on the way.
MOMENT = b"Writing UTF-8"


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open_journal(Path(folder) / "plans.db") as journal:
        project = Path(folder) / "exporter"
        project.mkdir()
        conversation = DemoConversation(0.5, f"{folder}/plans.db", project)
        lines = iter(conversation)
        for line in lines:
            if MOMENT in line.line:
                break
        picture_terminal(journal, conversation.session)
        picture_board(journal, conversation.session)
        for _ in lines:
            pass
        picture_history(journal, conversation.session)


def picture_terminal(journal: Journal, session: str) -> None:
    async def draw() -> str:
        app = WatchApp(journal, session, None, "planwire-dark")
        async with app.run_test(size=(100, 34)) as pilot:
            await pilot.pause(0.5)
            return app.export_screenshot(title="planwire watch")

    drawn = asyncio.run(draw())
    with browser() as chrome:
        page = chrome.new_page(viewport={"width": 1240, "height": 900})
        page.set_content(f'<body style="margin:0;background:#fff">{drawn}</body>')
        page.locator("svg").first.screenshot(path=PICTURES / "watch.png")


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield chrome
        finally:
            chrome.close()


def picture_board(journal: Journal, session: str) -> None:
    take(journal, {"board.png": (f"/sessions/{session}", "light"), "board-dark.png": (f"/sessions/{session}", "dark")})


def picture_history(journal: Journal, session: str) -> None:
    take(journal, {"history.png": (f"/sessions/{session}/history", "light")})


def take(journal: Journal, pictures: dict[str, tuple[str, Literal["light", "dark"]]]) -> None:
    server = BoardServer(journal)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    with browser() as chrome:
        for name, (path, scheme) in pictures.items():
            context = chrome.new_context(viewport={"width": 1120, "height": 820}, color_scheme=scheme)
            page = context.new_page()
            page.goto(server.address)
            page.goto(f"{server.base}{path}")
            page.wait_for_timeout(400)
            page.screenshot(path=PICTURES / name)
    server.stop()
    thread.join()


if __name__ == "__main__":
    main()
