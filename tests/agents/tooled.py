"""An ACP agent that uses the MCP servers of its sessions, and waits for them before it answers, as many do.

A prompt is JSON, a list of steps: an update to send, a call (`{"tool": …, "arguments": …}`), whose result is said as a
message, or a pause (`{"seconds": …}`). Anything else is a prompt that it only remembers. It keeps its servers and its
prompts in a file.
"""

import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any

MEMORY = Path(sys.argv[1])
VERSION = int(sys.argv[2]) if len(sys.argv) > 2 else 1
JSON = dict[str, Any]


class Server:
    """An MCP server over standard input and output."""

    def __init__(self, entry: JSON) -> None:
        command = [entry["command"], *entry["args"]]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ids = count(1)
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        self.ask("initialize", client)
        self._say({"method": "notifications/initialized"})
        self.tools = [tool["name"] for tool in self.ask("tools/list")["tools"]]
        self.resources = self.ask("resources/list")["resources"]

    def ask(self, method: str, params: JSON | None = None) -> Any:
        number = next(self._ids)
        self._say({"id": number, "method": method, "params": params or {}})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                return message["result"]
        raise EOFError("the server is gone")

    def _say(self, message: JSON) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def say(message: JSON) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session: str, body: JSON) -> None:
    say({"method": "session/update", "params": {"sessionId": session, "update": body}})


def remember(**what: Any) -> None:
    with MEMORY.open("a") as memory:
        memory.write(json.dumps(what) + "\n")


def prompted(session: str, prompt: list[JSON], servers: list[Server]) -> None:
    remember(prompt=[part["text"] for part in prompt])
    text = prompt[0]["text"]
    for step in json.loads(text) if text.startswith("[") else []:
        if "seconds" in step:
            sleep(step["seconds"])
            continue
        if "tool" not in step:
            update(session, step)
            continue
        result = servers[0].ask("tools/call", {"name": step["tool"], "arguments": step.get("arguments", {})})
        update(session, {"sessionUpdate": "agent_message_chunk", "content": result["content"][0]})


def main() -> None:
    servers: list[Server] = []
    for line in sys.stdin:
        message = json.loads(line)
        params, method = message["params"], message["method"]
        result: Any = {}
        if method == "initialize":
            result = {"protocolVersion": VERSION}
            if VERSION > 1:
                result["capabilities"] = {"session": {"mcp": {"stdio": {}}}}
        elif method in ("session/new", "session/load", "session/resume"):
            entries = params["mcpServers"]
            servers = [Server(entry) for entry in entries]
            remember(servers=entries, tools=[server.tools for server in servers])
            result = {"sessionId": f"session-of-{MEMORY.stem}"} if method == "session/new" else {}
        elif method == "session/prompt":
            prompted(params["sessionId"], params["prompt"], servers)
            result = {"stopReason": "end_turn"}
        say({"id": message["id"], "result": result})
    for server in servers:
        server.end()


main()
