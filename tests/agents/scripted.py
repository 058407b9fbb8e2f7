"""An ACP agent that does what its prompts say: each is JSON, a list of updates to send.

It keeps what it was told and what it sent in a file, for `session/load`, which tells everything again; with `forget` in
its arguments it tells only what the user said. With `sequential` it counts its sessions from 1. A prompt that
ends with `Think.` is never answered.
"""

import json
import sys
from pathlib import Path
from typing import Any

MEMORY = Path(sys.argv[1])
JSON = dict[str, Any]


def say(message: JSON) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def update(session: str, body: JSON) -> None:
    say({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": body}})


def remembered() -> list[JSON]:
    return [json.loads(line) for line in MEMORY.read_text().splitlines()] if MEMORY.exists() else []


def remember(bodies: list[JSON]) -> None:
    with MEMORY.open("a") as memory:
        memory.writelines(json.dumps(body) + "\n" for body in bodies)


def prompted(session: str, prompt: list[JSON]) -> None:
    heard = [{"sessionUpdate": "user_message_chunk", "content": part} for part in prompt]
    updates = json.loads(prompt[0]["text"]) if prompt[0]["text"].startswith("[") else []
    for body in updates:
        update(session, body)
    remember(heard + updates)


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            continue
        params, method = message["params"], message["method"]
        result: Any = {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1.0"}}
            remember([{"sessionUpdate": "_initialize", "capabilities": params.get("clientCapabilities")}])
        elif method == "session/new":
            result = {"sessionId": "1" if "sequential" in sys.argv else f"session-of-{MEMORY.stem}"}
        elif method == "session/load":
            for body in remembered():
                if body["sessionUpdate"] != "_initialize" and (
                    "forget" not in sys.argv or body["sessionUpdate"] == "user_message_chunk"
                ):
                    update(params["sessionId"], body)
            result = None
        elif method == "session/prompt":
            prompted(params["sessionId"], params["prompt"])
            if params["prompt"][-1]["text"] == "Think.":
                continue
            result = {"stopReason": "end_turn"}
        say({"jsonrpc": "2.0", "id": message["id"], "result": result})


main()
