"""The statuses that a menu offers for a step."""

from typing import Any

from msgspec import Struct

from planwire.model.statuses import DEFAULT_STATUS, STATUSES, Status, after_tick, status_of
from planwire.steering.acts import ACTS


class Offer(Struct, frozen=True):
    """One entry of a menu of statuses: its label, the key that does the same without the menu ("" for none), the status
    that it sets, its look, its key while the menu is open, and the act that it stands for, with its arguments."""

    label: str
    key: str
    status: str
    look: str
    menu_key: str
    act: str
    arguments: dict[str, Any]


def status_offers(status: str) -> tuple[Offer, ...]:
    """The statuses to offer for a step: a tick, then those that a tick does not reach, then the way back."""
    first, now = STATUSES[DEFAULT_STATUS], status_of(status)
    ticked = STATUSES[after_tick(status)]
    undo = f"not {now.spoken}" if now and not now.is_open else ""
    [tick_key, *_] = ACTS["tick"].gestures[0].keys
    offers = [_offer(ticked, tick_key, undo if ticked is first else "", "tick")]
    others = [row for row in STATUSES.values() if row not in (first, now) and after_tick(row.word) != first.word]
    offers += [_offer(row, row.key if row.is_current else "") for row in others]
    if first not in (now, ticked):
        offers.append(_offer(first, "", undo))
    return tuple(offers)


def _offer(row: Status, key: str, label: str = "", act: str = "set_status") -> Offer:
    arguments = {"status": row.word} if "status" in ACTS[act].needs else {}
    return Offer((label or row.spoken).capitalize(), key, row.word, row.look, row.key, act, arguments)
