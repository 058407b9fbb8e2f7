"""The history of a session: every change with who and when, the plans as they were, and what changed between."""

import asyncio
from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Footer

from planwire.errors import JournalError
from planwire.readmodel.authors import author
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.plain_text import counted, one_line
from planwire.readmodel.timeline import Timeline, session_differences
from planwire.terminal.change_lines import difference_lines
from planwire.terminal.cursor import CursorMoved
from planwire.terminal.history_lines import MOMENT, clock, moment_rows, this_day
from planwire.terminal.keys import APP_KEYS, CURSOR_KEYS, KeyGroups, ScreenKey, act_keys, bindings
from planwire.terminal.lines import Line, fitted, folded
from planwire.terminal.lines_view import LinesView, RowList
from planwire.terminal.panel import PlanPanel
from planwire.terminal.slider import Slider
from planwire.terminal.trouble_bar import TroubleBar

if TYPE_CHECKING:
    from planwire.terminal.watch_app import WatchApp

_KEYS: Final = (
    ScreenKey(("←",), "step(-1)", "Earlier", shown=True, first=True),
    ScreenKey(("→",), "step(1)", "Later", shown=True, first=True),
    ScreenKey(("d",), "difference", "Difference", "since the mark, or the moment before", shown=True),
    ScreenKey(("m",), "mark", "Mark", "compare from this moment", shown=True),
    ScreenKey(("Esc",), "app.pop_screen", "Back", shown=True),
)


def _steering() -> list[BindingType]:
    """Bindings for the keys that steer, to say that they can't here. The history's own keys come first."""
    taken = {key for row in (*_KEYS, *CURSOR_KEYS, *APP_KEYS) for key in row.keys}
    rows = [key for rows in act_keys().values() for key in rows]
    free = (tuple(key for key in row.keys if key not in taken) for row in rows)
    return bindings(*(ScreenKey(keys, "past", "Steer") for keys in free))


def _headline(title: str, details: str, width: int) -> list[Line]:
    """A title, with some details after it where there is room."""
    title = fitted(title, width - 2)
    room = width - cell_len(title) - 2
    return [Line(((f" {title}", "heading"), (fitted(f"   {details}", room) if room > 12 else "", "muted")))]


class HistoryScreen(Screen[None]):
    """The moments of a session, and the plans as they were at the one under the cursor."""

    app: "WatchApp"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    KEYS: ClassVar[KeyGroups] = {"History": _KEYS, "Moving around": CURSOR_KEYS, "Everywhere": APP_KEYS}
    BINDINGS: ClassVar[list[BindingType]] = [*_steering(), *bindings(*_KEYS)]
    DEFAULT_CSS = """
    HistoryScreen {
        layout: grid;
        grid-size: 1 5;
        grid-rows: 2 3 2fr 1 3fr;
        & > #whose, & > #when { height: 1; overflow: hidden; }
        & > #whose { margin-top: 1; }
        & > #slider { height: 3; padding: 0 1 1 1; }
        & > #then { height: 100%; }
        & > #then > * { height: 100%; }
        &.-wide { grid-size: 2 4; grid-columns: 2fr 3fr; grid-rows: 2 3 1 1fr; }
        &.-wide > #whose, &.-wide > #slider { column-span: 2; }
        &.-wide > #moments { row-span: 2; }
    }
    """

    def __init__(self, session: str) -> None:
        super().__init__()
        self.session = session
        self._timeline = Timeline(session)
        self._shares: list[float] = []
        self._marked: int | None = None
        self._trouble = TroubleBar()
        self._whose = LinesView(id="whose")
        self._slider = Slider(id="slider")
        self._rows = RowList(id="moments")
        self._when = LinesView(id="when")
        self._plans = PlanPanel(session, id="then-plans", empty="there was no plan")
        self._difference = LinesView(id="then-difference")

    def compose(self) -> ComposeResult:
        yield self._trouble
        yield self._whose
        yield self._slider
        yield self._rows
        yield self._when
        with ContentSwitcher(initial="then-plans", id="then"):
            yield self._plans
            yield self._difference
        yield Footer(show_command_palette=False, compact=True)

    async def on_mount(self) -> None:
        self._rows.focus()
        await self.update()

    async def on_screen_resume(self) -> None:
        if self.is_mounted:
            await self.update()

    def sessions_changed(self, changed: Collection[str]) -> None:
        if not self.is_mounted:
            return
        self._trouble.say(self.app.sessions.away)
        if self.session in changed:
            self.call_later(self.update)

    async def update(self) -> None:
        """Read on to the newest event, and go there if the cursor was on the newest."""
        self._trouble.say(self.app.sessions.away)
        newest = self._moments[-1].seq if self._moments else None
        try:
            self._timeline = await asyncio.to_thread(self.app.timelines.get, self.session)
        except JournalError as error:
            self.app.complain(error)
            return
        self._shares = _shares(self._timeline)
        name = next((each.name for each in self.app.sessions.glances() if each.id == self.session), self.session)
        events = counted(len(self._timeline.numbers), "change")
        title = f"History of {one_line(name)}"
        self._whose.show_lines(lambda width: _headline(title, events, width))
        self._rows.show_lines(self._moment_lines)
        if self._moments and self._rows.key in (None, newest):
            self._go(len(self._moments) - 1)
        self._show()

    def _moment_lines(self, width: int) -> Sequence[Line]:
        """Every moment, the newest on top."""
        today = this_day()
        lines = [
            line
            for moment in reversed(self._moments)
            for line in moment_rows(moment, width, today, marked=moment.seq == self._marked)
        ]
        return lines or [Line((("  nothing happened yet", "muted"),))]

    @property
    def _moments(self) -> list[HistoryEntry]:
        return self._timeline.moments

    @property
    def place(self) -> int:
        """The number of the moment under the cursor, counted from the first one in the list."""
        seq = self._rows.key
        return self._place_of(seq) if isinstance(seq, int) else 0

    def _place_of(self, seq: int) -> int:
        return max(self._timeline.index(seq) - self._timeline.left_out, 0)

    # -- people

    def action_step(self, by: int) -> None:
        self._go(self.place + by)

    def action_difference(self) -> None:
        """Switch between the plans as they were and what changed since the mark or the moment before."""
        switcher = self.query_one(ContentSwitcher)
        switcher.current = "then-plans" if switcher.current == "then-difference" else "then-difference"
        self._show()

    def action_mark(self) -> None:
        """Mark the moment to compare from, or take the mark away."""
        seq = self._rows.key
        self._marked = seq if isinstance(seq, int) and seq != self._marked else None
        self._rows.update_lines()
        self._show()

    def action_past(self) -> None:
        """Say where a person can steer plans."""
        words = "This is the past: Esc goes back to the plan as it is now, where you can change it"
        self.notify(words, severity="warning", markup=False)

    @on(Slider.Slid)
    def _slid(self, event: Slider.Slid) -> None:
        self._go(event.place)

    def _go(self, place: int) -> None:
        if self._moments:
            moment = self._moments[min(max(place, 0), len(self._moments) - 1)]
            self._rows.cursor.go((MOMENT, moment.seq))

    @on(CursorMoved)
    def _show(self) -> None:
        try:
            self._show_moment()
        except JournalError as error:
            self.app.complain(error)

    def _show_moment(self) -> None:
        if not self._moments:
            return
        place = self.place
        moment = self._moments[place]
        marked = self._place_of(self._marked) if self._marked is not None else None
        past, count = self._timeline.left_out, len(self._timeline.numbers)
        self._slider.put(self._shares, place, marked)
        details = f"{past + place + 1:,} of {count:,} · {clock(moment.at)} · {author(moment.by)}"
        if self.query_one(ContentSwitcher).current == "then-difference":
            first, last = sorted((past + (place - 1 if marked is None else marked), past + place))
            self._show_difference(first, last)
            since = self._timeline.numbers[first] if first >= 0 else 0
            title = f"What changed from event {since} to {self._timeline.numbers[last]}"
        else:
            then = self._timeline.shown(self.app.journal, moment)
            self._plans.sheet.put(then.cards(self.app.reasons.of(then.journalled)), fresh=False)
            title = f"As it was at event {moment.seq}"
        self._when.show_lines(lambda width: _headline(title, details, width))

    def _show_difference(self, first: int, last: int) -> None:
        moments = (self._timeline.entry(self.app.journal, place) for place in (first, last))
        before, after = (self._timeline.shown(self.app.journal, moment) for moment in moments)
        lines = [Line(((" ", ""), *each.parts)) for each in difference_lines("", session_differences(before, after))]
        self._difference.jump(0)
        self._difference.show_lines(lambda width: [piece for line in lines for piece in folded(line, width - 1)])


def _shares(timeline: Timeline) -> list[float]:
    """How far the session was at each moment, from 0 to 1."""
    times = [point.at for point in timeline.points]
    shares = []
    for moment in timeline.moments:
        place = bisect_right(times, moment.at) - 1
        point = timeline.points[place] if place >= 0 else None
        shares.append(point.done / point.total if point and point.total else 0.0)
    return shares
