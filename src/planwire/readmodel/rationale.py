"""What a person who looks at a plan asks: why is it so, and what has changed?

The reasons are the words of the message that came with the plan. Sessions that keep their chat have that message in the
journal, right before the plan; each provider has another place for the words. What has changed shows against the plan
before the one that waits for a verdict. Reading the journal for either may take long, so both remember the latest.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from planwire.journal import Journal, state_at
from planwire.model.events import COMMENTED, MessageAdded, PlanSet
from planwire.model.plan import PlanId
from planwire.model.records import PlanRecord, SessionState
from planwire.readmodel.card import PlanCard
from planwire.readmodel.cards import card_of
from planwire.readmodel.file_text import titles_of

__all__ = ["Earlier", "Reasons"]

#: Events that may lie between a message and its plan, and characters of it to show.
REACH: Final = 6
LONGEST: Final = 1_500
#: Reasons and earlier plans to remember.
REASONS: Final = 1_000
EARLIER: Final = 200


class Reasons:
    """The reasons of the plans that people saw last."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._said = lru_cache(REASONS)(self._look)

    def of(self, session: SessionState) -> dict[PlanId, str]:
        """What the agent said with each plan of a session, as far as the journal has its chat."""
        found = {
            plan_id: self._said(session.id, record.base, record.created_at)
            for plan_id, record in session.live().items()
        }
        return {plan_id: said for plan_id, said in found.items() if said}

    def _look(self, session: str, base: int, _created_at: int) -> str:
        said = ""
        for recorded in self._journal.read(session, max(base - 1 - REACH, 0), base - 1):
            match recorded.event:
                case MessageAdded(message=message) if message.get("role") in ("assistant", "model"):
                    said = _words_of(message)
                case MessageAdded(message=message) if message.get("role") != "user":
                    pass
                case MessageAdded() | PlanSet():  # those words were about something else
                    said = ""
        return said


def _words_of(message: dict[str, Any]) -> str:
    """The words of a model's message, its thinking first. Calls of tools have none here."""
    words = [message.get("reasoning_content"), message.get("reasoning")]
    for name in ("content", "parts", "summary"):
        words += _texts(message.get(name))
    text = "\n".join(word.strip() for word in words if isinstance(word, str) and word.strip())
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"


def _texts(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for block in value:
            if isinstance(block, dict):
                yield block.get("thinking") or block.get("text")


class Earlier:
    """The plans before those that wait for a verdict."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._before = lru_cache(EARLIER)(self._look)

    def of(self, session: SessionState) -> dict[PlanId, PlanCard]:
        """For each plan of a session that waits for a verdict, the plan before it. A new plan has none."""
        asked = {plan_id: record for plan_id, record in session.live().items() if record.asked}
        seen = {plan_id: (_seen_last(record), record.created_at) for plan_id, record in asked.items()}
        found = {plan_id: self._before(session.id, plan_id, *key) for plan_id, key in seen.items() if key[0]}
        return {plan_id: before for plan_id, before in found.items() if before}

    def _look(self, session: str, plan_id: PlanId, seq: int, _created_at: int) -> PlanCard | None:
        """The plan after an event. A session may begin anew under its old name: then its plans have another time."""
        state = state_at(self._journal, session, seq)
        record = state.live().get(plan_id)
        return card_of(record, titles_of(state, {})[plan_id]) if record else None


def _seen_last(record: PlanRecord) -> int:
    """The event up to which a person knows a plan: the revision of this version that got the last verdict, or else the
    last event of the version before; 0 if there is neither."""
    judged = [review.revision for review in record.reviews if review.verdict != COMMENTED]
    of_this = [revision for revision in judged if record.base <= revision < record.revision]
    if of_this:
        return of_this[-1]
    return record.base - 1 if record.supersedes is not None else 0
