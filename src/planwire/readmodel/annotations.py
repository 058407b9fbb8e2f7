"""What people wish for an agent's own plan and what they said of it, step by step: shown over the plan, not in it."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.events import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.fold import Delta, PlanRecord
from planwire.model.statuses import CANCELLED, COMPLETED, meaning
from planwire.model.steps import PlanState, Step
from planwire.readmodel.history import wish_words

__all__ = ["Overlay", "Remark", "WishedChange", "overlay", "wish_sentence"]

#: A step that is over needs nobody's remarks any more: the history has them.
_OVER: Final = (COMPLETED, CANCELLED)


class WishedChange(Struct, frozen=True):
    """One change that is wished for. `kind` is the one of its event (`status`, `reword`, `add`, …), `text` what should
    become of the step, and `wish` the number of the event, by which it is taken back."""

    wish: int
    kind: str
    text: str
    by: str


class Remark(Struct, frozen=True):
    """What somebody said of a step or of the plan, of the revision that they saw."""

    text: str
    by: str
    at: int
    revision: int


class Overlay(Struct, frozen=True):
    """All that is to be shown over a plan. `steps` has what is wished for a step, and `added` the new steps, each with
    the step that it goes behind ("" is the beginning, None the end). `remarks` are those that still matter, by step;
    those of the plan as a whole are under None."""

    steps: dict[str, tuple[WishedChange, ...]] = {}
    added: tuple[tuple[str | None, WishedChange], ...] = ()
    remarks: dict[str | None, tuple[Remark, ...]] = {}


def overlay(record: PlanRecord) -> Overlay:
    """What is shown over a plan as it is now."""
    statuses = {step.id: meaning(step.status) for step in record.state.steps}
    texts = {step.id: step.content for step in record.state.steps}
    steps: dict[str, tuple[WishedChange, ...]] = {}
    added: list[tuple[str | None, WishedChange]] = []
    for wish in record.wishes:
        for change in wish.changes:
            wished = WishedChange(wish.seq, str(type(change).__struct_config__.tag), _becomes(change, texts), wish.by)
            if isinstance(change, AddStep):
                added.append((change.after if not change.after or change.after in texts else None, wished))
            elif change.step in texts:
                steps[change.step] = (*steps.get(change.step, ()), wished)
    remarks: dict[str | None, tuple[Remark, ...]] = {}
    for step, remark in _remarks(record):
        if step is None or (step in statuses and statuses[step] not in _OVER):
            remarks[step] = (*remarks.get(step, ()), remark)
    return Overlay(steps, tuple(added), remarks)


def wish_sentence(record: PlanRecord, wish: Delta) -> str:
    """A wish in words, with what was said along with it. A step that left the plan is named as it was last."""
    there = {step.id for step in record.state.steps}
    gone = {change.step for change in wish.changes if not isinstance(change, AddStep)} - there
    former = [Step(step, _last_text(record.state, step), "") for step in sorted(gone)]
    state = replace(record.state, steps=(*record.state.steps, *former)) if gone else record.state
    words = [word.text for word in wish_words(state, wish.changes)]
    return "; ".join([*words, wish.note] if wish.note else words)


def _last_text(state: PlanState, step: str) -> str:
    """The text that a step had last, as far as the plan remembers it."""
    return next((text for text, owners in reversed(state.memory.owners.items()) if step in owners), step)


def _remarks(record: PlanRecord) -> Iterator[tuple[str | None, Remark]]:
    for review in record.reviews:
        for comment in review.comments:
            yield comment.step, Remark(comment.text, review.by, review.at, review.revision)


def _becomes(change: StepChange, texts: dict[str, str]) -> str:
    match change:
        case AddStep(content=content) | RewordStep(content=content):
            return content
        case SetStatus(status=status):
            return status.replace("_", " ")
        case SetPriority(priority=priority):
            return f"{priority} priority"
        case RemoveStep():
            return "remove"
        case MoveStep(after=after):
            return f"after: {texts.get(after, after)}" if after else "first"
