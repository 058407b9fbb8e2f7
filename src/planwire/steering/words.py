"""Acts in words: how a change reads in a history, a suggestion or a message."""

from collections.abc import Mapping
from typing import Final, assert_never

from planwire.model.plan import Plan
from planwire.model.statuses import spoken
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import PlanState
from planwire.model.text import in_quotes, shortened, unwrapped
from planwire.model.titles import UNNAMED, plan_title

#: Characters of a step's text that a message repeats.
QUOTED: Final = 80
#: Changes that a message spells out, and the characters that it spends on each.
SPELLED_OUT: Final = 3
SPELLED_CHARACTERS: Final = 160


def change_sentence(change: StepChange, texts: Mapping[str, str]) -> str:
    """A change in words. `texts` are those of the plan's steps, by id: the agent's words in a person's sentence."""
    step = step_of(change)
    name = in_quotes(texts.get(step, step)) if step else ""
    match change:
        case SetStatus(status=status):
            return f"{name}: {spoken(status)}"
        case RewordStep(content=content):
            return f"{name} → {content}"
        case SetPriority(priority=priority):
            return f"{name}: {priority} priority"
        case AddStep(content=content):
            return f"add {in_quotes(content)}"
        case MoveStep(after=after):
            return f"move {name} {f'after {in_quotes(texts.get(after, after))}' if after else 'to the top'}"
        case RemoveStep():
            return f"remove {name}"
        case _ as never:
            assert_never(never)


def changes_sentence(texts: Mapping[str, str], changes: tuple[StepChange, ...], note: str | None) -> str:
    """Several changes and their note, each cut short."""
    if len(changes) > SPELLED_OUT:
        words = [f"{len(changes)} changes"]
    else:
        named = {step for each in changes for step in (step_of(each), getattr(each, "after", None)) if step}
        short = {step: shortened(unwrapped(texts.get(step, step)), QUOTED) for step in named}
        words = [shortened(unwrapped(change_sentence(each, short)), SPELLED_CHARACTERS) for each in changes]
    return "; ".join([*words, shortened(note, SPELLED_CHARACTERS)] if note else words)


def in_a_row(*said: str) -> str:
    """Sentences joined into one text, with a full stop after each but the last, also after a quotation."""
    *first, last = (each for each in said if each)
    return " ".join([*(each if each.endswith(".") else f"{each}." for each in first), last])


def step_of(change: StepChange) -> str | None:
    """The step that a change is for; None for a new step, which has no id yet."""
    return None if isinstance(change, AddStep) else change.step


def step_texts(state: PlanState) -> dict[str, str]:
    """The texts of a plan's steps by id, and the last known texts of steps that left it."""
    former = {step: text for text, owners in state.memory.owners.items() for step in owners}
    return former | {step.id: step.content for step in state.steps}


def quoted(text: str) -> str:
    """A step's text as a name within a sentence."""
    return in_quotes(shortened(unwrapped(text), QUOTED))


def named(plan: Plan) -> str:
    """A plan as the subject of a sentence."""
    title = plan_title(plan)
    return "The plan" if title == UNNAMED else f"The plan {quoted(title)}"
