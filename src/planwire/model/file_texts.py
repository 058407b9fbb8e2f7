"""Plan files as plans: the file's text in place of its address, so that its checkboxes are steps like any others.

This is the one rule for everything that counts, lists or tells steps. Nothing here opens a file: a caller that may read
files passes in a function from address to text. It returns None for a file that can't or must not be read, whose plan
then keeps its address.
"""

from collections.abc import Callable
from typing import TypeAlias

from planwire.model.events import FileSeen
from planwire.model.identity import track
from planwire.model.kinds import address_of
from planwire.model.plan import MarkdownPlan, Plan
from planwire.model.records import SessionState
from planwire.model.steps import PlanState

__all__ = ["ReadFile", "address_of", "no_files", "seen_files", "state_with_text", "with_text"]

#: The text of the plan file at a URI, or None.
ReadFile: TypeAlias = Callable[[str], str | None]


def no_files(_uri: str) -> None:
    """Read no file: for callers that don't know the session's folders."""


def with_text(plan: Plan, read: ReadFile) -> Plan:
    """The plan, with the text in place of a plan file that can be read."""
    uri = address_of(plan)
    text = None if uri is None else read(uri)
    return plan if text is None else MarkdownPlan(plan.id, text)


def state_with_text(state: PlanState, read: ReadFile, before: PlanState | None = None) -> PlanState:
    """Like `with_text`, with the steps. They keep the ids that they have in the journal, or else in `before`, an
    earlier state of the text."""
    plan = with_text(state.plan, read)
    return state if plan is state.plan else track(plan, state if state.memory.steps else before)


def seen_files(state: SessionState, read: ReadFile) -> list[FileSeen]:
    """The events for the plan files of a session whose text is not known yet. `read` reads them now."""
    files = ((plan_id, record, address_of(record.state.plan)) for plan_id, record in state.live().items())
    texts = ((plan_id, record, read(uri)) for plan_id, record, uri in files if uri is not None)
    return [FileSeen(plan_id, text) for plan_id, record, text in texts if text is not None and text != record.file]
