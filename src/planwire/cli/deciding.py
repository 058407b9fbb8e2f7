"""The check's answers to an agent's permission requests: plans are approved, and nothing else is allowed."""

from typing import Any

from planwire.acp.permissions import options_of, selection
from planwire.check.sightings import asks_about_a_plan
from planwire.cli.agent_client import Message, declined


class Decider:
    """Decides on permissions at once, and declines everything else. `allow` grants every permission.

    `rejects` is how many more questions about plans it rejects before it approves again. `asked` counts all of them.
    """

    def __init__(self, *, allow: bool) -> None:
        self._allow = allow
        self.rejects = 0
        self.asked = 0

    def hear(self, message: Message) -> Message | None:
        if message.get("method") == "session/request_permission" and "id" in message:
            result = selection(self._decision(message.get("params")))
            return {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return declined(message)

    def due(self) -> None:
        return None

    def _decision(self, params: Any) -> str | None:
        """The option to choose. A check must not change things, so only plans are approved unless the user says so."""
        granted = self._allow
        if asks_about_a_plan(params):
            self.asked += 1
            granted = not self.rejects
            self.rejects = max(0, self.rejects - 1)
        wanted = "allow_once" if granted else "reject_once"
        return next((option_id for option_id, option in options_of(params).items() if option.kind == wanted), None)
