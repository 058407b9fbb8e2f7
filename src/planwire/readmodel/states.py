"""The state of a session, and the words for it: whether it needs a person, runs, is idle, was stopped, or is done.

An agent that dies says nothing, so the journal alone can't tell whether a turn is still running. The leases of a
session can: they say which program serves it, and whether it works. A session without a lease (its agent was built on
`PlanSession`) is assumed to run for a while after its last event.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from planwire.journal.protocol import KnownLease
from planwire.model.records import SessionState
from planwire.model.steps import Progress
from planwire.model.stop_reasons import STOP_CANCELLED, STOP_COMPLETED, STOP_END_TURN, STOP_IDLE
from planwire.readmodel.audience import audience

#: In order: a person has to answer or decide; a turn is running; the turn ended by itself, or nothing was heard for
#: long; it was cancelled, failed, or lost its connection; everything on its plans is done.
NEEDS_YOU: Final = "needs_you"
RUNNING: Final = "running"
IDLE: Final = "idle"
STOPPED: Final = "stopped"
DONE: Final = "done"
#: All of them, in the order for people: lists of sessions have a filter for each.
STATES: Final = (NEEDS_YOU, RUNNING, IDLE, STOPPED, DONE)
#: The programs that hold leases.
HOOK: Final = "hook"
MCP: Final = "mcp"
RELAY: Final = "relay"
#: How many milliseconds after its last event a session is assumed to run: one that only a tool server serves, which
#: hears of calls but not of turns, and one without a lease.
_CALLED: Final = 5 * 60_000
_UNHELD: Final = 10 * 60_000
_OWN_ACCORD: Final = (STOP_END_TURN, STOP_COMPLETED, STOP_IDLE)

_STOPS: Final = {
    STOP_END_TURN: "finished its turn",
    STOP_COMPLETED: "finished",
    STOP_IDLE: "idle",
    STOP_CANCELLED: "cancelled",
    "error": "failed",
    "max_tokens": "ran out of tokens",
    "max_turn_requests": "reached its limit of requests",
    "refusal": "the model refused",
}


class Hold(Struct, frozen=True):
    """What the leases of a session say together: whether any program holds one (`is_held`), and one that hears of its
    turns (`is_relayed`); whether a turn is running; and what the holders can do for people. `is_lost`: there is no
    holder any more, and the last one died without recording it (the next process that can write does)."""

    is_held: bool = False
    is_relayed: bool = False
    is_working: bool = False
    can: tuple[str, ...] = ()
    is_lost: bool = False


#: There is no lease; or all leases have lapsed.
NOBODY: Final = Hold()
_LOST: Final = Hold(is_lost=True)


def holds_of(leases: Iterable[KnownLease]) -> dict[str, Hold]:
    """The hold of each session that has a lease."""
    leases = list(leases)
    holds = {each.session: _LOST for each in leases if not each.is_held}
    for session, terms in ((each.session, each.terms) for each in leases if each.is_held):
        before = holds.get(session, NOBODY)
        holds[session] = Hold(
            True,
            before.is_relayed or not (terms.holder == MCP or terms.question),
            before.is_working or terms.is_working,
            tuple(dict.fromkeys((*before.can, *terms.can))),
        )
    return holds


def is_asked(state: SessionState, hold: Hold) -> bool:
    """Whether a person has to answer or decide something. A question ends with the program that would pass on its
    answer."""
    return state.needs_person and not hold.is_lost


def state_of(state: SessionState, progress: Progress, hold: Hold, last_at: int, now: int) -> str:
    """The state of a session, given its progress, its hold and its last event. Every face gets it from here."""
    if is_asked(state, hold):
        return NEEDS_YOU
    if 0 < progress.total == progress.done:
        return DONE
    if state.stopped is not None and not hold.is_working:
        return IDLE if state.stopped in _OWN_ACCORD else STOPPED
    if hold.is_lost:
        return STOPPED
    return RUNNING if is_running(hold, last_at, now) else IDLE


def state_name(state: str) -> str:
    """A state for people."""
    return audience().needs if state == NEEDS_YOU else state.capitalize()


def is_running(hold: Hold, last_at: int, now: int) -> bool:
    """Whether a session whose turn has not ended is assumed to run. The clock of its machine may be a little ahead."""
    if hold.is_working or hold.is_relayed:
        return hold.is_working
    return abs(now - last_at) < (_CALLED if hold.is_held else _UNHELD)


def stop_words(reason: str | None) -> str:
    """The reason why a turn ended, for people. An agent's own code keeps its words; None gives ""."""
    return "" if reason is None else _STOPS.get(reason, reason.strip("_").replace("_", " "))
