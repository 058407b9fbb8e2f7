"""Events to state: the rules of versions, revisions, ownership, remarks and verdicts in one table.

`fold(state, recorded)` is the state after one more event. It never fails: an event in the journal has happened, and an
event that does not fit its plan changes nothing. Writers check with `check_revision` before they append.

| event | version | revision | steps | deltas | remarks | verdicts | asked |
|---|---|---|---|---|---|---|---|
| `PlanSet` | + 1 | its number | tracked | from here on | some end | stale, if reworded | no more, but for an edit |
| `PlanChanged` | | its number | changed | + 1 | some end | the same | no more, if by the agent |
| `FileSeen` | | its number | tracked | | some end | stale, if reworded | |
| `PlanRemoved` | | its number | hidden | | most end | | no more |
| `PlanReopened` | | its number | back | | some open again | | |
| `ReviewAsked` | | | | | | | this |
| `PlanReviewed` | | | | | | + 1 | no more, if the agent has it |
| `ReviewPending`, `ReviewUndone` | | | | | | | |
| `Remarked` | | | | | + 1, some end | | |
| `RemarkClosed`, `RemarkAnswered`, `RemarkReopened` | | | | | that one | | |
| `Told` | | | | | those are told | that is told | no more, if that was the answer |
| `TurnEnded` | | | | | | | no more |

`Gap` and the events of the chat change nothing here. `remarks` has the life of a remark, `lineage` that of a proposal.

A plan from planwire's tools is planwire's: everyone's change is a change. A plan that an agent reports, over ACP or by
hooks, is the agent's, and its next report replaces it: there a person's change is a suggestion, which is a remark.

Nothing here compares texts or guesses: what a comparison says is in the event, since its writer decided it (`decide`).

In one case a person does change an agent's plan: the agent asks, accepts edits, and they approve the plan as they
edited it. The plan stays the agent's, its turn goes on, and the question stays open until the agent has its answer.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import asdict, replace

from planwire.errors import StaleRevision
from planwire.model import events
from planwire.model.carried import metadata_of
from planwire.model.lineage import close_remarks, proposed
from planwire.model.plan import PlanId
from planwire.model.plan_rules import (
    Changes,
    file_seen,
    plan_changed,
    plan_removed,
    plan_reopened,
    plan_set,
    put,
    remarked,
)
from planwire.model.readers import LEAD, heard_by
from planwire.model.records import (
    AGENT,
    ANSWER,
    PLACED,
    RECAP,
    Closing,
    HeardUpTo,
    OpenQuestion,
    PendingVerdict,
    PlanRecord,
    RemarkAnswer,
    SessionState,
    Telling,
    Wish,
)
from planwire.model.remarks import (
    ANSWERED,
    answered,
    close,
    offered,
    refused,
    reopened,
    told,
)
from planwire.model.verdicts import reviewed, settled, still_pending, unasked, with_answer


def fold(state: SessionState, recorded: events.Recorded) -> SessionState:
    """The state after one more event of its session."""
    rule = _RULES.get(type(recorded.event))
    changes = rule(state, recorded, recorded.event) if rule else {}
    acted = recorded.seq if _shows_work(recorded) else state.acted
    return replace(state, seq=recorded.seq, at=recorded.at, acted=acted, **changes)


def _shows_work(recorded: events.Recorded) -> bool:
    """Whether only an agent at work can have caused an event. A turn also ends when the agent goes away."""
    event = recorded.event
    return event.stop_reason != events.DISCONNECTED if isinstance(event, events.TurnEnded) else recorded.by == AGENT


def fold_all(session: str, past: Iterable[events.Recorded], state: SessionState | None = None) -> SessionState:
    """The state after all the events of a past, on top of `state` if there is one."""
    state = state or SessionState(session)
    for recorded in past:
        state = fold(state, recorded)
    return state


def check_revision(state: SessionState, plan_id: PlanId, expected: int | None) -> None:
    """Raise `StaleRevision` if a writer expects another revision than the current one; None expects any."""
    record = state.plans.get(plan_id)
    current = record.revision if record else 0
    carried = record.carried if record else 0
    if expected is not None and expected != current and not (carried and expected == carried):
        name = "the plan" if plan_id is None else f"the plan {plan_id!r}"
        problem = f"{name} changed since revision {expected} (now {current}): look at it again before you decide"
        raise StaleRevision(problem, current, expected)


def _opened(state: SessionState, _recorded: events.Recorded, event: events.SessionOpened) -> Changes:
    known = asdict(state.opened) if state.opened else {}
    if event.cwd is not None and event.cwd != known.get("cwd"):
        known["repository"] = None  # that of the folder before
    opened = events.SessionOpened(**{**known, **{key: word for key, word in asdict(event).items() if word is not None}})
    if event.forked is None:
        return {"opened": opened, "remarked": max(state.remarked, event.remarked or 0)}
    # No question is open in the fork: its agent waits for the answer in the session that was forked.
    plans = {plan_id: replace(record, asked=None, disputed=0, pending=None) for plan_id, record in state.plans.items()}
    return {"opened": opened, "plans": plans, "tell": None, "stop": None, "forks": ()}


def _forked(state: SessionState, _recorded: events.Recorded, event: events.SessionForked) -> Changes:
    return {"forks": (*state.forks, events.Origin(event.session, event.seq))}


def _asked(state: SessionState, recorded: events.Recorded, event: events.ReviewAsked) -> Changes:
    record = state.live().get(event.plan_id)
    if record is None:
        return {}
    question = OpenQuestion(recorded.seq, recorded.at, event.options, event.question, event.takes_edit)
    asked = replace(record, asked=question, disputed=0)
    return {"plans": proposed({**state.plans, event.plan_id: asked}, event.plan_id, recorded)}


def _reviewed(state: SessionState, recorded: events.Recorded, event: events.PlanReviewed) -> Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    record = replace(record, pending=still_pending(record, recorded, event))
    return put(state, reviewed(state, record, recorded, event) if event.verdict != events.COMMENTED else record)


def _pending(state: SessionState, recorded: events.Recorded, event: events.ReviewPending) -> Changes:
    record = state.live().get(event.plan_id)
    pending = PendingVerdict(recorded.seq, recorded.at, recorded.author, event)
    return put(state, replace(record, pending=pending)) if record else {}


def _undone(state: SessionState, _recorded: events.Recorded, event: events.ReviewUndone) -> Changes:
    record = state.plans.get(event.plan_id)
    is_pending = record is not None and record.pending is not None and record.pending.seq == event.review
    return put(state, replace(record, pending=None)) if record and is_pending else {}


def _answered(state: SessionState, recorded: events.Recorded, event: events.Told) -> Changes:
    telling = Telling(recorded.seq, recorded.at, event.way, event.request)
    return {"plans": {key: with_answer(state, record, recorded, telling) for key, record in state.plans.items()}}


def _remarked(state: SessionState, recorded: events.Recorded, event: events.Remarked) -> Changes:
    record = state.plans.get(event.plan_id)
    return remarked(state, record, recorded, event) if record else {}


def _remark_closed(state: SessionState, recorded: events.Recorded, event: events.RemarkClosed) -> Changes:
    record = state.plans.get(event.plan_id)
    closing = Closing(recorded.seq, recorded.at, recorded.author, event.how, event.text)
    return put(state, replace(record, remarks=close(record.remarks, event.remark, closing))) if record else {}


def _remark_answered(state: SessionState, recorded: events.Recorded, event: events.RemarkAnswered) -> Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    answer = RemarkAnswer(recorded.at, recorded.author, event.text)
    closing = Closing(recorded.seq, recorded.at, recorded.author, ANSWERED, event.text)
    return put(state, replace(record, remarks=answered(record.remarks, event.remark, answer, closing)))


def _remark_reopened(state: SessionState, recorded: events.Recorded, event: events.RemarkReopened) -> Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    return put(state, replace(record, remarks=reopened(record.remarks, lambda each: each.id == event.remark, recorded)))


def _told(state: SessionState, recorded: events.Recorded, event: events.Told) -> Changes:
    if event.way == ANSWER:
        return _answered(state, recorded, event)
    changes = _told_words(state, recorded, event)
    if event.stage != events.TOLD:
        return changes
    if event.way == RECAP and event.reader == AGENT:
        changes = {**changes, "recapped": recorded.seq}
    is_done = state.tell is not None and event.upto >= state.tell.seq
    return {**changes, "tell": None} if is_done else changes


def _told_words(state: SessionState, recorded: events.Recorded, event: events.Told) -> Changes:
    ids = frozenset(event.remarks)
    heard = heard_by(state, reader := LEAD if event.reader == AGENT else event.reader)
    if event.stage == events.OFFERED:
        offer = Telling(recorded.seq, recorded.at, event.way, event.request, event.reader)
        plans = _each(state, lambda record: replace(record, remarks=offered(record.remarks, ids, offer)))
        placed = max(heard.placed, event.upto) if event.way in PLACED else heard.placed
        return {"plans": plans, **_heard(state, reader, replace(heard, placed=placed))}
    if event.stage == events.REFUSED:
        plans = _each(state, lambda record: replace(record, remarks=refused(record.remarks, event.request)))
        return {"plans": plans, **_heard(state, reader, replace(heard, told=min(heard.told, event.since)))}
    telling = Telling(recorded.seq, recorded.at, event.way, event.request, event.reader)

    def knows(record: PlanRecord) -> PlanRecord:
        return close_remarks(replace(record, remarks=told(record.remarks, ids, telling, event.stale)), recorded)

    now = replace(heard, told=max(heard.told, event.upto))
    return {"plans": _each(state, knows), **_heard(state, reader, now)}


def _heard(state: SessionState, reader: str, now: HeardUpTo) -> Changes:
    if reader == LEAD:
        return asdict(now)
    return {"children": {**state.children, reader: now}}


def _message(_state: SessionState, _recorded: events.Recorded, event: events.MessageAdded) -> Changes:
    """A message may switch the mode."""
    match metadata_of(event.message, "event"):
        case {"subkind": "mode_switch", "payload": {"to": str(mode)}} if event.reader == LEAD:
            return {"mode": mode}
    return {}


def _each(state: SessionState, change: Callable[[PlanRecord], PlanRecord]) -> dict[PlanId, PlanRecord]:
    """All plans, with `change` made to those that have remarks."""
    return {plan_id: change(record) if record.remarks else record for plan_id, record in state.plans.items()}


def _tell_asked(state: SessionState, recorded: events.Recorded, event: events.TellAsked) -> Changes:
    return {"tell": Wish(recorded.seq, recorded.at, recorded.author, event.interrupt), "plans": settled(state.plans)}


def _stop_asked(state: SessionState, recorded: events.Recorded, _event: events.StopAsked) -> Changes:
    return {"stop": Wish(recorded.seq, recorded.at, recorded.author), "plans": settled(state.plans)}


def _ended(state: SessionState, recorded: events.Recorded, event: events.TurnEnded) -> Changes:
    ended = {"stopped": event.stop_reason, "turns": state.turns + 1, "stop": None}
    if not any(record.asked for record in state.plans.values()):
        return ended
    return {**ended, "plans": {plan_id: unasked(state, record, recorded) for plan_id, record in state.plans.items()}}


def _compacted(_state: SessionState, recorded: events.Recorded, _event: events.ContextCompacted) -> Changes:
    return {"compacted": recorded.seq}


_RULES: Final[dict[type[events.Event], Callable[[SessionState, events.Recorded, Any], Changes]]] = {
    events.SessionOpened: _opened,
    events.SessionForked: _forked,
    events.PlanSet: plan_set,
    events.PlanChanged: plan_changed,
    events.FileSeen: file_seen,
    events.PlanRemoved: plan_removed,
    events.PlanReopened: plan_reopened,
    events.ReviewAsked: _asked,
    events.PlanReviewed: _reviewed,
    events.ReviewPending: _pending,
    events.ReviewUndone: _undone,
    events.Remarked: _remarked,
    events.RemarkClosed: _remark_closed,
    events.RemarkAnswered: _remark_answered,
    events.RemarkReopened: _remark_reopened,
    events.TellAsked: _tell_asked,
    events.StopAsked: _stop_asked,
    events.Told: _told,
    events.MessageAdded: _message,
    events.TurnEnded: _ended,
    events.ContextCompacted: _compacted,
}
