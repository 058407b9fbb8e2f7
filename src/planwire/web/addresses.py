"""Addresses on the board, and ids of any kind as parts of them.

An id of ASCII letters, digits, `_` and `-` stands for itself. Any other is written as `~` and its base64: ids come from
agents, and none may lead to another page, or pass for the ending that asks for JSON.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from planwire.readmodel.card import PlanId

OVERVIEW: Final = "/sessions"

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")
_NONE: Final = "~~"


def encode_id(value: PlanId) -> str:
    """An id as a segment of an address."""
    if value is None:
        return _NONE
    if _PLAIN.fullmatch(value):
        return value
    return "~" + urlsafe_b64encode(value.encode()).decode().rstrip("=")


def decode_id(segment: str) -> PlanId:
    """The id in a segment. `ValueError` if there is none."""
    if segment == _NONE:
        return None
    if not segment.startswith("~"):
        if not _PLAIN.fullmatch(segment):
            raise ValueError("an address holds letters, digits, _, - and ~")
        return segment
    text = segment[1:]
    if text and not _PLAIN.fullmatch(text):
        raise ValueError("what follows ~ is base64")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def session_address(session: str, page: str = "") -> str:
    """The address of a session, or of a page below it: `history`, `compare`, `plans`."""
    return f"{OVERVIEW}/{encode_id(session)}{'/' if page else ''}{page}"


def plan_address(session: str, plan_id: PlanId, ending: str = "") -> str:
    """The address of a plan; the ending `.md` or `.json` gives another form."""
    return f"{session_address(session, 'plans')}/{encode_id(plan_id)}{ending}"
