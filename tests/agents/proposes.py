"""An agent that asks for approval of its plan.

A prompt with "plan" in it makes a proposal and asks; one with "slow" in it works until it is cancelled; any other ends
at once. With the argument `steers` it can be told something in the middle of a turn, with `choosy` no option is plain.
"""

import json
import sys
from typing import Any

PLAN = "# Do it\n\n- [ ] Read the code\n- [ ] Mend it\n"
OPTIONS = {
    "plain": [("always", "Yes, always", "allow_always"), ("yes", "Yes", "allow_once"), ("no", "No", "reject_once")],
    "choosy": [
        ("edits", "Yes, accept edits", "allow_once"),
        ("ask", "Yes, ask me", "allow_once"),
        ("no", "No", "reject_once"),
    ],
}
CONTEXT = "<planwire-context"


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


class Agent:
    """One session, with at most one turn."""

    def __init__(self) -> None:
        self.turn: object = None
        self.asked = 0

    def prompt(self, request: object, text: str) -> None:
        self.turn = request
        own = text.partition(CONTEXT)[0]
        if "plan" in own:
            self.ask()
        elif "slow" not in own:
            self.end("end_turn")

    def ask(self) -> None:
        self.asked += 1
        call = f"call-{self.asked}"
        update = {"sessionUpdate": "tool_call", "toolCallId": call, "title": "Plan", "kind": "switch_mode"}
        say(method="session/update", params={"sessionId": "s1", "update": {**update, "rawInput": {"plan": PLAN}}})
        options = [
            {"optionId": option, "name": name, "kind": kind}
            for option, name, kind in OPTIONS["choosy" if "choosy" in sys.argv else "plain"]
        ]
        tool = {"toolCallId": call, "name": "ExitPlanMode", "kind": "switch_mode"}
        params = {"sessionId": "s1", "toolCall": tool, "options": options}
        say(id=f"ask-{self.asked}", method="session/request_permission", params=params)

    def answered(self, outcome: dict[str, Any]) -> None:
        """Say which answer it got, and end the turn."""
        text = {"type": "text", "text": f"answer: {outcome.get('optionId', outcome.get('outcome'))}"}
        update = {"sessionUpdate": "agent_message_chunk", "content": text}
        say(method="session/update", params={"sessionId": "s1", "update": update})
        self.end("end_turn")

    def end(self, reason: str) -> None:
        if self.turn is not None:
            say(id=self.turn, result={"stopReason": reason})
        self.turn = None

    def hear(self, message: dict[str, Any]) -> None:
        request, params = message.get("id"), message.get("params", {})
        match message.get("method"):
            case "initialize":
                meta = {"_meta": {"steering": {"supported": True}}} if "steers" in sys.argv else {}
                about = {"protocolVersion": 1, "agentInfo": {"name": "asker", "version": "1"}}
                say(id=request, result={**about, **meta})
            case "session/new":
                say(id=request, result={"sessionId": "s1"})
            case "session/prompt":
                self.prompt(request, " ".join(each.get("text", "") for each in params["prompt"]))
            case "_session/steering":
                say(id=request, result={"outcome": "injected" if self.turn is not None else "promptRequired"})
            case "session/cancel":
                self.end("cancelled")
            case None:
                self.answered(message.get("result", {}).get("outcome", {}))


if __name__ == "__main__":
    agent = Agent()
    for line in sys.stdin:
        agent.hear(json.loads(line))
