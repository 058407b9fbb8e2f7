"""The client's requests that wait for the agent's answers."""

from typing import Any

from msgspec import UNSET, Struct

from planwire.acp.conversation import CLIENT, value_of
from planwire.acp.requests import Requests
from planwire.acp.words import ATTACHING, FORK, OPENING
from planwire.model.events import Told
from planwire.model.plan import Fields
from planwire.relay.envelope import FromClient


class ClientRequest(Struct, frozen=True):
    """A request of the client's that waits for its answer. `told`: the event if it told the agent its plans, for the
    reason `why`. `key`: the handoff key if it gave the agent the plan tools."""

    method: str
    params: Fields
    why: str | None = None
    told: Told | None = None
    key: str | None = None


class ClientRequests:
    """The unanswered requests on one connection."""

    def __init__(self) -> None:
        self._unanswered = Requests[ClientRequest]()

    def remember(self, message_id: Any, asked: ClientRequest) -> None:
        """Note a request. A notification has no id and gets no answer."""
        if message_id is not UNSET:
            self._unanswered.ask(CLIENT, message_id, asked)

    def remember_other(self, message: FromClient) -> None:
        """Note a request that the relay does not act on, if it is for a session."""
        params = value_of(message.params) if message.id is not UNSET else None
        if isinstance(params, dict) and isinstance(params.get("sessionId"), str):
            self.remember(message.id, ClientRequest(str(message.method), {"sessionId": params["sessionId"]}))

    def answer(self, message_id: object) -> ClientRequest | None:
        """Take out the request that an answer belongs to."""
        return self._unanswered.answer(CLIENT, message_id)

    def opening(self) -> ClientRequest | None:
        """The oldest request for a session that the agent has not named yet."""
        return next((asked for asked in self._unanswered if asked.method in OPENING), None)

    @property
    def are_forks_open(self) -> bool:
        """Whether the agent has yet to name a fork."""
        return any(asked.method == FORK for asked in self._unanswered)

    def is_attaching(self, session_id: str) -> bool:
        """Whether the agent has yet to answer a load or resume of the session."""
        return any(each.method in ATTACHING and each.params.get("sessionId") == session_id for each in self._unanswered)

    def has_any(self, session_id: str) -> bool:
        """Whether a request for a session waits for its answer."""
        return any(asked.params.get("sessionId") == session_id for asked in self._unanswered)
