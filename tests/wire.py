"""Lines for tests, made from what they say."""

import json
import re
from typing import Any

JSON = dict[str, Any]


def entry(content: str, status: str = "pending", priority: str = "medium", **more: Any) -> JSON:
    return {"content": content, "priority": priority, "status": status, **more}


def line(update: JSON, session: str = "s1", **params: Any) -> bytes:
    message = {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": session, "update": update, **params},
    }
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def plan(*entries: Any, session: str = "s1", **more: Any) -> bytes:
    return line({"sessionUpdate": "plan", "entries": list(entries), **more}, session)


def items(plan_id: str, *entries: Any, key: str = "planId", session: str = "s1", **more: Any) -> bytes:
    body = {"type": "items", key: plan_id, "entries": list(entries), **more}
    return line({"sessionUpdate": "plan_update", "plan": body}, session)


def text(plan_id: str, content: str, session: str = "s1", **more: Any) -> bytes:
    body = {"type": "markdown", "planId": plan_id, "content": content}
    return line({"sessionUpdate": "plan_update", "plan": body, **more}, session)


def file(plan_id: str, uri: str) -> bytes:
    return line({"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": plan_id, "uri": uri}})


def streamed(plan_id: str, delta: str) -> bytes:
    return text(plan_id, "", _meta={"jetbrains": {"air": {"version": 1, "contentDelta": delta}}})


def removed(plan_id: str, key: str = "planId", session: str = "s1") -> bytes:
    return line({"sessionUpdate": "plan_removed", key: plan_id}, session)


def request(method: str, message_id: int | str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}).encode()


def answer(message_id: int | str, result: Any = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": message_id, "result": result}).encode()


def refusal(message_id: int | str) -> bytes:
    error = {"code": -32602, "message": "no"}
    return json.dumps({"jsonrpc": "2.0", "id": message_id, "error": error}).encode()


def both_keys(sent: bytes) -> bytes:
    """A line of today's draft as clients get that announce `plan`: the id of its plan is under both spellings."""
    return re.sub(rb'"planId":("[^"]*")', rb'"planId":\1,"id":\1', sent)


def update_of(sent: bytes) -> JSON:
    value: JSON = json.loads(sent)
    update: JSON = value["params"]["update"]
    return update
