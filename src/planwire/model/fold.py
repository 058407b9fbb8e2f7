"""Events to state: the one place with the rules of versions, revisions, ownership, suggestions and reviews.

`fold(state, recorded)` is the state after one more event. It never fails: an event in the journal has happened, and one
that does not fit its plan changes nothing. Writers check before they append, with `check_revision`.

| event | version | revision | steps | deltas | suggestions | reviews | asked |
|---|---|---|---|---|---|---|---|
| `PlanSet` | + 1 | its number | tracked | from here on | without those that it contains | stale | no more |
| `PlanChanged` | | its number | changed | + 1 | | stale | no more, if by the agent |
| the same, by another than the owner | | its number | | | + 1 | stale | |
| `PlanRemoved` | | its number | hidden | | | | no more |
| `ReviewAsked` | | | | | | | this |
| `PlanReviewed` | | | | | | + 1 | no more, if it is a verdict |
| `SuggestionWithdrawn` | | its number | | | - 1 | stale | |
| `TurnEnded` | | | | | | | no more |

A plan from planwire's tools is planwire's: everyone's change is a change. A plan that an agent reports over ACP is the
agent's, and its next report replaces it: there a person's change is a suggestion, until a report contains it.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, assert_never

from msgspec import Struct
from msgspec.structs import asdict, replace

from planwire.errors import PlanError, StaleRevision
from planwire.model.changes import apply_changes
from planwire.model.events import (
    ACP,
    COMMENTED,
    AddStep,
    Comment,
    ContextCompacted,
    Event,
    MoveStep,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemoveStep,
    ReviewAsked,
    RewordStep,
    SessionOpened,
    SetPriority,
    SetStatus,
    StepChange,
    SuggestionWithdrawn,
    TurnEnded,
)
from planwire.model.plan import PlanId
from planwire.model.statuses import canonical
from planwire.model.steps import PlanState, Step, track

__all__ = [
    "AGENT",
    "PLANWIRE",
    "Delta",
    "OpenQuestion",
    "PlanRecord",
    "Review",
    "SessionState",
    "check_revision",
    "fold",
    "fold_all",
]

#: The owners of plans. On an agent's plan, other people's changes are suggestions.
PLANWIRE: Final = "planwire"
AGENT: Final = "agent"
#: The author of a person's events, where nobody gave a name.
USER: Final = "user"
#: Reviews of a plan that the state holds, the newest ones. The journal has them all.
MOST_REVIEWS: Final = 32


class Delta(Struct, frozen=True):
    """A change to a plan, or a suggestion for it: its number within the plan, and its event."""

    number: int
    seq: int
    at: int
    by: str
    note: str | None
    changes: tuple[StepChange, ...]


class Review(Struct, frozen=True):
    """A word on a plan, and the revision that its author saw."""

    seq: int
    at: int
    by: str
    revision: int
    verdict: str
    comments: tuple[Comment, ...]
    selected: tuple[str, ...] | None
    answer: str | None = None


class OpenQuestion(Struct, frozen=True):
    """The agent waits for a word on a plan. With `options`, the client asks its user for one of them."""

    seq: int
    at: int
    options: tuple[str, ...]


class PlanRecord(Struct, frozen=True):
    """Everything about a plan now. `deltas` are the changes since its last version, numbered across versions."""

    state: PlanState
    owner: str
    version: int
    base: int
    supersedes: int | None
    revision: int
    created_at: int
    changed_at: int
    summary: str | None = None
    mode: str = ""
    deltas: tuple[Delta, ...] = ()
    numbered: int = 0
    suggestions: tuple[Delta, ...] = ()
    reviews: tuple[Review, ...] = ()
    asked: OpenQuestion | None = None
    removed: bool = False

    @property
    def review(self) -> Review | None:
        """The last word on the plan."""
        return self.reviews[-1] if self.reviews else None

    def is_stale(self, review: Review) -> bool:
        """Whether the plan moved on after the revision of a review."""
        return review.revision != self.revision


class SessionState(Struct, frozen=True):
    """A session folded from its events. `stopped` is why the last turn ended; None while the agent works."""

    id: str
    seq: int = 0
    opened: SessionOpened | None = None
    plans: dict[PlanId, PlanRecord] = {}
    stopped: str | None = None
    compacted: int = 0

    def live(self) -> dict[PlanId, PlanRecord]:
        """The plans that are still there, in the order of their arrival."""
        return {plan_id: record for plan_id, record in self.plans.items() if not record.removed}


def fold(state: SessionState, recorded: Recorded) -> SessionState:
    """The state after one more event of its session."""
    rule = _RULES.get(type(recorded.event))
    changes = rule(state, recorded, recorded.event) if rule else {}
    return replace(state, seq=recorded.seq, **changes)


def fold_all(session: str, events: Iterable[Recorded], state: SessionState | None = None) -> SessionState:
    """The state after all the events, on top of `state` if there is one."""
    state = state or SessionState(session)
    for recorded in events:
        state = fold(state, recorded)
    return state


def check_revision(state: SessionState, plan_id: PlanId, expected: int | None) -> None:
    """Raise `StaleRevision` if a writer expects another revision than the current one; None expects any."""
    record = state.plans.get(plan_id)
    current = record.revision if record else 0
    if expected is not None and expected != current:
        name = "the plan" if plan_id is None else f"the plan {plan_id!r}"
        problem = f"{name} changed since revision {expected} (now {current}): look at it again before you decide"
        raise StaleRevision(problem, current, expected)


_Changes = dict[str, Any]


def _opened(state: SessionState, _recorded: Recorded, event: SessionOpened) -> _Changes:
    known = asdict(state.opened) if state.opened else {}
    return {
        "opened": SessionOpened(**{**known, **{key: word for key, word in asdict(event).items() if word is not None}})
    }


def _set(state: SessionState, recorded: Recorded, event: PlanSet) -> _Changes:
    before = state.plans.get(event.plan.id)
    after = track(event.plan, before.state if before else None)
    record = PlanRecord(
        after,
        AGENT if event.via == ACP else PLANWIRE,
        before.version + 1 if before else 1,
        recorded.seq,
        before.base if before else None,
        recorded.seq,
        before.created_at if before else recorded.at,
        recorded.at,
        event.summary,
        event.mode,
        numbered=before.numbered if before else 0,
        suggestions=_still_open(before.suggestions, after) if before and before.suggestions else (),
        reviews=before.reviews if before else (),
    )
    return {**_put(state, record), "stopped": None}


def _changed(state: SessionState, recorded: Recorded, event: PlanChanged) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None or record.removed:
        return {}
    touched = {"revision": recorded.seq, "changed_at": recorded.at, "numbered": record.numbered + 1}
    delta = Delta(record.numbered + 1, recorded.seq, recorded.at, recorded.by, event.note, event.changes)
    if record.owner == AGENT and recorded.by != AGENT:
        return _put(state, replace(record, suggestions=(*record.suggestions, delta), **touched))
    try:
        after = apply_changes(record.state, event.changes)
    except PlanError:  # written under other rules
        after = record.state
    changed = replace(record, state=after, deltas=(*record.deltas, delta), **touched)
    if recorded.by != AGENT:
        return _put(state, changed)
    return {**_put(state, replace(changed, asked=None)), "stopped": None}


def _removed(state: SessionState, recorded: Recorded, event: PlanRemoved) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    return _put(state, replace(record, removed=True, revision=recorded.seq, changed_at=recorded.at, asked=None))


def _asked(state: SessionState, recorded: Recorded, event: ReviewAsked) -> _Changes:
    record = state.live().get(event.plan_id)
    if record is None:
        return {}
    return _put(state, replace(record, asked=OpenQuestion(recorded.seq, recorded.at, event.options)))


def _reviewed(state: SessionState, recorded: Recorded, event: PlanReviewed) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    words = event.revision, event.verdict, event.comments, event.selected, event.answer
    review = Review(recorded.seq, recorded.at, recorded.by, *words)
    asked = record.asked if event.verdict == COMMENTED else None
    return _put(state, replace(record, reviews=(*record.reviews, review)[-MOST_REVIEWS:], asked=asked))


def _withdrawn(state: SessionState, recorded: Recorded, event: SuggestionWithdrawn) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    suggestions = tuple(suggestion for suggestion in record.suggestions if suggestion.seq != event.suggestion)
    return _put(state, replace(record, suggestions=suggestions, revision=recorded.seq, changed_at=recorded.at))


def _ended(state: SessionState, _recorded: Recorded, event: TurnEnded) -> _Changes:
    if not any(record.asked for record in state.plans.values()):
        return {"stopped": event.stop_reason}
    plans = {plan_id: replace(record, asked=None) for plan_id, record in state.plans.items()}
    return {"stopped": event.stop_reason, "plans": plans}


def _compacted(_state: SessionState, recorded: Recorded, _event: ContextCompacted) -> _Changes:
    return {"compacted": recorded.seq}


_RULES: Final[dict[type[Event], Callable[[SessionState, Recorded, Any], _Changes]]] = {
    SessionOpened: _opened,
    PlanSet: _set,
    PlanChanged: _changed,
    PlanRemoved: _removed,
    ReviewAsked: _asked,
    PlanReviewed: _reviewed,
    SuggestionWithdrawn: _withdrawn,
    TurnEnded: _ended,
    ContextCompacted: _compacted,
}


def _put(state: SessionState, record: PlanRecord) -> _Changes:
    return {"plans": {**state.plans, record.state.plan.id: record}}


def _still_open(suggestions: tuple[Delta, ...], state: PlanState) -> tuple[Delta, ...]:
    """The suggestions without those that a plan contains. No list can contain one in words alone."""
    places = {step.id: place for place, step in enumerate(state.steps)}
    texts = {step.content for step in state.steps}
    return tuple(
        each
        for each in suggestions
        if not each.changes or not all(_is_so(change, state.steps, places, texts) for change in each.changes)
    )


def _is_so(change: StepChange, steps: tuple[Step, ...], places: dict[str, int], texts: set[str]) -> bool:
    match change:
        case AddStep(content=content) | RewordStep(content=content):  # under whichever id the agent put it
            return content in texts
        case RemoveStep(step=step):
            return step not in places
        case MoveStep(step=step, after=""):
            return places.get(step) == 0
        case MoveStep(step=step, after=after):
            return step in places and after in places and places[step] == places[after] + 1
        case SetStatus(step=step, status=status):
            return step in places and canonical(steps[places[step]].status) == canonical(status)
        case SetPriority(step=step, priority=priority):
            return step in places and steps[places[step]].priority == priority
        case _ as never:
            assert_never(never)
