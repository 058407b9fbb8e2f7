"""Compactions of a session's chat: each is recorded as one event, with the remarks that still hold."""

from collections.abc import Sequence
from functools import cache
from time import time_ns

import msgspec

from planwire.chat import Compaction, EventMessage, Hidden, PlanMessage, Stored, write_message
from planwire.chat.belonging import open_steps
from planwire.chat.compaction import Compacting, Counter, FromState, compacting
from planwire.chat.formats import Format
from planwire.chat.history import COMPACT, REBASE
from planwire.chat.markers import plan_messages, retired_ids
from planwire.chat.narrate import merged_plans, remark_message
from planwire.chat.remark_messages import remarks_of, say_the_same, told_in_answers
from planwire.model.children import folds_away
from planwire.model.events import ContextCompacted, Event
from planwire.model.file_texts import ReadFile
from planwire.model.records import COMPACTION, SessionState
from planwire.model.unheard import Words, standing
from planwire.session.delivery import Delivery, Handing
from planwire.session.live_history import LiveHistory


class ChatCompactor:
    """Compacts the chat of a session in a journal that others write to as well. What it puts into the chat counts as
    told, whoever asked for the compaction."""

    def __init__(self, view: LiveHistory, delivery: Delivery, form: Format, read: ReadFile) -> None:
        self._view = view
        self._delivery = delivery
        self._format = form
        self._read = read

    def compacting(
        self, budget: int | None, tail: int, count: Counter, *, summarised: bool, recent: int, rebase: bool
    ) -> Compacting:
        """Compact the chat, and start again if another writer compacted it meanwhile. Finished summaries are not asked
        for twice. The lock is free while a summary is made."""
        summaries: dict[bytes, str] = {}
        while True:
            with self._view.lock:
                state = self._view.read_on()
                messages = self._view.stream.messages
            work = compacting(
                messages,
                self._format,
                budget=budget,
                tail=tail,
                count=count,
                summarised=summarised,
                recent=recent,
                state=self._from_state(state),
                rebase=rebase,
            )
            result = yield from _remembered(work, summaries)
            is_nothing = not result.left_out and not result.written
            if is_nothing or self._record(result, {each.id for each in messages}, state.compacted):
                return result

    def rebase(self) -> None:
        """Fold each plan and all its changes into one message at the end, and what people said into another."""

        def place(state: SessionState, words: Words) -> Sequence[Event]:
            stream = self._view.stream.messages
            replaced = plan_messages(stream)
            merged: list[Hidden] = [*merged_plans(state, new_name("rebase", state), self._read, self._view.reader)]
            old = remarks_of(stream, state.id)
            remarks = _remarks(state, words)
            earlier = (each for each in stream if each.id in old)
            hidden = {name for each in stream for name in retired_ids(each) or ()}
            told = [index for index in replaced if stream[index].id not in hidden]
            if len(told) <= len(merged) and not words.remarks and say_the_same(earlier, remarks):
                return ()
            if remarks:
                merged.append(remarks)
            kept = [each.id for index, each in enumerate(stream) if index not in replaced and each.id not in old]
            written = tuple(write_message(message) for message in merged)
            return (ContextCompacted((*kept, *(message.id for message in merged)), written, REBASE, self._view.reader),)

        with self._view.lock:
            handing, view = Handing(), self._view
            self._delivery.offer(handing, COMPACTION, lambda state: self._standing(state, view.stream.messages), place)
            handing.hand_over()

    def _record(self, result: Compaction, seen: set[str], before: int) -> bool:
        """Record a compaction, unless someone else compacted the chat meanwhile. What people said is taken as of
        now."""
        was_first = True

        def stays() -> list[Stored]:
            """The messages that stay, and those that came meanwhile, without the messages of what people said."""
            stream = self._view.stream.messages
            new = [each for each in stream if each.id not in seen]
            old = remarks_of((*stream, *result.written), self._view.id)
            return [each for each in (*result.messages, *new) if each.id not in old]

        def place(state: SessionState, words: Words) -> Sequence[Event]:
            nonlocal was_first
            was_first = state.compacted == before
            if not was_first:
                return ()
            kept = stays()
            new = {each.id for each in result.written} | self._view.only_here
            written = [each for each in kept if each.id in new]
            if remarks := _remarks(state, words):
                kept.append(remarks)
                written.append(remarks)
            ids = tuple(each.id for each in kept)
            return (ContextCompacted(ids, tuple(write_message(each) for each in written), COMPACT, self._view.reader),)

        with self._view.lock:
            handing = Handing()
            self._delivery.offer(handing, COMPACTION, lambda state: self._standing(state, stays()), place)
            handing.hand_over()
        return was_first

    def _from_state(self, state: SessionState) -> FromState:
        ended = frozenset(
            plan_id
            for plan_id, record in state.plans.items()
            if plan_id is not None and (record.ended or folds_away(state, record))
        )
        has_news = bool(self._standing(state, ()).remarks)

        @cache
        def plans() -> dict[str, PlanMessage]:
            return {
                each.plan_id: each
                for each in merged_plans(state, new_name("rebase", state), self._read, self._view.reader)
            }

        def plan(plan_id: str) -> PlanMessage | None:
            return plans().get(plan_id)

        def remarks(chat: Sequence[Stored]) -> EventMessage | None:
            return _remarks(state, self._standing(state, chat))

        return FromState(state.id, remarks, has_news, ended, open_steps(state, self._view.reader), plan)

    def _standing(self, state: SessionState, chat: Sequence[Stored]) -> Words:
        """Everything that holds, except what the chat shows in the answer of a tool."""
        seen = told_in_answers(state, chat, self._format)
        return standing(state, seen, without=self._delivery.withheld(state), reader=self._view.reader)


def _remembered(work: Compacting, summaries: dict[bytes, str]) -> Compacting:
    """A compaction that asks for no summary twice."""
    try:
        asked = next(work)
        while True:
            key = msgspec.json.encode(asked)
            if key not in summaries:
                summaries[key] = yield asked
            asked = work.send(summaries[key])
    except StopIteration as end:
        result: Compaction = end.value
        return result


def _remarks(state: SessionState, words: Words) -> EventMessage | None:
    """The message of a compaction with what people said."""
    return remark_message(new_name("remarks", state), state.id, words) if words else None


def new_name(kind: str, state: SessionState) -> str:
    """The name of a message that a compaction or an export writes, unique in this and any other chat."""
    return f"{kind}-{state.seq + 1}-{time_ns() // 1_000_000 & 0xFFFFFFFF:08x}"
