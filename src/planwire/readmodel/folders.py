"""Sessions as people name them: by an id or its beginning, or by the folder that they were run in.

A folder is on this machine: another machine of a team may have a folder of the same name.
"""

import os
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice, pairwise
from math import inf
from time import time_ns
from typing import Final

from planwire.journal import Journal, KnownSession, load_state
from planwire.journal.waiting import is_away
from planwire.model.records import SessionState
from planwire.readmodel.catalogue import Heard, catalogued, unheard
from planwire.readmodel.dated import dated, newest_first
from planwire.readmodel.overview import Overview
from planwire.session.origin import this_host

__all__ = [
    "SOON",
    "KnownSession",
    "asking_in_folder",
    "is_here",
    "is_of",
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
#: Seconds for which a program waits for a catalogue that is still made, the latest sessions first.
SOON: Final = 1.0


def latest_of_folder(
    journal: Journal, folder: str, *, elsewhere: bool = False, heard: Heard = unheard, within: float = inf
) -> KnownSession | None:
    """The session with the latest event among those run in the folder. With `elsewhere`, if there is none, the latest
    one in a folder of that name on another machine."""
    is_it = cache(lambda cwd: is_of_folder(cwd, folder))
    found = None
    for entry in catalogued(journal, heard, within):
        if is_it(entry.glance.cwd):
            if is_here(entry.glance.host):
                return entry.glance.known
            found = found or entry.glance.known
    return found if elsewhere else None


def asking_in_folder(journal: Journal, folder: str | None, heard: Heard = unheard) -> list[KnownSession]:
    """The sessions of a folder, or of any folder, that need a person now and whose agents are there to hear the answer;
    the latest first."""
    served = {lease.session for lease in journal.leases() if lease.is_held}
    entries = catalogued(journal, heard) if served else iter(())
    asking = (each for each in entries if each.glance.id in served and each.glance.need)
    is_wanted = is_of(folder)
    return [each.glance.known for each in asking if is_wanted(each.glance)]


def unfinished_in_folder(journal: Journal, folder: str, most: int, within: float = inf) -> list[SessionState]:
    """Sessions that were run in the folder and have work left in a living plan; the latest first."""
    is_wanted = is_of(folder)
    latest = islice(catalogued(journal, within=within), SEARCHED)
    found = (each.glance for each in latest if each.has_work_left and is_wanted(each.glance))
    return [load_state(journal, each.id) for each in islice(found, most)]


def is_here(host: str | None) -> bool:
    """Whether a host is this machine. A session that names no host counts as one of this machine."""
    return host in (None, this_host())


def is_of(folder: str | None) -> Callable[[Overview], bool]:
    """Whether a session was run in a folder of this machine; in any folder of any machine if that is None."""
    if folder is None:
        return lambda _: True
    is_it = cache(lambda cwd: is_of_folder(cwd, folder))
    return lambda glance: is_here(glance.host) and is_it(glance.cwd)


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


def is_run_in(state: SessionState, folder: str) -> bool:
    """Whether a session was run in a folder of this machine."""
    return state.opened is not None and is_here(state.opened.host) and is_of_folder(state.opened.cwd, folder)


def sessions_named(journal: Journal, name: str) -> list[KnownSession]:
    """The session with this id, or else all sessions whose ids begin with it, the latest first."""
    positions = journal.last_positions(name)
    found = [name] if name in positions else [*positions]
    if len(found) == 1 and not is_away(journal):
        return _known(journal, found[0])
    return [each for each in newest_first(journal) if each.id in found]


def _known(journal: Journal, session: str) -> list[KnownSession]:
    """A session as the journal lists it, without a look at all the others."""
    last = journal.last_seq(session)
    ends = [each.at for seq in (1, last) for each in journal.read(session, seq - 1, seq)]
    now = time_ns() // 1_000_000
    return [dated(journal, KnownSession(session, last, ends[0], ends[-1]), now)] if ends else []


def short_id(journal: Journal, session: str) -> str:
    """The shortest unique beginning of a session's id."""
    return short_ids((session,), journal.last_positions(session[:SHORT]))[session]


def short_ids(ids: Iterable[str], among: Iterable[str] = ()) -> dict[str, str]:
    """The shortest beginning of every id that is unique among these, and others; the whole id if another one begins
    with it."""
    alike: dict[str, set[str]] = {}
    for each in ids:
        alike.setdefault(each[:SHORT], set()).add(each)
    for each in among:
        if (found := alike.get(each[:SHORT])) is not None:
            found.add(each)
    short: dict[str, str] = {}
    for ordered in map(sorted, alike.values()):
        lengths = dict.fromkeys(ordered, SHORT)
        for one, other in pairwise(ordered):
            unlike = len(os.path.commonprefix([one, other])) + 1  # noqa: RUF071  (of characters)
            lengths[one] = max(lengths[one], unlike)
            lengths[other] = max(lengths[other], unlike)
        short |= {name: name[:length] for name, length in lengths.items()}
    return short
