"""Where agents keep their transcripts: the files of each past session are found and read, and never written to.

A row of `TRANSCRIPTS` finds the sessions of one agent: in its own home, or in a place that a person names.
"""

import heapq
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from planwire.errors import reason
from planwire.hooks import (
    claude_code,
    claude_transcript,
    codex,
    codex_transcript,
    copilot,
    copilot_transcript,
    gemini,
    gemini_transcript,
    opencode,
    qwen,
    qwen_transcript,
)
from planwire.hooks.transcripts import Keep, Past, ReadTranscript, TranscriptHead, records
from planwire.model.plan import Fields

#: How many lines are read to find out whose transcript it is.
_HEAD_LINES: Final = 64
_LONGEST_LINE: Final = 64 << 20
_UNKNOWN: Final = "its format is not known"


class PastSession(NamedTuple):
    """A session that an agent kept. `place` is where, as people read it; `changed` is when that was last written to, in
    milliseconds; `read` reads the session."""

    agent: str
    title: str
    id: str
    place: str
    folder: str | None
    changed: int
    read: Callable[[Keep], Iterator[Past]]


class UnreadTranscript(NamedTuple):
    """What can't be read, and why."""

    place: str
    why: str


FindSessions: TypeAlias = Callable[[Path | None], Iterator[PastSession | UnreadTranscript]]


class _JsonLines(NamedTuple):
    """An agent whose transcripts are files of JSON lines. Its home is a folder in the user's home, unless `variable`
    names another; `patterns` match the transcripts in it."""

    agent: str
    title: str
    variable: str
    home: str
    patterns: tuple[str, ...]
    head: Callable[[Iterable[Fields]], TranscriptHead | None]
    parse: ReadTranscript

    def find(self, place: Path | None) -> Iterator[PastSession | UnreadTranscript]:
        """The sessions in a file, a folder, or the agent's own home."""
        parts: dict[str, list[TranscriptHead]] = {}
        for path in self._paths(place):
            head = self._head(path)
            if isinstance(head, UnreadTranscript):
                yield head
            else:
                parts.setdefault(head.session, []).append(head)
        for session, heads in parts.items():
            yield from self._session(session, heads)

    def _paths(self, place: Path | None) -> list[Path]:
        if place is not None and not place.is_dir():
            return [place, *sorted(place.with_suffix("").glob("subagents/*.jsonl"))]
        home = place or Path(os.environ.get(self.variable) or Path.home() / self.home)
        found = sorted(path for pattern in self.patterns for path in home.glob(pattern))
        if found or place is None:
            return found
        names = {pattern.rpartition("/")[2] for pattern in self.patterns}
        return sorted({path for name in names for path in home.rglob(name)})

    def _head(self, path: Path) -> TranscriptHead | UnreadTranscript:
        if path.exists() and not path.is_file():  # a pipe never ends
            return UnreadTranscript(str(path), "it is no file")
        try:
            with path.open("rb") as file:
                head = self.head(records(islice(_lines(file), _HEAD_LINES)))
        except OSError as error:
            return UnreadTranscript(str(path), f"it can't be read: {reason(error)}")
        return UnreadTranscript(str(path), _UNKNOWN) if head is None else replace(head, path=str(path))

    def _session(self, session: str, heads: list[TranscriptHead]) -> Iterator[PastSession | UnreadTranscript]:
        own = [head for head in heads if head.child is None]
        if not own:
            yield from (UnreadTranscript(head.path, "it is a sub-agent's, and its session is gone") for head in heads)
            return
        first, *others = own
        yield from (UnreadTranscript(head.path, f"it is the same session as {first.path}") for head in others)
        used = [first, *(head for head in heads if head.child is not None)]
        changed = max(_changed(Path(head.path)) for head in used)
        yield PastSession(
            self.agent, self.title, session, first.path, first.folder, changed, lambda keep: self._read(used, keep)
        )

    def _read(self, heads: list[TranscriptHead], keep: Keep) -> Iterator[Past]:
        """The session and its sub-agents, in the order of time."""
        return heapq.merge(*(self._read_part(head, keep) for head in heads), key=lambda past: past.at)

    def _read_part(self, head: TranscriptHead, keep: Keep) -> Iterator[Past]:
        with Path(head.path).open("rb") as file:
            yield from self.parse(head, records(_lines(file)), keep)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, without those that are too long for a record: memory is finite."""
    is_whole = True  # whether the piece before this one ended a line
    while piece := file.readline(_LONGEST_LINE):
        is_end = piece.endswith(b"\n") or len(piece) < _LONGEST_LINE
        if is_whole and is_end:
            yield piece
        is_whole = is_end


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0


def _copilot_past(head: TranscriptHead, lines: Iterable[Fields], keep: Keep) -> Iterator[Past]:
    """What happened in a session of Copilot's, with the steps that are in its database."""
    from planwire.hooks.looking import looked_up  # noqa: PLC0415  (it needs SQLite)

    return (replace(each, heard=looked_up(each.heard)) for each in copilot_transcript.read(head, lines, keep))


def _opencode_sessions(place: Path | None) -> Iterator[PastSession | UnreadTranscript]:
    """The sessions in opencode's database: a file, the one in a folder, or that of the user."""
    from planwire.hooks.opencode_database import default_database, read_session, sessions_in  # noqa: PLC0415  (as above)

    file = default_database() if place is None else place / f"{opencode.NAME}.db" if place.is_dir() else place
    if place is None and not file.is_file():
        return
    found = sessions_in(file)
    if found is None:
        yield UnreadTranscript(str(file), _UNKNOWN)
    for each in found or ():
        read = partial(read_session, file, each)
        yield PastSession(opencode.NAME, opencode.TITLE, each.id, str(file), each.folder, each.changed, read)


_JSON_LINES: Final = (
    _JsonLines(
        claude_code.NAME,
        claude_code.TITLE,
        "CLAUDE_CONFIG_DIR",
        ".claude",
        ("projects/*/*.jsonl", "projects/*/*/subagents/*.jsonl"),
        claude_transcript.head,
        claude_transcript.read,
    ),
    _JsonLines(
        codex.NAME,
        codex.TITLE,
        "CODEX_HOME",
        ".codex",
        ("sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"),
        codex_transcript.head,
        codex_transcript.read,
    ),
    _JsonLines(
        gemini.NAME,
        gemini.TITLE,
        "",
        ".gemini",
        ("tmp/*/chats/session-*.jsonl",),
        gemini_transcript.head,
        gemini_transcript.read,
    ),
    _JsonLines(
        qwen.NAME,
        qwen.TITLE,
        "QWEN_HOME",
        ".qwen",
        ("projects/*/chats/*.jsonl", "projects/*/subagents/*/*.jsonl"),
        qwen_transcript.head,
        qwen_transcript.read,
    ),
    _JsonLines(
        copilot.NAME,
        copilot.TITLE,
        "COPILOT_HOME",
        ".copilot",
        ("session-state/*/events.jsonl",),
        copilot_transcript.head,
        _copilot_past,
    ),
)

#: How the past sessions of each agent are found.
TRANSCRIPTS: Final[dict[str, FindSessions]] = {
    **{each.agent: each.find for each in _JSON_LINES},
    opencode.NAME: _opencode_sessions,
}
