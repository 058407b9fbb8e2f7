"""Plans as MCP resources: their URIs, their texts, and news of them.

    plan:///SESSION/PLAN_ID                 the plan as markdown
    plan:///SESSION/PLAN_ID?format=json     all that is known of it
    plan:///SESSION                         the plan of an agent that gives it no id

Percent-encoding keeps both names whole. They stand in the path, since clients change the case of a host.

A client of the handshake versions hears of the resources that it subscribed to over its connection, whoever changes
them. Later versions listen to the bus, and say themselves what they want from it.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import quote, unquote

import msgspec
from mcp import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from msgspec.structs import replace

from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.documents import plan_document
from planwire.session.plan_session import PlanSession
from planwire.tools.plan_value import plan_value

__all__ = ["JSON", "MARKDOWN", "TEMPLATE", "PlanUri", "ResourceNews", "plan_text", "plan_uris", "read_uri"]

MARKDOWN: Final = "text/markdown"
JSON: Final = "application/json"
TEMPLATE: Final = "plan:///{session}/{plan_id}{?format}"

_SCHEME: Final = "plan:///"
_AS_JSON: Final = "?format=json"

News: TypeAlias = ResourcesListChanged | ResourceUpdated


class PlanUri(NamedTuple):
    """The meaning of a URI: a plan of a session, in a form."""

    session: str
    plan_id: PlanId
    mime_type: str


def plan_uris(session: str, plan_id: PlanId) -> tuple[str, str]:
    """The URIs of a plan: as markdown, and as JSON."""
    names = (session,) if plan_id is None else (session, plan_id)
    uri = _SCHEME + "/".join(quote(name, safe="") for name in names)
    return uri, uri + _AS_JSON


def read_uri(uri: str) -> PlanUri | None:
    """The meaning of a URI, however a client spells its names; None if it is no plan's."""
    names, _, query = uri.removeprefix(_SCHEME).partition("?")
    session, slash, plan_id = names.partition("/")
    if not uri.startswith(_SCHEME) or "/" in plan_id or query not in ("", "format=json", "format=markdown"):
        return None
    return PlanUri(unquote(session), unquote(plan_id) if slash else None, JSON if query == "format=json" else MARKDOWN)


def plan_text(state: SessionState, plan_id: PlanId, mime_type: str) -> str:
    """A plan in a form. The session must have it."""
    if mime_type == JSON:
        return msgspec.json.format(msgspec.json.encode(plan_value(state, plan_id)), indent=2).decode()
    return plan_document(state.plans[plan_id])


class ResourceNews:
    """The bus, and the client on the connection once it has introduced itself. `subscribed` holds its URIs."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.client: ServerSession | None = None
        self.subscribed: set[str] = set()

    async def watch(self, plans: PlanSession, before: SessionState) -> None:
        """Publish every change since a state, for as long as the session lasts."""
        while True:
            after = await plans.changed(before.seq)
            for news in _news(before, after):
                await self.bus.publish(news)
                await self._send(news)
            before = after

    async def _send(self, news: News) -> None:
        if self.client is None:
            return
        if isinstance(news, ResourcesListChanged):
            await self.client.send_resource_list_changed()
        elif news.uri in self.subscribed:
            await self.client.send_resource_updated(news.uri)


def _news(before: SessionState, after: SessionState) -> Iterator[News]:
    if before.live().keys() != after.live().keys():
        yield ResourcesListChanged()
    for plan_id in before.plans.keys() | after.plans.keys():
        if not _reads_the_same(before.plans.get(plan_id), after.plans.get(plan_id)):
            yield from (ResourceUpdated(uri) for uri in plan_uris(after.id, plan_id))


def _reads_the_same(before: PlanRecord | None, after: PlanRecord | None) -> bool:
    """Whether a plan reads as it did. An agent that waits for a review is no part of the plan."""
    if before is None or after is None or before is after:
        return before is after
    return before.asked is not after.asked and replace(before, asked=None) == replace(after, asked=None)
