"""A tiny MCP server with one tool, which `planwire check --learn` gives to an agent: `python -m … LOG`.

It notes every call in the log.
"""

import json
import sys
from pathlib import Path
from typing import Any

from planwire.check.observing import SERVER, TOOL

_TOOL = {"name": TOOL, "description": "Looks at a sample.", "inputSchema": {"type": "object", "properties": {}}}


def main(log: str) -> None:
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and "id" in message and isinstance(method := message.get("method"), str):
            with Path(log).open("a") as kept:
                kept.write(f"{method}\n")
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": _result(method, message.get("params"))}
            print(json.dumps(answer), flush=True)


def _result(method: str, params: Any) -> dict[str, Any]:
    version = params.get("protocolVersion") if isinstance(params, dict) else None
    results: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": version or "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": SERVER, "version": "1"},
            "instructions": "Looks at samples.",
        },
        "tools/list": {"tools": [_TOOL]},
        "tools/call": {"content": [{"type": "text", "text": "It sleeps."}]},
        "resources/list": {"resources": []},
        "resources/templates/list": {"resourceTemplates": []},
        "prompts/list": {"prompts": []},
    }
    return results.get(method, {})


if __name__ == "__main__":
    main(*sys.argv[1:])
