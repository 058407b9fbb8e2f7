"""The rules for plans: versions, revisions, steps, changes, notes and ownership. `fold` has the table.

A rule takes the state before an event and returns the fields of the state that the event changes.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from planwire.errors import PlanError
from planwire.model.carried import Carried, carried_change, carried_plan
from planwire.model.changes import apply_changes
from planwire.model.events import (
    ACP,
    HOOKS,
    FileSeen,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanSet,
    Recorded,
    Remarked,
)
from planwire.model.lineage import carried_out, close_remarks
from planwire.model.names import id_number, made_name
from planwire.model.plan import NOTES_CAP, FilePlan, MarkdownPlan
from planwire.model.records import AGENT, PLANWIRE, Delta, PlanNote, PlanRecord, SessionState
from planwire.model.remarks import PLAN_ENDED, after_change, made, remark_of, reopened
from planwire.model.step_changes import AddStep, RewordStep
from planwire.model.steps import restate
from planwire.model.wording import is_cleared

#: How many changes of a plan its record holds at least. Older ones stay only until the agent was told of them.
RECENT_DELTAS: Final = 64

#: Fields of a session's state, with their new values.
Changes: TypeAlias = dict[str, Any]


def plan_set(state: SessionState, recorded: Recorded, event: PlanSet) -> Changes:
    before = state.plans.get(event.plan.id)
    then = before.state if before else None
    kept = before if before and not before.removed else None
    is_edit = kept is not None and _is_edit(kept, recorded.by)
    carried = carried_plan(event.origin)
    after = restate(event.plan, event.ids, then, carried.born if carried else 0)
    record = PlanRecord(
        after,
        kept.owner if kept and is_edit else AGENT if event.via in (ACP, HOOKS) else PLANWIRE,
        before.version + 1 if before else 1,
        recorded.seq,
        before.base if before else None,
        recorded.seq,
        before.created_at if before else recorded.at,
        recorded.at,
        recorded.author,
        event.summary or (kept.summary if kept else None),
        event.mode,
        numbered=before.numbered if before else 0,
        remarks=before.remarks if before else (),
        reviews=before.reviews if before else (),
        asked=kept.asked if kept and is_edit else None,
        pending=kept.pending if kept else None,
        is_proposal=before.is_proposal if before else False,
        approval=before.approval if before else None,
        notes=kept.notes if kept else (),
        noted=kept.noted if kept else 0,
        parent=event.parent or (kept.parent if kept else None),
        reader=event.reader or (kept.reader if kept else ""),
        why=event.why or (kept.why if kept else ""),
        message=made_name(recorded),
        past_message=before.message if before else None,
    )
    if carried:
        record = _as_it_was(record, carried, before)
    record = _judged(before, record, recorded, event)
    is_new = before is None or before.removed or event.rewords
    plans = carried_out({**state.plans, event.plan.id: record}, event.plan.id, recorded, is_new=is_new)
    return {"plans": plans, "stopped": state.stopped if is_edit else None, "mode": event.mode or state.mode}


def _is_edit(record: PlanRecord, by: str) -> bool:
    """Whether a new text by this author is the edited plan of a person who approves it."""
    return by != AGENT and record.asked is not None and record.asked.takes_edit


def _as_it_was(record: PlanRecord, carried: Carried, before: PlanRecord | None) -> PlanRecord:
    """A plan that came from another chat, with its history there. If the session already has a plan of its name, it is
    the next version of that one."""
    named = replace(record, message=carried.message_id or record.message, by=carried.by or record.by)
    past = carried.supersedes
    if before is not None and carried.version == before.version and past == before.message:  # it was told anew
        named, past = replace(named, message=before.message, deltas=before.deltas), before.past_message
    elif before is not None and carried.version <= before.version:
        return named
    return replace(
        named,
        version=carried.version,
        revision=record.revision,
        carried=carried.revision,
        changed_at=carried.at or record.changed_at,
        past_message=past,
        numbered=max(record.numbered, carried.numbered),
        notes=carried.notes or record.notes,
        noted=max(carried.noted, record.noted),
        authors=carried.authors,
    )


def plan_changed(state: SessionState, recorded: Recorded, event: PlanChanged) -> Changes:
    record = state.plans.get(event.plan_id)
    if record is None or record.removed or (record.owner == AGENT and recorded.by != AGENT):
        return {}
    number, author, at = carried_change(event.origin)
    number, author, at = max(number, record.numbered + 1), author or recorded.author, at or recorded.at
    touched = {"revision": recorded.seq, "changed_at": at, "numbered": number, "carried": 0}
    delta = Delta(number, recorded.seq, at, author, event.note, event.changes)
    after, authors = record.state, record.authors
    with suppress(PlanError):  # another writer, whose rules differ, made it
        after = apply_changes(record.state, event.changes)
        authors = {**authors, **dict.fromkeys(_written(event), author)}
    changed = replace(record, state=after, deltas=_recent(state, record, delta), authors=authors, **touched)
    changed = replace(changed, why=event.why or record.why, **_noted(record, delta))
    news = {"asked": None} if recorded.by == AGENT else {"edited": recorded.seq}
    changed = _judged(record, replace(changed, **news), recorded, event)
    plans = carried_out({**state.plans, event.plan_id: changed}, event.plan_id, recorded)
    return {"plans": plans, "stopped": None} if recorded.by == AGENT else {"plans": plans}


def _recent(state: SessionState, record: PlanRecord, delta: Delta) -> tuple[Delta, ...]:
    """The changes of a version with one more. Of those that the agent knows, only the last ones stay: the journal has
    them all, and a state must not grow with its history."""
    if len(record.deltas) < 2 * RECENT_DELTAS:
        return (*record.deltas, delta)
    told = min(state.told, state.placed) if record.edited else state.seq
    older = [each for each in record.deltas[:-RECENT_DELTAS] if each.by != AGENT and each.seq > told]
    return (*older, *record.deltas[-RECENT_DELTAS:], delta)


def _noted(record: PlanRecord, delta: Delta) -> Changes:
    """The notes of a plan after one more change. They belong to the plan, not to its version."""
    if not delta.note:
        return {}
    notes, room = [PlanNote(delta.number, delta.at, delta.by, delta.note)], NOTES_CAP - len(delta.note.encode())
    for each in reversed(record.notes):
        room -= len(each.text.encode())
        if room < 0:
            break
        notes.append(each)
    return {"notes": tuple(reversed(notes)), "noted": record.noted + 1}


def _written(event: PlanChanged) -> Iterator[str]:
    """The steps whose text a change wrote."""
    for change in event.changes:
        match change:
            case AddStep(id=step) | RewordStep(step=step) if step:
                yield step


def _judged(
    before: PlanRecord | None, after: PlanRecord, recorded: Recorded, event: PlanSet | PlanChanged | FileSeen
) -> PlanRecord:
    """A plan after a change, with the remarks closed that the change closes, and verdicts on another wording marked as
    stale. Clearing a list does neither, until there is another list."""
    if is_cleared(after.state):
        return replace(after, cleared=(before.cleared or before.state) if before else None)
    after = replace(after, remarks=after_change(after.remarks, event, after.state, recorded), cleared=None)
    if not event.rewords:
        return after
    stale = tuple(replace(each, is_stale=True) for each in after.reviews)
    return replace(after, reviews=stale, approval=None, pending=after.pending_request)


def file_seen(state: SessionState, recorded: Recorded, event: FileSeen) -> Changes:
    record = state.plans.get(event.plan_id)
    if record is None or record.removed or not isinstance(record.state.plan, FilePlan):
        return {}
    steps = restate(MarkdownPlan(event.plan_id, event.text), event.ids, record.state)
    after = replace(
        record,
        state=replace(steps, plan=record.state.plan),
        file=event.text,
        revision=recorded.seq,
        changed_at=recorded.at,
        numbered=record.numbered + (record.file is not None),
        carried=0,
    )
    return put(state, _judged(record, after, recorded, event))


def plan_removed(state: SessionState, recorded: Recorded, event: PlanRemoved) -> Changes:
    record = state.plans.get(event.plan_id)
    if record is None:
        return {}
    touched = {"revision": recorded.seq, "changed_at": recorded.at, "asked": None, "pending": None}
    record = replace(record, removed=True, removed_by=recorded.author, **touched)
    return put(state, close_remarks(record, recorded))


def plan_reopened(state: SessionState, recorded: Recorded, event: PlanReopened) -> Changes:
    record = state.plans.get(event.plan_id)
    if record is None or record.is_living:
        return {}
    remarks = reopened(record.remarks, lambda each: each.closed is not None and each.closed.how == PLAN_ENDED, recorded)
    touched = {"revision": recorded.seq, "changed_at": recorded.at, "removed": False, "removed_by": ""}
    return put(state, replace(record, ended="", approval=None, remarks=remarks, **touched))


def remarked(state: SessionState, record: PlanRecord, recorded: Recorded, event: Remarked) -> Changes:
    remark = remark_of(recorded, event, state.remarked + 1)
    # A remark that was carried over supersedes none here: those that it superseded were in its old chat.
    remarks = (*record.remarks, remark) if event.carried else made(record.remarks, remark, recorded)
    return {**put(state, replace(record, remarks=remarks)), "remarked": max(state.remarked, id_number("r", remark.id))}


def put(state: SessionState, record: PlanRecord) -> Changes:
    return {"plans": {**state.plans, record.state.plan.id: record}}
