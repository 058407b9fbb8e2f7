"""The history of a session: every change with who and when, the plans as they were, and what changed between."""

import asyncio
from collections.abc import Collection, Hashable, Sequence
from time import time_ns
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Footer

from planwire.errors import JournalError
from planwire.model.fold import SessionState
from planwire.readmodel.compare import compare_states
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.timeline import Timeline
from planwire.terminal.differences import difference_lines
from planwire.terminal.history_lines import clock, word_text
from planwire.terminal.lines import Line, Part, between, fitted, parts_of
from planwire.terminal.lines_view import LinesView
from planwire.terminal.panel import PlanPanel, cards_of
from planwire.terminal.row_list import RowList
from planwire.terminal.slider import Slider

if TYPE_CHECKING:
    from planwire.terminal.watch_app import WatchApp

__all__ = ["DifferenceView", "HistoryScreen", "MomentList"]

#: Words of a moment that are told in the list.
NAMED: Final = 6


class MomentList(RowList):
    """Every moment, the newest on top."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.moments: Sequence[HistoryEntry] = ()
        self.marked: int | None = None
        self._made: dict[tuple[int, int, bool], tuple[Line, ...]] = {}

    def rows_for(self, width: int) -> tuple[Sequence[Hashable], Sequence[Line]]:
        lines: list[Line] = []
        made = {}
        for moment in reversed(self.moments):
            key = (moment.seq, width, moment.seq == self.marked)
            made[key] = self._made.get(key) or _moment_lines(moment, width, marked=moment.seq == self.marked)
            lines += made[key]
        self._made = made
        return [moment.seq for moment in reversed(self.moments)], lines or [
            Line((("  nothing happened yet", "muted"),))
        ]


def _moment_lines(moment: HistoryEntry, width: int, *, marked: bool) -> tuple[Line, ...]:
    row = ("moment", moment.seq)
    far = f"{moment.done:,} / {moment.total:,}" if moment.total else ""
    about = "  ".join(one_line(word) for word in (moment.by, moment.plan) if word)
    when = f" {'◆' if marked else ' '} {_when(moment.at)}  "
    left: tuple[Part, ...] = (
        (when, "wish" if marked else "muted"),
        (fitted(about, max(width - len(when) - 14, 8)), ""),
    )
    words: list[Part] = []
    for word in moment.words[:NAMED]:
        words += [("  ·  ", "rest")] if words else []
        words += parts_of(word_text(word))
    if len(moment.words) > NAMED:
        words.append((f"  and {len(moment.words) - NAMED:,} more", "muted"))
    return Line(between(left, ((far, "strong"),), width - 1), "", row), Line(
        (("   ", ""), *_cut(words, width - 4)), "", row
    )


def _when(at: int) -> str:
    """The time of the day if it was today, and else the day too."""
    day, _, time = clock(at).partition(" ")
    return time if day == clock(time_ns() // 1_000_000).partition(" ")[0] else f"{day[5:]} {time[:5]}"


def _cut(parts: list[Part], room: int) -> list[Part]:
    """As many of the words as there is room for."""
    kept: list[Part] = []
    for text, look in parts:
        short = fitted(text, room)
        kept.append((short, look))
        room -= len(short)
        if short != text or room <= 1:
            break
    return kept


class DifferenceView(LinesView, can_focus=True):
    """What changed between two moments."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._texts: list[tuple[Part, ...]] = []

    def compare(self, before: SessionState, after: SessionState) -> None:
        texts = difference_lines(before, after, compare_states(before, after))
        self._texts = [((" ", ""), *parts_of(text)) for text in list(texts)[1:]]
        self.scroll_to(y=0, animate=False, immediate=True)
        self.update_lines()

    def lines_for(self, width: int) -> Sequence[Line]:
        return [Line(tuple(_cut(list(parts), width - 1))) for parts in self._texts]


class Headline(LinesView):
    """A title on one line, and some words behind it."""

    DEFAULT_CSS = """
    Headline { height: 1; overflow: hidden; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._words: tuple[str, str] = ("", "")

    def say(self, title: str, details: str) -> None:
        self._words = (title, details)
        self.update_lines()

    def lines_for(self, width: int) -> Sequence[Line]:
        title, details = fitted(self._words[0], width - 2), self._words[1]
        room = width - cell_len(title) - 2
        return [Line(((f" {title}", "heading"), (fitted(f"   {details}", room) if room > 12 else "", "muted")))]


class HistoryScreen(Screen[None]):
    """The moments of a session, and the plans as they were at the one under the cursor."""

    app: "WatchApp"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.pop_screen", "Back", key_display="Esc"),
        Binding("left", "step(-1)", "Earlier", key_display="←", priority=True),
        Binding("right", "step(1)", "Later", key_display="→", priority=True),
        Binding("d", "difference", "Difference"),
        Binding("m", "mark", "Mark"),
        Binding("x,space,e,a,c,s,r,v,o,u,delete", "past", "Steer", show=False, tooltip="only on the session's screen"),
    ]
    DEFAULT_CSS = """
    HistoryScreen {
        layout: grid;
        grid-size: 1 5;
        grid-rows: 2 3 2fr 1 3fr;
        background: $background;
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
        self._state: SessionState | None = None

    def compose(self) -> ComposeResult:
        yield Headline(id="whose")
        yield Slider(id="slider")
        yield MomentList(id="moments")
        yield Headline(id="when")
        with ContentSwitcher(initial="then-plans", id="then"):
            yield PlanPanel(self.session, id="then-plans", empty="there was no plan")
            yield DifferenceView(id="then-difference")
        yield Footer(show_command_palette=False, compact=True)

    async def on_mount(self) -> None:
        self.query_one(MomentList).focus()
        await self.update()

    async def on_screen_resume(self) -> None:
        if self.is_mounted:
            await self.update()

    def sessions_changed(self, changed: Collection[str]) -> None:
        if self.session in changed and self.is_mounted:
            self.call_later(self.update)

    async def update(self) -> None:
        """Go on to the newest event, and show it, if the newest was shown before."""
        listed = self.query_one(MomentList)
        newest = self._moments[-1].seq if self._moments else None
        try:
            self._timeline = await asyncio.to_thread(self.app.timelines.get, self.session)
        except JournalError as error:
            self.app.complain(error)
            return
        self._shares = _shares(self._timeline)
        glance = next((each for each in self.app.sessions.glances() if each.id == self.session), None)
        name = (glance.title if glance else None) or self.session
        events = f"{len(self._moments):,} change{'' if len(self._moments) == 1 else 's'}"
        self.query_one("#whose", Headline).say(f"History of {one_line(name)}", events)
        listed.moments = self._moments
        listed.marked = self._marked
        listed.update_lines()
        if self._moments and listed.cursor in (None, newest):
            listed.go(self._moments[-1].seq)
        self._show()

    @property
    def _moments(self) -> list[HistoryEntry]:
        return self._timeline.moments

    @property
    def place(self) -> int:
        """Which moment is shown, counted from the first."""
        cursor = self.query_one(MomentList).cursor
        return self._timeline.index(cursor) if isinstance(cursor, int) else 0

    # -- what people do

    def action_step(self, by: int) -> None:
        self._go(self.place + by)

    def action_difference(self) -> None:
        """The plans as they were, or what changed since the mark, or since the moment before."""
        switcher = self.query_one(ContentSwitcher)
        switcher.current = "then-plans" if switcher.current == "then-difference" else "then-difference"
        self._show()

    def action_mark(self) -> None:
        """From here on differences are told. The same again takes the mark away."""
        cursor = self.query_one(MomentList).cursor
        self._marked = cursor if isinstance(cursor, int) and cursor != self._marked else None
        self.query_one(MomentList).marked = self._marked
        self.query_one(MomentList).update_lines()
        self._show()

    def action_past(self) -> None:
        """Whoever wants to steer is told where."""
        words = "This is the past: Esc leads back to the plan as it is, and there you can change it"
        self.notify(words, severity="warning", markup=False)

    @on(Slider.Slid)
    def _slid(self, event: Slider.Slid) -> None:
        self._go(event.place)

    @on(RowList.Moved)
    def _moved(self, _event: RowList.Moved) -> None:
        self._show()

    def _go(self, place: int) -> None:
        if self._moments:
            self.query_one(MomentList).go(self._moments[min(max(place, 0), len(self._moments) - 1)].seq)

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
        marked = self._timeline.index(self._marked) if self._marked is not None else None
        self.query_one(Slider).put(self._shares, place, marked)
        head = self.query_one("#when", Headline)
        details = f"{place + 1:,} of {len(self._moments):,} · {clock(moment.at)} · {one_line(moment.by)}"
        if self.query_one(ContentSwitcher).current == "then-difference":
            since = self._marked if self._marked is not None else self._moments[place - 1].seq if place else 0
            first, last = sorted((since, moment.seq))
            journal = self.app.journal
            self.query_one(DifferenceView).compare(self._timeline.at(journal, first), self._timeline.at(journal, last))
            head.say(f"What changed from event {first} to {last}", details)
        else:
            panel = self.query_one("#then-plans", PlanPanel)
            panel.show_cards(cards_of(self._timeline.at(self.app.journal, moment.seq)), fresh=False)
            head.say(f"As it was at event {moment.seq}", details)


def _shares(timeline: Timeline) -> list[float]:
    """How far the session was at each moment."""
    shares = []
    points = iter(timeline.points)
    point = next(points, None)
    following = next(points, None)
    for moment in timeline.moments:
        while following is not None and following.at <= moment.at:
            point, following = following, next(points, None)
        shares.append(point.done / point.total if point and point.total and point.at <= moment.at else 0.0)
    return shares
