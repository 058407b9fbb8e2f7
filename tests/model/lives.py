"""The life of a remark on a list of three steps, act by act."""

from planwire.model.events import (
    ACP,
    COMMENT,
    REQUEST,
    SELECTION,
    SUGGESTION,
    Event,
    MessageAdded,
    PlanChanged,
    PlanSet,
    Recorded,
    Remarked,
    Told,
)
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.records import AGENT, PlanRecord, Remark, SessionState
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.unheard import news
from tests.deciding import fold

#: Changes that leave the wording of the list, and those that do not.
STATUS_ALONE: tuple[StepChange, ...] = (SetStatus("s3", "completed"), SetPriority("s2", "low"), MoveStep("s3", ""))
REWORDINGS: tuple[StepChange, ...] = (RewordStep("s2", "write it down"), AddStep("ship"), RemoveStep("s3"))
LIST = ItemsPlan("main", tuple(Entry(text, "medium", "pending") for text in ("read", "write", "test")))


def on_step(step: str, *, kept: bool = False) -> Remarked:
    return Remarked("main", COMMENT, "why?", 1, step, kept=kept)


def on_plan(*, kept: bool = False) -> Remarked:
    return Remarked("main", COMMENT, "never touch vendor/", 1, kept=kept)


def request() -> Remarked:
    return Remarked("main", REQUEST, "smaller", 1)


def selection(*steps: str) -> Remarked:
    return Remarked("main", SELECTION, "", 1, steps=steps)


def suggestion(*changes: StepChange) -> Remarked:
    return Remarked("main", SUGGESTION, "", 1, changes=changes)


def reminder(upto: int) -> MessageAdded:
    """The relay's message about a block in a prompt, which covers the events up to a number."""
    event = {"source": "relay", "subkind": "system_notice", "payload": {"mark": "word-1", "told": upto}}
    return MessageAdded({"role": "event", "content": "<planwire-context/>", "extra": {"event": event}})


class Life:
    """A session with an agent's list and a remark `r1` on it; or with other events of the agent's."""

    def __init__(self, *first: Event, by: str = "user") -> None:
        self.state = SessionState("s")
        if isinstance(first[0], Remarked):
            self.does(PlanSet(LIST, via=ACP))
            self.does(*first, by=by)
        else:
            self.does(*first)

    def does(self, *events: Event, by: str = AGENT) -> "Life":
        for event in events:
            self.state = fold(self.state, Recorded("s", self.state.seq + 1, 0, by, event))
        return self

    def agent_does(self, *changes: StepChange) -> "Life":
        return self.does(PlanChanged("main", None, changes))

    def told(self, *ids: str) -> "Life":
        return self.does(Told("prompt", self.state.seq, remarks=ids or ("r1",), request="a"), by="relay")

    @property
    def record(self) -> PlanRecord:
        return self.state.plans["main"]

    @property
    def remark(self) -> Remark:
        remark = self.state.remark("r1")
        assert remark is not None
        return remark

    @property
    def is_open(self) -> bool:
        return self.remark.is_open

    @property
    def end(self) -> str | None:
        return self.remark.closed.how if self.remark.closed else None

    @property
    def is_news(self) -> bool:
        """Whether the agent is still to be told of it."""
        return "r1" in news(self.state).remarks
