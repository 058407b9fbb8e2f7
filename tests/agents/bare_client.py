"""A client that starts the agent in its last arguments, prompts it once, prints what it gets, and ends.

Its first argument is a JSON object: `capabilities`, `version`, `greets` (false: `initialize` has no `params`), `loads`
(the session to load), `cwd` and the `answer` to questions.
"""

import json
import subprocess
import sys
from typing import Any

WAYS = json.loads(sys.argv[1])
VERSION = WAYS.get("version", 1)
KEY = "clientCapabilities" if VERSION == 1 else "capabilities"


def main() -> None:
    agent = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert agent.stdin is not None
    assert agent.stdout is not None

    def say(**message: Any) -> None:
        assert agent.stdin is not None
        agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        agent.stdin.flush()

    hello = {"protocolVersion": VERSION, KEY: WAYS.get("capabilities", {})}
    say(id=1, method="initialize", **({"params": hello} if WAYS.get("greets", True) else {}))
    loads = WAYS.get("loads")
    opened = {"cwd": WAYS.get("cwd", "/"), "mcpServers": [], **({"sessionId": loads} if loads else {})}
    say(id=2, method="session/load" if loads else "session/new", params=opened)
    say(id=3, method="session/prompt", params={"sessionId": loads or "planwire-trial", "prompt": []})
    for line in agent.stdout:
        message = json.loads(line)
        method = message.get("method", "")
        if method == "session/update":
            print(json.dumps(message["params"]))
        if "id" in message and method:
            chosen = {"result": {"outcome": {"outcome": "selected", "optionId": WAYS.get("answer", "no")}}}
            unknown = {"error": {"code": -32601, "message": "no"}}
            say(id=message["id"], **(chosen if method == "session/request_permission" else unknown))
        if "stopReason" in line:
            break
    agent.stdin.close()
    agent.wait()


main()
