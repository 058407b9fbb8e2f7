"""The delivery of what people said to the agent of a session: offered, handed over, told.

A list of messages or the answer of a tool is handed over when the caller has it. A call that is cancelled has told
nothing: what it would have told is there for the next one. Each step is an event, so that a process that takes over
knows what its predecessor may have said: it says that again, and marks it.

| what | offered, before it is handed over | told |
|---|---|---|
| messages (`pending`, `recap`, `context`) | when they are made | with the session's next call |
| the answer of a tool | when it is made | as soon as it is handed over |
"""

from collections.abc import Callable, Sequence
from enum import Enum

from planwire.chat import Hidden
from planwire.model.events import OFFERED, TOLD, Event, Told
from planwire.model.records import AGENT, PLACED, TOOL, SessionState
from planwire.model.unheard import Words, news
from planwire.session.live_history import LiveHistory

__all__ = ["Delivery", "Handing"]


class _Stage(Enum):
    ON_ITS_WAY = "on its way"
    HANDED_OVER = "handed over"
    LOST = "lost"


class Handing:
    """One list of messages, or one answer, on its way to the caller."""

    def __init__(self) -> None:
        self.messages: list[Hidden] = []
        self.is_recap = False
        self.told: Told | None = None
        self._stage = _Stage.ON_ITS_WAY

    @property
    def is_lost(self) -> bool:
        return self._stage is _Stage.LOST

    @property
    def is_handed_over(self) -> bool:
        return self._stage is _Stage.HANDED_OVER

    def hand_over(self) -> None:
        """The caller has it."""
        self._stage = _Stage.HANDED_OVER

    def lose(self) -> None:
        """The caller was cancelled, and will never have it."""
        self._stage = _Stage.LOST


class Delivery:
    """What goes to the caller of a session, and what of it has arrived. Hold the lock of `view` around every call.

    Only the agent is told what people said: a session under another name writes to the same plans, and may not take
    away what is meant for the agent.
    """

    def __init__(self, view: LiveHistory, by: str) -> None:
        self._view = view
        self._is_agent = by == AGENT
        self._handings: list[Handing] = []

    @property
    def last(self) -> Handing | None:
        """The last list of messages that the caller got and has not answered by another call."""
        found = [each for each in self._handings if each.is_handed_over and (each.messages or each.is_recap)]
        return found[-1] if found else None

    def settle(self) -> tuple[list[Hidden], bool]:
        """Record what arrived. Returns the messages of lists that were lost, and whether a recap was."""
        lost = [each for each in self._handings if each.is_lost]
        arrived = [each.told for each in self._handings if each.is_handed_over and each.told]
        self._handings = [each for each in self._handings if not each.is_lost and not each.is_handed_over]
        if arrived:
            self._view.write(lambda _: tuple(_as_told(each) for each in arrived))
        messages = [message for each in lost if not each.is_recap for message in each.messages]
        return messages, any(each.is_recap for each in lost)

    def news(self, state: SessionState, way: str) -> Words:
        """What the agent has not been told, and is not about to be told by another call."""
        if not self._is_agent:
            return Words()
        under_way = [each.told for each in self._handings if each.told and not each.is_lost]
        without = {remark for each in under_way for remark in each.remarks}
        since = max((state.told, *(each.upto for each in under_way)))
        if way != TOOL:  # a chat shows the changes of plans themselves, and what was once put into it
            without |= {
                each.id
                for record in state.plans.values()
                for each in record.remarks
                if each.offered and each.offered.way in PLACED
            }
            since = max(since, state.placed)
        return news(state, since=since, without=without, edits=way == TOOL)

    def offer(
        self,
        handing: Handing,
        way: str,
        words_of: Callable[[SessionState], Words],
        beside: Callable[[SessionState, Words], Sequence[Event] | None] = lambda _, __: (),
    ) -> Words:
        """Record that words are about to be handed over, together with the events `beside` it: None of them means that
        nothing is handed over after all. Returns the words."""
        words, told = Words(), None

        def prepare(state: SessionState) -> Sequence[Event]:
            nonlocal words, told
            words = words_of(state)
            others = beside(state, words)
            is_news = self._is_agent and (words.remarks or self.news(state, way))
            told = _offer(way, words, state.seq + 1) if is_news and others is not None else None
            return (*((told,) if told else ()), *(others or ()))

        self._view.write(prepare)
        handing.told = told
        self._handings.append(handing)
        return words

    def hand(self, handing: Handing) -> None:
        """Something without words is about to be handed over."""
        self._handings.append(handing)


def _offer(way: str, words: Words, seq: int) -> Told:
    return Told(way, words.upto, words.since, words.remarks, f"{way}-{seq}", OFFERED)


def _as_told(offered: Told) -> Told:
    return Told(offered.way, offered.upto, offered.since, offered.remarks, offered.request, TOLD)
