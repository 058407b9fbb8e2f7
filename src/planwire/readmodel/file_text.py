"""The texts of plan files, as values: read once, then shown, counted and named like any other plan."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.kinds import text_of
from planwire.model.plan import PlanId
from planwire.model.records import SessionState
from planwire.model.steps import PlanState
from planwire.model.titles import plan_titles


class FileText(Struct, frozen=True):
    """A plan file as of the last look: its text as a plan with steps, or why there is none to show."""

    uri: str
    path: str | None
    state: PlanState | None = None
    problem: str | None = None

    @property
    def readable(self) -> PlanState | None:
        """Its text as a plan, if it could be read just now."""
        return None if self.problem else self.state


def text_of_file(file: FileText) -> str | None:
    """The text of a file that can be read."""
    return None if file.readable is None else text_of(file.readable.plan)


#: The plan files of a session now.
FilesOf: TypeAlias = Callable[[SessionState], Mapping[PlanId, FileText]]


def no_plan_files(_session: SessionState) -> dict[PlanId, FileText]:
    """Read no file: for callers that only want what the journal says."""
    return {}


def titles_of(session: SessionState, files: Mapping[PlanId, FileText]) -> dict[PlanId, str]:
    """The titles of all plans of a session, including removed ones, which keep their titles."""
    texts = {plan_id: text_of(file.readable.plan) for plan_id, file in files.items() if file.readable is not None}
    return plan_titles((record.state.plan for record in session.plans.values()), texts)


def with_files(session: SessionState, files: dict[PlanId, FileText]) -> SessionState:
    """The session with the texts of its files in place of their addresses, so that their steps count."""
    plans = {
        plan_id: replace(record, state=file.readable)
        if (file := files.get(plan_id)) is not None and file.readable is not None
        else record
        for plan_id, record in session.plans.items()
    }
    return replace(session, plans=plans) if files else session
