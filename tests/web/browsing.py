"""What tests in a browser have in common."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

from playwright.sync_api import ConsoleMessage, Error, Page, expect

from tests.waiting import until

__all__ = ["MOVING", "SIZE", "STILL", "NewPage", "Problems", "comes_true", "is_live", "photograph"]

SCREENSHOTS = Path(__file__).parent.parent / "screenshots"

NewPage: TypeAlias = Callable[..., Page]

#: A page is still unless its test is about what moves: a transition takes no click for a quarter of a second.
STILL: Final[dict[str, Any]] = {"reduced_motion": "reduce"}
MOVING: Final[dict[str, Any]] = {"reduced_motion": "no-preference"}
SIZE: Final = {"width": 1280, "height": 720}

_EXPECTED = re.compile(r"net::ERR_|with a status of \d|TrustedHTML")


class Problems:
    """What goes wrong in the consoles of a test's pages."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def listen_to(self, page: Page) -> None:
        page.on("pageerror", self._failed)
        page.on("console", self._said)

    def leave(self, page: Page) -> None:
        page.remove_listener("pageerror", self._failed)
        page.remove_listener("console", self._said)

    def are_none(self) -> None:
        found = [problem for problem in self._found if not _EXPECTED.search(problem)]
        assert found == [], found

    def _failed(self, error: Error) -> None:
        self._found.append(str(error))

    def _said(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self._found.append(said.text)


def photograph(page: Page, name: str) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def is_live(page: Page) -> None:
    """Wait until the page hears of changes and, if it shows plans, lets people steer."""
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    comes_true(page, "!document.querySelector('main.session') || document.documentElement.matches('.steering')")


def comes_true(page: Page, condition: str) -> None:
    """Wait for a condition in the page. Playwright's own way to do it is forbidden by the board's policy."""
    until(lambda: page.evaluate(condition))
