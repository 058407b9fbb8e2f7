"""What people ask for on the board, as the page sends it: read strictly, or refused with the place that is wrong."""

from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from planwire.errors import PlanError
from planwire.model.events import COMMENTED, AddStep, Comment, Event, MoveStep, StepChange
from planwire.model.fold import PlanRecord, Review, SessionState
from planwire.model.plan import PlanId
from planwire.session.writer import USER
from planwire.steering.commands import change, review, withdraw

__all__ = ["AlreadyThere", "ChangesWanted", "ReviewWanted", "Wanted", "WithdrawalWanted", "read_wanted"]

#: Every change of a text parses it again.
MOST_CHANGES: Final = 100
MOST_COMMENTS: Final = 200
MOST_SELECTED: Final = 5_000

_Number: TypeAlias = Annotated[int, Meta(ge=0, lt=2**53)]


class AlreadyThere(PlanError):
    """What is wanted for was written already: whoever asks did not hear the answer."""


class ChangesWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes of steps, to the plan at a revision."""

    revision: _Number
    changes: Annotated[tuple[StepChange, ...], Meta(max_length=MOST_CHANGES)] = ()
    note: str | None = None

    def steps(self) -> list[str]:
        """The steps that have to be there."""
        named = [each.step for each in self.changes if not isinstance(each, AddStep)]
        return named + [each.after for each in self.changes if isinstance(each, AddStep | MoveStep) and each.after]

    def event(self, state: SessionState, plan_id: PlanId, revision: int) -> Event:
        return change(state, plan_id, revision, self.changes, self.note)


class ReviewWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """A word on the plan at a revision."""

    revision: _Number
    verdict: Literal["approved", "changes_requested", "commented"]
    comments: Annotated[tuple[Comment, ...], Meta(max_length=MOST_COMMENTS)] = ()
    selected: Annotated[tuple[str, ...], Meta(max_length=MOST_SELECTED)] | None = None

    def steps(self) -> list[str]:
        """The steps that have to be there."""
        return [*(each.step for each in self.comments if each.step is not None), *(self.selected or ())]

    def event(self, state: SessionState, plan_id: PlanId, revision: int) -> Event:
        if self.verdict == COMMENTED and not self.comments:
            raise PlanError("a comment says something: give it a text")
        if self.selected is not None and not self.selected:
            raise PlanError("no step is selected: name those to run")
        said = review(state, plan_id, revision, self.verdict, self.comments, self.selected)
        if _is_said(state.plans[plan_id], said.revision, said.verdict, said.comments, said.selected):
            raise AlreadyThere("this was said already")
        return said


class WithdrawalWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """A wish is taken back. It names the wish, so it needs no revision."""

    revision: ClassVar[int] = 0
    wish: _Number

    def steps(self) -> list[str]:
        return []

    def event(self, state: SessionState, plan_id: PlanId, _revision: int) -> Event:
        return withdraw(state, plan_id, self.wish)


Wanted: TypeAlias = ChangesWanted | ReviewWanted | WithdrawalWanted
_A = TypeVar("_A", ChangesWanted, ReviewWanted, WithdrawalWanted)


def read_wanted(body: bytes, kind: type[_A]) -> _A:
    """What was wanted for. `ValueError` says what of it is wrong, and where."""
    wanted = msgspec.json.decode(body, type=kind)
    _refuse_unknown_fields(msgspec.json.decode(body), wanted)
    return wanted


def _refuse_unknown_fields(sent: dict[str, Any], wanted: Wanted) -> None:
    """A field that would be ignored could be the one that matters."""
    for name in ("changes", "comments"):
        for at, (each, known) in enumerate(zip(sent.get(name) or (), getattr(wanted, name, ()), strict=True)):
            for field in each:
                if field not in (*known.__struct_fields__, known.__struct_config__.tag_field):
                    raise ValueError(f"Object contains unknown field `{field}` - at `$.{name}[{at}]`")


def _is_said(
    record: PlanRecord, revision: int, verdict: str, comments: tuple[Comment, ...], selected: tuple[str, ...] | None
) -> bool:
    """Whether the same was said of the same revision, and nothing else since that would make it news. A verdict is news
    after another one; a comment stays what it is."""
    said = [each for each in record.reviews if (each.verdict == COMMENTED) == (verdict == COMMENTED)]
    candidates: list[Review] = said if verdict == COMMENTED else said[-1:]
    same = (USER, revision, verdict, comments, selected)
    return any((each.by, each.revision, each.verdict, each.comments, each.selected) == same for each in candidates)
