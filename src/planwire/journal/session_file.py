"""A session in a JSON file: all of its events, one per line, to keep or to import elsewhere."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw, Struct

from planwire.errors import InputError
from planwire.journal.codec import decode_event, encode_event
from planwire.journal.format import FORMAT
from planwire.journal.protocol import Stamped, Thought, Thoughts
from planwire.model.event_why import why_in
from planwire.model.events import Recorded

#: Marks the file, so that no other JSON passes for one; how development versions marked it.
KIND: Final = "planwire.session"
OLD_KIND: Final = "planwire session"


class ExportedEvent(Struct, frozen=True):
    """One event of the file. It may be of a kind that only a newer planwire knows."""

    seq: int
    at: int
    by: str
    event: Raw


class _Body(Struct):
    session: str
    events: tuple[ExportedEvent, ...]
    thoughts: tuple[Thought, ...] = ()


class Exported(NamedTuple):
    """A session as it was exported."""

    session: str
    events: tuple[Stamped, ...]
    thoughts: tuple[Thought, ...] = ()


class _Head(Struct):
    kind: str = ""
    format: int = 0


def export_lines(session: str, events: Iterable[Recorded], thoughts: Thoughts | None = None) -> Iterator[str]:
    """The file, piece by piece: a session may be too long for memory. It is not safe for a terminal as it is. What the
    agent thought is in it only if `thoughts` are given."""
    head = _json({"kind": KIND, "format": FORMAT, "session": session, "events": []})
    yield head.removesuffix("]}") + "\n"
    before = ""
    digests: dict[str, None] = {}
    for each in events:
        yield before + _json(ExportedEvent(each.seq, each.at, each.by, Raw(encode_event(each.event))))
        before = ",\n"
        if why := why_in(each.event):
            digests[why] = None
    found = thoughts.find(session, digests) if thoughts else {}
    yield "\n]}\n" if not found else f'\n],"thoughts":{_json([*found.values()])}}}\n'


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def read_export(data: bytes, name: str) -> Exported:
    """Read what `planwire export --format json` wrote. The error says what is wrong with the file."""
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.kind == OLD_KIND:
            raise InputError(f"{name} is from a development version of planwire, and can't be imported by this one")
        if head.kind != KIND:
            raise InputError(f"{name} is not an exported session: make one with planwire export --format json")
        if head.format != FORMAT:
            raise InputError(f"{name} has format {head.format}, and this planwire knows format {FORMAT}: upgrade it")
        body = msgspec.json.decode(data, type=_Body)
        events = tuple(Stamped(each.at, each.by, decode_event(bytes(each.event))) for each in body.events)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name} can't be read as an exported session: {error}") from None
    numbers = [event.seq for event in body.events]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        raise InputError(f"{name} is not whole: its events must be numbered 1, 2, 3 … without a gap")
    return Exported(body.session, events, body.thoughts)
