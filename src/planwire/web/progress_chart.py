"""The chart of a session's progress: steps done in front of steps in all, event by event, as SVG.

It has the same horizontal axis as the slider below it: a moment is at the same place in both.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from planwire.readmodel.timeline import Timeline
from planwire.web.html import EMPTY, Html, el
from planwire.web.html import moment as moment_html

#: The size of the drawing, and the most levels in it that the eye can tell apart.
WIDTH: Final = 640
HEIGHT: Final = 96
MOST_LEVELS: Final = 120


class Level(NamedTuple):
    """How far a session was from a moment on."""

    moment: int
    done: int
    total: int


def chart_of(timeline: Timeline, index: int) -> Html:
    """The chart of a session with a line at the moment `index`; nothing for a session that never had a step."""
    levels = {at: Level(at, *point[1:3]) for point in timeline.points for at in [timeline.index(point.seq)]}
    if not any(level.total for level in levels.values()):
        return EMPTY
    most = max(level.total for level in levels.values())
    return el(
        "figure",
        el("span", f"{most:,} steps", class_="axis-top"),
        progress_chart(list(levels.values()), len(timeline.numbers), index),
        el("span", moment_html(timeline.points[0].at), class_="axis-start"),
        el("span", moment_html(timeline.moments[-1].at), class_="axis-end"),
        class_="chart-box",
    )


def progress_chart(levels: Sequence[Level], count: int, index: int) -> Html:
    """The drawing. Pointing at a level shows its figures in words."""
    shown = _thinned(levels)
    most = max(level.total for level in shown) or 1
    ends = [*(level.moment for level in shown[1:]), max(count - 1, 1)]

    def place(at: int) -> str:
        return f"{at / max(count - 1, 1) * WIDTH:.1f}"

    def stairs(counts: list[int]) -> str:
        corners = []
        for level, end, height in zip(shown, ends, counts, strict=True):
            y = f"{HEIGHT - height / most * HEIGHT:.1f}"
            corners += [f"{place(level.moment)},{y}", f"{place(end)},{y}"]
        return " ".join(corners)

    done, total = stairs([level.done for level in shown]), stairs([level.total for level in shown])
    floor = f"{WIDTH},{HEIGHT} {place(shown[0].moment)},{HEIGHT}"
    last = shown[-1]
    return el(
        "svg",
        el("title", f"Progress by event: {last.done} of {last.total} steps done after {count:,} events."),
        el("polygon", points=f"{total} {floor}", class_="chart-total"),
        el("polygon", points=f"{done} {floor}", class_="chart-done"),
        el("polyline", points=done, class_="chart-line"),
        el("polyline", id="chart-at", points=f"{place(index)},0 {place(index)},{HEIGHT}", class_="chart-at"),
        *(_hover(level, place(level.moment), end, count) for level, end in zip(shown, map(place, ends), strict=True)),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        class_="chart",
    )


def _hover(level: Level, start: str, end: str, count: int) -> Html:
    words = f"{level.moment + 1:,} of {count:,}: {level.done:,} of {level.total:,} steps done"
    width = f"{max(float(end) - float(start), 0):.1f}"
    return el("rect", el("title", words), x=start, width=width, height=HEIGHT)


def _thinned(levels: Sequence[Level]) -> Sequence[Level]:
    if len(levels) <= MOST_LEVELS:
        return levels
    stride = len(levels) / MOST_LEVELS
    return [*(levels[int(number * stride)] for number in range(MOST_LEVELS)), levels[-1]]
