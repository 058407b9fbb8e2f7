"""The eleven subkinds of hidden events: one row each, with the usual source and payload.

A row names the fields of the payload that have a meaning; others stay as they are. `roles` says what a compaction does
with an event of each subkind.
"""

from typing import Any, Final

from msgspec import Struct

from planwire.chat.roles import MODE_SWITCH, PLAN_DELTA, SUMMARIZATION_MARKER, SYSTEM_NOTICE
from planwire.errors import BadMessage
from planwire.model.plan import Fields


class Subkind(Struct, frozen=True):
    """A row: what happened, where that usually happens, and the fields of its payload."""

    name: str
    source: str
    payload: tuple[str, ...] = ()
    words: str = ""


_TABLE: Final = (
    Subkind(MODE_SWITCH, "chat.session", ("from", "to", "reason"), "Mode switched: {from} → {to}"),
    Subkind("tool_decision", "chat.session", ("tool_call_ids", "decision", "scope")),
    Subkind("ide_callback", "ide.bridge", ("tool_call_id", "ok", "summary")),
    Subkind(
        *("process_completed", "exec.registry"),
        ("process_id", "status", "exit_code", "duration_ms", "short_description", "mode"),
    ),
    Subkind("cron_fire", "scheduler.cron", ("task_id", "cron", "recurring", "fire_count", "final", "action_kind")),
    Subkind("tick", "tool.sleep", ("elapsed_ms", "remaining_ms"), "tick"),
    Subkind(SUMMARIZATION_MARKER, "chat.summarizer", ("summarized_subkind", "count", "first_message_id")),
    Subkind("verifier_report", "chat.verifier"),
    Subkind("cancellation_note", "chat.session"),
    Subkind(SYSTEM_NOTICE, "agent"),
    Subkind(PLAN_DELTA, "tool.update_plan", ("plan_id", "changes", "summary")),
)

#: The rows by their names.
EVENT_SUBKINDS: Final = {row.name: row for row in _TABLE}


def event_message(subkind: str, content: str, source: str, payload: Fields) -> Fields:
    """A hidden event in its stored shape, ready to be added to a chat."""
    row = EVENT_SUBKINDS.get(subkind)
    if row is None:
        raise BadMessage(f"there is no subkind of events {subkind!r}: use one of {', '.join(EVENT_SUBKINDS)}")
    details = {key.removesuffix("_"): value for key, value in payload.items()}
    event: Fields = {"subkind": subkind, "source": source or row.source, "payload": details}
    return {"role": "event", "content": content or _words(row, details), "extra": {"event": event}}


def _words(row: Subkind, payload: dict[str, Any]) -> str:
    """The usual words of an event; "" if its payload lacks a field that they name."""
    try:
        return row.words.format_map(payload)
    except KeyError:
        return ""
