"""The agent's knowledge of its session's plans, and reasons to tell it these plans again.

Three things leave an agent behind: a compaction of its context; a load or resume whose replay lacks a plan; and a
person who said something since. This connection knows what it told the agent, and so does the journal, which records
every reminder (`SessionMemory`).
"""

from collections.abc import Callable, Collection, Sequence

from planwire.model.events import REFUSED, Recorded, Told
from planwire.model.fold import fold
from planwire.model.plan import PlanId
from planwire.model.records import PROMPT, PlanRecord, SessionState
from planwire.model.unheard import Words, news, standing
from planwire.relay.actions import BY_RELAY, SessionMemory
from planwire.relay.reminder import COMPACTED, RESUMED, STEERED

__all__ = ["AgentContext"]


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
        self._told = 0  # on this connection
        self._told_remarks: set[str] = set()  # on this connection, as long as the journal does not say so
        self._taken_back = Told(PROMPT, 0)  # the newest block, if the agent refuses it
        self._refusal: Told | None = None

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
        if self.is_attached and (any(self._is_missing(each, mentioned, told) for each in plans()) or self._lacks()):
            return RESUMED
        return STEERED if self.news() else None

    def news(self) -> Words:
        """What people said, and the agent has not heard."""
        state = self._state()
        if state is None:
            return Words()
        self._told_remarks -= {each.id for record in state.plans.values() for each in record.remarks if each.told}
        return news(state, since=self.told_before(), without=self._told_remarks)

    def words(self, why: str) -> Words:
        """What to tell the agent: all that holds, if its context may lack it, and else what it has not heard."""
        state = self._state()
        return self.news() if why == STEERED or state is None else standing(state)

    def told_before(self) -> int:
        """The number of the last event that the agent knows of, from this connection or an earlier one."""
        state = self._state()
        return max(self._told, state.told if state else 0)

    def tell(self, mark: str, text: str, words: Words) -> Told:
        """Note that a block tells the agent everything up to an event. Returns the event of that."""
        before, self._told = self.told_before(), self.memory.seq if self.memory else 0
        self.marks[mark] = text
        self._told_remarks |= set(words.remarks)
        self.is_compacted = self.is_attached = False
        self._refusal = None
        self._taken_back = Told(PROMPT, self._told, before, (), mark, REFUSED)
        return Told(PROMPT, self._told, before, words.remarks, mark)

    def take_back(self, why: str) -> Told:
        """The agent refused the prompt: tell it the same again with the next one. Returns the event of that."""
        self._told = 0
        self._told_remarks.clear()
        self.is_compacted = self.is_compacted or why == COMPACTED
        self.is_attached = self.is_attached or why == RESUMED
        self._refusal = self._taken_back
        return self._taken_back

    def _state(self) -> SessionState | None:
        """The state as the journal has it, or will have it: that the agent refused the last block may be on its way."""
        if self.memory is None or self._refusal is None:
            return self.memory.state if self.memory else None
        state = self.memory.state
        return fold(state, Recorded(state.id, state.seq, 0, BY_RELAY, self._refusal))

    def _lacks(self) -> bool:
        """Whether something that people said still holds, and no replay contained it."""
        newest = next(reversed(self.memory.marks), None) if self.memory else None
        return self.memory is not None and newest not in self._echoed and bool(standing(self.memory.state))

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
