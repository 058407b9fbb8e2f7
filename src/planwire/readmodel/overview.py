"""A session at a glance: agent, folder, title, progress and state."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import Struct

from planwire.model.authors import program_name
from planwire.model.children import children_of
from planwire.model.events import Origin
from planwire.model.records import SessionState
from planwire.model.steps import Progress
from planwire.model.titles import plan_titles
from planwire.readmodel.plain_text import age
from planwire.readmodel.questions import need_of
from planwire.readmodel.states import (
    DONE,
    IDLE,
    NEEDS_YOU,
    NOBODY,
    RUNNING,
    STATES,
    STOPPED,
    Hold,
    state_name,
    state_of,
    stop_words,
)

__all__ = [
    "DONE",
    "IDLE",
    "NEEDS_YOU",
    "RUNNING",
    "STATES",
    "STOPPED",
    "Overview",
    "fork_words",
    "is_found",
    "overview",
    "state_name",
    "state_words",
    "total_progress",
    "waiting_first",
    "where_words",
]

#: Sessions whose last event is at most this many milliseconds old count as equally new: their age is "now".
_RECENT: Final = 60_000
#: The states whose sessions come first.
_FIRST: Final = (NEEDS_YOU, RUNNING)


class Overview(Struct, frozen=True):
    """A row in a list of sessions. Times are Unix times in milliseconds; `current` are the steps in progress. `need` is
    a sentence on why it needs a person, if it does. `forked` is the session whose past it began with, `forks` those
    that began with its past. `is_held`: a program holds a lease on the session; `is_relayed`: and hears of its turns;
    `is_working`: and says that a turn is running; `can`: what the holders can do for people. `host`, `user` and
    `repository` say where it runs. `raw_names` are those that agent and client give themselves."""

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
    is_held: bool = False
    is_working: bool = False
    can: tuple[str, ...] = ()
    need: str = ""
    is_relayed: bool = False
    forked: Origin | None = None
    forks: tuple[Origin, ...] = ()
    host: str | None = None
    user: str | None = None
    repository: str | None = None
    raw_names: tuple[str | None, str | None] = (None, None)

    @property
    def asked(self) -> bool:
        """Whether a person has to answer or decide something."""
        return self.state == NEEDS_YOU

    @property
    def goes_on(self) -> bool:
        """Whether its agent is working, or waits for an answer to go on."""
        return self.state in (RUNNING, NEEDS_YOU)

    @property
    def is_quiet(self) -> bool:
        """Whether it has been silent for long without an end of its turn, and no holder would know of a turn."""
        return self.state == IDLE and self.stop_reason is None and not self.is_relayed

    @property
    def name(self) -> str:
        """What people call it: its title, or else its id."""
        return (self.title or "").strip() or self.id


def overview(state: SessionState, first_at: int, last_at: int, now: int | None = None, hold: Hold = NOBODY) -> Overview:
    """The row for a session, given the times of its first and last event and who holds it. Without `now`, its state is
    that right after the last event."""
    progress = total_progress(state)
    opened = state.opened
    raw_names = (opened.agent, opened.client) if opened else (None, None)
    return Overview(
        state.id,
        state_of(state, progress, hold, last_at, last_at if now is None else now),
        state.stopped,
        program_name(raw_names[0] or "") or None,
        program_name(raw_names[1] or "") or None,
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
        hold.is_held,
        hold.is_working,
        hold.can,
        _need(state),
        hold.is_relayed,
        opened.forked if opened else None,
        state.forks,
        opened.host if opened else None,
        opened.user if opened else None,
        opened.repository if opened else None,
        raw_names,
    )


def _need(state: SessionState) -> str:
    """Why it needs a person, by the first of its plans that does."""
    if not state.needs_person:
        return ""
    titles = plan_titles(record.state.plan for record in state.plans.values())
    return next(filter(None, (need_of(record, titles[plan_id]) for plan_id, record in state.plans.items())), "")


def total_progress(state: SessionState) -> Progress:
    """The combined progress of a session's plans, without those that work for a step: there the step counts."""
    children = children_of(state)
    placed = {record.state.plan.id for below in children.values() for record in below}
    living = state.living().items()
    return Progress.of(step for plan_id, record in living if plan_id not in placed for step in record.state.steps)


def fork_words(glance: Overview) -> list[str]:
    """The session that a session was forked from, and its own forks, in words."""
    came = [f"forked from {glance.forked.session} at event {glance.forked.seq}"] if glance.forked else []
    return came + ([f"forks: {', '.join(each.session for each in glance.forks)}"] if glance.forks else [])


def where_words(glance: Overview) -> list[str]:
    """The repository, the account and the machine of a session, as far as they are known."""
    account = "@".join(filter(None, (glance.user, glance.host)))
    return [each for each in (glance.repository, account) if each]


def state_words(glance: Overview, now: int | None = None, *, why: bool = False) -> str:
    """The state of a session for people; given `now`, also how long it has been quiet. `why` adds what stopped the
    agent, if it did not stop by itself."""
    if why and glance.state == STOPPED and (reason := stop_words(glance.stop_reason)):
        return f"{STOPPED}: {reason}"
    if glance.is_quiet:
        return "quiet" if now is None or now - glance.last_at < _RECENT else f"quiet for {age(glance.last_at, now)}"
    return state_name(glance.state).lower()


def is_found(glance: Overview, words: str) -> bool:
    """Whether the facts about a session contain all the words."""
    text = _facts(glance)
    return all(word in text for word in words.casefold().split())


@lru_cache(maxsize=4_096)
def _facts(glance: Overview) -> str:
    who, where = (glance.agent, glance.client), (glance.cwd, glance.host, glance.user, glance.repository)
    facts = (glance.title, *who, *where, glance.id, state_name(glance.state), *glance.current)
    return " ".join(each for each in facts if each).casefold()


def waiting_first(glances: Iterable[Overview], now: int) -> list[Overview]:
    """Sessions in the order for people: those that need them, those that run, then by the age shown with them.

    Sessions whose age is "now" are in the order of their beginning, so that rows don't jump at every step.
    """

    def place(glance: Overview) -> tuple[int, int, int, str]:
        is_recent = now - glance.last_at < _RECENT
        group = _FIRST.index(glance.state) if glance.state in _FIRST else len(_FIRST)
        return group, -now if is_recent else -glance.last_at, -glance.first_at, glance.id

    return sorted(glances, key=place)
