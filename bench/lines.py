"""The lines of the races: whole ACP messages as an agent puts them on the wire, without the line feed.

Step texts have parts that repeat with coprime periods, so that a list of 2,000 has 2,000 different texts that still
read, and measure, like what agents write.
"""

import json
from typing import Any

__all__ = ["BAD_ENTRIES", "LINES", "SIZES", "one_status_apart"]

SIZES = (5, 20, 200, 2_000)

#: Positions of the two entries that break the protocol in the line `bad_entry`.
BAD_ENTRIES = (7, 12)

_SESSION = "sess_01JC8R5T9W3K7M2QX4ZB6NHVPD"
_PRIORITIES = ("high", "medium", "medium", "low", "high", "low", "medium")
_ACTIONS = (
    "Add a regression test for",
    "Trace the slow path in",
    "Move retries out of",
    "Document the limits of",
    "Rename the options of",
    "Write a migration for",
    "Replace the mock of",
    "Check error handling in",
    "Split the large module with",
    "Make idempotent:",
    "Measure, then speed up",
)
_THINGS = (
    "the upload queue",
    "`parse_config()`",
    "the login form",
    "session storage",
    "the invoice export",
    "rate limiting",
    "the search index",
    "user preferences",
    "the webhook sender",
    '"remember me" cookies',
    "the image cache",
    "the CSV importer",
    "background jobs",
)
_PLACES = (
    "on the server",
    "in src/api/",
    "for new users",
    "before release",
    "in the client",
    "behind the flag",
    "for large files",
    "on Windows",
    "in worker.py",
    "with SQLite",
    "across time zones",
    "for the café demo",
    "in the CLI",
    "under load",
    "when offline",
    "in dark mode",
    "for admins",
)


def _text(number: int) -> str:
    parts = (_ACTIONS, _THINGS, _PLACES)
    return " ".join(part[number % len(part)] for part in parts)


def _entries(count: int, current_status: str = "in_progress") -> list[Any]:
    """A list with a third of its steps done and one in progress."""
    current = count // 3
    return [
        {
            "content": _text(number),
            "priority": _PRIORITIES[number % len(_PRIORITIES)],
            "status": "completed" if number < current else current_status if number == current else "pending",
        }
        for number in range(count)
    ]


def _line(update: dict[str, Any], separators: tuple[str, str] = (",", ":"), **beside: Any) -> bytes:
    params = {"sessionId": _SESSION, "update": update, **beside}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return json.dumps(message, separators=separators, ensure_ascii=False).encode()


def _plan(entries: list[Any], **beside: Any) -> dict[str, Any]:
    return {"sessionUpdate": "plan", "entries": entries, **beside}


def _identified(plan_id: str, entries: list[Any]) -> dict[str, Any]:
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": plan_id, "entries": entries}}


_SHORT = [
    {"content": "Find where the config is read", "priority": "high", "status": "completed"},
    {"content": "Use defaults if it is missing", "priority": "medium", "status": "in_progress"},
    {"content": "Run the tests", "priority": "low", "status": "pending"},
]
_SHORT_STATUS_FIRST = [{key: entry[key] for key in ("status", "content", "priority")} for entry in _SHORT]
_UPDATE_META = {"agent.example/turn": {"number": 14, "model": "large-2", "tokens": 18_342}}
_PARAMS_META = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
_ABOUT = {"explanation": "The importer needs the new index first.", "revision": 7}


def _with_meta(**update_meta: Any) -> bytes:
    return _line(_plan(_entries(20), **_ABOUT, _meta=_UPDATE_META | update_meta), _meta=_PARAMS_META)


def _with_entry_meta() -> bytes:
    entries = [
        entry | {"_meta": {"agent.example/id": f"step-{number}", "attempts": number % 3}}
        for number, entry in enumerate(_entries(20))
    ]
    return _line(_plan(entries, **_ABOUT, _meta=_UPDATE_META), _meta=_PARAMS_META)


def _with_bad_entries() -> bytes:
    entries = _entries(20)
    no_priority, a_text = BAD_ENTRIES
    del entries[no_priority]["priority"]
    entries[a_text] = entries[a_text]["content"]
    return _line(_plan(entries))


def _chunk() -> bytes:
    text = "Found it."
    return _line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})


#: Every line, by the name in its figures.
LINES: dict[str, bytes] = {
    **{str(size): _line(_plan(_entries(size))) for size in SIZES},
    "short": _line(_plan(_SHORT)),
    "short_status_first": _line(_plan(_SHORT_STATUS_FIRST)),
    "spaced": _line(_plan(_entries(20)), (", ", ": ")),
    "items": _line(_identified("main", _entries(20))),
    "meta": _with_meta(),
    "meta_list": _with_meta(tags=["import", "index"]),
    "entry_meta": _with_entry_meta(),
    "bad_entry": _with_bad_entries(),
    "chunk": _chunk(),
}


def one_status_apart(size: int, plan_id: str | None = None) -> tuple[bytes, bytes]:
    """Two lines that differ in the status of one entry: v1 lists, or with an id lists of today's draft."""
    before, after = (
        _plan(entries) if plan_id is None else _identified(plan_id, entries)
        for entries in (_entries(size), _entries(size, "completed"))
    )
    return _line(before), _line(after)
