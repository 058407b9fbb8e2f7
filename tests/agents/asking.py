"""An ACP agent that asks about its plans: a prompt that begins with `#` is the plan, and the turn ends with the answer.

The result of such a turn says which option was chosen, and when the agent had read it. On `work` it works until the
turn is cancelled. Any other prompt ends its turn at once.
"""

import json
import sys
from time import monotonic
from typing import Any

SESSION = "asking"
OPTIONS = (
    ("yes", "Yes, and approve edits by hand", "allow_once"),
    ("always", "Yes, and accept all edits", "allow_always"),
    ("no", "No, keep planning", "reject_once"),
)
RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": 1, "agentInfo": {"name": "asking", "version": "1"}},
    "session/new": {"sessionId": SESSION},
}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def ask(number: int, plan: str) -> None:
    call = {
        "toolCallId": f"call-{number}",
        "title": "Ready to code?",
        "kind": "switch_mode",
        "rawInput": {"plan": plan},
    }
    say(
        {"method": "session/update", "params": {"sessionId": SESSION, "update": {"sessionUpdate": "tool_call", **call}}}
    )
    options = [{"optionId": each, "name": name, "kind": kind} for each, name, kind in OPTIONS]
    asked = {"sessionId": SESSION, "toolCall": {**call, "name": "ExitPlanMode"}, "options": options}
    say({"id": number, "method": "session/request_permission", "params": asked})


def main() -> None:
    turn: Any = None
    questions = 0
    for line in sys.stdin:
        read_at, message = monotonic(), json.loads(line)
        match message.get("method"):
            case None:
                result = {"stopReason": "end_turn", "answer": message["result"]["outcome"], "readAt": read_at}
                say({"id": turn, "result": result})
            case "session/prompt":
                turn, text = message["id"], message["params"]["prompt"][0]["text"]
                if text.startswith("#"):
                    questions += 1
                    ask(questions, text)
                elif text != "work":
                    say({"id": turn, "result": {"stopReason": "end_turn"}})
            case "session/cancel":
                say({"id": turn, "result": {"stopReason": "cancelled"}})
            case method if "id" in message:
                say({"id": message["id"], "result": RESULTS[method]})


if __name__ == "__main__":
    main()
