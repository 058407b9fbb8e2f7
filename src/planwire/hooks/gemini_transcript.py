"""Gemini's transcripts: a file for each session, and one for each of its sub-agents.

A line is a message, or a change (`$set`) of all that came before: a message comes again when its calls have results,
and a list of all messages when a session is resumed. So each call and each prompt counts once, by its id.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from planwire.hooks.gemini import NAME, plan_path, written
from planwire.hooks.happenings import Child
from planwire.hooks.loose_fields import fields_in, id_in, list_in, text_in
from planwire.hooks.past_reading import PastReading
from planwire.hooks.transcripts import Keep, Past, TranscriptHead, instant
from planwire.model.plan import Fields

_FOLDER: Final = re.compile(r"\*\*Workspace Directories:\*\*\n\s+- (.+)\n")
#: The beginnings of messages that no person wrote.
_MACHINE_MADE: Final = ("<session_context>", "<state_snapshot>", "System:")
_MAIN: Final = "main"
_SUCCESS: Final = "success"


def head(lines: Iterable[Fields]) -> TranscriptHead | None:
    """What the first lines say; None if they are no transcript of Gemini's."""
    found: TranscriptHead | None = None
    for line in lines:
        if found is None:
            session, kind = id_in(line, "sessionId"), text_in(line, "kind") or _MAIN
            if session is None or "projectHash" not in line:
                return None
            found = TranscriptHead(session, None, None if kind == _MAIN else Child(session, kind))
        for message in _messages(line):
            if folder := _FOLDER.search(_text(message)):
                return TranscriptHead(found.session, folder[1], found.child)
    return found


def read(head: TranscriptHead, lines: Iterable[Fields], keep: Keep) -> Iterator[Past]:
    """What happened in a session, in the order of its transcript."""
    reading = PastReading(NAME, head, keep, lambda path: plan_path(path, head.path, head.session) == path)
    seen: set[str] = set()
    for line in lines:
        for message in _messages(line):
            yield from reading.moment(instant(text_in(message, "timestamp")))
            match text_in(message, "type"):
                case "user":
                    yield from _asked(reading, message, seen)
                case "gemini":
                    yield from _answered(reading, message, seen)
    yield from reading.end()


def _messages(line: Fields) -> list[Any]:
    return (list_in(fields_in(line, "$set"), "messages") or []) if "$set" in line else [line]


def _asked(reading: PastReading, message: Fields, seen: set[str]) -> Iterator[Past]:
    key, text = id_in(message, "id") or "", written(_text(message))
    if text.strip() and key not in seen and not text.startswith(_MACHINE_MADE):
        seen.add(key)
        yield from reading.prompt(text, key or None)


def _answered(reading: PastReading, message: Fields, seen: set[str]) -> Iterator[Past]:
    key = id_in(message, "id") or ""
    if key not in seen:
        seen.add(key)
        for each in list_in(message, "thoughts") or ():
            reading.calls.think(text_in(each, "description"))
        reading.calls.think(_text(message))
    for call in list_in(message, "toolCalls") or ():
        call_id, status = id_in(call, "id"), text_in(call, "status")
        if call_id is None or call_id in seen or not status:
            continue
        seen.add(call_id)
        yield from reading.moment(instant(text_in(call, "timestamp")))
        yield from reading.called(call_id, text_in(call, "name"), call.get("args"))
        result = {"llmContent": _result(call), "returnDisplay": call.get("resultDisplay")}
        yield from reading.returned(call_id, result, failed=status != _SUCCESS)


def _result(call: Fields) -> str:
    """What the model was told about a call."""
    parts = [fields_in(fields_in(each, "functionResponse"), "response") for each in list_in(call, "result") or ()]
    return "\n".join(text for each in parts if (text := text_in(each, "output")))


def _text(message: Any) -> str:
    parts = [text_in(each, "text") for each in list_in(message, "content") or ()]
    return text_in(message, "content") or "\n".join(filter(None, parts))
