"""An agent's reasons for a plan: the words of the message that came with it.

Sessions that keep their chat have that message in the journal, right before the plan. Each provider has another place
for the words.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final

from planwire.journal import Journal
from planwire.model.events import MessageAdded, PlanSet
from planwire.model.fold import SessionState
from planwire.model.plan import PlanId

__all__ = ["Reasons", "words_of"]

#: Events that may lie between a message and its plan, characters of it to show, and reasons to remember.
REACH: Final = 6
LONGEST: Final = 1_500
REMEMBERED: Final = 1_000


class Reasons:
    """The reasons of the plans that people saw last."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: OrderedDict[tuple[str, int], str] = OrderedDict()

    def of(self, session: SessionState) -> dict[PlanId, str]:
        """What the agent said with each plan of a session, as far as the journal has its chat."""
        found = {plan_id: self._said(session.id, record.base) for plan_id, record in session.live().items()}
        return {plan_id: said for plan_id, said in found.items() if said}

    def _said(self, session: str, base: int) -> str:
        key = (session, base)
        if key not in self._known:
            self._known[key] = self._look(session, base)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]

    def _look(self, session: str, base: int) -> str:
        said = ""
        for recorded in self._journal.read(session, max(base - 1 - REACH, 0), base - 1):
            match recorded.event:
                case MessageAdded(message=message) if message.get("role") in ("assistant", "model"):
                    said = words_of(message)
                case MessageAdded(message=message) if message.get("role") != "user":
                    pass
                case MessageAdded() | PlanSet():  # those words were about something else
                    said = ""
        return said


def words_of(message: dict[str, Any]) -> str:
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
