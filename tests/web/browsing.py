"""What tests in a browser have in common."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from playwright.sync_api import Page, expect

from tests.waiting import until

__all__ = ["NewPage", "comes_true", "is_live", "photograph"]

SCREENSHOTS = Path(__file__).parent.parent / "screenshots"

NewPage: TypeAlias = Callable[..., Page]


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
