"""The relay's own lines, until the pipes of their directions ask for them.

A line that goes the opposite way to its cause can't be written by the thread that heard the cause. So it waits here,
and the other pipe takes it as soon as it is between two lines. Its records for the journal go with it: they are written
once the line has left.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from planwire.acp.write import write_update
from planwire.model.plan import Fields
from planwire.relay.actions import Action, HoldBack, Record, ToAgent, ToClient


class Outbox:
    """The lines that wait, for each side in order."""

    def __init__(self) -> None:
        self._agent: list[Action] = []
        self._client: list[Action] = []

    @property
    def is_empty(self) -> bool:
        return not (self._agent or self._client)

    def for_agent(self) -> list[Action]:
        """Take out what is for the agent."""
        taken, self._agent = self._agent, []
        return taken

    def for_client(self) -> list[Action]:
        """Take out what is for the client."""
        taken, self._client = self._client, []
        return taken

    def pass_on(self, actions: Iterable[Action]) -> None:
        """Queue a line of the client's, with its other actions, after what is already on its way to the agent."""
        self._agent += actions

    def behind(self, actions: list[Action]) -> list[Action]:
        """The actions to take at once for a client's line. The line itself never overtakes what is on its way."""
        if not self._agent:
            return actions
        self.pass_on(action for action in actions if isinstance(action, ToAgent))
        return [action for action in actions if not isinstance(action, ToAgent)]

    def hold(self, hold: HoldBack) -> None:
        """Begin a wait once the agent has what was queued before."""
        self._agent.append(hold)

    def answer_agent(self, request: object, result: Fields, *records: Record) -> None:
        self._agent += (ToAgent(_line({"id": request, "result": result})), *records)

    def ask_agent(self, request: str, method: str, params: Fields, *records: Record) -> None:
        self._agent += (ToAgent(_line({"id": request, "method": method, "params": params})), *records)

    def tell_client(self, actions: Iterable[Action]) -> None:
        """Queue lines for the client."""
        self._client += actions

    def notify_agent(self, method: str, params: Fields) -> None:
        self._agent.append(ToAgent(_line({"method": method, "params": params})))

    def notify_client(self, method: str, params: Fields) -> None:
        self._client.append(ToClient(_line({"method": method, "params": params})))

    def show_client(self, session: str, update: Fields) -> None:
        """Queue an update of a session for the client to show."""
        self._client.append(ToClient(write_update(session, update) + b"\n"))


def _line(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n"
