"""Copies a journal into one of any engine: event by event, as they are stored, with their links and keys.

A copy can be interrupted at any moment and started again: it continues where each session of the target ends, after
checking that this end is the same. What comes in while it runs is copied in further rounds. Sessions that are forgotten
meanwhile are removed from the target, too, unless they were there before. At the end, both journals are read again and
compared. Snapshots are a cache and leases belong to processes: neither is copied.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, zip_longest
from typing import Final

from msgspec import Struct, field

from planwire.errors import Conflict, DamagedJournal
from planwire.journal.protocol import Journal, Once, StoredAppend, StoredEvent

#: A batch ends with the append that reaches either of these.
BATCH_EVENTS: Final = 500
BATCH_BYTES: Final = 1_000_000
#: Rounds after which a copy stops chasing a source that keeps growing.
ROUNDS: Final = 5

_MORE: Final = "; planwire journal verify says more"


class CopiedJournal(Struct):
    """What was copied so far, and why some sessions were not."""

    sessions: int = 0
    events: int = 0
    compared: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def copy_journal(
    source: Journal, target: Journal, heard: Callable[[CopiedJournal], None] = lambda _: None
) -> CopiedJournal:
    """Copy all sessions of one journal into another. `heard` gets the progress after each batch."""
    copied = CopiedJournal()
    ends: dict[str, int] = {}
    there = {each.id for each in target.sessions()}
    for _ in range(ROUNDS):
        behind = [each.id for each in source.sessions() if ends.get(each.id, 0) < each.last_seq]
        behind = [session for session in behind if session not in copied.refused]
        if not behind:
            break
        for session in behind:
            reason = _copy_session(source, target, session, copied, heard)
            if reason:
                copied.refused[session] = reason
            ends[session] = target.last_seq(session)
            copied.sessions = len(ends) - len(copied.refused)
    forgotten = ends.keys() - {each.id for each in source.sessions()}
    if new := forgotten - there:
        target.forget(*new)
    for session in forgotten:
        del ends[session]
        copied.refused.pop(session, None)
    copied.sessions = len(ends) - len(copied.refused)
    for session, end in ends.items():
        if session not in copied.refused and not _is_same(source, target, session, end, copied, heard):
            copied.refused[session] = "its copy is not the same"
    return copied


def _copy_session(
    source: Journal, target: Journal, session: str, copied: CopiedJournal, heard: Callable[[CopiedJournal], None]
) -> str:
    """Copy what the target lacks of a session. Returns why it can't be copied, or ""."""
    last, here = target.last_seq(session), source.last_seq(session)
    if last > here:
        return f"the target has {last} events of it, and the source only {here}"
    try:
        if last and (reason := _why_apart(source, target, session, last)):
            return reason
        for batch in _batches(source.stored(session, last)):
            for event in (each for append in batch for each in append.events):
                if event.seq <= last:
                    return f"event {event.seq} is in the source twice, or after a later one{_MORE}"
                if event.seq != last + 1:
                    return _missing(last + 1, event.seq - 1)
                if not event.is_sound:
                    return f"event {event.seq} is not as it was written in the source{_MORE}"
                last = event.seq
            target.store(session, batch)
            copied.events += sum(len(append.events) for append in batch)
            heard(copied)
    except Conflict as error:
        return f"another process writes to it in the target ({error})"
    except DamagedJournal as error:
        return str(error)
    return _missing(last + 1, here) if last < here <= source.last_seq(session) else ""


def _missing(first: int, last: int) -> str:
    events = f"event {first} is" if first == last else f"events {first} to {last} are"
    return f"{events} missing in the source{_MORE}"


def _why_apart(source: Journal, target: Journal, session: str, last: int) -> str:
    """Why a session of the target is not the beginning of the source's; "" if it is. Equal links vouch for all events
    before them."""
    [ours, theirs] = [next(_flat(journal.stored(session, last - 1)), None) for journal in (source, target)]
    if ours is None or ours[0].seq != last:
        return _missing(last, last)
    if theirs is not None and ours[0] == theirs[0] and ours[0].link is not None:
        return ""
    return "the target has a session of that name with other events"


def _is_same(
    source: Journal,
    target: Journal,
    session: str,
    end: int,
    copied: CopiedJournal,
    heard: Callable[[CopiedJournal], None],
) -> bool:
    is_same = _equal(source, target, session, end)
    copied.compared += end
    heard(copied)
    return is_same


def _equal(source: Journal, target: Journal, session: str, end: int) -> bool:
    ours, theirs = (islice(_flat(journal.stored(session)), end) for journal in (source, target))
    return all(one == other for one, other in zip_longest(ours, theirs))


def _flat(appends: Iterable[StoredAppend]) -> Iterator[tuple[StoredEvent, Once | None]]:
    return ((event, append.once) for append in appends for event in append.events)


def _batches(appends: Iterable[StoredAppend]) -> Iterator[list[StoredAppend]]:
    batch: list[StoredAppend] = []
    events, room = 0, BATCH_BYTES
    for append in _short(appends):
        batch.append(append)
        events += len(append.events)
        room -= sum(len(each.text) for each in append.events)
        if events >= BATCH_EVENTS or room <= 0:
            yield batch
            batch, events, room = [], 0, BATCH_BYTES
    if batch:
        yield batch


def _short(appends: Iterable[StoredAppend]) -> Iterator[StoredAppend]:
    """Split appends that have more events than a batch. Those with a key stay together."""
    for append in appends:
        if append.once is not None or len(append.events) <= BATCH_EVENTS:
            yield append
        else:
            for begin in range(0, len(append.events), BATCH_EVENTS):
                yield StoredAppend(append.events[begin : begin + BATCH_EVENTS])
