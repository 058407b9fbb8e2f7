"""The history of a session as lines: one per event in print, two in the list on the screen."""

from collections.abc import Iterator
from functools import cache, lru_cache
from time import localtime, strftime, time_ns
from typing import Final

from planwire.readmodel.authors import author
from planwire.readmodel.card import OTHER, status_look
from planwire.readmodel.history import HistoryEntry, Phrase
from planwire.readmodel.plain_text import one_line
from planwire.terminal.lines import Line, Part, between, fitted, folded, text_look

#: The sign and the look of each kind of event, no two the same: a step may be called "approved (revision 1)". Statuses
#: of steps have theirs in the table of statuses.
_LOOK: Final = {
    "other": ("?", "odd"),
    "opened": ("●", "muted"),
    "new": ("✚", "added strong"),
    "added": ("+", "added"),
    "removed": ("-", "removed"),
    "plan_removed": ("✖", "removed strong"),
    "reworded": ("~", "odd"),
    "moved": ("↕", "note"),
    "priority": ("!", "odd"),
    "text": ("≈", "muted"),
    "why": ("✐", "emphasis"),
    "note": ("✎", "note"),
    "suggested": ("☆", "suggestion"),
    "settled": ("★", "suggestion"),
    "withdrawn": ("✧", "muted"),
    "asked": ("◆", "waiting"),
    "approved": ("☑", "done strong"),
    "dismissed": ("⊘", "muted"),
    "changes_requested": ("☒", "odd strong"),
    "comment": ("›", "note"),
    "request": ("»", "odd"),
    "selected": ("▸", "odd"),
    "answered": ("↳", "note"),
    "reopened": ("↺", "note"),
    "stopped": ("■", "stopped"),
    "compacted": ("⇣", "muted"),
    "gap": ("∅", "odd strong"),
    "unknown": ("¿", "muted"),
    "told": ("↻", "muted"),
    "message": ("…", "muted"),
}
_UNKNOWN: Final = ("·", "muted")
#: Changes that a line names, in print and on the screen; it counts the rest.
NAMED: Final = 4
NAMED_ON_SCREEN: Final = 6
_WHO: Final = 8
#: The most characters of a why in print; JSON has all of it.
LONGEST_WHY: Final = 160
#: What stands between two things that happened: two spaces, which no text has.
GAP: Final = "  ·  "
#: The kind of a moment's row; the number of the event comes second.
MOMENT: Final = "moment"


def moment_line(moment: HistoryEntry, numbers: int = 4, session: str | None = None, *, short: bool = False) -> Line:
    """One line in print. `numbers` is the width of the event's number, `session` a name where there are several;
    `short` leaves out the year and the seconds."""
    parts: list[Part] = [(f"{moment.seq:>{numbers}}  {clock(moment.at, short=short)}  ", "muted")]
    if session is not None:
        parts.append((f"{one_line(session)}  ", "muted"))
    parts.append((f"{author(moment.by):<{_WHO}}  ", ""))
    if moment.plan is not None:
        parts.append((f"“{one_line(moment.plan)}”  ", "strong"))
    if moment.total:
        parts.append((f"{moment.done}/{moment.total}  ", "strong"))
    return Line((*parts, *_words(moment, NAMED, f" (planwire diff {moment.seq - 1} {moment.seq})")))


def why_line(why: str, numbers: int = 4) -> Line:
    """The agent's why, below the line of an event in print. A long one keeps its end, the closest to the event."""
    words = one_line(why)
    left_out = len(words) - LONGEST_WHY
    before = f"({left_out:,} characters before: --json)  …" if left_out > 0 else ""
    return Line(((f"{'':>{numbers}}  why  ", "muted"), (before, "muted"), (words[max(left_out, 0) :], "muted")))


@lru_cache(maxsize=4_096)
def moment_rows(moment: HistoryEntry, width: int, today: str, *, marked: bool) -> tuple[Line, ...]:
    """Lines on the screen: when, who, which plan and how far; then what happened. The date is left out if it is
    `today`."""
    row = (MOMENT, moment.seq)
    far = f"{moment.done:,} / {moment.total:,}" if moment.total else ""
    about = "  ".join(word for word in (author(moment.by), one_line(moment.plan or "")) if word)
    when = f" {'◆' if marked else ' '} {_time_here(moment.at, today)}  "
    left: tuple[Part, ...] = (
        (when, "mark" if marked else "muted"),
        (fitted(about, max(width - len(when) - 14, 8)), ""),
    )
    first = between(left, ((far, "strong"),), width - 1)
    return Line(first, "", row), *folded(
        Line((("   ", ""), *_words(moment, NAMED_ON_SCREEN, " (d)")), "", row), width - 1
    )


def _words(moment: HistoryEntry, most: int, how: str) -> Iterator[Part]:
    """What happened, and `how` to see what it leaves out."""
    for number, word in enumerate(moment.words[:most]):
        if number:
            yield GAP, "rest"
        yield from word_parts(word)
    if len(moment.words) > most:
        yield f"{GAP}and {len(moment.words) - most:,} more{how}", "muted"


def clock(at: int, *, short: bool = False) -> str:
    """A Unix time in milliseconds as a local date and time."""
    try:
        return strftime("%m-%d %H:%M" if short else "%Y-%m-%d %H:%M:%S", localtime(at / 1000))
    except (OverflowError, OSError, ValueError):
        return "unknown time"


def this_day() -> str:
    """Today's local date. Until it changes, no moment's time has to be drawn anew."""
    return clock(time_ns() // 1_000_000).partition(" ")[0]


def _time_here(at: int, today: str) -> str:
    day, _, time = clock(at).partition(" ")
    return time if day == today else f"{day[5:]} {time[:5]}"


def word_parts(word: Phrase) -> tuple[Part, Part]:
    """The sign and the words of one thing that happened."""
    sign, look = _look(word.kind)
    return (f"{sign} ", look), (one_line(word.text), text_look(look))


@cache
def _look(kind: str) -> tuple[str, str]:
    status = status_look(kind)
    return _LOOK.get(kind, _UNKNOWN) if status.look == OTHER else (status.sign, status.look)
