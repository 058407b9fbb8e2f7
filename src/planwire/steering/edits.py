"""A plan approved as the person edited it: the one change to an agent's plan that is not a suggestion.

The agent waits for an answer and takes the edited text as part of it. So the text can't be lost, or wiped by the
agent's next list, and the approval is of exactly that text: both are one write. No other question takes an edit.
"""

from typing import Final

from msgspec.structs import replace

from planwire.errors import EmptyText, PlanError
from planwire.model.events import APPROVED, HOOKS, TOOLS, Choice, PlanSet
from planwire.model.plan import BODY_CAP, MarkdownPlan
from planwire.model.records import AGENT, PlanRecord
from planwire.model.sizes import plan_bytes
from planwire.steering.target import Target

_UNTAKEN: Final = "The agent doesn't take an edited plan: approve it as it is, or request changes. Nothing was sent."


def takes_edit(record: PlanRecord) -> bool:
    """Whether a person may approve a plan as they edited it: its agent asks, takes edits, and has no answer yet."""
    is_text = isinstance(record.state.plan, MarkdownPlan)
    return is_text and record.asked is not None and record.asked.takes_edit and record.decision is None


def refuse_untaken(record: PlanRecord) -> None:
    """Raise `PlanError` unless an edited plan would be taken."""
    if not takes_edit(record):
        raise PlanError(_UNTAKEN)


def refuse_edit(verdict: str, text: str | None) -> None:
    """Raise `PlanError` if an edited plan comes with another verdict than an approval."""
    if text is not None and verdict != APPROVED:
        raise PlanError("Only an approval takes an edited plan: say in words what to change. Nothing was sent.")


def edited_plan(on: Target, choice: Choice | None, text: str | None) -> tuple[PlanSet, ...]:
    """The event that sets the edited plan, for the same write as the approval; none if the text is unchanged. Raises
    `PlanError` if the plan does not take an edit."""
    plan = on.record.state.plan
    if text is None:
        return ()
    refuse_untaken(on.record)
    if choice is None or not isinstance(plan, MarkdownPlan):
        raise PlanError(_UNTAKEN)
    if not text.strip():
        raise EmptyText("The plan is empty: write its text, or request changes.")
    if _compared(text) == _compared(plan.content):
        return ()
    edited = replace(plan, content=_compared(text))
    if (size := len(edited.content.encode(errors="replace"))) > max(BODY_CAP, plan_bytes(plan)):
        raise PlanError(f"The plan would have {size:,} bytes, and at most {BODY_CAP:,} are allowed: use fewer words.")
    return (PlanSet(edited, via=HOOKS if on.record.owner == AGENT else TOOLS, mode=on.record.mode),)


def _compared(text: str) -> str:
    """A text with plain line breaks and a trimmed end, since text fields and editors change both."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
