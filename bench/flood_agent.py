"""An agent that floods: it answers a prompt with many lists at a given pace, and keeps answering requests meanwhile.

A prompt is JSON: `lists`, `steps`, `rate` (lists a second; 0: all at once), `anew` (every step gets a new text each
time, or only the first one does) and `odd` (texts that are as hard to compare as possible).
"""

import json
import os
import select
from itertools import count
from random import Random
from time import monotonic
from typing import Any

__all__ = ["entries_of_list"]

_RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "flood", "version": "1"}},
}


def entries_of_list(number: int, steps: int, *, anew: bool, odd: bool) -> list[dict[str, str]]:
    """The entries of a list. Their texts are nearly the same, or have much in common and little of it in a row."""
    texts = []
    for step in range(steps):
        version = number if anew or not step else 0
        texts.append(f"rev{version} {step} {_letters(version, step) if odd else 'w' * 60}")
    return [{"content": text, "priority": "medium", "status": "pending"} for text in texts]


def _letters(version: int, step: int) -> str:
    return "".join(Random(f"{version} {step}").choices("abc", k=200))


class _Agent:
    """Reads what comes, also in the middle of a flood."""

    def __init__(self) -> None:
        self._held = b""
        self._sessions = count(1)

    def run(self) -> None:
        while self._read(None):
            pass

    def _read(self, seconds: float | None) -> bool:
        """Answer what comes within so many seconds. False at the end of the input."""
        if not select.select([0], [], [], seconds)[0]:
            return True
        chunk = os.read(0, 64 * 1024)
        *lines, self._held = (self._held + chunk).split(b"\n")
        for line in lines:
            self._answer(json.loads(line))
        return bool(chunk)

    def _answer(self, message: dict[str, Any]) -> None:
        result = _RESULTS.get(message["method"], {})
        if message["method"] == "session/new":
            result = {"sessionId": f"flood-{next(self._sessions)}"}
        elif message["method"] == "session/prompt":
            params = message["params"]
            self._flood(params["sessionId"], **json.loads(params["prompt"][0]["text"]))
            result = {"stopReason": "end_turn"}
        _say({"id": message["id"], "result": result})

    def _flood(self, session: str, lists: int, steps: int, rate: float, **texts: bool) -> None:
        begun = monotonic()
        for number in range(lists):
            body = {"sessionUpdate": "plan", "entries": entries_of_list(number, steps, **texts)}
            _say({"method": "session/update", "params": {"sessionId": session, "update": body}})
            if rate:
                self._read(max(begun + (number + 1) / rate - monotonic(), 0))


def _say(message: dict[str, Any]) -> None:
    view = memoryview(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n")
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    _Agent().run()
