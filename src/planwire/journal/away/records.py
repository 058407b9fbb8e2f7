"""An append as it waits in the spool for the journal's server, and the names of a session's files."""

from collections.abc import Callable
from hashlib import sha256

import msgspec
from msgspec import Struct

from planwire.journal.protocol import Once
from planwire.journal.provisional import Doubt, WaitingPlace
from planwire.model.plan import PlanId

__all__ = ["WaitingAppend", "WaitingStep", "file_name", "read_waiting", "write_waiting"]


class WaitingStep(Struct, frozen=True, array_like=True):
    """A step that a waiting event added: its plan, its id until then, where that event is, its text there, and how many
    steps that the event added before it have the same text."""

    plan_id: PlanId
    id: str
    place: WaitingPlace
    content: str
    nth: int


class WaitingAppend(Struct, frozen=True, array_like=True):
    """Events (time, author, text) of a session, to be written with the key `once`. Their writer knew the session up to
    the event `base`. `places` says where the waiting events are that they name by provisional numbers, `steps` which
    steps they mean that waiting events added."""

    session: str
    base: int
    rows: tuple[tuple[int, str, str], ...]
    once: Once
    doubt: Doubt | None = None
    places: dict[int, WaitingPlace] = {}
    steps: tuple[WaitingStep, ...] = ()


write_waiting: Callable[[WaitingAppend], bytes] = msgspec.msgpack.Encoder().encode
read_waiting: Callable[[bytes], WaitingAppend] = msgspec.msgpack.Decoder(WaitingAppend).decode


def file_name(session: str) -> str:
    """A name for the files of a session. It is a hash, because an id may contain anything."""
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
