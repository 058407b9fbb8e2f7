"""What a person does to the steps of a plan, and to their own wishes. On an agent's plan a change is a wish: one that
says something else about the same step takes the place of the one before.
"""

from msgspec.structs import replace

from planwire.errors import PlanError
from planwire.model.changes import apply_changes
from planwire.model.events import AddStep, Event, MoveStep, RemoveStep, RewordStep, SetStatus, StepChange
from planwire.model.fold import AGENT, Delta, PlanRecord, SessionState
from planwire.model.statuses import CANCELLED, COMPLETED, PENDING, meaning
from planwire.model.steps import Step
from planwire.readmodel.history import wish_words
from planwire.steering import commands as steer
from planwire.terminal.deeds import BACK, CHANGE, Deed, check_changeable
from planwire.terminal.plan_card import Card

__all__ = [
    "add",
    "add_instead",
    "move",
    "moved_behind",
    "nested_in",
    "open_wishes",
    "remove",
    "reword",
    "set_status",
    "take_back",
    "tick",
    "wished_words",
]


def tick(card: Card, step: Step) -> Deed:
    """Done, or not done after all. The same again takes back a wish for it."""
    record = check_changeable(card)
    wish = _wish_of(record, step.id, SetStatus)
    if wish is not None:
        return take_back(card, wish)
    over = meaning(step.status) in (COMPLETED, CANCELLED)
    return set_status(card, step, PENDING if over else COMPLETED)


def set_status(card: Card, step: Step, status: str) -> Deed:
    record = check_changeable(card)
    before = _wish_of(record, step.id, SetStatus)
    if (meaning(step.status) or step.status) == status:
        if before is not None:
            return take_back(card, before)
        raise PlanError(f"this step is {status.replace('_', ' ')} already")
    return _changed(card, [SetStatus(step.id, status)], before)


def reword(card: Card, step: Step, text: str) -> Deed | None:
    """Another text for a step; None if it is the one that it has."""
    record = check_changeable(card)
    text = text.strip()
    if not text:
        raise PlanError("a step says something: write its text, or remove it with d")
    if text == wished_words(card, step):
        return None
    before = _wish_of(record, step.id, RewordStep)
    if text == step.content:
        return take_back(card, before) if before else None
    return _changed(card, [RewordStep(step.id, text)], before)


def wished_words(card: Card, step: Step) -> str:
    """The text of a step, as it is wished or else as it is."""
    wish = _wish_of(card.record, step.id, RewordStep) if card.record else None
    found = wish.changes[0] if wish else None
    return found.content if isinstance(found, RewordStep) else step.content


def add(card: Card, after: str | None, text: str) -> Deed:
    """A new step behind another one; "" is the beginning, None the end."""
    check_changeable(card)
    if not text.strip():
        raise PlanError("a step says something: write its text")
    return _changed(card, [AddStep(text.strip(), after)])


def add_instead(card: Card, wish: Delta, text: str) -> Deed | None:
    """Another text for a step that is wished; None if it is the one that it has."""
    match wish.changes:
        case (AddStep(content=content) as added,):
            if not text.strip():
                raise PlanError("a step says something: write its text, or take the wish back with u")
            return None if text.strip() == content else _changed(card, [replace(added, content=text.strip())], wish)
    raise PlanError("this wish is more than a new step: take it back with u, then say it anew")


def remove(card: Card, step: Step) -> Deed:
    record = check_changeable(card)
    if _wish_of(record, step.id, RemoveStep) is not None:
        raise PlanError("it is wished already that this step goes: u takes it back")
    return _changed(card, [RemoveStep(step.id)])


def move(card: Card, step: Step, by: int) -> Deed:
    """One place up or down among the steps that are nested as deep as it is."""
    record = check_changeable(card)
    before = _wish_of(record, step.id, MoveStep)
    steps = _wished_order(record)
    place = next(at for at, each in enumerate(steps) if each.id == step.id)
    others = _siblings(steps, place, by)
    if not others:
        raise PlanError(f"this step is the {'first' if by < 0 else 'last'} of its list already")
    if by < 0 and len(others) == 1 and step.depth:  # nobody but its parent is before them
        return _changed(card, [MoveStep(others[0], step.id)])
    after = others[0] if by > 0 else others[1] if len(others) > 1 else ""
    return _moved(card, MoveStep(step.id, after), before)


def nested_in(card: Card, step: Step) -> int:
    """How many steps are nested in a step, and go where it goes."""
    steps = card.state.steps
    first = steps.index(step) + 1
    end = next((at for at in range(first, len(steps)) if steps[at].depth <= step.depth), len(steps))
    return end - first


def moved_behind(card: Card, step: Step, after: str) -> Deed:
    """A step goes behind another one; "" is the beginning."""
    record = check_changeable(card)
    return _moved(card, MoveStep(step.id, after), _wish_of(record, step.id, MoveStep))


def _moved(card: Card, change: MoveStep, before: Delta | None) -> Deed:
    if apply_changes(card.state, [change]).steps != card.state.steps:
        return _changed(card, [change], before)
    if before is None:
        raise PlanError("this step is there already")
    return take_back(card, before)


def _siblings(steps: list[Step], place: int, by: int) -> list[str]:
    """The steps before or behind one, nearest first, that are as deep as it is and have the same parent."""
    found = []
    for each in reversed(steps[:place]) if by < 0 else steps[place + 1 :]:
        if each.depth < steps[place].depth:
            break
        if each.depth == steps[place].depth:
            found.append(each.id)
    return found


def _wished_order(record: PlanRecord) -> list[Step]:
    """The steps in the order that is wished, as far as it can be had: the next place is counted from there."""
    state = record.state
    for wish in record.wishes:
        moves = [change for change in wish.changes if isinstance(change, MoveStep)]
        try:
            state = apply_changes(state, moves)
        except PlanError:
            continue
    return list(state.steps)


def _changed(card: Card, changes: list[StepChange], before: Delta | None = None) -> Deed:
    record = check_changeable(card)
    words = "; ".join(word.text for word in wish_words(record.state, changes))

    def make(state: SessionState, revision: int | None) -> Event:
        return steer.change(state, card.id, revision, changes)

    added = next((each.content for each in changes if isinstance(each, AddStep)), None)
    return Deed(CHANGE, card.id, words, record.revision, make, before.seq if before else None, added)


# -- wishes


def open_wishes(card: Card, step: str | None = None) -> list[Delta]:
    """The wishes of a plan, or those that are about a step."""
    wishes = card.record.wishes if card.record else ()
    if step is None:
        return list(wishes)
    return [each for each in wishes if any(not isinstance(of, AddStep) and of.step == step for of in each.changes)]


def take_back(card: Card, wish: Delta) -> Deed:
    words = "; ".join(word.text for word in wish_words(card.state, wish.changes)) or (wish.note or "")

    def make(state: SessionState, _revision: int | None) -> Event:
        return steer.withdraw(state, card.id, wish.seq)

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
