"""The board that a test looks at, and the browser that it looks with."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.peers.install import Unavailable
from tests.web.board import Running, running_board
from tests.web.browser import axe_source, browser_is_required, chromium
from tests.web.browsing import NewPage
from tests.web.stage import Stage
from tests.web.steering import Here


@pytest.fixture
def board() -> Iterator[Running]:
    with running_board() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        path = chromium()
    except Unavailable as problem:
        if browser_is_required():
            raise
        pytest.skip(str(problem))
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def new_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[NewPage]:
    """Opens pages that know the token. What goes wrong in the browser's console fails the test."""
    board: Running = request.getfixturevalue("shared" if "stage" in request.fixturenames else "board")
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def open_page(address: str = "", **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        board.let_in(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        if address:
            page.goto(board.pages + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [
        problem for problem in problems if not re.search(r"net::ERR_|with a status of \d|TrustedHTML", problem)
    ] == []


@pytest.fixture(scope="module")
def axe() -> str:
    try:
        return axe_source()
    except Unavailable as problem:
        if browser_is_required():
            raise
        pytest.skip(str(problem))


@pytest.fixture(scope="module")
def shared() -> Iterator[Running]:
    """One board for all tests of a file that have sessions of their own."""
    with running_board() as running:
        yield running


@pytest.fixture
def stage(shared: Running, new_page: NewPage) -> Stage:
    return Stage(shared, new_page)


@pytest.fixture
def here(shared: Running) -> Here:
    return Here(shared, f"session-{len(list(shared.journal.sessions()))}")
