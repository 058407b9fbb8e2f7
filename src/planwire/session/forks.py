"""Forks: sessions that begin with another one's past, and go their own way from there.

A fork holds a copy of the events up to the one where it forked: the same numbers, authors and times. So it folds to the
same state, step ids, remarks and chat included, and needs nothing from the session that it came from. Each of the two
names the other.
"""

import os

from planwire.errors import Conflict, NotFound, Refused
from planwire.journal import Journal, Once, Stamped
from planwire.journal.thoughts import carry_over
from planwire.model.events import Origin, SessionForked, SessionOpened
from planwire.session.writer import append_new, check_session_id, stamped


def fork_session(journal: Journal, session: str, fork: str | None, at: int | None, by: str) -> str:
    """Begin a session with the events of another one, up to its event `at` or the last. Returns its id, which is made
    up if none is given. If the process dies in between, the journal has either the fork, naming its origin, or
    nothing."""
    check_session_id(fork or "")
    last = journal.last_seq(session)
    if not last:
        raise NotFound(f"there is no session {session!r} to fork, or it has no event yet")
    seq = last if at is None else at
    if type(seq) is not int or not 1 <= seq <= last:
        raise Refused(f"the session {session!r} has no event {at!r}: its last one is {last}. Nothing was forked")
    events = list(journal.read(session, 0, seq))
    name = fork or f"{session}-{os.urandom(4).hex()}"
    past = [Stamped(each.at, each.by, each.event) for each in events]
    latest = max(each.at for each in events)
    opening = stamped([SessionOpened(forked=Origin(session, seq))], by, latest)
    try:
        if not journal.last_seq(name):
            carry_over(journal, session, name, events)
        append_new(journal, name, [*past, *opening])
    except Conflict:
        raise Refused(f"there is a session {name!r} already: fork under another id. Nothing was changed") from None
    journal.append(session, stamped([SessionForked(name, seq)], by, latest), once=Once(f"fork:{name}", 0))
    return name
