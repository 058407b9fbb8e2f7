"""The why of each plan and each of its changes, from a journal.

For an agent behind the relay it is a digest of thoughts, which are stored beside the journal. A session that keeps its
chat has the words themselves: those of the model's message right before the event, in a place that depends on the
provider.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from planwire.model.events import MessageAdded, PlanChanged, PlanSet, Recorded
from planwire.model.plan import PlanId
from planwire.model.records import AGENT

#: The most events between a message and its plan, and the characters of the message to show.
REACH: Final = 6
LONGEST: Final = 1_500

_OF_MODEL: Final = ("assistant", "model")


class Why(Struct, frozen=True):
    """Why an agent made or changed a plan: the digest of its thoughts, or its `words` in the chat."""

    seq: int
    plan_id: PlanId
    digest: str
    words: str


class _LastWords(Struct):
    """The last words of a model in one chat. `is_last`: nothing has followed them, so the next words may belong to
    them."""

    seq: int
    words: str
    is_last: bool = True


def whys_in(events: Iterable[Recorded]) -> Iterator[Why]:
    """The reasons of those of a session's events that have one. Words count once: of two changes that follow one
    message, only the first has them."""
    said: dict[str, _LastWords] = {}  # by the reader whose chat it is
    for recorded in events:
        event = recorded.event
        if isinstance(event, MessageAdded):
            _hear(said, recorded.seq, event)
        elif isinstance(event, PlanSet | PlanChanged) and recorded.by == AGENT:
            plan_id = event.plan.id if isinstance(event, PlanSet) else event.plan_id
            reader = event.reader if isinstance(event, PlanSet) else ""
            heard = said.pop(reader or (plan_id if plan_id in said else "") or "", None)
            words = heard.words if heard and recorded.seq - heard.seq <= REACH else ""
            if event.why or words:
                yield Why(recorded.seq, plan_id, event.why, words)


def _hear(said: dict[str, _LastWords], seq: int, added: MessageAdded) -> None:
    message, before = added.message, said.get(added.reader)
    if message.get("role") in _OF_MODEL or message.get("type") == "reasoning":
        goes_on = before is not None and before.is_last and before.words
        words = _words_of(message)
        said[added.reader] = _LastWords(seq, _shortened(f"{before.words}\n{words}" if before and goes_on else words))
    elif message.get("role") == "user":  # the next words are about this message
        said.pop(added.reader, None)
    elif before is not None:
        before.is_last = False


def _words_of(message: dict[str, Any]) -> str:
    """The words of a model's message, its thinking first. Tool calls have none here."""
    words = [message.get("reasoning_content"), message.get("reasoning")]
    for name in ("content", "parts", "summary"):
        words += _texts(message.get(name))
    return "\n".join(word.strip() for word in words if isinstance(word, str) and word.strip())


def _texts(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for block in value:
            if isinstance(block, dict):
                yield block.get("thinking") or block.get("text")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"
