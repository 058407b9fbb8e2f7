"""Events to state: the one place with the rules of versions, revisions, ownership, remarks and verdicts.

`fold(state, recorded)` is the state after one more event. It never fails: an event in the journal has happened, and one
that does not fit its plan changes nothing. Writers check before they append, with `check_revision`.

| event | version | revision | steps | deltas | remarks | verdicts | asked |
|---|---|---|---|---|---|---|---|
| `PlanSet` | + 1 | its number | tracked | from here on | some end | stale, if the wording changed | no more |
| `PlanChanged` | | its number | changed | + 1 | some end | the same | no more, if by the agent |
| `PlanRemoved` | | its number | hidden | | most end | | no more |
| `PlanReopened` | | its number | back | | some open again | | |
| `ReviewAsked` | | | | | | | this |
| `PlanReviewed` | | | | | | + 1 | no more, if the agent has it |
| `Remarked` | | | | | + 1, some end | | |
| `RemarkClosed`, `RemarkAnswered`, `RemarkReopened` | | | | | that one | | |
| `Told` | | | | | those are told | that is told | no more, if that was the answer |
| `TurnEnded` | | | | | | | no more |

`remarks` has the life of a remark, `lineage` that of a proposal.

A plan from planwire's tools is planwire's: everyone's change is a change. A plan that an agent reports over ACP is the
agent's, and its next report replaces it: there a person's change is a suggestion, which is a remark. Older journals
have suggestions as `PlanChanged` by another than the owner, and comments inside of reviews: here these become remarks.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import asdict, replace

from planwire.errors import PlanError, StaleRevision
from planwire.model.changes import apply_changes
from planwire.model.events import (
    ACP,
    COMMENT,
    COMMENTED,
    OFFERED,
    REFUSED,
    SELECTION,
    SUGGESTION,
    TOLD,
    TOOLS,
    Choice,
    ContextCompacted,
    Event,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    ReviewAsked,
    SessionOpened,
    StopAsked,
    SuggestionWithdrawn,
    TellAsked,
    Told,
    TurnEnded,
)
from planwire.model.lineage import carried_out, close_remarks, proposed
from planwire.model.plan import NOTES_CAP, PlanId
from planwire.model.records import (
    AGENT,
    ANSWER,
    PLACED,
    PLANWIRE,
    Closing,
    Delta,
    Note,
    OpenQuestion,
    PlanRecord,
    RemarkAnswer,
    SessionState,
    Telling,
    Wish,
)
from planwire.model.remarks import (
    ANSWERED,
    PLAN_ENDED,
    WITHDRAWN,
    answered,
    close,
    closed_by_change,
    known,
    made,
    offered,
    refused,
    remark_of,
    reopened,
    told,
)
from planwire.model.steps import PlanState, track
from planwire.model.verdicts import reviewed, settled, unasked, with_answer
from planwire.model.wording import is_cleared, texts_of, wording

__all__ = ["check_revision", "fold", "fold_all"]


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
    after = track(event.plan, before.state if before else None, is_replacement=event.via == TOOLS)
    record = PlanRecord(
        after,
        AGENT if event.via == ACP else PLANWIRE,
        before.version + 1 if before else 1,
        recorded.seq,
        before.base if before else None,
        recorded.seq,
        before.created_at if before else recorded.at,
        recorded.at,
        recorded.by,
        event.summary,
        event.mode,
        numbered=before.numbered if before else 0,
        remarks=before.remarks if before else (),
        reviews=before.reviews if before else (),
        is_proposal=before.is_proposal if before else False,
        approval=before.approval if before else None,
        notes=before.notes if before else (),
        noted=before.noted if before else 0,
        parent=event.parent or (before.parent if before else None),
        reader=event.reader or (before.reader if before else ""),
        why=event.why or (before.why if before else ""),
    )
    record = _judged(before, record, recorded)

    def is_new() -> bool:
        return before is None or before.removed or wording(before.cleared or before.state) != wording(after)

    plans = carried_out({**state.plans, event.plan.id: record}, event.plan.id, recorded, is_new)
    return {"plans": plans, "stopped": None}


def _changed(state: SessionState, recorded: Recorded, event: PlanChanged) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None or record.removed:
        return {}
    touched = {"revision": recorded.seq, "changed_at": recorded.at, "numbered": record.numbered + 1}
    if record.owner == AGENT and recorded.by != AGENT:
        suggestion = Remarked(event.plan_id, SUGGESTION, event.note or "", record.revision, changes=event.changes)
        return _remark(state, replace(record, **touched), recorded, suggestion)
    delta = Delta(record.numbered + 1, recorded.seq, recorded.at, recorded.by, event.note, event.changes)
    try:
        after = apply_changes(record.state, event.changes)
    except PlanError:  # written under other rules
        after = record.state
    authors = _authors(record, after, recorded.by)
    changed = replace(record, state=after, deltas=(*record.deltas, delta), authors=authors, **touched)
    changed = replace(changed, why=event.why or record.why, **_noted(record, delta))
    news = {"asked": None} if recorded.by == AGENT else {"edited": recorded.seq}
    changed = _judged(record, replace(changed, **news), recorded)
    plans = carried_out({**state.plans, event.plan_id: changed}, event.plan_id, recorded)
    return {"plans": plans, "stopped": None} if recorded.by == AGENT else {"plans": plans}


def _noted(record: PlanRecord, delta: Delta) -> _Changes:
    """The notes of a plan with that of one more change. They belong to the plan and not to its version."""
    if not delta.note:
        return {}
    notes, room = [Note(delta.number, delta.at, delta.by, delta.note)], NOTES_CAP - len(delta.note.encode())
    for each in reversed(record.notes):
        room -= len(each.text.encode())
        if room < 0:
            break
        notes.append(each)
    return {"notes": tuple(reversed(notes)), "noted": record.noted + 1}


def _authors(record: PlanRecord, after: PlanState, by: str) -> dict[str, str]:
    """The authors of single steps, after a change that added some and reworded others."""
    before = texts_of(record.state)
    written = [step for step, text in texts_of(after).items() if before.get(step) != text]
    return {**record.authors, **dict.fromkeys(written, by)} if written else record.authors


def _judged(before: PlanRecord | None, after: PlanRecord, recorded: Recorded) -> PlanRecord:
    """A plan after a change of it: without the remarks that the change ends, and with verdicts on another wording
    marked as stale. A list that is cleared changes neither until there is another one to compare."""
    then = (before.cleared or before.state) if before else None
    if is_cleared(after.state):
        return replace(after, cleared=then)
    after = replace(after, remarks=closed_by_change(then, after, recorded), cleared=None)
    fresh = any(not each.is_stale for each in after.reviews) or after.approval is not None
    if then is None or not fresh or wording(then) == wording(after.state):
        return after
    return replace(after, reviews=tuple(replace(each, is_stale=True) for each in after.reviews), approval=None)


def _removed(state: SessionState, recorded: Recorded, event: PlanRemoved) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    touched = {"revision": recorded.seq, "changed_at": recorded.at, "asked": None}
    record = replace(record, removed=True, removed_by=recorded.by, **touched)
    return _put(state, close_remarks(record, recorded))


def _plan_reopened(state: SessionState, recorded: Recorded, event: PlanReopened) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None or record.is_living:
        return {}
    remarks = reopened(record.remarks, lambda each: each.closed is not None and each.closed.how == PLAN_ENDED, recorded)
    touched = {"revision": recorded.seq, "changed_at": recorded.at, "removed": False, "removed_by": ""}
    return _put(state, replace(record, ended="", approval=None, remarks=remarks, **touched))


def _asked(state: SessionState, recorded: Recorded, event: ReviewAsked) -> _Changes:
    record = state.live().get(event.plan_id)
    if record is None:
        return {}
    options = tuple(each if isinstance(each, Choice) else Choice("", each) for each in event.options)
    question = OpenQuestion(recorded.seq, recorded.at, options, event.question)
    asked = replace(record, asked=question, disputed=0)
    return {"plans": proposed({**state.plans, event.plan_id: asked}, event.plan_id, recorded)}


def _reviewed(state: SessionState, recorded: Recorded, event: PlanReviewed) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    said = [
        remark_of(recorded, each, number) for number, each in enumerate(_said_with(event), start=state.remarked + 1)
    ]
    if said:
        record = replace(record, remarks=known(record.remarks, said))
    if event.verdict != COMMENTED:
        record = reviewed(state, record, recorded, event)
    return {**_put(state, record), "remarked": state.remarked + len(said)}


def _answered(state: SessionState, recorded: Recorded, event: Told) -> _Changes:
    telling = Telling(recorded.seq, recorded.at, event.way, event.request)
    return {"plans": {key: with_answer(state, record, recorded, telling) for key, record in state.plans.items()}}


def _said_with(event: PlanReviewed) -> Iterable[Remarked]:
    """The remarks inside of a review, which older journals have."""
    for each in event.comments:
        yield Remarked(event.plan_id, COMMENT, each.text, event.revision, each.step, each.quote)
    if event.selected is not None:
        yield Remarked(event.plan_id, SELECTION, "", event.revision, steps=event.selected)


def _remarked(state: SessionState, recorded: Recorded, event: Remarked) -> _Changes:
    record = state.plans.get(event.plan_id)
    return _remark(state, record, recorded, event) if record else {"remarked": state.remarked + 1}


def _remark(state: SessionState, record: PlanRecord, recorded: Recorded, event: Remarked) -> _Changes:
    number = state.remarked + 1
    remarks = made(record.remarks, remark_of(recorded, event, number), recorded)
    return {**_put(state, replace(record, remarks=remarks)), "remarked": number}


def _remark_closed(state: SessionState, recorded: Recorded, event: RemarkClosed) -> _Changes:
    record = state.plans.get(event.plan_id)
    closing = Closing(recorded.seq, recorded.at, recorded.by, event.how, event.text)
    return _put(state, replace(record, remarks=close(record.remarks, event.remark, closing))) if record else {}


def _remark_answered(state: SessionState, recorded: Recorded, event: RemarkAnswered) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    answer = RemarkAnswer(recorded.at, recorded.by, event.text)
    closing = Closing(recorded.seq, recorded.at, recorded.by, ANSWERED, event.text)
    return _put(state, replace(record, remarks=answered(record.remarks, event.remark, answer, closing)))


def _remark_reopened(state: SessionState, recorded: Recorded, event: RemarkReopened) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    return _put(
        state, replace(record, remarks=reopened(record.remarks, lambda each: each.id == event.remark, recorded))
    )


def _withdrawn(state: SessionState, recorded: Recorded, event: SuggestionWithdrawn) -> _Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    closing = Closing(recorded.seq, recorded.at, recorded.by, WITHDRAWN)
    ids = [each.id for each in record.suggestions if each.seq == event.suggestion]
    remarks = close(record.remarks, ids[0], closing) if ids else record.remarks
    return _put(state, replace(record, remarks=remarks, revision=recorded.seq, changed_at=recorded.at))


def _told(state: SessionState, recorded: Recorded, event: Told) -> _Changes:
    if event.way == ANSWER:
        return _answered(state, recorded, event)
    changes = _told_words(state, recorded, event)
    is_done = state.tell is not None and event.stage == TOLD and event.upto >= state.tell.seq
    return {**changes, "tell": None} if is_done else changes


def _told_words(state: SessionState, recorded: Recorded, event: Told) -> _Changes:
    ids = frozenset(event.remarks)
    if event.stage == OFFERED:
        offer = Telling(recorded.seq, recorded.at, event.way, event.request)
        plans = _each(state, lambda record: replace(record, remarks=offered(record.remarks, ids, offer)))
        return {"plans": plans, "placed": max(state.placed, event.upto)} if event.way in PLACED else {"plans": plans}
    if event.stage == REFUSED:
        plans = _each(state, lambda record: replace(record, remarks=refused(record.remarks, event.request)))
        return {"plans": plans, "told": min(state.told, event.since)}
    telling = Telling(recorded.seq, recorded.at, event.way, event.request)

    def heard(record: PlanRecord) -> PlanRecord:
        return close_remarks(replace(record, remarks=told(record.remarks, ids, telling)), recorded)

    return {"plans": _each(state, heard), "told": max(state.told, event.upto)}


def _message(state: SessionState, recorded: Recorded, event: MessageAdded) -> _Changes:
    """A message tells nothing of what people said, but in older journals the relay's reminder did."""
    match event.message:
        case {"role": "event", "extra": {"event": {"source": "relay", "payload": {"mark": str(), "told": int(upto)}}}}:
            pass
        case _:
            return {}
    telling = Telling(recorded.seq, recorded.at, "", "")

    def heard(record: PlanRecord) -> PlanRecord:
        ids = frozenset(each.id for each in record.remarks if each.seq <= upto)
        return replace(record, remarks=told(record.remarks, ids, telling))

    return {"plans": _each(state, heard), "told": max(state.told, upto)}


def _each(state: SessionState, change: Callable[[PlanRecord], PlanRecord]) -> dict[PlanId, PlanRecord]:
    """The plans, those with remarks changed."""
    return {plan_id: change(record) if record.remarks else record for plan_id, record in state.plans.items()}


def _tell_asked(state: SessionState, recorded: Recorded, event: TellAsked) -> _Changes:
    return {"tell": Wish(recorded.seq, recorded.at, recorded.by, event.interrupt), "plans": settled(state.plans)}


def _stop_asked(state: SessionState, recorded: Recorded, _event: StopAsked) -> _Changes:
    return {"stop": Wish(recorded.seq, recorded.at, recorded.by), "plans": settled(state.plans)}


def _ended(state: SessionState, recorded: Recorded, event: TurnEnded) -> _Changes:
    ended = {"stopped": event.stop_reason, "turns": state.turns + 1, "stop": None}
    if not any(record.asked for record in state.plans.values()):
        return ended
    return {**ended, "plans": {plan_id: unasked(state, record, recorded) for plan_id, record in state.plans.items()}}


def _compacted(_state: SessionState, recorded: Recorded, _event: ContextCompacted) -> _Changes:
    return {"compacted": recorded.seq}


_RULES: Final[dict[type[Event], Callable[[SessionState, Recorded, Any], _Changes]]] = {
    SessionOpened: _opened,
    PlanSet: _set,
    PlanChanged: _changed,
    PlanRemoved: _removed,
    PlanReopened: _plan_reopened,
    ReviewAsked: _asked,
    PlanReviewed: _reviewed,
    Remarked: _remarked,
    RemarkClosed: _remark_closed,
    RemarkAnswered: _remark_answered,
    RemarkReopened: _remark_reopened,
    SuggestionWithdrawn: _withdrawn,
    TellAsked: _tell_asked,
    StopAsked: _stop_asked,
    Told: _told,
    MessageAdded: _message,
    TurnEnded: _ended,
    ContextCompacted: _compacted,
}


def _put(state: SessionState, record: PlanRecord) -> _Changes:
    return {"plans": {**state.plans, record.state.plan.id: record}}
