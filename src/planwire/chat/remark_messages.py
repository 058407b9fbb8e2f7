"""The messages in a chat that hold what people said, and the tools' answers that already hold it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec

from planwire.chat.formats import Format
from planwire.chat.messages import EventMessage, Ordinary, Stored
from planwire.chat.roles import REMARK
from planwire.model.records import TOOL, SessionState

_SAID_IN: Final = '"said_in"'


def remarks_of(messages: Iterable[Stored], session: str) -> set[str]:
    """The ids of the messages that hold what people said in this session, and can be made again from its state. Those
    from another session came with its chat and are the only copy."""
    return {
        each.id
        for each in messages
        if isinstance(each, EventMessage) and each.subkind == REMARK and each.payload.get("session") == session
    }


def made_here(message: Stored, session: str) -> Stored:
    """A message that a compaction of this session made, under the session's current id. An imported session may have
    had another id then."""
    if not isinstance(message, EventMessage) or message.subkind != REMARK:
        return message
    return msgspec.structs.replace(message, event={**message.event, "payload": {**message.payload, "session": session}})


def say_the_same(messages: Iterable[Stored], made_anew: EventMessage | None) -> bool:
    """Whether these messages together hold exactly what people said according to `made_anew`."""
    before, after = Counter[bytes](), Counter[bytes]()
    for each in messages:
        before.update(_items(each))
    after.update(_items(made_anew) if made_anew else ())
    return before == after


def _items(message: Stored) -> Iterator[bytes]:
    payload = message.payload if isinstance(message, EventMessage) else {}
    for each in (*_list(payload.get("items")), *_list(payload.get("besides"))):
        yield msgspec.json.encode(each, order="sorted")


def ids_in(messages: Iterable[Stored]) -> set[str]:
    """The ids of the remarks in the messages of what people said."""
    payloads = [each.payload for each in messages if isinstance(each, EventMessage) and each.subkind == REMARK]
    items = (item for payload in payloads for item in _list(payload.get("items")) if isinstance(item, dict))
    besides = (each for payload in payloads for each in _list(payload.get("besides")))
    return {each for each in (*(item.get("id") for item in items), *besides) if isinstance(each, str)}


def told_in_answers(state: SessionState, messages: Iterable[Stored], form: Format) -> set[str]:
    """The ids of the remarks, open or not, that a chat shows in the answer of a tool. As long as that answer is there,
    they need no message of their own except to say that they have ended."""
    remarks = (each for record in state.plans.values() for each in record.remarks)
    tellings = [(each.told.request, each.id) for each in remarks if each.told and each.told.way == TOOL]
    if not tellings:
        return set()
    results = (each.message for each in messages if isinstance(each, Ordinary) and form.results(each.message))
    shown = {telling for result in results for telling in _tellings(result)}
    return {remark for request, remark in tellings if (request, remark) in shown}


def _tellings(value: Any) -> Iterator[tuple[str, str]]:
    """The requests and remarks of the answers in a result, in whichever form a host passes them on: as an object, or as
    its JSON text. A text that merely mentions a request does not count."""
    match value:
        case str() if _SAID_IN in value:
            with suppress(msgspec.DecodeError, RecursionError):
                yield from _tellings(msgspec.json.decode(value))
        case {"said_in": str(request), **answer}:
            for item in (*_list(answer.get("people")), *_list(answer.get("remarks"))):
                if isinstance(item, dict) and isinstance(item.get("id"), str):
                    yield request, item["id"]
            yield from ((request, each) for each in _list(answer.get("also_open")) if isinstance(each, str))
        case dict():
            for each in value.values():
                yield from _tellings(each)
        case list():
            for each in value:
                yield from _tellings(each)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
