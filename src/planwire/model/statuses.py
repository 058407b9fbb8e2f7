"""The statuses of a step: one table, one row per status.

A new status is a new row: its word, the spellings that mean it, its checkbox, sign and spoken name, how far along it
is, and its substitute for clients of version 1. Statuses are open on the wire: a word without a row is kept and shown
as it came. From models and people planwire understands more words (`folded_status`) than from agents on the wire. A
word that means no status gets them an error, so nothing that they say is lost.
"""

import re
from typing import Final

from msgspec import Struct


class Status(Struct, frozen=True):
    """One row.

    - `word`: the protocol's word. `aliases`: spellings that agents use, which stay as they came.
    - `synonyms`: further words of models and people, which become `word`.
    - `box`: the character in a markdown checkbox. `sign`: the character before a step in a terminal.
    - `spoken`: the name people read. `became`: the word for a step that just got this status.
    - `look`: its name in style sheets and themes. `key`: its key in menus.
    - `rank`: grows as work goes on. `is_open`: there is still something to do. `counts`: it is part of the total.
    - `v1`: its word for clients of version 1, with `v1_prefix` before the text; None: its own word.
    """

    word: str
    box: str
    sign: str
    spoken: str
    became: str
    look: str
    key: str
    rank: int
    is_open: bool
    aliases: tuple[str, ...]
    synonyms: tuple[str, ...]
    counts: bool = True
    v1: str | None = None
    v1_prefix: str = ""

    @property
    def is_current(self) -> bool:
        """Whether the step is being worked on: begun and not over."""
        return self.is_open and self.rank > 0


PENDING: Final = "pending"
IN_PROGRESS: Final = "in_progress"
COMPLETED: Final = "completed"
CANCELLED: Final = "cancelled"
#: The status of an entry whose sender names none, and the substitute for a word that a reader would not know.
DEFAULT_STATUS: Final = PENDING

_WORKING: Final = ("doing", "in progress", "in-progress")
_TABLE: Final = (
    # word, box, sign, spoken, became, look, key, rank, is_open, aliases, synonyms
    Status(
        *(PENDING, " ", "○", "to do", "open again", "pending", "t", 0, True, ("todo",)),
        ("open", "waiting", "planned", "queued", "new", "not started", "not begun", "not done", "incomplete"),
    ),
    Status(
        *(IN_PROGRESS, "~", "▶", "in progress", "started", "current", "i", 1, True, _WORKING),
        ("wip", "work in progress", "started", "active", "current", "ongoing", "running", "working", "begun"),
    ),
    Status(
        *(COMPLETED, "x", "✔", "done", "done", "done", "d", 2, False, ("done",)),
        ("complete", "finished", "finish", "closed", "resolved", "checked", "x"),
    ),
    Status(
        *(CANCELLED, "-", "✗", "cancelled", "cancelled", "cancelled", "c", 2, False, ("canceled", "deleted")),
        ("cancel", "skipped", "skip", "dropped", "removed", "abandoned", "obsolete", "not needed", "won't do"),
        counts=False,
        v1=COMPLETED,
        v1_prefix="[cancelled] ",
    ),
)

#: The rows by word, in the order in which work moves through them.
STATUSES: Final = {row.word: row for row in _TABLE}
#: The words that version 1 knows.
V1_STATUSES: Final = frozenset(row.v1 or row.word for row in _TABLE)
#: The rows by the characters of their checkboxes, small and capital.
BOXES: Final = {box: row for row in _TABLE for box in (row.box, row.box.upper())}

_SEPARATORS: Final = re.compile(r"[\W_]+")


def folded_word(word: str) -> str:
    """A word without case, spaces and punctuation, in which models and people vary."""
    return _SEPARATORS.sub("", word.casefold())


_MEANINGS: Final = {spelling: row for row in _TABLE for spelling in (row.word, *row.aliases)}

_FOLDED: Final = {
    folded_word(spelling): row.word
    for row in _TABLE
    for spelling in (row.word, row.spoken, *row.aliases, *row.synonyms)
}


def folded_status(word: str) -> str | None:
    """The table's word for a status that a model or a person names, whatever its case, spaces and hyphens; None for any
    other word."""
    return _FOLDED.get(folded_word(word))


def status_of(word: str) -> Status | None:
    """The row of a status word or one of its aliases; None for other words, such as `blocked`."""
    return _MEANINGS.get(word)


def canonical(word: str) -> str:
    """The table's word for a status word or alias; other words stay as they are."""
    row = _MEANINGS.get(word)
    return row.word if row else word


def spoken(word: str) -> str:
    """A status as people read it. A word without a row is shown as it is, with spaces for underscores."""
    row = _MEANINGS.get(word)
    return row.spoken if row else word.replace("_", " ")


def after_tick(word: str) -> str:
    """The status after a tick: `completed`, or `pending` again if it was completed."""
    return PENDING if canonical(word) == COMPLETED else COMPLETED
