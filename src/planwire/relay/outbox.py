"""Lines of the relay's own, until the pipes of their directions ask for them.

A line that goes the other way than the one that caused it can't be written by the thread that heard that one. So it
waits here, and the pipe takes it as soon as it is between two lines. What a line means for the journal goes with it: it
is recorded once the line has left.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from planwire.acp.write import write_update
from planwire.model.plan import Fields
from planwire.relay.actions import Action, HoldBack, Record, ToAgent, ToClient

__all__ = ["Outbox"]


class Outbox:
    """The lines that wait, for each side in order."""

    def __init__(self) -> None:
        self._agent: list[Action] = []
        self._client: list[Action] = []

    @property
    def is_empty(self) -> bool:
        return not (self._agent or self._client)

    def for_agent(self) -> list[Action]:
        """Take out what the agent is to get."""
        taken, self._agent = self._agent, []
        return taken

    def for_client(self) -> list[Action]:
        """Take out what the client is to get."""
        taken, self._client = self._client, []
        return taken

    def pass_on(self, actions: Iterable[Action]) -> None:
        """Let the agent have a line of the client's behind what is on its way, with what it means."""
        self._agent += actions

    def behind(self, actions: list[Action]) -> list[Action]:
        """What comes of a line of the client's at once. The line itself never overtakes what is on its way."""
        if not self._agent:
            return actions
        self.pass_on(action for action in actions if isinstance(action, ToAgent))
        return [action for action in actions if not isinstance(action, ToAgent)]

    def hold(self, hold: HoldBack) -> None:
        """Wait for the agent once it has what was put in before."""
        self._agent.append(hold)

    def answer_agent(self, request: object, result: Fields, *records: Record) -> None:
        self._agent += (ToAgent(_line({"id": request, "result": result})), *records)

    def ask_agent(self, request: str, method: str, params: Fields, *records: Record) -> None:
        self._agent += (ToAgent(_line({"id": request, "method": method, "params": params})), *records)

    def tell_client(self, actions: Iterable[Action]) -> None:
        """Let the client have lines."""
        self._client += actions

    def notify_agent(self, method: str, params: Fields) -> None:
        self._agent.append(ToAgent(_line({"method": method, "params": params})))

    def notify_client(self, method: str, params: Fields) -> None:
        self._client.append(ToClient(_line({"method": method, "params": params})))

    def show_client(self, session: str, update: Fields) -> None:
        """Let the client show something in a session."""
        self._client.append(ToClient(write_update(session, update) + b"\n"))


def _line(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n"
