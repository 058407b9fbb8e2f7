"""An agent that offers more than prompts, and keeps its offers as its one argument says, a JSON object.

`load`, `resume`, `fork`: `plan` (the plan is told again), `story` (its whole history is), `quiet` (nothing is), `no`
(refused), `fresh` (refused by the process that has the session open). `mode`: `mode` or `option`, the way into plan
mode, or `broken` if it is refused.
"""

import json
import sys
from typing import Any

OFFERS = json.loads(sys.argv[1])
STEPS = ("Collect", "Compare", "Pick")
JSON = dict[str, Any]


def say(message: JSON) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def listed(session: str, done: int) -> None:
    words = ["completed" if n < done else "in_progress" if n == done else "pending" for n in range(len(STEPS))]
    ranks = ("high", "medium", "low")
    entries = [{"content": c, "status": s, "priority": p} for c, s, p in zip(STEPS, words, ranks, strict=True)]
    update = {"sessionUpdate": "plan", "entries": entries}
    say({"method": "session/update", "params": {"sessionId": session, "update": update}})


def answer(asked: object, result: Any = None, refused: str = "") -> None:
    say({"id": asked, **({"error": {"code": -32602, "message": refused}} if refused else {"result": result or {}})})


def retell(session: str, how: str) -> None:
    for done in {"plan": [3], "fresh": [3], "story": [0, 1, 2, 3]}.get(how, []):
        listed(session, done)


def begun(number: int) -> JSON:
    modes = {
        "currentModeId": "work",
        "availableModes": [{"id": "work", "name": "Work"}, {"id": "plan", "name": "Plan"}],
    }
    values = [{"value": "default", "name": "Default"}, {"value": "plan", "name": "Plan"}]
    option = {"id": "collaboration_mode", "name": "Mode", "type": "select", "options": values}
    offered: JSON = {"mode": {"modes": modes}, "broken": {"modes": modes}, "option": {"configOptions": [option]}}
    return {"sessionId": f"s{number}", **offered.get(OFFERS.get("mode", ""), {})}


def ask_about_plan(session: str) -> str:
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    options += [{"optionId": "no", "name": "No", "kind": "reject_once"}]
    call = {"toolCallId": "t", "kind": "switch_mode", "title": "Approve Plan"}
    params = {"sessionId": session, "toolCall": call, "options": options}
    say({"id": "q", "method": "session/request_permission", "params": params})
    return str(json.loads(sys.stdin.readline())["result"]["outcome"]["optionId"])


def main() -> None:
    sessions: list[str] = []
    planning: set[str] = set()
    for line in sys.stdin:
        message = json.loads(line)
        method, asked, params = message.get("method"), message.get("id"), message.get("params", {})
        session = params.get("sessionId", "")
        if method == "initialize":
            extras: JSON = {key: {} for key in ("resume", "fork") if key in OFFERS}
            capabilities = {"loadSession": "load" in OFFERS, "sessionCapabilities": extras}
            answer(asked, {"protocolVersion": 1, "agentCapabilities": capabilities})
        elif method == "session/new":
            sessions.append(f"s{len(sessions) + 1}")
            answer(asked, begun(len(sessions)))
        elif method in ("session/load", "session/resume", "session/fork"):
            how = OFFERS[method.removeprefix("session/")]
            if how == "no" or (how == "fresh" and session in sessions):
                answer(asked, refused="not now")
                continue
            target = f"{session}-fork" if method == "session/fork" else session
            retell(target, how)
            answer(asked, {"sessionId": target} if method == "session/fork" else None)
        elif method in ("session/set_mode", "session/set_config_option"):
            planning.add(session)
            answer(asked, refused="no such mode" if OFFERS["mode"] == "broken" else "")
        elif method == "session/prompt":
            verdict = ask_about_plan(session) if session in planning else "yes"
            print(verdict if session in planning else "prompted", file=sys.stderr, flush=True)
            for done in range(4) if verdict == "yes" else ():
                listed(session, done)
            answer(asked, {"stopReason": "end_turn"})


main()
