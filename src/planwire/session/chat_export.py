"""A chat for another session: its messages in their stored shapes, its past plans, and what people said.

The model does not see past plans, so a compaction takes them out of the chat. A copy needs them, because later versions
name the ones that they supersede. They are read from the journal, and follow a marker that hides them.
"""

import sys
from collections import deque
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from planwire.chat.formats import Format
from planwire.chat.history import ChatHistory
from planwire.chat.markers import plan_messages, retired_ids, retired_marker
from planwire.chat.messages import EventMessage, Stored
from planwire.chat.narrate import remark_message
from planwire.chat.remark_messages import remarks_of, told_in_answers
from planwire.journal import Journal
from planwire.model.events import ContextCompacted
from planwire.model.names import free_name
from planwire.model.plan import Fields
from planwire.model.records import TOOL, SessionState
from planwire.model.unheard import Words, remark_item, standing
from planwire.session.chat_compactor import new_name
from planwire.session.live_history import LiveHistory


def exported(journal: Journal, view: LiveHistory, form: Format) -> list[Stored]:
    """The chat of a reader. Remarks that still hold are in one message at its end, and nowhere else."""
    with view.lock:
        state = view.read_on()
        stream = view.stream.messages
        old = remarks_of(stream, state.id)
        chat = [each for each in stream if each.id not in old and retired_ids(each) is None]
        past, places = _past(journal, view, form, {each.id for each in chat})
        hidden = {name for each in stream for name in retired_ids(each) or ()}
        ids = [*(each.id for each in past), *(each.id for each in chat if each.id in hidden)]
        marker = retired_marker(ids) if ids else None
        words = _words(state, view.reader, told_in_answers(state, chat, form))
        taken = {each.id for each in (*past, *chat)}
        return [*_named(marker, taken), *_in_order(past, chat, places), *_named(words, taken)]


def _named(message: EventMessage | None, taken: set[str]) -> list[Stored]:
    """A message of the export's own, if there is one, under a unique name."""
    return [replace(message, id=free_name(message.id, taken))] if message else []


def _past(journal: Journal, view: LiveHistory, form: Format, shown: set[str]) -> tuple[list[Stored], dict[str, int]]:
    """The plans and changes that compactions took out of the chat, in order, and for each message the number of the
    event that put it there."""
    places: dict[str, int] = {}
    if not view.state.compacted:
        return [], places
    history, made = ChatHistory(view.id, form, view.reader), []
    for recorded in journal.read(view.id, 0, view.seq):
        if message := history.apply(recorded):
            made.append(message)
            places[message.id] = recorded.seq
        elif isinstance(recorded.event, ContextCompacted):
            places |= {each.id: recorded.seq for each in history.stream.messages if each.id not in places}
    plans = plan_messages(made)
    return [each for index, each in enumerate(made) if index in plans and each.id not in shown], places


def _in_order(past: list[Stored], chat: list[Stored], places: dict[str, int]) -> Iterator[Stored]:
    """The chat with past plans merged in, so that each plan and change comes after its predecessors."""
    rest, plans = deque(past), plan_messages(chat)
    for index, each in enumerate(chat):
        while rest and index in plans and places[rest[0].id] < places[each.id]:
            yield rest.popleft()
        yield each
    yield from rest


def _words(state: SessionState, reader: str, in_answers: set[str]) -> EventMessage | None:
    """The message of what people said and still holds. For remarks that a tool's answer in the chat told, it names that
    answer, and says which of them have ended. It also counts all remarks ever made: their names are taken."""
    items = [_told(item, state) for item in standing(state, most=sys.maxsize, reader=reader).items]
    ends = standing(state, in_answers, sys.maxsize, reader=reader).items
    items += [_told(item, state) for item in ends if item["said"] == "closed"]
    if not items and not state.remarked:
        return None
    message = remark_message(new_name("remarks", state), state.id, Words(tuple(items)))
    payload = {**message.payload, "remarked": state.remarked}
    return replace(message, event={**message.event, "payload": payload})


def _told(item: Fields, state: SessionState) -> Fields:
    """An item, with the tool's answer that told it; a closed one, with the whole remark."""
    remark = state.remark(str(item.get("id")))
    if remark is None:
        return item
    left = tuple(step for step in remark.steps if step not in remark.done)
    as_said = remark_item(replace(remark, about={}, steps=left, passage=None), state.plans[remark.plan_id])
    if remark.about:
        as_said["about"] = {step: text for step, text in remark.about.items() if step not in remark.done}
    if remark.passage:
        as_said |= {"quote": remark.passage.text, "passage": msgspec.to_builtins(remark.passage)}
    if item["said"] != "closed":
        item, whole = as_said, Fields()
    else:
        whole = {"remark": as_said}
    if remark.told and remark.told.way == TOOL:
        whole["told"] = {"way": TOOL, "request": remark.told.request, "stale": remark.told.stale}
    return {**item, **whole}
