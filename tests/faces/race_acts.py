"""What two people do in a race with two agents, and what the journal says that they did: in the same words.

The first ten of thirty steps are the agent's. Behind them each face has five of its own, one for each act on a step; a
request for changes is on the plan. A tick and a move are taken back in every second round.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from planwire.model.events import (
    CHANGES_REQUESTED,
    COMMENT,
    REQUEST,
    PlanChanged,
    PlanReviewed,
    Recorded,
    RemarkClosed,
    Remarked,
)
from planwire.model.plan import Fields
from planwire.model.records import AGENT
from planwire.model.remarks import WITHDRAWN
from planwire.model.step_changes import AddStep, MoveStep, RewordStep, SetStatus, StepChange
from planwire.model.unheard import CLIENT, RELAY

__all__ = [
    "ACTS",
    "BROWSER",
    "COMMAND_LINE",
    "RELAYED",
    "SESSIONS",
    "STEPS",
    "TERMINAL",
    "TOOLED",
    "Did",
    "Face",
    "acts_in",
    "acts_told",
]

#: The sessions: one of an agent with a list of its own, behind a relay, and one of an agent with the plan tools.
RELAYED: Final = "relayed"
TOOLED: Final = "tooled"
SESSIONS: Final = (RELAYED, TOOLED)
STEPS: Final = tuple(f"Step {number}" for number in range(1, 31))
ACTS: Final = ("comment", "reword", "tick", "add", "move", "review")


class Did(NamedTuple):
    """One act: by whom, on which step, and the text, or what it comes to."""

    by: str
    act: str
    step: str
    text: str


class Face(NamedTuple):
    """Where a person acts: their name there, and the number of the first of five steps."""

    name: str
    by: str
    first: int

    def step(self, act: str) -> int:
        return self.first + ACTS.index(act)

    def does(self, act: str, lap: int) -> Did:
        """An act in a round of the race. The rounds count from 0."""
        back = lap % 2
        text = {"tick": ("completed", "pending")[back], "move": ("down", "back")[back]}.get(
            act, f"{self.name} {lap}.{ACTS.index(act)}"
        )
        return Did(self.by, act, "" if act == "review" else f"s{self.step(act)}", text)


BROWSER: Final = Face("browser", "user", 15)
TERMINAL: Final = Face("terminal", "ann", 20)
COMMAND_LINE: Final = Face("shell", "ann", 25)


def acts_in(events: Iterable[Recorded]) -> Iterator[Did]:
    """What people did in a session. A verdict goes without saying: it comes with a request."""
    remarks: list[Remarked] = []
    for recorded in events:
        event, by = recorded.event, recorded.by
        if isinstance(event, Remarked):
            remarks.append(event)
        match event:
            case _ if by in (AGENT, CLIENT, RELAY):
                continue
            case Remarked(kind=kind, text=text, step=step) if kind == COMMENT:
                yield Did(by, "comment", step or "", text)
            case Remarked(kind=kind, text=text, step=step) if kind == REQUEST:
                yield Did(by, "review", step or "", text)
            case Remarked(changes=changes) | PlanChanged(changes=changes):
                yield from (_change(by, change) for change in changes)
            case RemarkClosed(remark=remark, how=how):
                if how == WITHDRAWN:
                    yield from (_withdrawn(by, change) for change in remarks[int(remark[1:]) - 1].changes)
            case PlanReviewed(verdict=verdict):
                assert verdict == CHANGES_REQUESTED
            case _:
                raise AssertionError(f"nobody did this: {recorded}")


def acts_told(items: Iterable[Fields]) -> Iterator[Did]:
    """What people did, as an agent is told it."""
    for item in items:
        by, text = item["by"], item.get("text", "")
        match item["said"]:
            case "comment":
                yield Did(by, "comment", item.get("step", ""), text)
            case "request":
                yield Did(by, "review", item.get("step", ""), text)
            case "edit":
                yield from (_change(by, each) for each in msgspec.convert(item["changes"], list[StepChange]))
            case other:
                assert other in ("verdict", "closed"), item  # a request that another change ended


def _change(by: str, change: StepChange) -> Did:
    match change:
        case RewordStep(step=step, content=content):
            return Did(by, "reword", step, content)
        case AddStep(content=content, after=after):
            return Did(by, "add", after or "", content)
        case SetStatus(step=step, status=status):
            return Did(by, "tick", step, status)
        case MoveStep(step=step, after=after):
            return Did(by, "move", step, "down" if after == f"s{int(step[1:]) + 1}" else "back")
    raise AssertionError(f"nobody did this: {change}")


def _withdrawn(by: str, change: StepChange) -> Did:
    back = {"completed": "pending", "down": "back"}
    did = _change(by, change)
    return did._replace(text=back.get(did.text, f"withdrawn: {did.text}"))
