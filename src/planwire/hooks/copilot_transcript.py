"""Copilot's transcripts: a file of events for each session, beside the database with its steps and the plan's file.

The events have the SQL that changed the steps, not the steps themselves: the database has only the final ones.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from planwire.hooks.copilot import ABOUT_TODOS, NAME, WRITERS, draft_in, written
from planwire.hooks.happenings import Compacted, Happening, TodosInDatabase
from planwire.hooks.loose_fields import fields_in, id_in, text_in
from planwire.hooks.past_reading import PastReading
from planwire.hooks.plan_calls import PLAN_CALLS, TODOS
from planwire.hooks.transcripts import Keep, Past, TranscriptHead, instant
from planwire.model.plan import Fields
from planwire.model.stop_reasons import STOP_CANCELLED

_FILE: Final = "events.jsonl"
_BEGINNING: Final = "session.start"


def head(lines: Iterable[Fields]) -> TranscriptHead | None:
    """What the first line says; None if it is no transcript of Copilot's."""
    for line in lines:
        data = fields_in(line, "data")
        session = id_in(data, "sessionId")
        if text_in(line, "type") == _BEGINNING and session:
            return TranscriptHead(session, text_in(fields_in(data, "context"), "cwd") or None)
    return None


def read(head: TranscriptHead, lines: Iterable[Fields], keep: Keep) -> Iterator[Past]:
    """What happened in a session, in the order of its transcript. Sub-agents share its steps and have no plans."""
    reading = PastReading(NAME, head, keep, lambda path: False)
    calls: dict[str, tuple[str, Any]] = {}
    has_steps = False
    for line in lines:
        data, is_child = fields_in(line, "data"), "agentId" in line
        yield from reading.moment(instant(text_in(line, "timestamp")))
        match text_in(line, "type"):
            case "user.message" if not is_child:
                yield from reading.prompt(written(text_in(data, "content")), id_in(data, "messageId"))
            case "assistant.message" if not is_child:
                reading.calls.think(text_in(data, "content"))
            case "tool.execution_start" if key := id_in(data, "toolCallId"):
                calls[key] = text_in(data, "toolName"), data.get("arguments")
            case "tool.execution_complete":
                name, arguments = calls.pop(text_in(data, "toolCallId"), ("", None))
                if data.get("success") is True and name == "sql":
                    has_steps = has_steps or bool(ABOUT_TODOS.search(text_in(arguments, "query")))
                elif data.get("success") is True:
                    yield from reading.happened(*_happened(name, arguments, fields_in(data, "result")))
            case "session.compaction_complete" if data.get("success") is True:
                yield from reading.happened(Compacted())
            case "abort":
                reading.stopping(STOP_CANCELLED)
    if has_steps and head.path.endswith(_FILE):
        yield from reading.happened(TodosInDatabase(TODOS, f"{head.path.removesuffix(_FILE)}session.db"))
    yield from reading.end()


def _happened(name: str, arguments: Any, result: Fields) -> tuple[Happening, ...]:
    if name in WRITERS:
        return draft_in(arguments)
    call = PLAN_CALLS.get(name)
    return call(arguments, {"textResultForLlm": text_in(result, "content")}) if call else ()
