"""The texts of plan files, as values: read once, then shown and counted like any other plan."""

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.model.steps import PlanState

__all__ = ["FileText", "with_files"]


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


def with_files(session: SessionState, files: dict[PlanId, FileText]) -> SessionState:
    """The session with the texts of its files in the place of their addresses, so that their steps count."""
    plans = {
        plan_id: replace(record, state=file.readable)
        if (file := files.get(plan_id)) is not None and file.readable is not None
        else record
        for plan_id, record in session.plans.items()
    }
    return replace(session, plans=plans) if files else session
