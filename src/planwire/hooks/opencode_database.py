"""opencode's own database, in which it keeps its sessions: opened to read, never to write.

Its tables are private and change. A database that lacks what is needed here is of an unknown format.
"""

import heapq
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from planwire.hooks import opencode_transcript
from planwire.hooks.happenings import Child
from planwire.hooks.loose_fields import fields_in, text_in
from planwire.hooks.opencode import NAME
from planwire.hooks.transcripts import Keep, Past, TranscriptHead
from planwire.model.plan import Fields

_BUSY_SECONDS: Final = 2
_SESSIONS: Final = "SELECT id, parent_id, directory, title, time_updated FROM session ORDER BY time_created, id"
#: A message that was stopped at once has no parts, and says so.
_PARTS: Final = """
    SELECT coalesce(part.time_created, message.time_created), message.data, part.data
    FROM message LEFT JOIN part ON part.message_id = message.id
    WHERE message.session_id = ? ORDER BY 1, message.id, part.id
"""
_CHILDREN: Final = "SELECT id, agent FROM session WHERE parent_id = ? ORDER BY time_created, id"
#: How many levels of sub-agents below sub-agents are read.
_DEEPEST: Final = 8


class OpencodeSession(msgspec.Struct, frozen=True):
    """A session of its own, not one of a sub-agent."""

    id: str
    folder: str | None
    title: str
    changed: int


def default_database() -> Path:
    """Where opencode keeps its database, unless told otherwise."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / NAME / f"{NAME}.db"


def sessions_in(file: Path) -> list[OpencodeSession] | None:
    """The sessions in a database; None if the file is no database, or of an unknown format."""
    try:
        with closing(_opened(file)) as opened:
            rows = opened.execute(_SESSIONS).fetchall()
    except (sqlite3.Error, UnicodeError):
        return None
    return [
        OpencodeSession(key, folder or None, title or "", changed if isinstance(changed, int) else 0)
        for key, parent, folder, title, changed in rows
        if isinstance(key, str) and key and parent is None
    ]


def read_session(file: Path, session: OpencodeSession, keep: Keep) -> Iterator[Past]:
    """All that happened in a session and its sub-agents, in the order of time; raises `OSError` if it can't be read."""
    try:
        with closing(_opened(file)) as opened:
            heads = [TranscriptHead(session.id, session.folder), *_children(opened, session, session.id)]
            yield from heapq.merge(*(_part(opened, head, session, keep) for head in heads), key=lambda past: past.at)
    except (sqlite3.Error, UnicodeError) as error:
        raise OSError(str(error)) from error


def _opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)


def _children(
    opened: sqlite3.Connection, session: OpencodeSession, parent: str, depth: int = 0
) -> Iterator[TranscriptHead]:
    for key, agent in opened.execute(_CHILDREN, (parent,)).fetchall() if depth < _DEEPEST else ():
        if isinstance(key, str) and key:
            yield TranscriptHead(session.id, session.folder, Child(key, agent if isinstance(agent, str) else ""))
            yield from _children(opened, session, key, depth + 1)


def _part(opened: sqlite3.Connection, head: TranscriptHead, session: OpencodeSession, keep: Keep) -> Iterator[Past]:
    rows = opened.execute(_PARTS, (head.child.id if head.child else head.session,))
    return opencode_transcript.read(head, (_record(*row) for row in rows), keep, session.title)


def _record(at: Any, message: Any, part: Any) -> Fields:
    """A part, with what its message says about it."""
    about = _decoded(message)
    error = text_in(fields_in(about, "error"), "name")
    return {"at": at, "role": text_in(about, "role"), "part": _decoded(part), "error": error}


def _decoded(text: Any) -> Any:
    try:
        return msgspec.json.decode(text) if isinstance(text, str) else None
    except (msgspec.MsgspecError, RecursionError):
        return None
