"""HTML from Python values. Any text that is not `Html` yet is escaped, so no caller can forget it.

Everything that agents wrote passes through `escaped`. It also removes the characters that would make a text read as
another one: control characters and those that change its direction.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from planwire.readmodel.plain_text import age, printable

_TABLE: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})

_TIME: Final = re.compile(r'(<time datetime="([^"]+)"(?: data-show="(span|life)")? title="[^"]*">)[^<]*')
_SECOND: Final = 1_000
_MINUTE: Final = 60_000
_LATEST: Final = 253_402_300_799_000  # the last second of the year 9999


class Html(str):
    """Text that is HTML. Only this package makes it, from texts of its own or from escaped ones."""

    __slots__ = ()


EMPTY: Final = Html("")

Attribute = str | int | float | bool | None


def escaped(text: str) -> Html:
    """A text as HTML that shows it, in elements and in quoted attributes."""
    return text if isinstance(text, Html) else Html(printable(text).translate(_TABLE))


def joined(*parts: str | None) -> Html:
    """The parts in order. Texts among them are escaped, and None is left out."""
    return Html("".join([escaped(part) for part in parts if part is not None]))


def attributes(values: Mapping[str, Attribute]) -> str:
    """Attributes, each with a space before it. `class_` is `class`, `data_step` is `data-step`; None and False give
    nothing, and True gives an attribute without a value."""
    written = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        own = name.rstrip("_").replace("_", "-")
        written.append(f" {own}" if value is True else f' {own}="{escaped(str(value))}"')
    return "".join(written)


def el(tag: str, *children: str | None, **values: Attribute) -> Html:
    """An element. Its name and those of its attributes are not escaped: they are the program's own."""
    return Html(f"<{tag}{attributes(values)}>{joined(*children)}</{tag}>")


def joined_keys(keys: Iterable[str]) -> str:
    """Keys of lines as an attribute."""
    return " ".join(keys)


def void(tag: str, **values: Attribute) -> Html:
    """An element that has no content and no end."""
    return Html(f"<{tag}{attributes(values)}>")


@lru_cache(maxsize=4_096)
def iso(at: int) -> str:
    """A Unix time in milliseconds as ISO 8601; the nearest one if the calendar has no such time."""
    return datetime.fromtimestamp(min(max(at, 0), _LATEST) / 1_000, UTC).isoformat(timespec="milliseconds")


@lru_cache(maxsize=4_096)
def moment(at: int) -> Html:
    """When something happened: `with_ages` and the script show its age, and its exact time under the pointer."""
    return el("time", _utc(at), datetime=iso(at), title=_utc(at))


def time_span(since: int) -> Html:
    """How long it has been since a moment. The script keeps it current."""
    return el("time", _utc(since), datetime=iso(since), data_show="span", title=_utc(since))


def sign_of_life(at: int) -> Html:
    """The age of the last sign of life, to the second. The script keeps it current."""
    return el("time", _utc(at), datetime=iso(at), data_show="life", title=_utc(at))


def clock(at: int) -> Html:
    """When something happened, to the second. The script shows it in the reader's zone."""
    return el("time", _utc(at), datetime=iso(at), data_show="clock")


def time_of_day(at: int) -> Html:
    """When something happened, to the minute. The script shows it in the reader's zone."""
    return el("time", f"{iso(at)[11:16]} UTC", datetime=iso(at), data_show="day", title=_utc(at))


def _utc(at: int) -> str:
    stamp = iso(at)
    return f"{stamp[:10]} {stamp[11:19]} UTC"


def with_ages(page: str, now: int) -> str:
    """A page with the ages of its moments filled in. The script keeps them current."""

    def with_age(time: re.Match[str]) -> str:
        at = int(datetime.fromisoformat(time[2]).timestamp() * 1_000)
        if now - at >= _MINUTE:
            return f"{time[1]}{age(at, now)}{'' if time[3] == 'span' else ' ago'}"
        new = {"span": "a moment", "life": f"{max(now - at, 0) // _SECOND} s ago"}
        return time[1] + new.get(time[3], "just now")

    return _TIME.sub(with_age, page)
