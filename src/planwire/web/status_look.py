"""The look of a step: the class and the word of its status, the mark before it, and its own words.

The script in the browser knows no status. `STATUS_MENUS` gives it what a page can offer for a step of each look, the
tick first, so that a new row in the table of statuses is on the board without a change here.
"""

import re
from typing import Final, NamedTuple

import msgspec

from planwire.model.statuses import DEFAULT_STATUS, STATUSES, Status, after_tick, status_of
from planwire.web.html import Html, el, escaped, joined

__all__ = ["STATUS_MENUS", "checkbox", "look", "mark", "wording"]

_CODE: Final = re.compile(r"`([^`\n]{1,200})`")
#: The key for a tick, as in `planwire watch`.
_TICK: Final = "x"


class StatusLook(NamedTuple):
    """`kind` is the class in the style sheet, `word` what a screen reader says."""

    kind: str
    word: str


_STOPPED: Final = StatusLook("stopped", "stopped")
_OTHER: Final = "other"
#: The states of a checkbox for the looks that are not unchecked, and all looks that a checkbox can tell.
_CHECKED: Final = {"done": "true", "current": "mixed", "stopped": "mixed"}
_TOLD_BY_BOX: Final = ("pending", "current", "done")


def look(status: str, stopped: bool = False) -> StatusLook:
    """The look of a status. Current work stops with its agent; an unknown word stands for itself."""
    row = status_of(status)
    if row is None:
        return StatusLook(_OTHER, status or "no status")
    return _STOPPED if stopped and row.is_current else StatusLook(row.look, row.spoken)


def mark(status: str) -> Html:
    """The mark before a step that is only shown, with the word for people who can't see it."""
    return el("i", class_="mark", role="img", aria_label=look(status).word)


def checkbox(status: str, stopped: bool, name_id: str, *, usable: bool) -> Html:
    """The mark before a step, as a checkbox with the name in the element `name_id`. A state that no checkbox has stands
    behind it in words."""
    shown = look(status, stopped)
    box = el(
        "i",
        class_="mark",
        role="checkbox",
        aria_checked=_CHECKED.get(shown.kind, "false"),
        aria_labelledby=name_id,
        aria_disabled=None if usable else "true",
    )
    return box if shown.kind in _TOLD_BY_BOX else joined(box, el("span", f"{shown.word}: ", class_="unseen"))


def wording(text: str) -> Html:
    """The words of a step, with code as code. Agents write names between backticks, wherever they write."""
    pieces = _CODE.split(text)
    shown = [el("code", piece) if at % 2 else escaped(piece) for at, piece in enumerate(pieces)]
    return Html("".join(shown))


class _Offer(NamedTuple):
    """One entry of a menu: its label, its key ("" for none), the status that it sets, and the look of that status."""

    label: str
    key: str
    status: str
    look: str


def _offer(row: Status, key: str, label: str = "") -> _Offer:
    return _Offer((label or row.spoken).capitalize(), key, row.word, row.look)


def _menu(now: Status | None) -> list[_Offer]:
    """The statuses to offer for a step: a tick, then those that a tick does not reach, or the way back from them."""
    first = STATUSES[DEFAULT_STATUS]
    ticked = STATUSES[after_tick(now.word if now else "")]
    undo = f"not {now.spoken}" if now else ""
    offers = [_offer(ticked, _TICK, undo if ticked is first else "")]
    for row in STATUSES.values():
        if row is first or after_tick(row.word) == first.word:
            continue
        if row is not now:
            offers.append(_offer(row, _key(row)))
        elif not row.is_open:
            offers.append(_offer(first, "", undo))
    return offers


def _key(row: Status) -> str:
    """The key of a status on the board, where c comments and d removes: only open statuses have one."""
    return row.key if row.is_open else ""


def _menus() -> str:
    menus = {row.look: _menu(row) for row in STATUSES.values()}
    menus |= {_STOPPED.kind: _menu(None), _OTHER: _menu(None)}
    keys = {_key(row): _offer(row, _key(row)) for row in STATUSES.values() if row.is_current}
    return msgspec.json.encode({"menus": menus, "keys": keys}).decode()


#: What a page offers, as JSON: `menus` by the look of a step, and the offers with `keys` of their own.
STATUS_MENUS: Final = _menus()
