"""The board that a test looks at, and the browser that it looks with."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.availability import or_skip
from tests.peers.install import axe_source
from tests.programs import CHROMIUM
from tests.web.board import Running, running_board
from tests.web.browsing import SIZE, STILL, NewPage, Problems
from tests.web.stage import Stage
from tests.web.steering import Here


@pytest.fixture(scope="module")
def ended() -> Iterator[ExitStack]:
    """Boards that were told to end. Each waits for 0.2 s before it has: it does so beside the tests that follow."""
    with ExitStack() as boards:
        yield boards


@pytest.fixture
def board(ended: ExitStack) -> Iterator[Running]:
    running = ended.enter_context(running_board())
    yield running
    running.server.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = or_skip(CHROMIUM.path)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def looked_at(request: pytest.FixtureRequest) -> Running:
    """The board of the test: the file's, if it shares one."""
    board: Running = request.getfixturevalue("shared" if "stage" in request.fixturenames else "board")
    return board


@pytest.fixture
def new_page(browser: Browser, looked_at: Running) -> Iterator[NewPage]:
    """Opens pages that know the token. What goes wrong in the browser's console fails the test."""
    contexts: list[BrowserContext] = []
    problems = Problems()

    def open_page(address: str = "", **options: Any) -> Page:
        context = browser.new_context(**{**STILL, **options})
        contexts.append(context)
        looked_at.let_in(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        problems.listen_to(page)
        if address:
            page.goto(looked_at.pages + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    problems.are_none()


@pytest.fixture(scope="module")
def kept(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(15_000)
        yield page


@pytest.fixture
def same_page(kept: Page, looked_at: Running) -> Iterator[NewPage]:
    """Opens addresses in the page that the tests of a file have one after the other, since a new one takes a second.

    It is for tests that only look, press and write: its size, its colours, its pointer and what it stores are as new,
    but clocks, routes, permissions and lost connections can't be taken back.
    """
    looked_at.let_in(kept.context)
    problems = Problems()
    problems.listen_to(kept)
    kept.mouse.move(0, 0)

    def open_page(address: str, *, viewport: Any = SIZE, **media: Any) -> Page:
        kept.set_viewport_size(viewport)
        kept.emulate_media(**{"media": "screen", "color_scheme": "light", **STILL, **media})
        kept.goto(looked_at.pages + address)
        return kept

    yield open_page
    kept.goto(f"{looked_at.pages}/about.json")  # without a script; for a blank page, Chromium starts another process
    kept.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    problems.leave(kept)
    kept.context.clear_cookies()
    problems.are_none()


@pytest.fixture(scope="module")
def axe() -> str:
    return or_skip(axe_source)


@pytest.fixture(scope="module")
def shared() -> Iterator[Running]:
    """One board for all tests of a file that have sessions of their own."""
    with running_board() as running:
        yield running


@pytest.fixture
def stage(shared: Running, new_page: NewPage, request: pytest.FixtureRequest) -> Stage:
    def same_page(address: str, **options: Any) -> Page:
        opened: NewPage = request.getfixturevalue("same_page")  # only now: most tests do without it
        return opened(address, **options)

    return Stage(shared, new_page, same_page)


@pytest.fixture
def here(shared: Running) -> Here:
    return Here(shared, f"session-{len(list(shared.journal.sessions()))}")
