"""Plan files as plans: the text of the file in the place of its address, so that its checkboxes are steps like others.

One rule for everything that counts, lists or tells steps. Nothing here opens a file: whoever may read files passes in a
function that gives the text at an address, or None where it can't be read or must not be. Then the address stays.
"""

from collections.abc import Callable
from typing import TypeAlias

from planwire.model.plan import FilePlan, MarkdownPlan, Plan
from planwire.model.steps import PlanState, track

__all__ = ["ReadFile", "address_of", "no_files", "state_with_text", "with_text"]

#: The text of the plan file at a URI, or None.
ReadFile: TypeAlias = Callable[[str], str | None]


def no_files(_uri: str) -> None:
    """Read no file: for places that know none of the session's folders."""


def address_of(plan: Plan) -> str | None:
    """The URI of a plan file; None for a plan of another kind."""
    return plan.uri if isinstance(plan, FilePlan) else None


def with_text(plan: Plan, read: ReadFile) -> Plan:
    """The plan; a plan file that can be read is the text in it."""
    uri = address_of(plan)
    text = None if uri is None else read(uri)
    return plan if text is None else MarkdownPlan(plan.id, text)


def state_with_text(state: PlanState, read: ReadFile, before: PlanState | None = None) -> PlanState:
    """The same with its steps. They keep the ids that they have in `before`, an earlier state of the text."""
    plan = with_text(state.plan, read)
    return state if plan is state.plan else track(plan, before)
