"""The statuses of a step: one table, one row a status.

Whoever adds a status adds a row: how it is stored, which spellings mean it, its checkbox, its sign, its spoken word,
how far it is, and what a client of version 1 is sent for it. Statuses are open on the wire: any other word is kept and
shown as it is, and has no row.
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
    """One row. `word` is stored and sent; `aliases` are spellings that agents use, which are kept as they came.

    `box` is the character in a markdown checkbox, `sign` stands before a step in a terminal, `spoken` is what people
    read, `look` names it in style sheets and themes, `key` chooses it in menus, and `became` tells of a step that just
    got it. `rank` grows as work goes on. `is_open`: there is still something to do. `counts`: it is part of the total.
    Version 1 knows only some of the words: `v1` is what it is sent, with `v1_prefix` before the text.
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

    @property
    def is_current(self) -> bool:
        """Whether work on the step goes on: it has begun and is not over."""
        return self.is_open and self.rank > 0


PENDING: Final = "pending"
IN_PROGRESS: Final = "in_progress"
COMPLETED: Final = "completed"
CANCELLED: Final = "cancelled"
#: The status of a step whose sender names none.
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

#: The rows by their words, in the order in which work moves through them.
STATUSES: Final = {row.word: row for row in _TABLE}
#: The words that version 1 knows.
V1_STATUSES: Final = frozenset(row.v1 for row in _TABLE)

_MEANINGS: Final = {spelling: row for row in _TABLE for spelling in (row.word, *row.aliases)}
_BOXES: Final = {row.box: row for row in _TABLE} | {"X": STATUSES[COMPLETED]}


def status_of(word: str) -> Status | None:
    """The row that a status word stands for; None for words such as `blocked`, which stand for none."""
    return _MEANINGS.get(word)


def status_of_box(character: str) -> Status | None:
    """The row that a character in a checkbox stands for."""
    return _BOXES.get(character)


def canonical(word: str) -> str:
    """The word of the table that a status word stands for, or the word itself if it stands for none."""
    row = _MEANINGS.get(word)
    return row.word if row else word


def meaning(word: str) -> str | None:  # TEMPORARY: use canonical, status_of or the properties of Step
    row = _MEANINGS.get(word)
    return row.word if row else None


def after_tick(word: str) -> str:
    """What a tick makes of a status: `completed`, and of that `pending` again."""
    return PENDING if canonical(word) == COMPLETED else COMPLETED
