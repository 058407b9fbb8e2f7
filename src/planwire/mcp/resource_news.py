"""News of a session's resources for its client, whoever changes them.

A client of the handshake versions hears of the resources that it subscribed to over its connection. Later versions
listen to the bus, and say themselves what they want from it.
"""

from collections.abc import Iterator
from typing import TypeAlias

from mcp import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from msgspec.structs import replace

from planwire.mcp.resources import plan_uris
from planwire.model.fold import PlanRecord, SessionState
from planwire.session.plan_session import PlanSession

__all__ = ["ResourceNews"]

News: TypeAlias = ResourcesListChanged | ResourceUpdated


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
