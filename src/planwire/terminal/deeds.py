"""What a person does with a plan on the screen, as values: in words, for the revision on the screen, and as an event.

The screen refuses what it knows to be impossible, with a sentence that says what to do instead; the rest is for
`planwire.steering.commands`, at the moment of writing. On an agent's plan a change is a wish: another wish of the same
kind for the same step takes its place, and the same wish again takes it back.
"""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import PlanError
from planwire.model.changes import apply_changes
from planwire.model.events import (
    COMMENTED,
    AddStep,
    Comment,
    Event,
    MoveStep,
    RemoveStep,
    RewordStep,
    SetStatus,
    StepChange,
)
from planwire.model.fold import AGENT, Delta, PlanRecord, SessionState
from planwire.model.kinds import kind_of, noun_of
from planwire.model.plan import PlanId
from planwire.model.statuses import after_tick, canonical
from planwire.model.steps import Step
from planwire.readmodel.history import wish_words
from planwire.readmodel.plain_text import one_line
from planwire.steering import commands
from planwire.terminal.plan_card import Card

__all__ = [
    "BACK",
    "CHANGE",
    "RUN",
    "WORD",
    "Deed",
    "add",
    "add_instead",
    "check_changeable",
    "check_steerable",
    "comment",
    "move",
    "moved_behind",
    "nested_in",
    "open_wishes",
    "remove",
    "review",
    "reword",
    "set_status",
    "take_back",
    "tick",
    "wished_words",
]

#: The kinds of deed: a change of steps (or a wish for one), a wish taken back, a word on the plan, steps to run.
CHANGE: Final = "change"
BACK: Final = "back"
WORD: Final = "word"
RUN: Final = "run"


class Deed(Struct, frozen=True):
    """`make` gives the event for a state and a revision, or refuses. This deed replaces the wish `instead_of`, and
    `added` is the text of a new step."""

    kind: str
    plan_id: PlanId
    words: str
    revision: int | None
    make: Callable[[SessionState, int | None], Event]
    instead_of: int | None = None
    added: str | None = None


def check_steerable(card: Card) -> PlanRecord:
    """Raise `PlanError` unless the plan is recorded and still live."""
    if card.record is None:
        raise PlanError("this plan is in no journal: nobody would hear of it")
    if card.record.removed:
        raise PlanError("this plan was dismissed: there is nothing to steer any more")
    return card.record


def check_changeable(card: Card) -> PlanRecord:
    """Raise `PlanError` unless planwire can change the steps of the plan."""
    record = check_steerable(card)
    if card.is_file:
        raise PlanError("this plan is a file: e opens it in your editor, c says something about it")
    if not kind_of(card.state.plan).has_editable_steps:
        noun = one_line(noun_of(card.state.plan))
        raise PlanError(f"a plan of kind {noun!r} has no steps to change: c says something about it, v reviews it")
    return record


# -- single steps


def tick(card: Card, step: Step) -> Deed:
    """Done, or not done after all. A second tick takes back the wish of the first."""
    wish = _wish_of(check_changeable(card), step.id, SetStatus)
    return take_back(card, wish) if wish is not None else set_status(card, step, after_tick(step.status))


def set_status(card: Card, step: Step, status: str) -> Deed:
    before = _wish_of(check_changeable(card), step.id, SetStatus)
    if canonical(step.status) == status:
        if before is not None:
            return take_back(card, before)
        raise PlanError(f"this step is {status.replace('_', ' ')} already")
    return _changed(card, SetStatus(step.id, status), before)


def reword(card: Card, step: Step, text: str) -> Deed:
    record = check_changeable(card)
    text = text.strip()
    if not text:
        raise PlanError("a step says something: write its text, or remove it with d")
    before = _wish_of(record, step.id, RewordStep)
    if text == step.content and before is not None:
        return take_back(card, before)
    return _changed(card, RewordStep(step.id, text), before)


def wished_words(card: Card, step: Step) -> str:
    """The text that a wish gives a step, or else its own."""
    wish = _wish_of(card.record, step.id, RewordStep) if card.record else None
    found = wish.changes[0] if wish else None
    return found.content if isinstance(found, RewordStep) else step.content


def add(card: Card, after: str | None, text: str) -> Deed:
    """A new step behind another one; "" is the beginning, None the end."""
    check_changeable(card)
    if not text.strip():
        raise PlanError("a step says something: write its text")
    return _changed(card, AddStep(text.strip(), after))


def add_instead(card: Card, wish: Delta, text: str) -> Deed:
    """Another text for a wished step."""
    match wish.changes:
        case (AddStep() as added,):
            if not text.strip():
                raise PlanError("a step says something: write its text, or take the wish back with u")
            return _changed(card, replace(added, content=text.strip()), wish)
    raise PlanError("this wish is more than a new step: take it back with u, then say it anew")


def remove(card: Card, step: Step) -> Deed:
    if _wish_of(check_changeable(card), step.id, RemoveStep) is not None:
        raise PlanError("it is wished already that this step goes: u takes it back")
    return _changed(card, RemoveStep(step.id))


def nested_in(card: Card, step: Step) -> int:
    """How many nested steps go where a step goes."""
    steps = card.state.steps
    first = steps.index(step) + 1
    end = next((at for at in range(first, len(steps)) if steps[at].depth <= step.depth), len(steps))
    return end - first


def move(card: Card, step: Step, by: int) -> Deed:
    """One place up or down among the steps of its depth."""
    record = check_changeable(card)
    steps = _wished_order(record)
    place = next(at for at, each in enumerate(steps) if each.id == step.id)
    others = _siblings(steps, place, by)
    if not others:
        raise PlanError(f"this step is the {'first' if by < 0 else 'last'} of its list already")
    if by < 0 and len(others) == 1 and step.depth:  # only its parent is before them: the other step goes behind it
        return _changed(card, MoveStep(others[0], step.id))
    return moved_behind(card, step, others[0] if by > 0 else others[1] if len(others) > 1 else "")


def moved_behind(card: Card, step: Step, after: str) -> Deed:
    """A step goes behind another one; "" is the beginning."""
    before = _wish_of(check_changeable(card), step.id, MoveStep)
    change = MoveStep(step.id, after)
    if apply_changes(card.state, [change]).steps != card.state.steps:
        return _changed(card, change, before)
    if before is None:
        raise PlanError("this step is there already")
    return take_back(card, before)


def _siblings(steps: list[Step], place: int, by: int) -> list[str]:
    """The steps before or behind one, nearest first, of the same depth and parent."""
    found = []
    for each in reversed(steps[:place]) if by < 0 else steps[place + 1 :]:
        if each.depth < steps[place].depth:
            break
        if each.depth == steps[place].depth:
            found.append(each.id)
    return found


def _wished_order(record: PlanRecord) -> list[Step]:
    """The steps in the order that people wish: the next move counts from there."""
    state = record.state
    for wish in record.wishes:
        moves = [change for change in wish.changes if isinstance(change, MoveStep)]
        try:
            state = apply_changes(state, moves)
        except PlanError:
            continue
    return list(state.steps)


def _changed(card: Card, change: StepChange, before: Delta | None = None) -> Deed:
    record = check_changeable(card)
    if before is not None and before.changes == (change,):
        raise PlanError("nothing changes: that is wished already, and u takes it back")
    words = "; ".join(word.text for word in wish_words(record.state, [change]))

    def make(state: SessionState, revision: int | None) -> Event:
        event = commands.change(state, card.id, revision, [change])
        now = state.plans[card.id].state
        if apply_changes(now, [change]).steps == now.steps:
            raise PlanError("nothing changes: the plan says so already")
        return event

    added = change.content if isinstance(change, AddStep) else None
    return Deed(CHANGE, card.id, words, record.revision, make, before.seq if before else None, added)


# -- wishes


def open_wishes(card: Card, step: str | None = None) -> list[Delta]:
    """The wishes for a plan, or for one of its steps."""
    wishes = card.record.wishes if card.record else ()
    if step is None:
        return list(wishes)
    return [each for each in wishes if any(not isinstance(of, AddStep) and of.step == step for of in each.changes)]


def take_back(card: Card, wish: Delta) -> Deed:
    words = "; ".join(word.text for word in wish_words(card.state, wish.changes)) or (wish.note or "")

    def make(state: SessionState, _revision: int | None) -> Event:
        return commands.withdraw(state, card.id, wish.seq)

    return Deed(BACK, card.id, words, None, make)


def _wish_of(record: PlanRecord, step: str, kind: type[StepChange]) -> Delta | None:
    """The last wish that is nothing but such a change of the step."""
    if record.owner != AGENT:
        return None
    for wish in reversed(record.wishes):
        if len(wish.changes) == 1 and not wish.note:
            [only] = wish.changes
            if isinstance(only, kind) and not isinstance(only, AddStep) and only.step == step:
                return wish
    return None


# -- words


def comment(card: Card, step: Step | None, text: str) -> Deed:
    """A word on a step, or on the plan. A journal knows no steps of a file: a comment quotes them."""
    check_steerable(card)
    if not text.strip():
        raise PlanError("a comment says something: write it, or leave with Esc")
    words = text.strip()
    if step is not None and card.is_file:
        return review(card, COMMENTED, f"“{one_line(step.content)}”: {words}")
    return _said(card, COMMENTED, [Comment(words, step.id if step else None)])


def review(card: Card, verdict: str, text: str, selected: Iterable[str] | None = None) -> Deed:
    """A verdict on the plan, with or without words; `selected` are the steps to run."""
    if verdict == COMMENTED and not text.strip():
        raise PlanError("a comment says something: write it, or leave with Esc")
    steps = None if selected is None else tuple(selected)
    if steps is not None:
        check_changeable(card)
    return _said(card, verdict, [Comment(text.strip())] if text.strip() else [], steps)


def _said(card: Card, verdict: str, comments: list[Comment], selected: tuple[str, ...] | None = None) -> Deed:
    record = check_steerable(card)
    texts = {step.id: one_line(step.content) for step in card.state.steps}
    words = [] if verdict == COMMENTED else [verdict.replace("_", " ")]
    words += [f"to run: {'; '.join(texts.get(step, step) for step in selected)}"] if selected else []
    words += [f"{texts.get(each.step, each.step)}: {each.text}" if each.step else each.text for each in comments]

    def make(state: SessionState, revision: int | None) -> Event:
        return commands.review(state, card.id, revision, verdict, comments, selected)

    return Deed(RUN if selected else WORD, card.id, " · ".join(words), record.revision, make)
