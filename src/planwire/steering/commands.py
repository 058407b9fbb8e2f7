"""Commands: one function per act of a person, from the plan and the arguments to the events to append.

A command is pure. It gets a plan as it is at the moment of writing, and returns a `Decision`. If nothing may be
written it raises `NothingChanges`, because everything asked for is already so, or another `PlanError`, because the plan
can't do it. "Nothing changes" matters most for agents: every event that touches a plan makes a revision, and a revision
that changes nothing would still get the agent's next write refused.

On planwire's own plan a change is made at once. On an agent's plan, which the agent's next list replaces, a change is a
suggestion; `suggestions` has the rules for them.
"""

from typing import Final

from msgspec.structs import replace

from planwire.errors import EmptyText, NothingChanges, PlanError, UnknownWord
from planwire.model.changes import apply_changes, effective_changes
from planwire.model.events import COMMENT, SUGGESTION, Event, PlanChanged, PlanRemoved, RemarkClosed, Remarked
from planwire.model.kinds import kind_of
from planwire.model.plan import BODY_CAP, PRIORITIES
from planwire.model.priorities import folded_priority
from planwire.model.records import Remark
from planwire.model.remarks import SUPERSEDED, WITHDRAWN, superseded
from planwire.model.sizes import plan_bytes
from planwire.model.statuses import STATUSES, after_tick, canonical, folded_status
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.text import unwrapped
from planwire.steering.moves import way_before, ways_to_move
from planwire.steering.overlay import Overlay
from planwire.steering.plan_text import changes_in, merge
from planwire.steering.remark_acts import withdraw
from planwire.steering.suggestions import best_way, compared, settled, undone
from planwire.steering.target import Decision, Disputed, Target, check_length, refuse_unchangeable, remark_named
from planwire.steering.wanted import Wanted
from planwire.steering.words import changes_sentence, step_texts

# -- acts


def tick(on: Target, wanted: Wanted) -> Decision:
    """Mark a step done, or undo that; on an agent's plan, a person's second tick withdraws their suggestion.

    It means what the person saw: if the agent completed the step in the meantime, it stays completed, and if another
    person suggested a tick, it stays suggested. A person knows their own suggestions, also those after the revision
    that they saw, since a suggestion makes no revision.
    """
    step = on.step(wanted.target)
    seen = on.seen or on.record
    status = next((each.status for each in seen.state.steps if each.id == step.id), step.status)
    change = SetStatus(step.id, after_tick(status))
    known = {each.id: each for each in (*seen.suggestions, *on.suggestions)} if on.is_suggested else {}
    ticked = superseded([change], (each for each in known.values() if each.by == on.by))
    if not ticked or compared(ticked[-1].changes[-1]) != change:
        return _change(on, (change,))
    ids = {each.id for each in ticked}
    still_open = tuple(each for each in on.suggestions if each.id in ids)
    if not still_open:
        raise NothingChanges(_NOT_OPEN)
    return _withdrawal(on, still_open)


def set_status(on: Target, wanted: Wanted) -> Decision:
    """Another status, by any of its spellings."""
    return _change(on, (SetStatus(on.step(wanted.target).id, _status(on, wanted.status or "")),))


def set_priority(on: Target, wanted: Wanted) -> Decision:
    """Another priority, on a plan whose steps have one."""
    step = on.step(wanted.target)
    if not kind_of(on.record.state.plan).has_priorities:
        raise PlanError("Steps of a markdown plan have no priority: put it into their text.")
    return _change(on, (SetPriority(step.id, _priority(on, wanted.priority or "")),))


def reword(on: Target, wanted: Wanted) -> Decision:
    """Another text for a step, or for the new step of a suggestion."""
    text = _step_text(wanted.text or "")
    if wanted.is_on_remark:
        suggestion, added = suggested_step(on, wanted.target or "")
        if unwrapped(text) == unwrapped(added.content):
            raise NothingChanges(_ALREADY_SUGGESTED)
        return _changed(on, (replace(added, content=text),), None, (suggestion,))
    step = on.step(wanted.target)
    is_same = unwrapped(text) == unwrapped(step.content)
    return _change(on, (RewordStep(step.id, step.content if is_same else text),))


def add(on: Target, wanted: Wanted) -> Decision:
    """A new step after the step `after`; at the end if that is None, at the beginning if it is ""."""
    refuse_unchangeable(on.record)
    return _change(on, (AddStep(_step_text(wanted.text or ""), wanted.after),))


def move(on: Target, wanted: Wanted) -> Decision:
    """Another place: after the step `after` ("" is the beginning), before another step, or `by` places up or down.

    Places count in the suggested order: the next key press moves the step on from where the last one put it, whether or
    not the screen shows that yet.
    """
    step = on.step(wanted.target)
    if [wanted.after, wanted.before, wanted.by].count(None) != 2:
        raise PlanError("Name one place: the step to move it after or before, or the number of places to move it.")
    if wanted.after is not None:
        return _change(on, (MoveStep(step.id, wanted.after),))
    if wanted.before is not None:
        state, other = on.record.state, on.step(wanted.before)
        if other.id == step.id:
            raise NothingChanges("Nothing changes: the step stays where it is.")
        return _change(on, way_before(state.steps, step.id, other.id, is_text=kind_of(state.plan).is_text))
    by = wanted.by or 0
    ways = ways_to_move(Overlay.of(on.record.state, on.suggestions).steps, step.id, by)
    if not ways:
        edge = f"already the {'first' if by < 0 else 'last'} of its list" if by else "to stay where it is"
        raise NothingChanges(f"Nothing changes: the step is {edge}.")
    if by < 0 and kind_of(on.record.state.plan).is_text:
        ways = ways[::-1]  # the step above the passed one may be in another list of the text
    back = undone(on.record.state, on.suggestions, ways)
    return _withdrawal(on, back) if back else _change(on, best_way(on.record.state, on.suggestions, ways))


def remove(on: Target, wanted: Wanted) -> Decision:
    """Remove a step and everything nested in it. A suggested step is removed by withdrawing its suggestion."""
    if wanted.is_on_remark:
        return withdraw(on, wanted)
    return _change(on, (RemoveStep(on.step(wanted.target).id),))


def suggest(on: Target, wanted: Wanted) -> Decision:
    """Several changes at once, a note on them, or both: those in `changes`, or those that a person made to `plan_text`.

    Changes to an earlier state are carried over. If another writer reworded or removed a step meanwhile, the person
    must decide on it again.
    """
    note = (wanted.text or "").strip() or None
    if not wanted.has_changes:
        if note is None:
            raise NothingChanges("Nothing to save: change a step or add a comment.")
        return _change(on, (), note)
    refuse_unchangeable(on.record)
    changes = wanted.changes or ()
    if wanted.plan_text is not None:
        if changes:
            raise PlanError("Give the changes or the edited plan, not both.")
        changes = changes_in(wanted.plan_text, (on.seen or on.record).state)
        if not changes and note is None:
            raise NothingChanges("Nothing to save: the text is as it was.")
    changes = tuple(_checked(on, each) for each in changes)
    if on.seen is not None and not wanted.anyway:
        merged = merge(changes, on.seen.state, on.record.state)
        if merged.disputed:
            raise Disputed(merged.changes, merged.disputed, step_texts(on.record.state))
    return _change(on, changes, note)


def dismiss(on: Target, wanted: Wanted) -> Decision:
    """Remove the plan from every list. Its history stays, and it comes back if its agent sends it again."""
    del wanted
    return Decision((PlanRemoved(on.record.state.plan.id),), "Plan dismissed. Its history stays.")


def suggested_step(on: Target, remark_id: str) -> tuple[Remark, AddStep]:
    """The suggestion of a new step, which can be reworded. Raises `PlanError` for any other remark."""
    remark = remark_named(on, remark_id)
    if remark.kind != SUGGESTION:
        raise PlanError(f"Only a step can be reworded: withdraw the {remark.kind}, then make another one.")
    if remark.closed is not None:
        raise PlanError("This suggestion is closed: reopen it, or add the step again.")
    match remark.changes:
        case (AddStep() as added,) if not remark.text:
            return remark, added
    raise PlanError("This suggestion is more than a new step: withdraw it, then make another one.")


# -- valid texts, statuses and priorities


def _step_text(text: str) -> str:
    text = text.strip()
    if not text:
        raise EmptyText("The step is empty: write its text.")
    return text


def _status(on: Target, text: str) -> str:
    """The status that a person means: one that the plan itself uses, or one of the table, by any of its words."""
    if any(step.status == text for step in on.record.state.steps):
        return canonical(text)
    if word := folded_status(text):
        return word
    raise UnknownWord(f"There is no status {text!r}: choose one of {', '.join(STATUSES)}.")


def _priority(on: Target, text: str) -> str:
    if any(step.priority == text for step in on.record.state.steps):
        return text
    if word := folded_priority(text):
        return word
    raise UnknownWord(f"There is no priority {text!r}: choose one of {', '.join(PRIORITIES)}.")


def _checked(on: Target, change: StepChange) -> StepChange:
    """One of several changes, checked by the rules of the act that would make it alone."""
    if isinstance(change, AddStep | RewordStep):
        change = replace(change, content=_step_text(change.content))
    if isinstance(change, AddStep | SetStatus):
        change = replace(change, status=_status(on, change.status))
    if isinstance(change, AddStep | SetPriority):
        change = replace(change, priority=_priority(on, change.priority))
    return change


# -- changes made, suggested and withdrawn

_ALREADY_SO: Final = "Nothing changes: the plan already says so."
_ALREADY_SUGGESTED: Final = "Nothing changes: that is suggested already."
_NOT_OPEN: Final = "Nothing changes: this suggestion is not open any more."
_ALREADY_SAID: Final = "Nothing changes: this was said already."


def _change(on: Target, changes: tuple[StepChange, ...], note: str | None = None) -> Decision:
    """Make changes, or suggest them in place of the suggestions they supersede."""
    news, old = settled(on.record.state, on.suggestions, changes)
    if news or (note and not _is_noted(on, note)):
        return _changed(on, news, note, old)
    if old:
        return _withdrawal(on, old)
    if not changes:
        raise NothingChanges(_ALREADY_SAID)
    is_so = not effective_changes(on.record.state, changes)
    raise NothingChanges(_ALREADY_SO if is_so else _ALREADY_SUGGESTED)


def _is_noted(on: Target, note: str) -> bool:
    """Whether the plan's last change, or an open remark, has this note by the same author."""
    last = [(each.note, each.by) for each in on.record.deltas[-1:]]
    return (note, on.by) in (*last, *((each.note, each.by) for each in on.record.open_remarks))


def _check_size(on: Target, changes: tuple[StepChange, ...]) -> None:
    """Refuse changes that make a plan larger than its cap: no tool could read or change it then."""
    before, after = on.record.state, apply_changes(on.record.state, changes)
    if (size := plan_bytes(after.plan)) > max(BODY_CAP, plan_bytes(before.plan)):
        over = f"{size - BODY_CAP:,} more than the {BODY_CAP:,} that are allowed"
        raise PlanError(
            f"The plan would have {size:,} bytes, {over}: remove steps that are finished, or use fewer words."
        )


def _changed(on: Target, changes: tuple[StepChange, ...], note: str | None, old: tuple[Remark, ...] = ()) -> Decision:
    """The decision to make changes, or on an agent's plan to suggest them in place of `old` suggestions. Words alone
    are a comment."""
    plan_id = on.record.state.plan.id
    if not on.is_suggested:
        _check_size(on, changes)
        return Decision((PlanChanged(plan_id, note, changes),), f"Changed: {changes_sentence(on.texts, changes, note)}")
    check_length(note or "", changes)
    about = (on.seen or on.record).revision
    if not changes:
        comment = Remarked(plan_id, COMMENT, note or "", about)
        return Decision((comment,), f"Comment added to the plan. {on.heard}")
    left = (each for each in old if each not in superseded(changes, old))  # the fold closes the others
    closed = [RemarkClosed(plan_id, each.id, SUPERSEDED) for each in left]
    events: tuple[Event, ...] = (Remarked(plan_id, SUGGESTION, note or "", about, changes=changes), *closed)
    words = f"Suggested: {changes_sentence(on.texts, changes, note)}. {_replaced(on, old)}{on.heard}"
    return Decision(events, words, is_suggestion=True)


def _replaced(on: Target, old: tuple[Remark, ...]) -> str:
    """A sentence on whose suggestions are replaced; "" if only the author's own."""
    names = ", ".join(dict.fromkeys(each.by for each in old if each.by != on.by))
    return f"It replaces the suggestion by {names}. " if names else ""


def _withdrawal(on: Target, old: tuple[Remark, ...]) -> Decision:
    events = tuple(RemarkClosed(on.record.state.plan.id, each.id, WITHDRAWN) for each in old)
    return Decision(events, f"Suggestion withdrawn: {changes_sentence(on.texts, old[-1].changes, old[-1].note)}")
