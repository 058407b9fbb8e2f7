"""Requests of people who steer, as a page sends them: read strictly, and refused with the place that is wrong."""

from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct, field

from planwire.model.events import AddStep, Comment, Event, MoveStep, StepChange
from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.steering.commands import change, review, withdraw

__all__ = ["ChangesWanted", "ReviewWanted", "Wanted", "WithdrawalWanted", "read_wanted"]

#: Every change of a text parses it again.
MOST_CHANGES: Final = 100
MOST_COMMENTS: Final = 200
MOST_SELECTED: Final = 5_000

_Number: TypeAlias = Annotated[int, Meta(ge=0, lt=2**53)]


class ChangesWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes of steps, a note, or both, for the plan at a revision."""

    revision: _Number
    changes: Annotated[tuple[StepChange, ...], Meta(max_length=MOST_CHANGES)] = ()
    note: str | None = None

    def steps(self) -> list[str]:
        """The steps that must exist."""
        named = [each.step for each in self.changes if not isinstance(each, AddStep)]
        return named + [each.after for each in self.changes if isinstance(each, AddStep | MoveStep) and each.after]

    def event(self, state: SessionState, plan_id: PlanId, revision: int) -> Event:
        return change(state, plan_id, revision, self.changes, self.note)


class ReviewWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """A review of the plan at a revision."""

    revision: _Number
    verdict: Literal["approved", "changes_requested", "commented"]
    comments: Annotated[tuple[Comment, ...], Meta(max_length=MOST_COMMENTS)] = ()
    selected: Annotated[tuple[str, ...], Meta(max_length=MOST_SELECTED)] | None = None

    def steps(self) -> list[str]:
        """The steps that must exist."""
        return [*(each.step for each in self.comments if each.step is not None), *(self.selected or ())]

    def event(self, state: SessionState, plan_id: PlanId, revision: int) -> Event:
        return review(state, plan_id, revision, self.verdict, self.comments, self.selected)


class WithdrawalWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """The withdrawal of a suggestion. It names the suggestion, so it needs no revision."""

    revision: ClassVar[int] = 0
    suggestion: _Number = field(name="wish")

    def steps(self) -> list[str]:
        return []

    def event(self, state: SessionState, plan_id: PlanId, _revision: int) -> Event:
        return withdraw(state, plan_id, self.suggestion)


Wanted: TypeAlias = ChangesWanted | ReviewWanted | WithdrawalWanted


def read_wanted(body: bytes, kind: type[Wanted]) -> Wanted:
    """Read a request. `ValueError` says what is wrong with it, and where."""
    wanted = msgspec.json.decode(body, type=kind)
    _refuse_unknown_fields(msgspec.json.decode(body), wanted)
    return wanted


def _refuse_unknown_fields(sent: dict[str, Any], wanted: Wanted) -> None:
    """Refuse a field that nobody would look at: it could be the one that matters."""
    for name in ("changes", "comments"):
        for at, (each, known) in enumerate(zip(sent.get(name) or (), getattr(wanted, name, ()), strict=True)):
            for key in each:
                if key not in (*known.__struct_fields__, known.__struct_config__.tag_field):
                    raise ValueError(f"Object contains unknown field `{key}` - at `$.{name}[{at}]`")
