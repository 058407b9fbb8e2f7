"""Plans as MCP resources: their URIs, their texts, and news of them.

    plan:///SESSION/PLAN_ID                 the plan alone, as markdown
    plan:///SESSION/PLAN_ID?format=json     all that is known of it, in the shape of `docs/plan.schema.json`
    plan:///SESSION                         the plan of an agent that gives it no id

Percent-encoding keeps both names whole. They stand in the path, since clients change the case of a host.

In the versions of the protocol with a handshake, a client hears over its connection of the resources that it subscribed
to, whoever changes them. In later ones it listens to the bus, and says itself what it wants from it.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import quote, unquote

import anyio
import msgspec
from mcp import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

from planwire.readmodel.as_json import plan_json
from planwire.readmodel.as_markdown import plan_markdown
from planwire.readmodel.card import PlanCard, PlanId
from planwire.readmodel.cards import cards_of
from planwire.readmodel.followed_files import FilePlans
from planwire.session.plan_session import PlanSession
from planwire.session.pool import in_pool

MARKDOWN: Final = "text/markdown"
JSON: Final = "application/json"
TEMPLATE: Final = "plan:///{session}/{plan_id}{?format}"

_SCHEME: Final = "plan:///"
_AS_JSON: Final = "?format=json"

News: TypeAlias = ResourcesListChanged | ResourceUpdated
Cards: TypeAlias = dict[PlanId, PlanCard]


class PlanUri(NamedTuple):
    """The meaning of a URI: a plan of a session, as markdown or JSON."""

    session: str
    plan_id: PlanId
    mime_type: str


def plan_uris(session: str, plan_id: PlanId) -> tuple[str, str]:
    """The URIs of a plan: as markdown, and as JSON."""
    names = (session,) if plan_id is None else (session, plan_id)
    uri = _SCHEME + "/".join(quote(name, safe="") for name in names)
    return uri, uri + _AS_JSON


def read_uri(uri: str) -> PlanUri | None:
    """The meaning of a URI, however a client spells its names; None if it is not a plan's."""
    names, _, query = uri.removeprefix(_SCHEME).partition("?")
    session, slash, plan_id = names.partition("/")
    if not uri.startswith(_SCHEME) or "/" in plan_id or query not in ("", "format=json", "format=markdown"):
        return None
    return PlanUri(unquote(session), unquote(plan_id) if slash else None, JSON if query == "format=json" else MARKDOWN)


def plan_text(card: PlanCard, mime_type: str) -> str:
    """A plan as markdown or JSON. The markdown is the plan alone, since a text in it could pass for a person's word;
    the JSON has the words of each person under their name."""
    if mime_type == JSON:
        return msgspec.json.format(msgspec.json.encode(plan_json(card)), indent=2).decode()
    return plan_markdown(card, remarks=False)


class SessionCards:
    """The cards of a session's live plans by their ids, with the texts of its plan files."""

    def __init__(self, plans: PlanSession) -> None:
        self._plans = plans
        self._files = FilePlans(plans.folders)
        self._one_at_a_time = anyio.Lock()

    async def now(self) -> Cards:
        async with self._one_at_a_time:
            state = self._plans.state
            files = await in_pool(self._files.of, state)
        return {card.id: card for card in cards_of(state, files)}


class ResourceNews:
    """Tells the bus of changes, and the client on the connection once it has introduced itself. `subscribed` holds that
    client's URIs as it spelled them, with their meanings."""

    def __init__(self, bus: InMemorySubscriptionBus) -> None:
        self.bus = bus
        self.client: ServerSession | None = None
        self.subscribed: dict[str, PlanUri] = {}
        self.watching = anyio.Event()  # what changes from now on is news

    async def watch(self, plans: PlanSession, cards: SessionCards, *, all_is_news: bool) -> None:
        """Publish every change from now on, for as long as the session lasts. `all_is_news`: begin with the plans that
        there are, since the client can't know them."""
        seq = 0 if all_is_news else plans.state.seq
        before: Cards = {} if all_is_news else await cards.now()
        self.watching.set()
        while True:
            seq = (await plans.changed(seq)).seq
            after = await cards.now()
            for news in _news(plans.id, before, after):
                await self.bus.publish(news)
                await self._send(news)
            before = after

    async def _send(self, news: News) -> None:
        if self.client is None:
            return
        if isinstance(news, ResourcesListChanged):
            await self.client.send_resource_list_changed()
            return
        changed = read_uri(news.uri)
        for uri in [uri for uri, meaning in self.subscribed.items() if meaning == changed]:
            await self.client.send_resource_updated(uri)


def _news(session: str, before: Cards, after: Cards) -> Iterator[News]:
    if before.keys() != after.keys():
        yield ResourcesListChanged()
    for plan_id in before.keys() | after.keys():
        for uri, mime_type in zip(plan_uris(session, plan_id), (MARKDOWN, JSON), strict=True):
            if not _reads_the_same(before.get(plan_id), after.get(plan_id), mime_type):
                yield ResourceUpdated(uri)


def _reads_the_same(before: PlanCard | None, after: PlanCard | None, mime_type: str) -> bool:
    if before is None or after is None or before is after:
        return before is after
    return plan_text(before, mime_type) == plan_text(after, mime_type)
