"""Size limits of plans and changes: refuse what is too large, or keep its head and say so.

A limit binds UTF-8 bytes as they are stored. With `TRUNCATE`, a text keeps as much of its beginning as fits together
with a marker that tells the model how much is missing.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from planwire.errors import ToolError
from planwire.model.events import PlanChanged
from planwire.model.plan import BODY_CAP, DELTA_CAP

__all__ = ["OVERSIZE", "TRUNCATE", "Cut", "check_size", "fitting_change", "fitting_text"]

TRUNCATE: Final = "truncate"
#: The two ways to deal with a plan or a note that is too large.
OVERSIZE: Final = ("error", TRUNCATE)

_MARKER: Final = "\n\n[truncated: {kept:,} of {size:,} bytes kept]"
#: The bytes that must be left for a note, its marker included: less is not worth keeping.
_NOTE_ROOM: Final = 256

#: How many bytes of how many were kept.
Cut: TypeAlias = tuple[int, int]


def check_size(size: int, cap: int, what: str) -> None:
    """Raise `ToolError` if something has more bytes than allowed."""
    if size > cap:
        problem = f"{what} has {size:,} bytes, {size - cap:,} more than the {cap:,} that are allowed"
        raise ToolError("too_large", problem, "make it shorter; nothing was changed", {"bytes": size, "cap": cap})


def fitting_text(content: str, oversize: str) -> tuple[str, Cut | None]:
    """The content, or its head if it is too long and may be cut."""
    if not content.strip():
        raise ToolError("invalid_arguments", "the content is empty", "give a text with something to do in it")
    size = len(content.encode())
    if size <= BODY_CAP or oversize != TRUNCATE:
        check_size(size, BODY_CAP, "the plan")
        return content, None
    return _head(content, lambda head: len(head.encode()) <= BODY_CAP)


def fitting_change(change: PlanChanged, oversize: str) -> tuple[PlanChanged, Cut | None]:
    """The change, its note cut if it is too long and may be. Half of its changes would be another change."""
    size, note = len(msgspec.json.encode(change)), change.note or ""
    others = size - len(msgspec.json.encode(note))
    if size <= DELTA_CAP or oversize != TRUNCATE or others > DELTA_CAP - _NOTE_ROOM:
        check_size(size, DELTA_CAP, "the change")
        return change, None
    head, cut = _head(note, lambda head: others + len(msgspec.json.encode(head)) <= DELTA_CAP)
    return msgspec.structs.replace(change, note=head), cut


def _head(text: str, fits: Callable[[str], bool]) -> tuple[str, Cut]:
    """As much of the beginning of a text as fits, and a marker that says so."""
    encoded = text.encode()

    def cut(length: int) -> tuple[str, Cut]:
        head = encoded[:length].decode("utf-8", "ignore")
        kept = len(head.encode())
        return head + _MARKER.format(kept=kept, size=len(encoded)), (kept, len(encoded))

    first_too_long = bisect_left(range(min(len(encoded), BODY_CAP)), True, key=lambda length: not fits(cut(length)[0]))
    return cut(max(0, first_too_long - 1))
