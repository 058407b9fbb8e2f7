"""Where things are found on the board, and how ids of any kind become part of an address.

An id that is made of plain letters, digits, `_` and `-` stands for itself. Any other is written in base64 behind a `~`:
ids come from agents, and no id can reach another page, or be taken for the ending that asks for JSON.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from urllib.parse import urlencode

from planwire.model.plan import PlanId

__all__ = ["OVERVIEW", "compare_address", "decode_id", "encode_id", "plan_address", "session_address", "then_address"]

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
    """The id that a segment stands for. `ValueError` if it stands for none."""
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
    """The page of a session, or one behind it: `history`, `compare`, `live`."""
    return f"{OVERVIEW}/{encode_id(session)}{'/' if page else ''}{page}"


def plan_address(session: str, plan_id: PlanId, ending: str = "") -> str:
    """The page of a plan; as `.md` or `.json`, if asked for."""
    return f"{session_address(session, 'plans')}/{encode_id(plan_id)}{ending}"


def then_address(session: str, seq: int) -> str:
    """A session as it was after one of its events."""
    return f"{session_address(session, 'history')}?{urlencode({'at': seq})}#then"


def compare_address(session: str, before: int, after: int) -> str:
    """Two states of a session, side by side."""
    return f"{session_address(session, 'compare')}?{urlencode({'from': before, 'to': after})}"
