"""A client behind the official Python SDK of ACP: plans go out on the connection that the agent already has.

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **more):
        self.peer = sdk_peer(self.connection, client_capabilities)

    plans.connect(self.peer, session_id)

The SDK sends the lines as planwire wrote them, in order with the agent's own updates. They bypass the SDK's models,
which know one spelling of a plan's id and no fields but their own: through them a client could lose the plan.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from planwire.acp import Dialect, negotiate
from planwire.extras import missing_extra
from planwire.model.plan import Fields
from planwire.session.client_sync import Peer

try:
    import acp
    from acp.interfaces import Client
    from acp.schema import ClientCapabilities, InitializeRequest, SessionNotification
except ImportError as error:
    raise missing_extra("this peer", "acp", error) from error


def sdk_peer(
    connection: Client,
    client: InitializeRequest | ClientCapabilities | Mapping[str, Any] | None,
    version: int = acp.PROTOCOL_VERSION,
) -> Peer:
    """The client as a peer for `PlanSession.connect`.

    `connection` is what the SDK hands to the agent's `on_connect`. `client` is what the client said of itself in
    `initialize`: its capabilities or the whole request, as the SDK gives them or as JSON. `version` is the agent's
    answer.

    The SDK drops `planCapabilities`, an early name of the plan capability, so a client that says only that gets the
    v1 `plan`, as any client may. An agent that wants more reads the request with one of the SDK's `observers`.
    """

    async def send(line: bytes) -> None:
        message = msgspec.json.decode(line)
        await _notify(connection, message["method"], message["params"])

    return Peer(_dialect(client, version), send)


def _dialect(client: InitializeRequest | ClientCapabilities | Mapping[str, Any] | None, version: int) -> Dialect:
    said: Any = client
    if isinstance(client, InitializeRequest | ClientCapabilities):
        said = client.model_dump(mode="json", by_alias=True, exclude_none=True)
    if not isinstance(said, Mapping):
        said = {}
    if "protocolVersion" not in said and "clientCapabilities" not in said:
        said = {"clientCapabilities": dict(said)}
    return negotiate(dict(said), {"protocolVersion": version})


async def _notify(connection: Client, method: str, params: Fields) -> None:
    """Send a notification as it is, or through the SDK's models if a wrapper hides the connection."""
    notify = getattr(getattr(connection, "_conn", None), "send_notification", None)
    if notify is not None:
        await notify(method, params)
    else:
        known = SessionNotification.model_validate(params)
        await connection.session_update(known.session_id, known.update, **(known.field_meta or {}))
