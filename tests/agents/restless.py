"""An ACP agent that never rests: asked to carry out a list, it sends it again and again with one of its first ten steps
changed, four times a second, until the turn is cancelled.

A prompt is JSON, the entries of the list. Anything else ends the turn at once. It keeps the texts of its prompts in a
file.
"""

import json
import sys
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

MEMORY = Path(sys.argv[1])
SECONDS = 0.25
OWN_STEPS = 10
STATUSES = ("in_progress", "completed", "pending")
JSON = dict[str, Any]


def say(message: JSON) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def work(session: str, entries: list[JSON], messages: "SimpleQueue[JSON | None]") -> str:
    """Send the list until the client has something to say. Returns why the turn ended."""
    for beat in count():
        entries[beat % OWN_STEPS]["status"] = STATUSES[beat // OWN_STEPS % len(STATUSES)]
        update = {"sessionUpdate": "plan", "entries": entries}
        say({"method": "session/update", "params": {"sessionId": session, "update": update}})
        try:
            messages.get(timeout=SECONDS)
        except Empty:
            continue
        return "cancelled"
    raise AssertionError


def prompted(params: JSON, messages: "SimpleQueue[JSON | None]") -> JSON:
    texts = [part["text"] for part in params["prompt"]]
    with MEMORY.open("a") as memory:
        memory.write(json.dumps(texts) + "\n")
    if not texts[0].startswith("["):
        return {"stopReason": "end_turn"}
    return {"stopReason": work(params["sessionId"], json.loads(texts[0]), messages)}


def main() -> None:
    messages: SimpleQueue[JSON | None] = SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            messages.put(json.loads(line))
        messages.put(None)

    Thread(target=read, daemon=True).start()
    while (message := messages.get()) is not None:
        result: JSON = {}
        match message["method"]:
            case "initialize":
                result = {"protocolVersion": 1, "agentInfo": {"name": "restless", "version": "1.0"}}
            case "session/new":
                result = {"sessionId": "relayed"}
            case "session/prompt":
                result = prompted(message["params"], messages)
        if "id" in message:
            say({"id": message["id"], "result": result})


main()
