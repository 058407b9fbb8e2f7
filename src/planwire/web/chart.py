"""A small chart of progress over time, as SVG: steps done, below steps in all."""

from collections.abc import Sequence
from typing import Final

from planwire.readmodel.timeline import Point
from planwire.web.html import EMPTY, Html, el

__all__ = ["progress_chart"]

WIDTH: Final = 640
HEIGHT: Final = 96
#: The most points that the eye can tell apart.
MOST_POINTS: Final = 240


def progress_chart(points: Sequence[Point]) -> Html:
    """The chart, or nothing for a session that never had a step."""
    shown = _thinned([point for point in points if point.total or point.done])
    if not shown:
        return EMPTY
    begin, end = shown[0].at, max(shown[-1].at, shown[0].at + 1)
    most = max(point.total for point in shown) or 1

    def place(at: int, count: int) -> str:
        return f"{(at - begin) / (end - begin) * WIDTH:.1f},{HEIGHT - count / most * HEIGHT:.1f}"

    def stairs(counts: Sequence[int]) -> str:
        corners = [place(begin, counts[0])]
        for before, count, point in zip(counts, counts[1:], shown[1:], strict=False):
            corners += [place(point.at, before), place(point.at, count)]
        return " ".join([*corners, place(end, counts[-1])])

    done, total = stairs([point.done for point in shown]), stairs([point.total for point in shown])
    floor = f"{WIDTH},{HEIGHT} 0,{HEIGHT}"
    last = shown[-1]
    words = f"Progress over time: {last.done} of {last.total} steps done at the end, after {len(points)} changes of it."
    drawing = el(
        "svg",
        el("title", words),
        el("polygon", points=f"{total} {floor}", class_="chart-total"),
        el("polygon", points=f"{done} {floor}", class_="chart-done"),
        el("polyline", points=done, class_="chart-line"),
        viewBox=f"0 -4 {WIDTH} {HEIGHT + 8}",
        preserveAspectRatio="none",
        role="img",
        class_="chart",
    )
    return el("figure", drawing, el("figcaption", words, class_="unseen"), class_="chart-box")


def _thinned(points: list[Point]) -> list[Point]:
    if len(points) <= MOST_POINTS:
        return points
    stride = len(points) / MOST_POINTS
    return [*(points[int(number * stride)] for number in range(MOST_POINTS)), points[-1]]
