"""Commands: one function an act of a person, from the plan and the arguments to the events to append.

A command is pure. It gets a plan as it is at the moment of writing, and returns a `Decision`; where nothing may be
written it raises: `NothingChanges` if everything asked for is already so, another `PlanError` if the plan can't do it.
"Nothing changes" matters most for agents: every event that touches a plan makes a revision, and a revision that changes
nothing would still turn away the agent's next write.

On a plan of planwire's own a change is made at once. On an agent's plan, which its next list replaces, a change is a
suggestion. There one rule holds for every act: a step has one open suggestion of each kind. A newer one withdraws the
one before it, and asking for what the plan says anyway only withdraws it.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import NothingChanges, PlanError
from planwire.model.changes import apply_changes, effective_changes, place_of
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    AddStep,
    Comment,
    Event,
    MoveStep,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    RemoveStep,
    RewordStep,
    SetPriority,
    SetStatus,
    StepChange,
    SuggestionWithdrawn,
)
from planwire.model.fold import AGENT, Delta, PlanRecord
from planwire.model.kinds import kind_of, noun_of
from planwire.model.plan import PRIORITIES
from planwire.model.statuses import STATUSES, after_tick, canonical
from planwire.model.steps import PlanState, Step
from planwire.steering.plan_text import changes_in, merge
from planwire.steering.wanted import Wanted
from planwire.steering.words import change_sentence, quoted, step_of

__all__ = [
    "USER",
    "VERDICTS",
    "Decision",
    "Disputed",
    "Target",
    "add",
    "comment",
    "dismiss",
    "move",
    "remove",
    "review",
    "reword",
    "select",
    "set_priority",
    "set_status",
    "suggest",
    "tick",
    "withdraw",
]

#: The author of a person's events, where nobody gave a name.
USER: Final = "user"
#: The words that a review can say, and how it reads once it is said.
VERDICTS: Final = {APPROVED: "Approved", CHANGES_REQUESTED: "Changes requested", COMMENTED: "Comment added"}


class Decision(Struct, frozen=True):
    """The events of an act, and a sentence for the person who did it."""

    events: tuple[Event, ...]
    words: str
    is_suggestion: bool = False


class Target(Struct, frozen=True):
    """The plan of an act as it is now, and by whom the act is.

    `seen` is the plan as the person saw it, if it has changed since. `file` has the steps of a plan that is a file: the
    journal knows only its address.
    """

    record: PlanRecord
    by: str = USER
    seen: PlanRecord | None = None
    file: PlanState | None = None

    @property
    def is_suggested(self) -> bool:
        """Whether changes to the plan are suggestions."""
        return self.record.owner == AGENT

    @property
    def texts(self) -> dict[str, str]:
        """The texts of all steps, also of those that left the plan since the person saw it."""
        states = [each.state for each in (self.seen, self.record) if each is not None]
        states += [self.file] if self.file else []
        return {step.id: step.content for state in states for step in state.steps}

    def step(self, step: str | None) -> Step:
        """The step that an act is on. Raises `UnknownStep` if the plan has none of that id."""
        _refuse_unchangeable(self.record)
        if step is None:
            raise PlanError("name a step")
        return self.record.state.steps[place_of(self.record.state, step)]


# -- changes of steps


def tick(on: Target, wanted: Wanted) -> Decision:
    """Done, or not done after all. On an agent's plan, ticking twice withdraws the suggestion."""
    step = on.step(wanted.target)
    change = SetStatus(step.id, after_tick(step.status))
    suggestion = _suggestion_like(on, change)
    return _withdrawal(on, suggestion) if suggestion and suggestion.changes == (change,) else _change(on, change)


def set_status(on: Target, wanted: Wanted) -> Decision:
    """Another status, by any of its spellings."""
    step = on.step(wanted.target)
    known = {**{row.spoken: row.word for row in STATUSES.values()}, **{row.word: row.word for row in STATUSES.values()}}
    known |= {each.status: canonical(each.status) for each in on.record.state.steps}
    word = " ".join((wanted.status or "").casefold().split())
    status = known.get(word) or known.get(canonical(word))
    if status is None:
        raise PlanError(f"There is no status {wanted.status!r}: choose one of {', '.join(STATUSES)}.")
    return _change(on, SetStatus(step.id, status))


def set_priority(on: Target, wanted: Wanted) -> Decision:
    """Another priority, on a plan whose steps have one."""
    step = on.step(wanted.target)
    if not kind_of(on.record.state.plan).has_priorities:
        raise PlanError("Steps of a markdown plan have no priority: put it into their text.")
    known = (*PRIORITIES, *(each.priority for each in on.record.state.steps))
    if wanted.priority not in known:
        raise PlanError(f"There is no priority {wanted.priority!r}: choose one of {', '.join(PRIORITIES)}.")
    return _change(on, SetPriority(step.id, wanted.priority))


def reword(on: Target, wanted: Wanted) -> Decision:
    """Another text for a step, or for the new step of a suggestion."""
    text = _step_text(wanted)
    if wanted.target and wanted.target.isdecimal():
        return _reword_suggestion(on, _suggestion(on, wanted.target), text)
    return _change(on, RewordStep(on.step(wanted.target).id, text))


def add(on: Target, wanted: Wanted) -> Decision:
    """A new step, behind the step `after`; behind all others if that is None, before all others if it is ""."""
    _refuse_unchangeable(on.record)
    return _change(on, AddStep(_step_text(wanted), wanted.after))


def move(on: Target, wanted: Wanted) -> Decision:
    """Another place: behind the step `after` ("" is the beginning), or `by` places up or down.

    Places count among the steps of the same depth and parent, in the order that is suggested: the next key press moves
    the step on from where the last one put it, whether or not the screen shows that yet.
    """
    step = on.step(wanted.target)
    if (wanted.after is None) == (wanted.by is None):
        raise PlanError("name the step to move it behind, or how many places to move it")
    if wanted.after is not None:
        return _change(on, MoveStep(step.id, wanted.after))
    by = wanted.by or 0
    others = _siblings(_suggested_order(on), step, by)
    if not others:
        raise NothingChanges(f"This step is already the {'first' if by < 0 else 'last'} of its list.")
    reach = min(abs(by), len(others))
    if by > 0:
        return _change(on, MoveStep(step.id, others[reach - 1]))
    if reach < len(others):
        return _change(on, MoveStep(step.id, others[reach]))
    if not step.depth:
        return _change(on, MoveStep(step.id, ""))
    if reach == 1:  # only its parent is before both: the other one goes behind it
        return _change(on, MoveStep(others[0], step.id))
    return move(on, replace(wanted, by=by + 1))


def remove(on: Target, wanted: Wanted) -> Decision:
    """A step goes, with everything nested in it."""
    return _change(on, RemoveStep(on.step(wanted.target).id))


def suggest(on: Target, wanted: Wanted) -> Decision:
    """Several changes at once, a note on them, or both: those in `changes`, or those that a person made to `plan_text`.

    Changes of an earlier state are carried over; a step that someone else changed meanwhile is for the person to decide
    about again.
    """
    note = (wanted.text or "").strip() or None
    changes = wanted.changes or ()
    if changes or wanted.plan_text is not None:
        _refuse_unchangeable(on.record)
    if wanted.plan_text is not None:
        changes = (*changes_in(wanted.plan_text, (on.seen or on.record).state), *changes)
    if not changes and not note:
        raise NothingChanges("Nothing to save: change a step or add a comment.")
    for each in changes:
        if isinstance(each, AddStep | RewordStep) and not each.content.strip():
            raise PlanError("The step is empty: write its text.")
    if on.seen is not None and changes:
        merged = merge(changes, on.seen.state, on.record.state)
        if merged.disputed:
            raise Disputed(merged.changes, merged.disputed)
        changes = merged.changes
    news = _unsuggested(on, effective_changes(on.record.state, changes))
    if not news and not note:
        raise NothingChanges(_ALREADY_SUGGESTED if changes and on.is_suggested else _ALREADY_SO)
    return _changed(on, news, note)


# -- words


def comment(on: Target, wanted: Wanted) -> Decision:
    """Words on a step or on the plan, without a verdict."""
    return _say(on, COMMENTED, _comments(on, wanted.text, wanted.target, wanted.comments))


def review(on: Target, wanted: Wanted) -> Decision:
    """A verdict on the plan as it is, with words on it or on its steps."""
    if wanted.verdict not in VERDICTS:
        raise PlanError(f"{wanted.verdict!r} is no verdict: choose one of {', '.join(VERDICTS)}")
    return _say(on, wanted.verdict, _comments(on, wanted.text, None, wanted.comments))


def select(on: Target, wanted: Wanted) -> Decision:
    """Have the agent run these steps, and no others for now."""
    _refuse_unchangeable(on.record)
    if not wanted.steps:
        raise PlanError("No step is selected: name those to run.")
    chosen = sorted({place_of(on.record.state, step) for step in wanted.steps})
    steps = tuple(on.record.state.steps[place].id for place in chosen)
    return _say(on, APPROVED, _comments(on, wanted.text, None, wanted.comments), steps)


def withdraw(on: Target, wanted: Wanted) -> Decision:
    """Take a suggestion back; `target` is its number."""
    return _withdrawal(on, _suggestion(on, wanted.target or ""))


def dismiss(on: Target, wanted: Wanted) -> Decision:
    """The plan goes from every list. Its history stays, and an agent that sends it again brings it back."""
    del wanted
    return Decision((PlanRemoved(on.record.state.plan.id),), "Plan dismissed. Its history stays.")


class Disputed(PlanError):
    """A person and someone else changed the same steps. `others` are the changes that still fit the plan."""

    def __init__(self, others: tuple[StepChange, ...], steps: tuple[str, ...]) -> None:
        super().__init__(f"The plan changed while you edited it: decide again about {', '.join(steps)}.")
        self.others = others
        self.steps = steps


# -- rules that several acts share

_ALREADY_SO: Final = "Nothing changes: the plan already says so."
_ALREADY_SUGGESTED: Final = "Nothing changes: that is suggested already."


def _refuse_unchangeable(record: PlanRecord) -> None:
    """Raise `PlanError` unless people can change single steps of a plan here."""
    plan = record.state.plan
    kind = kind_of(plan)
    if kind.has_editable_steps:
        return
    if kind.field is not None:
        raise PlanError(f"This plan is a {kind.noun}: change it in your editor, or comment on the plan.")
    raise PlanError(f"A plan of kind {noun_of(plan)!r} has no steps to change: comment on it or review it.")


def _step_text(wanted: Wanted) -> str:
    text = (wanted.text or "").strip()
    if not text:
        raise PlanError("The step is empty: write its text.")
    return text


def _change(on: Target, change: StepChange) -> Decision:
    """Make or suggest one change, in place of an open suggestion of its kind."""
    before = _suggestion_like(on, change)
    news = effective_changes(on.record.state, [change])
    if not news:
        if before is None:
            raise NothingChanges(_ALREADY_SO)
        return _withdrawal(on, before)
    news = _unsuggested(on, news)
    if not news:
        raise NothingChanges(_ALREADY_SUGGESTED)
    return _changed(on, news, None, before)


def _changed(on: Target, changes: tuple[StepChange, ...], note: str | None, before: Delta | None = None) -> Decision:
    plan_id, texts = on.record.state.plan.id, on.texts
    events: tuple[Event, ...] = (PlanChanged(plan_id, note, changes),)
    if before is not None:
        events += (SuggestionWithdrawn(plan_id, before.seq),)
    words = "; ".join([*(change_sentence(each, texts) for each in changes), *([note] if note else [])])
    return Decision(events, f"{'Suggested' if on.is_suggested else 'Changed'}: {words}", on.is_suggested)


def _suggestion_like(on: Target, change: StepChange) -> Delta | None:
    """The last suggestion that is nothing but a change of the same kind to the same step."""
    step = step_of(change)
    for suggestion in reversed(on.record.suggestions if on.is_suggested and step else ()):
        if len(suggestion.changes) == 1 and not suggestion.note:
            [only] = suggestion.changes
            if type(only) is type(change) and step_of(only) == step:
                return suggestion
    return None


def _unsuggested(on: Target, changes: tuple[StepChange, ...]) -> tuple[StepChange, ...]:
    """The changes without those that an open suggestion contains."""
    if not on.is_suggested:
        return changes
    suggested = [_with_canonical_status(each) for suggestion in on.record.suggestions for each in suggestion.changes]
    return tuple(each for each in changes if _with_canonical_status(each) not in suggested)


def _with_canonical_status(change: StepChange) -> StepChange:
    """A change with the table's word for its status, so that spellings compare as equal."""
    return replace(change, status=canonical(change.status)) if isinstance(change, SetStatus | AddStep) else change


def _suggestion(on: Target, number: str) -> Delta:
    known = {str(each.seq): each for each in on.record.suggestions}
    if number not in known:
        those = ", ".join(known) or "none"
        raise PlanError(f"There is no open suggestion {number!r}. Open ones: {those}.")
    return known[number]


def _withdrawal(on: Target, suggestion: Delta) -> Decision:
    texts = on.texts
    words = "; ".join(change_sentence(each, texts) for each in suggestion.changes) or suggestion.note or ""
    event = SuggestionWithdrawn(on.record.state.plan.id, suggestion.seq)
    return Decision((event,), f"Suggestion withdrawn: {words}")


def _reword_suggestion(on: Target, suggestion: Delta, text: str) -> Decision:
    """Another text for a suggested step: a suggestion in place of the first."""
    match suggestion.changes:
        case (AddStep() as added,) if not suggestion.note:
            change = replace(added, content=text)
            if change == added:
                raise NothingChanges(_ALREADY_SUGGESTED)
            return _changed(on, (change,), None, suggestion)
    raise PlanError("This suggestion is more than a new step: withdraw it, then make another one.")


def _siblings(steps: Sequence[Step], step: Step, by: int) -> list[str]:
    """The steps before or behind one, nearest first, of the same depth and parent."""
    place = next(at for at, each in enumerate(steps) if each.id == step.id)
    depth = steps[place].depth
    around = reversed(steps[:place]) if by < 0 else iter(steps[place + 1 :])
    return [each.id for each in takewhile(lambda each: each.depth >= depth, around) if each.depth == depth]


def _suggested_order(on: Target) -> Sequence[Step]:
    """The steps in the order that people suggest."""
    state = on.record.state
    for suggestion in on.record.suggestions:
        with suppress(PlanError):
            state = apply_changes(state, [change for change in suggestion.changes if isinstance(change, MoveStep)])
    return state.steps


def _comments(
    on: Target, text: str | None, step: str | None, others: tuple[Comment, ...] | None
) -> tuple[Comment, ...]:
    said = [Comment(text, step)] if text is not None and text.strip() else []
    return tuple(_placed(on, each) for each in (*said, *(others or ())))


def _placed(on: Target, said: Comment) -> Comment:
    """A comment at its step. A step that is gone, or that only a file has, is quoted in a comment on the plan."""
    text = said.text.strip()
    if not text:
        raise PlanError("The comment is empty.")
    if said.step is None or any(step.id == said.step for step in on.record.state.steps):
        return Comment(text, said.step)
    former = on.texts.get(said.step)
    if former is None:
        place_of(on.file or on.record.state, said.step)
    return Comment(f"{quoted(former or '')}: {text}")


def _say(on: Target, verdict: str, comments: tuple[Comment, ...], steps: tuple[str, ...] | None = None) -> Decision:
    if verdict == COMMENTED and not comments:
        raise PlanError("The comment is empty.")
    plan_id = on.record.state.plan.id
    about = on.record if verdict == APPROVED else on.seen or on.record
    said = PlanReviewed(plan_id, about.revision, verdict, comments, steps)
    if _is_said(on.record, said, on.by):
        raise NothingChanges("Nothing changes: this was said already.")
    return Decision((said,), f"{_said_words(on, said)}. {_heard(on.record)}")


def _said_words(on: Target, said: PlanReviewed) -> str:
    texts = on.texts
    if said.selected is not None:
        return f"To run: {', '.join(quoted(texts[step]) for step in said.selected)}"
    words = VERDICTS[said.verdict]
    about = {quoted(texts[each.step]) if each.step else "the plan" for each in said.comments}
    if said.verdict == COMMENTED and len(about) == 1:
        return f"{words} to {about.pop()}"
    return f"{words}, with {len(said.comments)} comment{'s' * (len(said.comments) > 1)}" if said.comments else words


def _heard(record: PlanRecord) -> str:
    """When the agent hears of it."""
    if record.asked is not None and not record.asked.options:
        return "The agent is waiting for it."
    return "The agent will see it with your next prompt."


def _is_said(record: PlanRecord, said: PlanReviewed, by: str) -> bool:
    """Whether a review repeats one of the same author. A verdict is news after another one, or after a new question."""
    is_comment = said.verdict == COMMENTED
    earlier = [each for each in record.reviews if (each.verdict == COMMENTED) == is_comment]
    if not is_comment:
        earlier = [] if record.asked else earlier[-1:]
    same = by, said.revision, said.verdict, said.comments, said.selected
    return any((each.by, each.revision, each.verdict, each.comments, each.selected) == same for each in earlier)
