"""The agent's knowledge of its session's plans, and reasons to tell it these plans again.

Three things leave an agent behind: a compaction of its context; a load or resume whose replay lacks a plan; and a
person who said something since. This connection knows what it told the agent, and so does the journal, which records
every reminder (`SessionMemory`).
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from planwire.model.plan import PlanId
from planwire.model.records import PLANWIRE, Delta, PlanRecord, Review
from planwire.relay.actions import BY_AGENT, BY_CLIENT, BY_RELAY, SessionMemory
from planwire.relay.reminder import COMPACTED, RESUMED, STEERED

__all__ = ["AgentContext"]

#: Authors whose changes the agent has already seen.
_SEEN: Final = frozenset((BY_AGENT, BY_CLIENT, BY_RELAY))


class AgentContext:
    """One session's agent. `memory` is what the journal holds, once it answered; `marks` are the blocks that went into
    prompts on this connection. `is_attached`: after a load or resume, the agent's context is unknown.
    `is_compacted`: nobody has told it its plans since a compaction."""

    def __init__(self, *, attached: bool) -> None:
        self.memory: SessionMemory | None = None
        self.is_attached = attached
        self.is_compacted = False
        self.marks: dict[str, str] = {}
        self._echoed: set[str] = set()  # the marks of blocks in the replay since it was attached
        self._told: int | None = None  # on this connection
        self._told_earlier: int | None = None

    def attach(self) -> None:
        """The client loads or resumes the session: the agent's context may lack what it heard before."""
        self.is_attached = True
        self._echoed = set()

    def detach(self) -> None:
        """The load failed: everything is as it was."""
        self.is_attached = False

    @property
    def known_marks(self) -> dict[str, str]:
        """The text of every block that went into a prompt, by its mark."""
        return {**(self.memory.marks if self.memory else {}), **self.marks}

    @property
    def trusts_echoes(self) -> bool:
        """Whether a block that agrees with its own checksum counts: nobody can say yet which ones are genuine."""
        return self.memory is None and self.is_attached

    def hear_echo(self, marks: set[str]) -> None:
        """A replay contains blocks that went into prompts."""
        self._echoed |= marks

    def due(self, plans: Callable[[], Sequence[PlanRecord]], mentioned: Collection[PlanId]) -> str | None:
        """Why the next prompt has to tell the agent its plans, or None. `mentioned` are the plans that it spoke of
        since it was attached."""
        if self.is_compacted or self._was_compacted():
            return COMPACTED
        told = self.told_before()
        if self.is_attached and any(self._is_missing(record, mentioned, told) for record in plans()):
            return RESUMED
        recorded = self.memory.state.live().values() if self.memory else ()
        return STEERED if any(_is_steered(record, told) for record in recorded) else None

    def told_before(self) -> int:
        """The number of the last event that the agent knows of, from this connection or an earlier one."""
        if self._told is not None:
            return self._told
        return self.memory.told if self.memory else 0

    def tell(self, mark: str, text: str) -> int:
        """Note that a block tells the agent everything up to an event, whose number this returns."""
        self.marks[mark] = text
        self._told_earlier, self._told = self.told_before(), self.memory.seq if self.memory else 0
        self.is_compacted = self.is_attached = False
        return self._told

    def take_back(self, why: str) -> None:
        """The agent refused the prompt: tell it the same again with the next one."""
        self._told = self._told_earlier
        self.is_compacted = self.is_compacted or why == COMPACTED
        self.is_attached = self.is_attached or why == RESUMED

    def _was_compacted(self) -> bool:
        """Whether the journal knows of a compaction and of no reminder after it. While the newest reminder of this
        connection is still on its way to the journal, the journal can't say."""
        memory, newest = self.memory, next(reversed(self.marks), None)
        if memory is None or (newest is not None and newest not in memory.marks):
            return False
        return memory.state.compacted > memory.reminded

    def _is_missing(self, record: PlanRecord, mentioned: Collection[PlanId], told: int) -> bool:
        """Whether no replay contained the plan: neither the plan itself, nor a block that told it as it is now."""
        newest = next(reversed(self.memory.marks), None) if self.memory else None
        return record.state.plan.id not in mentioned and (newest not in self._echoed or record.revision > told)


def _is_steered(record: PlanRecord, told: int) -> bool:
    """Whether a person suggested or said something that the agent has not heard; or changed a plan of the tools, where
    no suggestion is needed."""
    if any(suggestion.seq > told for suggestion in record.suggestions):
        return True
    said: list[Delta | Review] = [*record.deltas, *record.reviews] if record.owner == PLANWIRE else [*record.reviews]
    return any(each.seq > told and each.by not in _SEEN for each in said)
