"""A refusal in Claude Code's own dialog, which runs no hook: the transcript has it while the hook still waits.

*Tell Claude what to change* ends the dialog, and the model works on. Without a look at the transcript the question
would stay open until the turn ends, and an approval from elsewhere would seem to reach a Claude Code that no longer
listens. An approval in the dialog does not concern this file: it runs a hook.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from planwire.hooks.loose_fields import fields_in, text_in

#: Bytes of the transcript before the question that are searched for its call: the plan, and other calls with it.
_BEFORE: Final = 1 << 20
#: The most bytes of news that one look reads. The rest is left to the next looks.
_MOST: Final = 4 << 20
_PROPOSAL: Final = "ExitPlanMode"


class RefusalWatch:
    """The transcript since a question was asked. A look at a file that did not grow is one system call."""

    def __init__(self, transcript: str) -> None:
        self._path = Path(transcript)
        self._calls: set[str] = set()
        self._read = self._size()
        begin = max(self._read - _BEFORE, 0)
        for line in _records(self._bytes(begin, self._read - begin)):
            self._is_refusal(line)

    def is_refused(self) -> bool:
        """Whether the transcript has a refusal of the proposal that it did not have when the question was asked."""
        size = self._size()
        if size <= self._read:
            return False
        new = self._bytes(self._read, min(size - self._read, _MOST))
        whole = new.rfind(b"\n") + 1 or (len(new) if len(new) == _MOST else 0)  # the last line may be half a line
        self._read += whole
        return any(self._is_refusal(line) for line in _records(new[:whole]))

    def _is_refusal(self, record: Any) -> bool:
        for block in _blocks(record):
            if text_in(block, "type") == "tool_use" and text_in(block, "name") == _PROPOSAL:
                self._calls.add(text_in(block, "id"))
            elif block.get("is_error") is True and text_in(block, "tool_use_id") in self._calls:
                return True
        return False

    def _size(self) -> int:
        try:
            found = self._path.stat()
        except (OSError, ValueError):
            return 0
        return found.st_size if stat.S_ISREG(found.st_mode) else 0

    def _bytes(self, begin: int, count: int) -> bytes:
        try:
            with self._path.open("rb") as file:
                file.seek(begin, os.SEEK_SET)
                return file.read(count)
        except (OSError, ValueError):
            return b""


def _records(text: bytes) -> Iterator[Any]:
    for line in text.split(b"\n"):
        if b'"tool_' in line:
            try:
                yield msgspec.json.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue


def _blocks(record: Any) -> Iterator[dict[str, Any]]:
    """The calls and results in a line of the main conversation."""
    if not isinstance(record, dict) or record.get("isSidechain") or record.get("type") not in ("assistant", "user"):
        return
    content = fields_in(record, "message").get("content")
    yield from (each for each in content if isinstance(each, dict)) if isinstance(content, list) else ()
