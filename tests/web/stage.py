"""A session of a test's own in a browser: what is written to it, the pages that show it, and what people do there."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from planwire.model.decide import undecided
from planwire.model.events import ACP, Event, PlanChanged, PlanSet, Remarked
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.step_changes import StepChange
from tests.waiting import until
from tests.web.board import Running
from tests.web.browsing import NewPage, comes_true, is_live

__all__ = ["TEXT", "Stage", "can_steer", "listed", "row", "save", "words", "write"]

TEXT = """\
# Release

Before we ship.

- [ ] Freeze the branch
- [ ] Run the **whole** `suite`
  - [ ] on Linux
  - [ ] on macOS

After that:

- [ ] Tag it
- [ ] Tell everyone
"""


class Stage:
    """A session of a test's own: what is written to it, and pages that show it."""

    def __init__(self, board: Running, new_page: NewPage, same_page: NewPage) -> None:
        self.board = board
        self.session = f"session-{len(list(board.journal.sessions()))}"
        self._new_page = new_page
        self._same_page = same_page

    def write(self, *events: Event, by: str = "agent") -> int:
        return self.board.write(self.session, *events, by=by)

    def agent_sends(self, *contents: str, done: int = 0) -> None:
        """The agent's own list, over ACP."""
        self.write(PlanSet(listed(contents, done), via=ACP))

    def planwire_has(self, *contents: str) -> None:
        """A plan that planwire keeps."""
        self.write(PlanSet(listed(contents, 0)))

    def open(self, **options: Any) -> Page:
        """A page of the test's own that shows the session."""
        return self._ready(self._new_page(f"/sessions/{self.session}", **options))

    def reopen(self, **options: Any) -> Page:
        """The file's page, which now shows the session."""
        return self._ready(self._same_page(f"/sessions/{self.session}", **options))

    def _ready(self, page: Page) -> Page:
        is_live(page)
        comes_true(
            page, "Boolean(document.querySelector('[data-step][tabindex=\"0\"], [data-steer]:not(:has([data-step]))'))"
        )
        return page

    def said(self) -> list[Event]:
        """What people did, as they did it."""
        return [undecided(each.event) for each in self.board.journal.read(self.session) if each.by == "user"]

    def changes(self) -> list[StepChange]:
        """The changes that people made or suggested."""
        kinds = PlanChanged | Remarked
        return [change for event in self.said() if isinstance(event, kinds) for change in event.changes]

    def comes_to(self, *events: Event) -> None:
        until(lambda: self.said() == list(events))

    def changes_come_to(self, *changes: StepChange) -> None:
        until(lambda: self.changes() == list(changes))


def listed(contents: tuple[str, ...], done: int) -> ItemsPlan:
    statuses = ["completed" if at < done else "pending" for at in range(len(contents))]
    return ItemsPlan(
        "main", tuple(Entry(each, "medium", status) for each, status in zip(contents, statuses, strict=True))
    )


def can_steer(page: Page) -> None:
    comes_true(page, "document.documentElement.classList.contains('steering')")


def row(page: Page, step: int, plan: int = 0) -> Locator:
    return page.locator(f"#p{plan}-s{step}")


def words(page: Page) -> Locator:
    return page.locator("#p0-steps > li:not(.ghost, [data-my-removed]) .words")


def write(page: Page, text: str) -> None:
    """Write into what is open, in place of what is there."""
    expect(page.locator(".composer textarea")).to_be_focused()
    page.locator(".composer textarea").fill(text)


def save(page: Page) -> None:
    page.keyboard.press("Enter")
    expect(page.locator(".composer")).to_have_count(0)
