"""An agent with a model: it asks the one at OPENAI_BASE_URL, with a to-do tool, and reports the lists of its calls."""

import json
import os
import sys
from typing import Any
from urllib.request import Request, urlopen

PRIORITY = {"type": "string", "enum": ["high", "medium", "low"]}
STATUS = {"type": "string", "enum": ["todo", "doing", "done"]}
TASK = {"properties": {"title": {}, "priority": PRIORITY, "status": {"$ref": "#/$defs/Status"}}, "required": ["title"]}
SCHEMA = {"properties": {"tasks": {"type": "array", "items": TASK}}, "$defs": {"Status": STATUS}}
TOOLS = [{"type": "function", "function": {"name": "set_todo_list", "parameters": SCHEMA}}]
WORDS = {"todo": "pending", "doing": "in_progress", "done": "completed"}


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def model(messages: list[Any]) -> dict[str, Any]:
    body = json.dumps({"model": "m", "messages": messages, "tools": TOOLS}).encode()
    request = Request(f"{os.environ['OPENAI_BASE_URL']}/chat/completions", body, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        message: dict[str, Any] = json.load(answer)["choices"][0]["message"]
    return message


def work(prompt: str) -> None:
    messages: list[Any] = [{"role": "user", "content": prompt}]
    while calls := (message := model(messages)).get("tool_calls"):
        tasks = json.loads(calls[0]["function"]["arguments"])["tasks"]
        entries = [{"content": t["title"], "priority": t["priority"], "status": WORDS[t["status"]]} for t in tasks]
        update = {"sessionUpdate": "plan", "entries": entries}
        say({"method": "session/update", "params": {"sessionId": "s", "update": update}})
        messages += [message, {"role": "tool", "tool_call_id": calls[0]["id"], "content": "noted"}]
    print(message["content"], os.environ["HOME"], os.environ.get("SECRET"), file=sys.stderr)


for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "session/prompt":
        work(asked["params"]["prompt"][0]["text"])
    results = {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "s"}}
    say({"id": asked["id"], "result": results.get(asked["method"], {"stopReason": "end_turn"})})
