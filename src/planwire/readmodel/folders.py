"""Sessions as people name them: by an id or its beginning, or by the folder that they were run in.

A folder is on this machine: another machine of a team may have a folder of the same name.
"""

import os
from collections.abc import Iterable
from itertools import pairwise
from time import time_ns
from typing import Final

from msgspec.structs import replace

from planwire.journal import Journal, KnownSession, load_state
from planwire.model.clocks import is_plausible
from planwire.model.records import SessionState
from planwire.session.origin import this_host

__all__ = [
    "KnownSession",
    "asking_in_folder",
    "dated",
    "is_here",
    "is_of_folder",
    "is_run_in",
    "is_session_of_folder",
    "latest_of_folder",
    "newest_first",
    "sessions_named",
    "short_ids",
    "unfinished_in_folder",
]

#: The least length of a short id.
SHORT: Final = 8
#: How many of the newest sessions are searched for unfinished work: older work is hardly what people mean.
SEARCHED: Final = 100


def newest_first(journal: Journal) -> list[KnownSession]:
    now = time_ns() // 1_000_000
    known = (dated(journal, each, now) for each in journal.sessions())
    return sorted(known, key=lambda session: session.last_at, reverse=True)


def dated(journal: Journal, known: KnownSession, now: int) -> KnownSession:
    """A session with times that the reader's clock can believe: a later one counts as that of the events before it. If
    there is none among the newest, nobody knows when it was, and the time stays."""
    if is_plausible(known.last_at, now):
        return known
    newest = [each.at for each in journal.read(known.id, max(known.last_seq - SEARCHED, 0))]
    last_at = max((at for at in (known.first_at, *newest) if is_plausible(at, now)), default=known.last_at)
    return replace(known, first_at=min(known.first_at, last_at), last_at=last_at)


def latest_of_folder(journal: Journal, folder: str, *, elsewhere: bool = False) -> KnownSession | None:
    """The session with the latest event among those run in the folder. With `elsewhere`, if there is none, the latest
    one in a folder of that name on another machine."""
    found = None
    for session in newest_first(journal):
        state = load_state(journal, session.id)
        if is_run_in(state, folder):
            return session
        if elsewhere and found is None and state.opened and is_of_folder(state.opened.cwd, folder):
            found = session
    return found


def asking_in_folder(journal: Journal, folder: str | None) -> list[KnownSession]:
    """The sessions of a folder, or of any folder, that need a person now and whose agents are there to hear the answer;
    the latest first."""
    served = {lease.session for lease in journal.leases() if lease.is_held}
    found = []
    for session in (each for each in newest_first(journal) if each.id in served):
        state = load_state(journal, session.id)
        if state.needs_person and (folder is None or is_run_in(state, folder)):
            found.append(session)
    return found


def unfinished_in_folder(journal: Journal, folder: str, most: int) -> list[SessionState]:
    """Sessions that were run in the folder and have work left in a living plan; the latest first."""
    found: list[SessionState] = []
    for session in newest_first(journal)[:SEARCHED]:
        state = load_state(journal, session.id)
        if is_run_in(state, folder) and state.has_work_left:
            found.append(state)
            if len(found) == most:
                break
    return found


def is_here(host: str | None) -> bool:
    """Whether a host is this machine. A session that names no host counts as one of this machine."""
    return host in (None, this_host())


def is_run_in(state: SessionState, folder: str) -> bool:
    """Whether a session was run in a folder of this machine."""
    return state.opened is not None and is_here(state.opened.host) and is_of_folder(state.opened.cwd, folder)


def is_of_folder(cwd: str | None, folder: str) -> bool:
    """Whether `cwd` is the folder, also through links."""
    if cwd is None or cwd == folder:
        return cwd is not None
    try:
        return os.path.realpath(cwd) == os.path.realpath(folder)
    except ValueError:  # a client named something that can't be a path
        return False


def is_session_of_folder(journal: Journal, session: str, folder: str) -> bool:
    """Whether there is a session with this id that was run in the folder."""
    return is_run_in(load_state(journal, session), folder)


def sessions_named(journal: Journal, name: str) -> list[KnownSession]:
    """The session with this id, or else all sessions whose ids begin with it, the latest first."""
    known = newest_first(journal)
    return [session for session in known if session.id == name] or [
        session for session in known if session.id.startswith(name)
    ]


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """The shortest unique beginning of every id; the whole id if another one begins with it."""
    ordered = sorted(ids)
    lengths = dict.fromkeys(ordered, SHORT)
    for one, other in pairwise(ordered):
        unlike = len(os.path.commonprefix([one, other])) + 1  # noqa: RUF071  (of characters)
        lengths[one] = max(lengths[one], unlike)
        lengths[other] = max(lengths[other], unlike)
    return {each: each[:length] for each, length in lengths.items()}
