"""An agent for the benchmark of relays, as quick as possible, so that the relay is what is timed.

It answers `initialize` and `session/new`; `bench/flood` makes it send lines of a kind and then the answer, `bench/echo`
makes it send a line of a kind. The answer to a prompt says when the agent read it; one prompt gets no answer.
"""

import json
import os
import sys
from time import monotonic
from typing import Any

from bench.lines import LINES, one_status_apart

#: Lines that are sent in turn: an agent that repeats one line would favour a relay that remembers it.
KINDS = {
    "plan": one_status_apart(20),
    "draft": one_status_apart(20, plan_id="plan-1"),
    "chunk": (LINES["chunk"], LINES["chunk"].replace(b"Found it.", b"Fixed it.")),
}
SESSION = "sess_01JC8R5T9W3K7M2QX4ZB6NHVPD"
_RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "bench", "version": "1"}},
    "session/new": {"sessionId": SESSION},
}
#: The prompt that the agent never answers.
THINK = "Think."
_BLOCK = 64 * 1024


def main() -> None:
    blocks = {kind: _pair(kind) * max(1, _BLOCK // len(_pair(kind))) for kind in KINDS}
    turn = 0
    for line in sys.stdin.buffer:
        read_at = monotonic()
        message = json.loads(line)
        params: dict[str, Any] = message["params"]
        result: dict[str, Any] | None = _RESULTS.get(message["method"])
        if message["method"] == "bench/echo":
            _write(KINDS[params["kind"]][turn % 2] + b"\n")
            turn += 1
            continue
        if message["method"] == "bench/flood":
            block, left = blocks[params["kind"]], params["count"] * len(_pair(params["kind"])) // 2
            while left > 0:
                _write(block[:left])
                left -= len(block)
        if message["method"] == "session/prompt" and params["prompt"][0]["text"] == THINK:
            continue
        if message["method"] == "session/prompt":
            result = {"stopReason": "end_turn", "readAt": read_at}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        _write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")


def _pair(kind: str) -> bytes:
    first, second = KINDS[kind]
    return first + b"\n" + second + b"\n"


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
