"""Moments in time, as HTML: exact for programs, short for people, in their own time zone by the script."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from planwire.readmodel.plain_text import age
from planwire.web.html import Html, el

__all__ = ["ago", "iso", "moment", "with_ages"]

_LATEST: Final = 253_402_300_799_000  # the last second of the year 9999
_AGO: Final = re.compile(r'(<time [^>]*data-at="(-?\d+)">)[^<]*')


@lru_cache(maxsize=4_096)
def iso(at: int) -> str:
    """A Unix time in milliseconds as ISO 8601; the nearest one, if the calendar has no such time."""
    return datetime.fromtimestamp(min(max(at, 0), _LATEST) / 1_000, UTC).isoformat(timespec="milliseconds")


@lru_cache(maxsize=4_096)
def moment(at: int) -> Html:
    """When something happened, to the second."""
    stamp = iso(at)
    return el("time", f"{stamp[:10]} {stamp[11:19]} UTC", datetime=stamp, data_show="moment")


@lru_cache(maxsize=4_096)
def ago(at: int) -> Html:
    """The age of a moment, for `with_ages` to fill in: a row stays on the page longer than its age."""
    return el("time", iso(at)[:10], datetime=iso(at), data_show="ago", data_at=at)


def with_ages(page: str, now: int) -> str:
    """A page with all ages in it. The script keeps them true."""
    return _AGO.sub(lambda found: f"{found[1]}{_age(int(found[2]), now)}", page)


def _age(at: int, now: int) -> str:
    passed = age(at, now)
    return passed if passed == "now" else f"{passed} ago"
