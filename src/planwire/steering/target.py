"""The target of an act, which is a plan at the moment of writing, and the decision that results."""

from msgspec import Struct

from planwire.errors import PlanError, TooLong, UnknownRemark
from planwire.model.changes import place_of
from planwire.model.events import Event
from planwire.model.file_texts import address_of
from planwire.model.kinds import kind_of, noun_of
from planwire.model.plan import REMARK_CAP
from planwire.model.records import AGENT, USER, PlanRecord, Remark, SessionState
from planwire.model.seen import changed_since
from planwire.model.step_changes import AddStep, RewordStep, StepChange
from planwire.model.steps import PlanState, Step
from planwire.steering.delivery import heard_when
from planwire.steering.reach import NOBODY, Reach
from planwire.steering.wanted import is_remark, remark_number
from planwire.steering.words import quoted, step_texts


class Decision(Struct, frozen=True):
    """The events of an act, and a sentence for the person who did it."""

    events: tuple[Event, ...]
    words: str
    is_suggestion: bool = False


class Target(Struct, frozen=True):
    """The plan of an act as it is now, its session, and the author of the act.

    `seen` is the plan as the person saw it, if it has changed since. `file` has the steps of a plan that is a file: the
    journal knows only its address. `reach` is what the agent can be given now, `now` whether it is to hear of the act
    at once.
    """

    session: SessionState
    record: PlanRecord
    by: str = USER
    seen: PlanRecord | None = None
    file: PlanState | None = None
    reach: Reach = NOBODY
    now: bool = False

    @property
    def is_suggested(self) -> bool:
        """Whether changes to the plan are suggestions."""
        return self.record.owner == AGENT

    @property
    def suggestions(self) -> tuple[Remark, ...]:
        """The open suggestions. Those of a plan that is no longer the agent's don't count: no one will follow them. Nor
        do those on steps that read differently by now."""
        record = self.record
        return tuple(each for each in record.suggestions if self.is_suggested and not changed_since(each, record))

    @property
    def heard(self) -> str:
        """A sentence on when the agent hears of the act."""
        return heard_when(self.session, self.record, self.reach, now=self.now)

    @property
    def texts(self) -> dict[str, str]:
        """The texts of all steps, including those that left the plan, as the person saw them."""
        known = (each.state for each in (self.record, self.seen) if each is not None)
        texts = step_texts(self.file) if self.file is not None else {}
        return texts | {step: text for state in known for step, text in step_texts(state).items()}

    def has(self, step: str) -> bool:
        """Whether the plan has a step with this id."""
        return any(each.id == step for each in self.record.state.steps)

    def step(self, step: str | None) -> Step:
        """The step that an act is on. Raises `UnknownStep` if the plan has no step with this id."""
        refuse_unchangeable(self.record)
        if is_remark(step):
            raise PlanError("This step is only suggested: reword it or withdraw it.")
        return self.record.state.steps[place_of(self.record.state, step or "")]


class Disputed(PlanError):
    """A person and another writer changed the same steps. `others` are the changes that still fit the plan, `changes`
    those that do not."""

    def __init__(self, others: tuple[StepChange, ...], changes: tuple[StepChange, ...], texts: dict[str, str]) -> None:
        names = [each.content if isinstance(each, AddStep) else texts.get(each.step, each.step) for each in changes]
        about = ", ".join(map(quoted, dict.fromkeys(names)))
        super().__init__(f"The plan changed while you edited it: decide again about {about}.")
        self.others = others
        self.changes = changes


def refuse_unchangeable(record: PlanRecord) -> None:
    """Raise `PlanError` unless people can change single steps of a plan here."""
    plan = record.state.plan
    if kind_of(plan).has_editable_steps:
        if all(step.status for step in record.state.steps):
            return
        raise PlanError("This plan is a numbered list without checkboxes: choose steps to run, or comment on them.")
    if address_of(plan) is not None:
        raise PlanError("This plan is a file: change it in an editor, or comment on the plan.")
    raise PlanError(f"A plan of kind {noun_of(plan)!r} has no steps to change: comment on it or review it.")


def check_length(text: str, changes: tuple[StepChange, ...] = ()) -> None:
    """Raise `TooLong` for a remark of more than `REMARK_CAP` bytes, since all open remarks go into the agent's
    context."""
    contents = (each.content for each in changes if isinstance(each, AddStep | RewordStep))
    size = sum(len(each.encode(errors="replace")) for each in (text, *contents))
    if size > REMARK_CAP:
        raise TooLong(
            f"This is too long: {size:,} bytes, and at most {REMARK_CAP:,} fit into one remark. Say it in parts."
        )


def remark_named(on: Target, remark_id: str) -> Remark:
    """The remark of a plan with this id. Raises `UnknownRemark` if there is none."""
    known = {each.id: each for each in on.record.remarks}
    if remark_id not in known:
        open_ones = ", ".join(sorted((each.id for each in on.record.open_remarks), key=remark_number)) or "none"
        raise UnknownRemark(f"There is no remark {remark_id!r} on this plan. Open ones: {open_ones}.")
    return known[remark_id]
