"""Acts of people on a session in memory: decide, fold, look."""

from typing import Any

from planwire.model.events import ACP, SUGGESTION, Choice, Event, PlanChanged, PlanSet, Recorded, RemarkClosed, Remarked
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan, Plan, PlanId
from planwire.model.records import AGENT, PlanRecord, SessionState
from planwire.model.remarks import WITHDRAWN
from planwire.model.step_changes import StepChange
from planwire.model.steps import PlanState
from planwire.steering.acts import decide
from planwire.steering.overlay import Overlay
from planwire.steering.reach import NOBODY, Reach
from planwire.steering.target import Decision
from planwire.steering.wanted import Wanted
from tests.deciding import fold

#: A list in which each status of the table occurs, and one of the agent's own.
LIST = ItemsPlan(
    "main",
    (
        Entry("read", "high", "completed"),
        Entry("write", "medium", "in_progress"),
        Entry("test", "medium", "pending"),
        Entry("tag", "low", "cancelled"),
        Entry("ship", None, "blocked"),
    ),
)
TEXT = MarkdownPlan("main", "# Release\n\n- [x] read\n- [~] write\n- [ ] test\n\nThat is all.\n")
NESTED = MarkdownPlan(
    "main",
    "# Release\n\n- [ ] read\n  - [ ] the code\n  - [x] the docs\n  - [ ] the issues\n"
    "- [ ] write\n  - [ ] a test\n- [ ] ship\n",
)
#: Two answers that an agent offers.
YES, NO = Choice("yes", "Yes, do it", "allow_once"), Choice("no", "No, keep planning", "reject_once")


class Session:
    """A session and all that it was. `do` decides an act and appends what it means, as `steer` does. `reach` is what
    its agent can be given."""

    def __init__(self, plan: Plan, via: str = "tools", *, plan_id: PlanId = "main") -> None:
        self.state = SessionState("s")
        self.states = [self.state]
        self.plan_id = plan_id
        self.reach: Reach = NOBODY
        self.append(PlanSet(plan, via=via), by=AGENT)

    @property
    def record(self) -> PlanRecord:
        return self.state.plans[self.plan_id]

    @property
    def revision(self) -> int:
        return self.record.revision

    @property
    def steps(self) -> list[tuple[str, str]]:
        return [(step.content, step.status) for step in self.record.state.steps]

    @property
    def texts(self) -> list[str]:
        return [step.content for step in self.record.state.steps]

    @property
    def order(self) -> list[str]:
        """The texts in the order that is suggested."""
        return [step.content for step in Overlay.of(self.record.state, self.record.suggestions).steps]

    @property
    def suggested(self) -> list[StepChange]:
        return [change for suggestion in self.record.suggestions for change in suggestion.changes]

    def append(self, *events: Event, by: str = "user") -> None:
        for event in events:
            self.state = fold(self.state, Recorded("s", self.state.seq + 1, 0, by, event))
            self.states.append(self.state)

    def recall(self, revision: int) -> PlanRecord | None:
        return self.states[revision].live().get(self.plan_id) if revision < len(self.states) else None

    def decide(self, wanted: Wanted, by: str = "user", file: PlanState | None = None) -> Decision:
        return decide(self.state, self.plan_id, wanted, self.recall, by, file, self.reach)

    def do(self, act: str, target: str | None = None, *, author: str = "user", **arguments: Any) -> Decision:
        file = arguments.pop("file", None)
        decision = self.decide(Wanted(act, target, **arguments), author, file)
        self.append(*decision.events, by=author)
        return decision

    def agent_does(self, *changes: StepChange) -> None:
        """The agent changes its plan, whoever's it is."""
        self.append(PlanChanged(self.plan_id, None, changes), by=AGENT)


def agents(plan: Plan) -> Session:
    """A session in which the plan is the agent's own."""
    return Session(plan, ACP, plan_id=plan.id)


def a_list(*contents: str, status: str = "pending") -> ItemsPlan:
    return ItemsPlan("main", tuple(Entry(text, "medium", status) for text in contents))


def closed(decision: Decision, how: str = WITHDRAWN) -> list[str]:
    """The remarks that an act closes in this way."""
    return [event.remark for event in decision.events if isinstance(event, RemarkClosed) and event.how == how]


def suggests(*changes: StepChange, revision: int = 1, about: dict[str, str] | None = None) -> Remarked:
    return Remarked("main", SUGGESTION, "", revision, changes=changes, about=about or {})
