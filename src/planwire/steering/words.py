"""Acts in words: how a change reads in a history, a suggestion or a message."""

from collections.abc import Mapping
from typing import Final, assert_never

from planwire.model.events import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.text import shortened, unwrapped

__all__ = ["change_sentence", "quoted", "step_of"]

#: Characters of a step's text that a message repeats.
QUOTED: Final = 80


def change_sentence(change: StepChange, texts: Mapping[str, str]) -> str:
    """A change in words. `texts` are those of the plan's steps, by id."""
    step = step_of(change)
    name = texts.get(step, step) if step else ""
    match change:
        case SetStatus(status=status):
            return f"{name}: {status.replace('_', ' ')}"
        case RewordStep(content=content):
            return f"{name} → {content}"
        case SetPriority(priority=priority):
            return f"{name}: {priority} priority"
        case AddStep(content=content):
            return f"add {content}"
        case MoveStep(after=after):
            return f"{name}, after {texts.get(after, after)}" if after else f"{name}, first"
        case RemoveStep():
            return f"without {name}"
        case _ as never:
            assert_never(never)


def step_of(change: StepChange) -> str | None:
    """The step that a change is for; a new one has no id yet."""
    return None if isinstance(change, AddStep) else change.step


def quoted(text: str) -> str:
    """A step's text as a name within a sentence."""
    return f"“{shortened(unwrapped(text), QUOTED)}”"
