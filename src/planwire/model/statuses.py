"""The statuses of a step: one table, one row per status.

A new status is a new row: its word, the spellings that mean it, its checkbox, sign and spoken name, how far along it
is, and its substitute for clients of version 1. Statuses are open on the wire: a word without a row stays and shows as
it came.
"""

from typing import Final

from msgspec import Struct

__all__ = [
    "CANCELLED",
    "COMPLETED",
    "DEFAULT_STATUS",
    "IN_PROGRESS",
    "PENDING",
    "STATUSES",
    "V1_STATUSES",
    "Status",
    "after_tick",
    "canonical",
    "meaning",
    "status_of",
    "status_of_box",
]


class Status(Struct, frozen=True, kw_only=True):
    """One row.

    - `word`: the protocol's word. `aliases`: spellings that agents use, which stay as they came.
    - `box`: the character in a markdown checkbox. `sign`: the character before a step in a terminal.
    - `spoken`: the name people read. `became`: the word for a step that just got this status.
    - `look`: its name in style sheets and themes. `key`: its key in menus.
    - `rank`: grows as work goes on. `is_open`: there is still something to do. `counts`: it is part of the total.
    - `v1`: the word that a client of version 1 gets, with `v1_prefix` before the text.
    """

    word: str
    aliases: tuple[str, ...] = ()
    box: str
    sign: str
    spoken: str
    look: str
    key: str
    became: str
    rank: int
    is_open: bool
    counts: bool = True
    v1: str
    v1_prefix: str = ""


PENDING: Final = "pending"
IN_PROGRESS: Final = "in_progress"
COMPLETED: Final = "completed"
CANCELLED: Final = "cancelled"

#: The status of an entry whose sender names none, and the substitute for a word that a reader would not know.
DEFAULT_STATUS: Final = PENDING

_TABLE: Final = (
    Status(
        word=PENDING,
        aliases=("todo",),
        box=" ",
        sign="○",
        spoken="to do",
        look="pending",
        key="t",
        became="open again",
        rank=0,
        is_open=True,
        v1=PENDING,
    ),
    Status(
        word=IN_PROGRESS,
        aliases=("doing", "in progress", "in-progress"),
        box="~",
        sign="▶",
        spoken="in progress",
        look="current",
        key="i",
        became="started",
        rank=1,
        is_open=True,
        v1=IN_PROGRESS,
    ),
    Status(
        word=COMPLETED,
        aliases=("done",),
        box="x",
        sign="✔",
        spoken="done",
        look="done",
        key="d",
        became="done",
        rank=2,
        is_open=False,
        v1=COMPLETED,
    ),
    Status(
        word=CANCELLED,
        aliases=("canceled", "deleted"),
        box="-",
        sign="✗",
        spoken="cancelled",
        look="cancelled",
        key="c",
        became="cancelled",
        rank=2,
        is_open=False,
        counts=False,
        v1=COMPLETED,
        v1_prefix="[cancelled] ",
    ),
)

#: The rows by word, in the order in which work moves through them.
STATUSES: Final = {row.word: row for row in _TABLE}
#: The words that version 1 knows.
V1_STATUSES: Final = frozenset(row.v1 for row in _TABLE)

_MEANINGS: Final = {spelling: row for row in _TABLE for spelling in (row.word, *row.aliases)}
_BOXES: Final = {row.box: row for row in _TABLE} | {"X": STATUSES[COMPLETED]}


def status_of(word: str) -> Status | None:
    """The row of a status word or one of its aliases; None for other words, such as `blocked`."""
    return _MEANINGS.get(word)


def status_of_box(character: str) -> Status | None:
    """The row of a checkbox's character; None for characters that no checkbox has."""
    return _BOXES.get(character)


def canonical(word: str) -> str:
    """The table's word for a status word or alias; other words stay as they are."""
    row = _MEANINGS.get(word)
    return row.word if row else word


def meaning(word: str) -> str | None:  # TEMPORARY: use canonical, status_of or the properties of Step
    row = _MEANINGS.get(word)
    return row.word if row else None


def after_tick(word: str) -> str:
    """The status after a tick: `completed`, or `pending` again if it was completed."""
    return PENDING if canonical(word) == COMPLETED else COMPLETED
