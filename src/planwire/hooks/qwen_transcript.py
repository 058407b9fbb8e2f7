"""Qwen's transcripts: a file for each session, and one for each of its sub-agents. Lines are only ever added.

What a tool showed the person is kept beside what the model was told; it is all that is left of a plan that was sent
back.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from planwire.hooks.happenings import Child, Compacted, Decided, Titled
from planwire.hooks.loose_fields import fields_in, id_in, list_in, text_in
from planwire.hooks.past_reading import PastReading
from planwire.hooks.qwen import NAME
from planwire.hooks.transcripts import Keep, Past, TranscriptHead, instant
from planwire.model.plan import PLAN_MODE, Fields

#: The `provenance` of a `user` line that a person wrote ("" in versions without one), and the beginnings of other
#: lines.
_PERSON: Final = ("", "real_user")
_MACHINE_MADE: Final = ("<task-notification>", "<system-reminder>")
_SUCCESS: Final = "success"


def head(lines: Iterable[Fields]) -> TranscriptHead | None:
    """What the first lines say; None if they are no transcript of Qwen's."""
    for line in lines:
        session = id_in(line, "sessionId")
        if session and id_in(line, "uuid") and "version" in line and text_in(line, "type"):
            child = id_in(line, "agentId") if line.get("isSidechain") is True else None
            kind = text_in(line, "agentName")
            return TranscriptHead(session, text_in(line, "cwd") or None, Child(child, kind) if child else None)
    return None


def read(head: TranscriptHead, lines: Iterable[Fields], keep: Keep) -> Iterator[Past]:
    """What happened in a session, or in the part of a sub-agent, in the order of its transcript."""
    reading = PastReading(NAME, head, keep, lambda path: False)
    for line in lines:
        yield from reading.moment(instant(text_in(line, "timestamp")))
        parts = list_in(fields_in(line, "message"), "parts") or []
        match text_in(line, "type"), text_in(line, "subtype"):
            case "user", "" if text_in(line, "provenance") in _PERSON:
                text = "\n".join(text for each in parts if (text := text_in(each, "text")))
                if text.strip() and not text.startswith(_MACHINE_MADE):
                    yield from reading.prompt(text, id_in(line, "uuid"))
            case "assistant", _:
                yield from _said(reading, parts)
            case "tool_result", _:
                yield from _result(reading, parts, fields_in(line, "toolCallResult"))
            case "system", "chat_compression":
                yield from reading.happened(Compacted())
            case "system", "custom_title" if title := text_in(line.get("systemPayload"), "customTitle"):
                yield from reading.happened(Titled(title))
    yield from reading.end()


def _said(reading: PastReading, parts: list[Any]) -> Iterator[Past]:
    for part in parts:
        reading.calls.think(text_in(part, "text"))
        call = fields_in(part, "functionCall")
        if key := id_in(call, "id"):
            yield from reading.called(key, text_in(call, "name"), call.get("args"))


def _result(reading: PastReading, parts: list[Any], shown: Fields) -> Iterator[Past]:
    display = fields_in(shown, "resultDisplay")
    for part in parts:
        response = fields_in(part, "functionResponse")
        told = text_in(fields_in(response, "response"), "output")
        has_failed = text_in(shown, "status") not in ("", _SUCCESS) or not told
        result = {"llmContent": told, "returnDisplay": display}
        yield from reading.returned(text_in(response, "id"), result, failed=has_failed)
    if display.get("rejected") is True:
        yield from reading.happened(Decided(PLAN_MODE, approved=False))
