"""A session at a glance: agent, folder, title, progress, and whether it goes on."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import Struct

from planwire.acp.words import STOP_COMPLETED, STOP_END_TURN, STOP_IDLE
from planwire.model.records import SessionState
from planwire.model.steps import Progress
from planwire.readmodel.states import stop_words

__all__ = [
    "DONE",
    "FILTERS",
    "NEEDS_YOU",
    "RUNNING",
    "STOPPED",
    "WAITING",
    "Overview",
    "filter_of",
    "is_found",
    "overview",
    "state_words",
    "total_progress",
    "waiting_first",
]

#: The state of a session: its agent works, or waits for its user (it asked for a review, or ended its turn of its own
#: accord with work left), or was stopped, or everything on its plans is done.
RUNNING: Final = "running"
WAITING: Final = "waiting"
STOPPED: Final = "stopped"
DONE: Final = "done"
#: Sessions with an event in this time, in milliseconds, are all as new as each other: their age is "now".
_RECENT: Final = 60_000
#: The filters of lists of sessions, and their names. One that waits for a review needs a person, and is in the first
#: filter alone.
NEEDS_YOU: Final = "review"
FILTERS: Final = {
    NEEDS_YOU: "Needs you",
    RUNNING: "Running",
    WAITING: "Waiting",
    STOPPED: "Stopped",
    DONE: "Done",
}
_OWN_ACCORD: Final = (STOP_END_TURN, STOP_COMPLETED, STOP_IDLE)


class Overview(Struct, frozen=True):
    """A row in a list of sessions. Times are Unix times in milliseconds; `current` are the steps in progress, and
    `asked` says whether the agent waits for a review."""

    id: str
    state: str
    stop_reason: str | None
    agent: str | None
    client: str | None
    cwd: str | None
    title: str | None
    plans: int
    done: int
    total: int
    cancelled: int
    current: tuple[str, ...]
    last_seq: int
    first_at: int
    last_at: int
    asked: bool = False

    @property
    def name(self) -> str:
        """What people call it: its title, or else its id."""
        return (self.title or "").strip() or self.id


def overview(state: SessionState, first_at: int, last_at: int) -> Overview:
    """The glance at a session, given when its first and its last event happened."""
    progress = total_progress(state)
    opened = state.opened
    asked = any(record.asked for record in state.live().values())
    return Overview(
        state.id,
        WAITING if asked else _state(state, progress),
        state.stopped,
        opened.agent if opened else None,
        opened.client if opened else None,
        opened.cwd if opened else None,
        opened.title if opened else None,
        len(state.live()),
        progress.done,
        progress.total,
        progress.cancelled,
        tuple(step.content for step in progress.current),
        state.seq,
        first_at,
        last_at,
        asked,
    )


def _state(state: SessionState, progress: Progress) -> str:
    if 0 < progress.total == progress.done:
        return DONE
    if state.stopped is None:
        return RUNNING
    return WAITING if state.stopped in _OWN_ACCORD else STOPPED


def total_progress(state: SessionState) -> Progress:
    """The progress of all plans of a session together."""
    return Progress.of(step for record in state.living().values() for step in record.state.steps)


def state_words(glance: Overview, *, why: bool = False) -> str:
    """The state of a session for people, who want to know which of those that wait are waiting for them. `why` adds
    what stopped an agent that did not mean to stop."""
    if why and glance.state == STOPPED and (reason := stop_words(glance.stop_reason)):
        return f"{STOPPED}: {reason}"
    return f"{WAITING} for review" if glance.asked else glance.state


def filter_of(glance: Overview) -> str:
    """The one filter that a session is in."""
    return NEEDS_YOU if glance.asked else glance.state


def is_found(glance: Overview, words: str) -> bool:
    """Whether the facts about a session contain every one of the words."""
    text = _facts(glance)
    return all(word in text for word in words.casefold().split())


@lru_cache(maxsize=4_096)
def _facts(glance: Overview) -> str:
    facts = (glance.title, glance.agent, glance.client, glance.cwd, glance.id, glance.state, *glance.current)
    return " ".join(each for each in facts if each).casefold()


def waiting_first(glances: Iterable[Overview], now: int) -> list[Overview]:
    """Sessions in the order for people: those that wait for a review, then by the age that is shown with them.

    Sessions whose age is "now" stand in the order of their beginning: nobody can read rows that jump at every step.
    """

    def place(glance: Overview) -> tuple[bool, int, int, str]:
        is_recent = now - glance.last_at < _RECENT
        return not glance.asked, -now if is_recent else -glance.last_at, -glance.first_at, glance.id

    return sorted(glances, key=place)
