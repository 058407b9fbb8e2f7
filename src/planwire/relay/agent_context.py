"""The agent's knowledge of its session's plans, and reasons to tell it these plans again.

Three things leave an agent behind: a compaction of its context; a load or resume whose replay lacks a plan; and a
person who said something since. The journal records what the agent was told a moment after the prompt has left. Until
then this connection remembers it, so that no prompt waits for the disk and nothing is told twice.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec.structs import replace

from planwire.chat.retelling import COMPACTED, RESUMED, STEERED
from planwire.model.authors import name_of
from planwire.model.events import OFFERED, REFUSED, Recorded, Told
from planwire.model.fold import fold
from planwire.model.plan import PlanId
from planwire.model.records import PROMPT, PlanRecord, SessionState
from planwire.model.unheard import Words, news, standing
from planwire.relay.actions import BY_CLIENT, BY_RELAY, SessionMemory
from planwire.relay.echoes import SentBlock
from planwire.relay.reminder import remarks_in


class AgentContext:
    """What one session's agent knows. `memory`: what the journal holds, once it has answered. `marks`: the blocks sent
    in prompts on this connection. `is_attached`: after a load or resume, the agent's context is unknown.
    `is_compacted`: the agent has not been told its plans since a compaction."""

    def __init__(self, *, attached: bool) -> None:
        self.memory: SessionMemory | None = None
        self.is_attached = attached
        self.is_compacted = False
        self.marks: dict[str, SentBlock] = {}
        self._echoed: dict[str, str] = {}  # the blocks in the replay since it was attached
        self._unrecorded: list[Told] = []  # tellings of this connection that the journal lacks

    def learn(self, memory: SessionMemory) -> None:
        """Take in what the journal holds."""
        if self.memory is not None and memory.seq < self.memory.seq:  # the session was forgotten, and began anew
            self._unrecorded.clear()
        self.memory = memory
        self._unrecorded = [each for each in self._unrecorded if not memory.has_recorded(each)]

    def attach(self) -> None:
        """The client loads or resumes the session: the agent's context may lack what it heard before."""
        self.is_attached = True
        self._echoed = {}

    def detach(self) -> None:
        """The load failed: everything is as it was."""
        self.is_attached = False

    @property
    def known_marks(self) -> dict[str, SentBlock]:
        """Every block that went into a prompt, by its mark."""
        return {**(self.memory.marks if self.memory else {}), **self.marks}

    @property
    def trusts_echoes(self) -> bool:
        """Whether a block that matches its own checksum counts: until the journal answers, the genuine ones are not
        known."""
        return self.memory is None and self.is_attached

    def hear_echo(self, blocks: Mapping[str, str]) -> None:
        """Note the blocks of a replay, by mark, that match their checksums."""
        self._echoed |= blocks

    @property
    def state(self) -> SessionState | None:
        """The state as the journal will have it once everything that the agent was told is recorded."""
        state = self.memory.state if self.memory else None
        if state is not None:
            for telling in (*self._told_before_a_crash(), *self._unrecorded):
                state = fold(state, Recorded(state.id, state.seq, 0, BY_RELAY, telling))
        return state

    def due(self, plans: Callable[[], Sequence[PlanRecord]], mentioned: Collection[PlanId]) -> str | None:
        """Why the next prompt has to tell the agent its plans, or None. `mentioned` are the plans that it spoke of
        since it was attached."""
        if self.is_compacted or self._was_compacted():
            return COMPACTED
        state = self.state
        told = state.told if state else 0
        if self.is_attached and (any(self._is_missing(each, mentioned, told) for each in plans()) or self._lacks()):
            return RESUMED
        return STEERED if state and news(state) else None

    def words(self, why: str, state: SessionState) -> Words:
        """What to tell the agent in this state of its session: all that holds if its context may lack it, otherwise
        what it has not heard. A resumed agent may still have its context, so it also hears what ended meanwhile."""
        if why == STEERED:
            return news(state)
        held = standing(state)
        if why == COMPACTED:
            return held
        more = (each for each in news(state).items if each not in held.items and each.get("id") not in held.besides)
        return replace(held, items=(*held.items, *more))

    def tell(self, mark: str, sent: SentBlock, words: Words, way: str = PROMPT) -> Told:
        """Note that a block tells the agent everything up to now. Returns the event to record."""
        state = self.state
        told = Told(way, state.seq if state else 0, state.told if state else 0, words.remarks, mark, stale=words.stale)
        self.marks[mark] = sent
        self.is_compacted = self.is_attached = False
        self._unrecorded.append(told)
        return told

    def take_back(self, why: str, told: Told) -> Told:
        """The agent refused the prompt: tell it the same again with the next one. Returns the event to record."""
        self.is_compacted = self.is_compacted or why == COMPACTED
        self.is_attached = self.is_attached or why == RESUMED
        refused = replace(told, remarks=(), stage=REFUSED)
        self._unrecorded.append(refused)
        return refused

    def _told_before_a_crash(self) -> tuple[Told, ...]:
        """The telling of the replay's last block, if the journal does not know that block: a relay sent it, and was
        killed before it could record that."""
        mark = next(reversed(self._echoed), None)
        if mark is None or mark in self.known_marks:
            return ()
        return (Told(PROMPT, 0, remarks=remarks_in(self._echoed[mark]), request=mark, stage=OFFERED),)

    def _lacks(self) -> bool:
        """Whether something that people said still holds, and the replay lacks the newest block."""
        newest = next(reversed(self.memory.marks), None) if self.memory else None
        if self.memory is None or newest in self._echoed:
            return False
        return any(each.open_remarks or _has_verdict(each) for each in self.memory.state.plans.values())

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


def _has_verdict(record: PlanRecord) -> bool:
    """Whether a person's verdict on the plan holds. One given in the agent's client is part of the agent's own
    history."""
    last = record.review
    return (
        record.is_living and last is not None and not (last.is_stale or last.is_known or name_of(last.by) == BY_CLIENT)
    )
