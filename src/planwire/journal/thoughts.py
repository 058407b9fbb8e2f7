"""The why of plans: what an agent thought and said before it made or changed one, kept on this machine only.

An event holds a digest of it. The text lies beside the journal, so it can be forgotten without a change to any event,
and an exported or copied journal has none of it. A thought is often short and easy to guess, so the digest is salted,
and the salt lies with the text.

The text is written first, then the event. A crash in between leaves a text that no event refers to, which newer ones
push out in time. Nothing depends on thoughts: one that can't be kept or found leaves a plan without a why.
"""

import os
from collections import OrderedDict
from collections.abc import Collection, Iterable
from contextlib import suppress
from threading import Lock
from typing import Final

from planwire.errors import JournalError
from planwire.journal.chain import sha256
from planwire.journal.protocol import Journal, Thought
from planwire.model.event_why import why_in
from planwire.model.events import Recorded
from planwire.model.text import newest

#: Limits in bytes: of one thought's text, and of all thoughts of a session. A short one counts as `_LEAST`, so that a
#: session has about a thousand at most.
THOUGHT_CAP: Final = 4 * 1024
SESSION_CAP: Final = 512 * 1024
_LEAST: Final = 512
_SALT_BYTES: Final = 16


def kept_why(journal: Journal, session: str, text: str) -> str:
    """Keep what an agent thought before an event. Returns the digest for the event's `why`: "" if there is nothing to
    keep, or no way to keep it."""
    text = text.strip()
    thought = think(text) if text else None
    return thought.digest if thought and keep_all(journal, session, (thought,)) else ""


def keep_all(journal: Journal, session: str, thoughts: Iterable[Thought]) -> bool:
    """Keep thoughts of a session. Returns whether that worked; no plan depends on it."""
    try:
        for thought in thoughts:
            journal.thoughts.keep(session, thought)
    except JournalError:
        return False
    return True


def carry_over(journal: Journal, session: str, other: str, events: Iterable[Recorded]) -> None:
    """Copy the thoughts of events to the session that takes these events over, so that neither session needs the
    other's."""
    digests = dict.fromkeys(filter(None, (why_in(each.event) for each in events)))
    with suppress(JournalError):
        keep_all(journal, other, journal.thoughts.find(session, digests).values())


def think(text: str) -> Thought:
    """A thought with a salt of its own. A long text loses its beginning: the end is closest to what came of it."""
    text = newest(text, THOUGHT_CAP)
    salt = os.urandom(_SALT_BYTES).hex()
    return Thought(_digest(salt, text), salt, text)


def is_genuine(thought: Thought) -> bool:
    """Whether a thought from elsewhere matches its digest, and is no longer than a thought may be."""
    return len(thought.text.encode()) <= THOUGHT_CAP and thought.digest == _digest(thought.salt, thought.text)


def too_old(sizes: Iterable[tuple[object, int]]) -> list[object]:
    """Those of a session's thoughts that have to go, given their sizes, newest first."""
    room, old = SESSION_CAP, []
    for name, size in sizes:
        room -= max(size, _LEAST)
        if room < 0:
            old.append(name)
    return old


def _digest(salt: str, text: str) -> str:
    return str(sha256(f"{salt} {text}".encode()).hexdigest())


class MemoryThoughts:
    """The `Thoughts` beside a journal in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, OrderedDict[str, Thought]] = {}  # by session and digest, the newest last
        self._forgets = 0

    def keep(self, session: str, thought: Thought) -> None:
        with self._lock:
            kept = self._kept.setdefault(session, OrderedDict())
            kept[thought.digest] = thought
            kept.move_to_end(thought.digest)
            for digest in too_old((each.digest, len(each.text.encode())) for each in reversed(kept.values())):
                del kept[str(digest)]

    def find(self, session: str, digests: Collection[str]) -> dict[str, Thought]:
        with self._lock:
            kept = self._kept.get(session) or OrderedDict()
            return {digest: kept[digest] for digest in digests if digest in kept}

    def forget(self, *sessions: str) -> None:
        with self._lock:
            self._kept = {session: kept for session, kept in self._kept.items() if session not in sessions}
            self._forgets += 1

    def forget_all(self) -> None:
        self.forget(*self._kept)

    def glance(self) -> object:
        return self._forgets

    def close(self) -> None:
        with self._lock:
            self._kept = {}
