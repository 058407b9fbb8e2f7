"""The wording of a plan: its texts and the set of its steps, without statuses. A verdict holds for a wording."""

from planwire.model.kinds import content_of, entries_of, kind_of, text_of
from planwire.model.markdown import unmarked
from planwire.model.steps import PlanState


def is_cleared(state: PlanState) -> bool:
    """Whether a list is empty: agents clear it for a moment, and the next one may have the same steps."""
    return entries_of(state.plan) == ()


def texts_of(state: PlanState) -> dict[str, str]:
    """The texts of the steps, by id."""
    return {step.id: step.content for step in state.steps}


def wording(state: PlanState) -> object:
    """A value that compares equal as long as texts and steps stay the same; in a list, their order may change."""
    plan = state.plan
    kind = kind_of(plan)
    if kind.is_text:
        return unmarked(text_of(plan))
    return texts_of(state) if kind.has_editable_steps else content_of(plan)
