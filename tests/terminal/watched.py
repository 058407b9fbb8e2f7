"""A person who steers in `planwire watch`: a journal, what they see and what they press."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from textual.pilot import Pilot
from textual.widgets import Button

from planwire.journal import open_journal
from planwire.model.events import ACP, Comment, Passage, PlanSet, SessionOpened
from planwire.model.plan import ItemsPlan, PlanId
from planwire.model.records import PlanRecord
from planwire.readmodel.overview import Overview
from planwire.terminal.dialogs import ChoiceDialog, Dialog
from planwire.terminal.lines_view import LinesView
from planwire.terminal.session_screen import SessionScreen
from planwire.terminal.steps_panel import StepsPanel
from planwire.terminal.text_dialog import TextDialog, TextField
from planwire.terminal.watch_app import WatchApp
from tests.journals import add, items
from tests.waiting import eventually

__all__ = [
    "DIFFERENCE",
    "HEAD",
    "NESTED",
    "OURS",
    "THEIRS",
    "asked",
    "click_row",
    "closed",
    "on_a_loop",
    "ours",
    "panel",
    "press_button",
    "ready",
    "record",
    "report",
    "review",
    "rows",
    "said",
    "seen",
    "shows",
    "statuses",
    "suggestions",
    "texts",
    "theirs",
    "told",
    "two_plans",
    "watching",
    "write",
]

P = ParamSpec("P")

#: The head of a session on its screen, and the difference of two moments.
HEAD = "#head"
DIFFERENCE = "#then-difference"
#: Session ids: one with a plan of planwire's, one with a plan of its agent's.
OURS = "ours"
THEIRS = "theirs"
NESTED = "# Parser\n\n- [x] lexer\n  - [ ] numbers\n  - [ ] strings\n- [ ] grammar\n- [ ] macros\n"


def on_a_loop(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def bounded() -> None:
            await asyncio.wait_for(test(*args, **kwargs), 60)

        asyncio.run(bounded())

    return run


@asynccontextmanager
async def watching(
    journal: Path | str,
    session: str | None = None,
    here: Path | None = None,
    size: tuple[int, int] = (100, 30),
    **options: Any,
) -> AsyncIterator[tuple[WatchApp, "Pilot[None]"]]:
    def is_here(glance: Overview) -> bool:
        return glance.cwd == str(here)

    with open_journal(journal) as opened:
        app = WatchApp(opened, session, is_here if here else None, **options)
        async with app.run_test(size=size, notifications=True) as pilot:
            await eventually(lambda: not (app.sessions.loading or app._news))  # all of it is on the screen
            await pilot.pause()
            yield app, pilot


def seen(app: WatchApp, kind: type[LinesView] | str = LinesView) -> str:
    """What is on the screen, as text."""
    views = [each for each in app.screen.query(kind).results(LinesView) if each.is_mounted and each.region.height]
    return "\n".join(line.text for view in views for line in view.in_sight())


async def shows(app: WatchApp, *words: str, kind: type[LinesView] | str = LinesView) -> None:
    await eventually(lambda: app.screen.is_mounted)
    try:
        await eventually(lambda: all(word in seen(app, kind) for word in words), 10)
    except AssertionError:
        raise AssertionError(f"{words} are not all on the screen:\n{seen(app, kind)}") from None


def two_plans(folder: Path) -> Path:
    """A journal with a session of each kind."""
    path = folder / "journal.db"
    plan = items("main", "completed", "in_progress", "pending", "pending")
    add(path, OURS, "agent", SessionOpened("my agent", "zed", str(folder), "Ours"), PlanSet(plan))
    opened = SessionOpened("claude", "zed", str(folder), "Theirs")
    add(path, THEIRS, "agent", opened, PlanSet(ItemsPlan(None, plan.entries), via=ACP))
    return path


def report(journal: Path, *statuses: str, session: str = THEIRS) -> None:
    """The agent says how far it is."""
    add(journal, session, "agent", PlanSet(items(None, *statuses), via=ACP))


def record(app: WatchApp, session: str, plan_id: PlanId) -> PlanRecord:
    """A plan as it is on the screen: the next key is about that. One that is not there, as the journal has it."""
    shown = panel(app)
    cards = [card.record for card in shown.sheet.cards if shown.sheet.session == session and card.id == plan_id]
    if cards and cards[0] is not None:
        return cards[0]
    found = app.sessions.get(session)
    assert found is not None
    return found.journalled.plans[plan_id]


def ours(app: WatchApp) -> PlanRecord:
    return record(app, OURS, "main")


def theirs(app: WatchApp) -> PlanRecord:
    return record(app, THEIRS, None)


def panel(app: WatchApp) -> StepsPanel:
    return next(screen.query_one(StepsPanel) for screen in app.screen_stack if isinstance(screen, SessionScreen))


def rows(app: WatchApp, plan_id: PlanId) -> list[str]:
    """The steps of a plan as they are on the screen."""
    return [row.text for card in panel(app).sheet.cards if card.id == plan_id for row in card.rows]


def texts(of: PlanRecord) -> list[str]:
    return [step.content for step in of.state.steps]


def statuses(of: PlanRecord) -> list[str]:
    return [step.status for step in of.state.steps]


def said(of: PlanRecord) -> list[Comment]:
    """The words of people on a plan that are open, the oldest first."""
    return [
        Comment(each.text, each.step, each.passage and Passage(each.passage.text))
        for each in of.open_remarks
        if each.text and not each.changes
    ]


def suggestions(of: PlanRecord) -> list[object]:
    return [change for suggestion in of.suggestions for change in suggestion.changes]


async def ready(app: WatchApp) -> None:
    await shows(app, "Write a test")
    await eventually(lambda: app.screen.is_mounted and panel(app).cursor.row is not None)


async def asked(app: WatchApp, kind: type[Dialog[Any]] = TextDialog) -> Dialog[Any]:
    await eventually(lambda: isinstance(app.screen, kind) and app.screen.is_mounted and app.screen.focused)
    assert isinstance(app.screen, Dialog)
    return app.screen


async def closed(app: WatchApp) -> None:
    await eventually(lambda: isinstance(app.screen, SessionScreen))


async def write(app: WatchApp, pilot: "Pilot[None]", key: str, words: str) -> None:
    """Press a key, and write something instead of what is in the field."""
    await pilot.press(key)
    await asked(app)
    app.screen.query_one(TextField).text = words
    await pilot.pause()


async def review(app: WatchApp, pilot: "Pilot[None]", key: str, words: str) -> None:
    """Begin a review: choose a verdict by its key, and write a comment."""
    await pilot.press("v")
    await asked(app, ChoiceDialog)
    await write(app, pilot, key, words)


async def told(app: WatchApp, words: str) -> None:
    """The person was told something in a corner of the screen."""
    heard: dict[str, None] = {}

    def is_told() -> bool:
        heard.update(dict.fromkeys(note.message for note in app._notifications))
        return any(words in message for message in heard)

    try:
        await eventually(is_told, 10)
    except AssertionError:
        raise AssertionError(f"{words!r} is not in {list(heard)}") from None


async def press_button(app: WatchApp, pilot: "Pilot[None]", label: str) -> None:
    button = next(each for each in app.screen.query(Button) if str(each.label) == label)
    await pilot.click(button)


async def click_row(app: WatchApp, pilot: "Pilot[None]", words: str, x: int, **kwargs: int) -> None:
    """Click on the line with these words, in a column."""
    y = next(y for y, line in enumerate(panel(app).in_sight()) if words in line.text)
    await pilot.click(StepsPanel, offset=(x, y), **kwargs)  # type: ignore[arg-type]
