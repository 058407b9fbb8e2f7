"""Pages of events as engines read them, put together to the appends in which they are copied to another journal.

Events that were written with one key go together (`StoredAppend`), even where a page ends in the middle of them.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from planwire.journal.protocol import Once, StoredAppend, StoredEvent

#: A page ends with the event that reaches either of these.
PAGE_EVENTS: Final = 1_000
PAGE_BYTES: Final = 4_000_000


class KeySpan(NamedTuple):
    """A key, and the events of its session that were written with it: after number `after`, up to and including
    `last`."""

    after: int
    last: int
    once: Once


class StoredPage(NamedTuple):
    """Some events of a session, and the keys that any of them was written with, in order."""

    events: list[StoredEvent]
    keys: list[KeySpan]


def by_keys(pages: Iterable[StoredPage]) -> Iterator[StoredAppend]:
    """The events of consecutive pages, grouped into appends: those that were written with one key together."""
    held: list[StoredEvent] = []  # of the key that the page before ended with
    for page in pages:
        events = held + page.events
        *groups, last = [(key, tuple(group)) for key, group in groupby(events, _KeyOfEvent(page.keys))]
        for key, group in groups:
            yield StoredAppend(group, key.once if key else None)
        key, group = last
        held = list(group) if key is not None and key.last > group[-1].seq else []
        if not held:
            yield StoredAppend(group, key.once if key else None)
    if held:  # the other events of the key are missing
        yield StoredAppend(tuple(held))


class _KeyOfEvent:
    """The key of an event, if it has one, for events in their order."""

    def __init__(self, keys: list[KeySpan]) -> None:
        self._ahead = keys[::-1]

    def __call__(self, event: StoredEvent) -> KeySpan | None:
        while self._ahead and self._ahead[-1].last < event.seq:
            self._ahead.pop()
        found = self._ahead[-1] if self._ahead else None
        return found if found and found.after < event.seq else None
