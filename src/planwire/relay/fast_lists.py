"""The short way for the line that is most usual among those about plans: the v1 list, again, with other entries.

Once a session's list was read with care, a line that begins with the very same bytes and ends with the same brackets
can differ in its entries only. If these are as every client reads them, the line needs no translation, and it is passed
on without more ado; whoever wants to know what it says reads it later.
"""

from typing import Final, Literal

import msgspec
from msgspec import Struct

from planwire.acp.messages import Reading, Surroundings
from planwire.acp.salvage import MAX_ENTRIES
from planwire.model.plan import ItemsPlan
from planwire.relay.wire_session import WireSession

__all__ = ["UsualLines"]

_END: Final = b"]}}}\n"
_KEY: Final = b'"entries":['
_NOTHING_ELSE: Final = Surroundings()
_MOST: Final = 1_000


class _Entry(Struct, forbid_unknown_fields=True, gc=False):
    """An entry that no reader of any dialect with lists drops."""

    content: str
    priority: Literal["high", "medium", "low"]
    status: Literal["pending", "in_progress", "completed"]


_decode_entries = msgspec.json.Decoder(list[_Entry]).decode


class UsualLines:
    """The sessions that such lines are known of, by the bytes that these begin with."""

    def __init__(self) -> None:
        self._sessions: dict[bytes, WireSession] = {}

    def session_of(self, line: bytes) -> WireSession | None:
        """The session whose list a line is, if it is usual and that session has no other plans."""
        if not line.endswith(_END):
            return None
        start = line.find(_KEY) + len(_KEY)
        session = self._sessions.get(line[:start])
        if session is None or not session.is_plain or session.is_retold:
            return None
        return session if _is_proper(line, start) else None

    def learn(self, line: bytes, reading: Reading, session: WireSession) -> None:
        """A line was read with care: if it is a plain list, what it begins with is known from here on."""
        update = reading.updates[0]
        plan = update.body
        start = line.find(_KEY) + len(_KEY)
        if (
            update.sort != "plan"
            or not isinstance(plan, ItemsPlan)
            or update.around != _NOTHING_ELSE
            or reading.reports
        ):
            return
        if plan.meta is None and plan.extra is None and line.endswith(_END) and _is_proper(line, start):
            if len(self._sessions) < _MOST:
                self._sessions[line[:start]] = session


def _is_proper(line: bytes, start: int) -> bool:
    try:
        return len(_decode_entries(line[start - 1 : 1 - len(_END)])) <= MAX_ENTRIES
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
