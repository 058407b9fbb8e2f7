"""The delivery of what people said to a session's agent: offered, handed over, told.

A list of messages or the answer of a tool is handed over when the caller has it. A cancelled call has told nothing; the
next call tells it instead. Each step is an event, so that a process that takes over knows what its predecessor may have
said: it says that again, marked as perhaps said before.

| what | offered, before it is handed over | told |
|---|---|---|
| messages (`pending`, `recap`, `context`) | when they are made | with the session's next call |
| the answer of a tool | when it is made | as soon as it is handed over |
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum

import msgspec

from planwire.chat import Hidden
from planwire.chat.formats import Format
from planwire.chat.remark_messages import ids_in, told_in_answers
from planwire.model.events import OFFERED, REFUSED, TOLD, Event, Told
from planwire.model.plan import Fields
from planwire.model.readers import heard_by, told_as
from planwire.model.records import AGENT, CONTEXT, PLACED, TOOL, Remark, SessionState
from planwire.model.unheard import Words, news
from planwire.session.live_history import LiveHistory


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
        """The caller was cancelled and will never have it."""
        self._stage = _Stage.LOST


@contextmanager
def handed_over() -> Iterator[Handing]:
    """A handing that arrives unless the caller is cancelled or interrupted."""
    handing = Handing()
    try:
        yield handing
    except BaseException:
        handing.lose()
        raise
    handing.hand_over()


class Delivery:
    """What goes to the caller of a session, and what of it has arrived. Hold the lock of `view` around every call.

    Only the agent is told what people said: a session under another name writes to the same plans, but must not consume
    what is meant for the agent.
    """

    def __init__(self, view: LiveHistory, by: str) -> None:
        self._view = view
        self._reader = view.reader
        self._is_agent = by == AGENT
        self._handings: list[Handing] = []
        self._owed: list[Told] = []  # from lost lists: the next list has them

    @property
    def last(self) -> Handing | None:
        """The last list of messages that the caller got, if it has made no other call since."""
        found = [each for each in self._handings if each.is_handed_over and (each.messages or each.is_recap)]
        return found[-1] if found else None

    def settle(self) -> tuple[list[Hidden], bool]:
        """Record what arrived. Returns the messages of lost lists, and whether a recap was lost."""
        lost = [each for each in self._handings if each.is_lost]
        arrived = [each for each in self._handings if each.is_handed_over]
        told = [each.told for each in arrived if each.told]
        in_vain = [each.told for each in lost if each.told and each.told.way not in PLACED]
        lives = self._view.lives

        def prepare(state: SessionState) -> Sequence[Event]:
            is_forgotten = self._view.lives != lives
            return () if is_forgotten else [*(_at(each, TOLD) for each in told), *_taken_back(in_vain, state)]

        if told or in_vain:
            self._view.write(prepare)
        self._handings = [each for each in self._handings if each not in lost and each not in arrived]
        self._owed += [each.told for each in lost if each.told and each.told.way in PLACED]
        messages = [message for each in lost if not each.is_recap for message in each.messages]
        return messages, any(each.is_recap for each in lost)

    def news(self, state: SessionState, way: str, *, edits: bool = False) -> Words:
        """What the agent has not been told, and is not about to be told by another call. A chat shows changes of plans
        itself, so they count as news there only with `edits`."""
        if not self._is_agent:
            return Words()
        under_way = self._under_way
        without = {remark for each in under_way for remark in each.remarks}
        heard = heard_by(state, self._reader)
        since = max((heard.told, *(each.upto for each in under_way)))
        if way != TOOL:
            without |= {each.id for each in self._placed(state)}
            since = max(since, heard.placed)
        return news(state, since=since, without=without, edits=edits or way == TOOL, reader=self._reader)

    def offer_context(self, handing: Handing) -> None:
        """Record that a chat is about to be handed over, with the news. The chat may also show what was put into it
        earlier and did not arrive, because the caller was cancelled or the process ended."""
        if self.news(self._view.state, CONTEXT):
            self.offer(handing, CONTEXT, lambda state: self.news(state, CONTEXT))
        else:
            self._handings.append(handing)
        self._owed.clear()
        state, under_way = self._view.state, self._under_way
        known = {remark for each in under_way for remark in each.remarks}
        heard = heard_by(state, self._reader)
        remarks = tuple(each.id for each in self._placed(state) if not each.told and each.id not in known)
        is_behind = heard.placed > max((heard.told, *(each.upto for each in under_way)))
        if self._is_agent and (remarks or is_behind or self.news(state, CONTEXT, edits=True)):
            name, reader = f"{CONTEXT}-{state.seq}", told_as(self._reader)
            told = handing.told or Told(CONTEXT, state.seq, heard.told, request=name, stage=OFFERED, reader=reader)
            handing.told = msgspec.structs.replace(told, remarks=(*told.remarks, *remarks))

    def offer(
        self,
        handing: Handing,
        way: str,
        words_of: Callable[[SessionState], Words],
        place: Callable[[SessionState, Words], Sequence[Event]] | None = None,
    ) -> Words:
        """Record that words are about to be handed over. Returns the words. `place` returns the events that put them
        into the chat; if it returns none, nothing is told."""
        words, told = Words(), None

        def prepare(state: SessionState) -> Sequence[Event]:
            nonlocal words, told
            words = words_of(state)
            events = place(state, words) if place else ()
            is_heard = self._is_agent and (events or place is None)
            is_news = is_heard and (words.remarks or self.news(state, way, edits=True))
            told = self._offer(way, words, state.seq + 1) if is_news else None
            return (*((told,) if told else ()), *events)

        self._view.write(prepare)
        handing.told = told
        self._handings.append(handing)
        if way != TOOL:
            self._owed.clear()
        return words

    def replaced(self, before: SessionState) -> tuple[Fields, ...]:
        """What people changed in plans that the agent replaced before it was told of the changes."""
        told = self.news(self._view.state, TOOL).items
        lost = (each for each in self.news(before, TOOL).items if "id" not in each and each["said"] != "verdict")
        return tuple(each for each in lost if each not in told)

    def take_back_lost_answers(self, form: Format) -> None:
        """Record that tools' answers with news never reached the chat, because the call was interrupted or the process
        ended. What they told is news again."""
        state, chat = self._view.state, self._view.stream.messages
        remarks = (each for record in state.plans.values() for each in record.open_remarks)
        told = [
            (each.id, each.told.request)
            for each in remarks
            if each.told and (each.told.way, each.told.reader) == (TOOL, told_as(self._reader))
        ]
        if told and self._is_agent:
            shown = told_in_answers(state, chat, form) | ids_in(chat)
            lost = sorted({request for remark, request in told if remark not in shown})
            reader = told_as(self._reader)
            self._view.write(
                lambda now: [Told(TOOL, now.seq, now.seq, request=each, stage=REFUSED, reader=reader) for each in lost]
            )

    def withheld(self, state: SessionState) -> set[str]:
        """The remarks that only the agent's session may put into the chat, because the agent has not heard them."""
        if self._is_agent:
            return set()
        unheard = {each.id for record in state.plans.values() for each in record.remarks if not each.told}
        return unheard - {each.id for each in self._placed(state)}

    def _offer(self, way: str, words: Words, seq: int) -> Told:
        return Told(
            way, words.upto, words.since, words.remarks, f"{way}-{seq}", OFFERED, told_as(self._reader), words.stale
        )

    def _placed(self, state: SessionState) -> list[Remark]:
        """The remarks that were put into the reader's chat and may not have arrived."""
        remarks = (each for record in state.plans.values() for each in record.remarks)
        here = told_as(self._reader)
        return [each for each in remarks if each.offered and each.offered.way in PLACED and each.offered.reader == here]

    @property
    def _under_way(self) -> list[Told]:
        """Tellings that will arrive with a running call, or with the next list of messages."""
        return [*self._owed, *(each.told for each in self._handings if each.told and not each.is_lost)]


def _taken_back(in_vain: list[Told], state: SessionState) -> Iterable[Told]:
    """The events that say that offers did not arrive. They take back nothing that was told."""
    return (msgspec.structs.replace(each, stage=REFUSED, since=state.seq) for each in in_vain)


def _at(offered: Told, stage: str) -> Told:
    """The event that an offer reached this stage: told or refused."""
    return msgspec.structs.replace(offered, stage=stage)
