"""The answers of the MCP server: the tools as `planwire.tools.schemas` describes them, the plans as resources, and the
prompt, for one client and one session.

What `initialize` does not need is in here: `planwire.mcp.server` loads it once it has answered that.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Final

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from planwire.errors import PlanwireError, ToolError
from planwire.hooks import guide
from planwire.hooks.own_calls import BoundCall, OwnCalls
from planwire.journal import Journal
from planwire.mcp.bound_session import RelayedSession, new_session, plan_folders
from planwire.mcp.resources import (
    MARKDOWN,
    TEMPLATE,
    Cards,
    PlanUri,
    ResourceNews,
    SessionCards,
    plan_text,
    plan_uris,
    read_uri,
)
from planwire.mcp.unfinished import Unfinished
from planwire.readmodel.card import PlanCard
from planwire.readmodel.states import MCP
from planwire.session.plan_session import Opening, PlanSession
from planwire.session.pool import in_pool
from planwire.tools.answers import Answer, failure
from planwire.tools.schemas import GET_PLAN, SESSION, SET_PLAN, tool_schemas

#: Seconds between reports to a client that waits for a review.
PROGRESS_SECONDS: Final = 5.0
#: Limits how long a call waits for its session.
SESSION_SECONDS: Final = 10.0
#: The error for a missing resource in the versions with a handshake. Later ones call it an invalid parameter.
_RESOURCE_NOT_FOUND: Final = -32002

#: Where hosts put the id of a model's call. The ids of requests begin anew with every process.
_CALL_IDS: Final = ("claudecode/toolUseId",)

Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None


def own_session(
    bus: InMemorySubscriptionBus,
    journal: Journal,
    project: Path,
    session: str | None,
    wait_seconds: float,
) -> "PlanServer":
    """The server of the session with that name. Without a name it has one of its own, and can take up others."""

    def open_session(name: str) -> Opening[PlanSession]:
        return PlanSession.open(journal, name, folders=plan_folders(project), wait_seconds=wait_seconds)

    earlier = Unfinished(journal, project) if session is None else None
    opening = open_session(session or new_session(project))
    return PlanServer(bus, opening, str(project), wait_seconds, earlier=earlier, reopen=open_session)


def relayed_session(bus: InMemorySubscriptionBus, binding: str, wait_seconds: float) -> "PlanServer":
    """The server of the session that a relay names in a file."""
    relayed = RelayedSession(Path(binding))
    return PlanServer(bus, relayed.open(wait_seconds), None, wait_seconds, relayed)


def hooked_session(
    bus: InMemorySubscriptionBus, journal: Journal, calls: OwnCalls, project: Path, wait_seconds: float
) -> "PlanServer":
    """The server of an agent in its own terminal, whose hooks name the session of each call. Until they do, it has a
    session of its own."""

    def open_session(name: str, folder: Path = project) -> Opening[PlanSession]:
        return PlanSession.open(journal, name, folders=plan_folders(folder), wait_seconds=wait_seconds)

    opening = open_session(new_session(project))
    return PlanServer(bus, opening, str(project), wait_seconds, reopen=open_session, calls=calls)


class PlanServer:
    """The answers to a client's requests about a session. `bus` takes news to clients that listen.

    `opening` gives the session, at once or later. `folder` is the session's unless it has one already. With `relayed`
    the ACP client behind a relay hears of a plan before the agent gets its answer. With `earlier` the model may take up
    another session of the folder, which `reopen` opens. `calls` knows the session of each call that hooks announce.
    """

    def __init__(
        self,
        bus: InMemorySubscriptionBus,
        opening: AbstractAsyncContextManager[PlanSession],
        folder: str | None,
        wait_seconds: float,
        relayed: RelayedSession | None = None,
        earlier: Unfinished | None = None,
        reopen: Callable[[str], Opening[PlanSession]] | None = None,
        calls: OwnCalls | None = None,
    ) -> None:
        self._opening = opening
        self._earlier = earlier
        self._reopen = reopen
        self._calls = calls
        self._exit = AsyncExitStack()  # of the session, and of those that were taken up
        self._working = anyio.CancelScope()
        self._watching: anyio.CancelScope | None = None
        self._folder = folder
        self._wait_seconds = wait_seconds
        self._relayed = relayed
        self._plans: PlanSession | None = None
        self._opened: dict[str | None, PlanSession] = {}  # those that the relay or a hook named, by their ids
        self._cards: SessionCards | None = None
        self._problem: PlanwireError | None = None
        self._decided = anyio.Event()  # there is a session, or a problem
        self._called = anyio.Event()  # there was a call of a tool
        self._news = ResourceNews(bus)
        self._in_order = anyio.Lock()  # a model may make several calls at once, and means them in that order

    async def run(self) -> None:
        """Keep the session open, and the client informed, until `stop`, which lets sessions close in peace."""
        async with self._exit:
            with self._working:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._attend)
                    group.start_soon(self._hold)

    def stop(self) -> None:
        self._working.cancel()

    async def watch(self) -> None:
        """Wait until the client would hear of a change. With a relay there is no need to: once it names a session, all
        of that is news."""
        if self._relayed is None:
            await self._news.watching.wait()

    async def _attend(self) -> None:
        """Open the session, and send the client news of it."""
        try:
            plans = await self._exit.enter_async_context(self._opening)
            self._plans, self._cards = plans, SessionCards(plans)
            self._decided.set()
            # A client asks for its resources before the relay names the session: every plan is news to it. So are
            # those of a session that the model took up.
            all_is_news = self._relayed is not None
            while True:
                with anyio.CancelScope() as self._watching:
                    await self._news.watch(self._plans, self._cards, all_is_news=all_is_news)
                all_is_news = True
        except PlanwireError as error:
            self._problem = error
            self._decided.set()
            self._news.watching.set()

    async def _hold(self) -> None:
        """Hold the session from the first call on: a server that is never called serves no agent."""
        await self._called.wait()
        plans = await self._session()
        with suppress(PlanwireError):  # then readers of the journal know less about it
            await plans.hold(MCP)

    async def _session(self) -> PlanSession:
        """The session, as soon as there is one."""
        with anyio.move_on_after(SESSION_SECONDS):
            await self._decided.wait()
        if self._plans is None:
            problem = "the relay has not named the session yet"
            hint = "try again in a moment, or go on without plan tools"
            raise self._problem or ToolError("no_session", problem, hint)
        return self._plans

    async def _session_of_turn(self) -> PlanSession:
        """The session that a call is for: the relay may name another one by now."""
        plans = await self._session()
        named = self._relayed.named() if self._relayed is not None else None
        if self._relayed is None or named in (None, plans.id):
            return plans
        async with self._in_order:
            self._opened.setdefault(plans.id, plans)
            if named in self._opened:
                return await self._work_on(nullcontext(self._opened[named]))
            plans = await self._work_on(self._relayed.open(self._wait_seconds))
            return self._opened.setdefault(plans.id, plans)

    async def _session_of_call(self, bound: BoundCall | None) -> PlanSession:
        """The session that a hook named for a call; the one before if none did."""
        plans = await self._session()
        if bound is None or self._reopen is None or bound.session == plans.id:
            return plans
        async with self._in_order:
            self._opened.setdefault(plans.id, plans)
            known = self._opened.get(bound.session)
            plans = await self._work_on(nullcontext(known) if known else self._reopen(bound.session))
            return self._opened.setdefault(plans.id, plans)

    async def list_tools(self, _: Context, __: Page) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(each) for each in tool_schemas("mcp")])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            bound = await in_pool(self._bound, params) if self._calls else None
            plans = await (self._session_of_call(bound) if self._calls else self._session_of_turn())
            self._called.set()
            answer = await self._answer(ctx, plans, params, bound)
        except PlanwireError as error:
            answer = Answer(failure(error))
        text = types.TextContent(type="text", text=str(answer))
        return types.CallToolResult(content=[text], structured_content=dict(answer), is_error=answer.is_error)

    def _bound(self, params: types.CallToolRequestParams) -> BoundCall | None:
        assert self._calls is not None
        return self._calls.bind(params.name, params.arguments or {}, params.meta or {})

    async def _answer(
        self, ctx: Context, plans: PlanSession, params: types.CallToolRequestParams, bound: BoundCall | None
    ) -> Answer:
        tool, arguments = params.name, dict(params.arguments or {})
        if tool == GET_PLAN and (wanted := arguments.pop(SESSION, None)) is not None:
            async with self._in_order:
                plans = await self._take_up(plans, wanted)
        if arguments.get("wait"):
            async with anyio.create_task_group() as group:
                group.start_soon(self._report, ctx)
                answer = await plans.call(tool, arguments)
                group.cancel_scope.cancel()
            return answer
        async with self._in_order:
            if tool == SET_PLAN and self._relayed is None:  # the relay records it otherwise
                await self._introduce(ctx, plans, bound)
            if self._relayed is not None:
                await self._relayed.caught_up()
            answer = await plans.call(tool, arguments, bound.call if bound else _call_id(params))
            is_heard = "revision" in answer and "not_yet_delivered" not in answer
            if self._relayed is not None and tool != GET_PLAN and is_heard:
                await self._relayed.told(answer["revision"])
            if self._earlier and tool == GET_PLAN and not answer.is_error and not plans.state.live():
                answer |= await in_pool(self._earlier.offer, plans.id)
            return answer

    async def _take_up(self, plans: PlanSession, wanted: Any) -> PlanSession:
        """Work on an earlier session of the folder from now on. The one before stays open: calls may wait in it."""
        if wanted == plans.id:
            return plans
        if self._earlier is None or self._reopen is None:
            problem = f"this server works on the session {plans.id} alone"
            raise ToolError("unknown_session", problem, f"leave {SESSION} out")
        session = await in_pool(self._earlier.check, wanted)
        return await self._work_on(self._reopen(session))

    async def _work_on(self, opening: AbstractAsyncContextManager[PlanSession]) -> PlanSession:
        """Work on another session from now on."""
        self._plans = await self._exit.enter_async_context(opening)
        self._cards = SessionCards(self._plans)
        if self._watching is not None:
            self._watching.cancel()
        with suppress(PlanwireError):
            await self._plans.hold(MCP)
        return self._plans

    async def _introduce(self, ctx: Context, plans: PlanSession, bound: BoundCall | None) -> None:
        """Record folder and agent with the first plan, where the session lacks them: a session begins with its plan."""
        client = ctx.session.client_params
        agent = client.client_info.title or client.client_info.name if client else None
        folder = self._folder
        if bound is not None:
            agent, folder = bound.agent or agent, bound.folder or folder
        with suppress(PlanwireError):  # the plan itself will meet the same trouble, and say so
            await plans.introduce(agent, folder)

    async def _report(self, ctx: Context) -> None:
        """Report progress to a client that asked for it, so that it keeps waiting."""
        began = monotonic()
        while True:
            waited = round(monotonic() - began, 1)
            await ctx.session.report_progress(waited, self._wait_seconds, "waiting for a person to review the plan")
            await anyio.sleep(PROGRESS_SECONDS)

    async def list_resources(self, _: Context, __: Page) -> types.ListResourcesResult:
        if self._relayed is not None and not self._decided.is_set():  # too early for an answer: news follow
            return types.ListResourcesResult(resources=[])
        session, cards = await self._shown()
        return types.ListResourcesResult(resources=[_resource(session, card) for card in cards.values()])

    async def list_templates(self, _: Context, __: Page) -> types.ListResourceTemplatesResult:
        session = f"the session {self._plans.id}" if self._plans else "this session"
        words = f"A plan of {session}: as markdown, or with format=json all that is known of it, and who said what."
        template = types.ResourceTemplate(uri_template=TEMPLATE, name="plan", title="Plan", description=words)
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri, cards = await self._own(ctx, params.uri)
        if uri.plan_id not in cards:
            known = ", ".join(plan_uris(uri.session, each)[0] for each in cards) or "none"
            raise _not_found(ctx, f"there is no plan at {params.uri}; there are: {known}")
        text = plan_text(cards[uri.plan_id], uri.mime_type)
        contents = types.TextResourceContents(uri=params.uri, mime_type=uri.mime_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        self._news.subscribed[params.uri], _ = await self._own(ctx, params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, _: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._news.subscribed.pop(params.uri, None)
        return types.EmptyResult()

    async def list_prompts(self, _: Context, __: Page) -> types.ListPromptsResult:
        task = types.PromptArgument(name="task", description="The work to be done, if it is known.", required=False)
        known = types.Prompt(name=guide.NAME, title=guide.TITLE, description=guide.SUMMARY, arguments=[task])
        return types.ListPromptsResult(prompts=[known])

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != guide.NAME:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name!r}; there is: {guide.NAME}")
        text = types.TextContent(type="text", text=guide.prompt_text((params.arguments or {}).get("task")))
        return types.GetPromptResult(
            description=guide.SUMMARY, messages=[types.PromptMessage(role="user", content=text)]
        )

    async def meet(self, ctx: Context, _: types.NotificationParams) -> None:
        """The client has introduced itself, as those of the handshake versions do."""
        self._news.client = ctx.session

    async def _shown(self) -> tuple[str, Cards]:
        """The id of the session, and its plans as they are."""
        try:
            await (await self._session()).refresh()
        except PlanwireError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None
        assert self._plans is not None
        assert self._cards is not None
        return self._plans.id, await self._cards.now()

    async def _own(self, ctx: Context, uri: str) -> tuple[PlanUri, Cards]:
        """A URI of this session, and the session's plans as they are."""
        found, (session, cards) = read_uri(uri), await self._shown()
        if found is None or found.session != session:
            own = plan_uris(session, "PLAN_ID")[0]
            raise _not_found(ctx, f"{uri} is not a plan of this session; its plans are at {own}")
        return found, cards


def _call_id(params: types.CallToolRequestParams) -> str | None:
    """The id of the call itself, where the host gives one: the same call once more is made once."""
    meta: Mapping[str, Any] = params.meta or {}
    return next((meta[key] for key in _CALL_IDS if isinstance(meta.get(key), str)), None)


def _not_found(ctx: Context, message: str) -> MCPError:
    is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    return MCPError(types.INVALID_PARAMS if is_modern else _RESOURCE_NOT_FOUND, message)


def _resource(session: str, card: PlanCard) -> types.Resource:
    changed = datetime.fromtimestamp(card.changed_at / 1000, UTC).isoformat(timespec="seconds")
    return types.Resource(
        uri=plan_uris(session, card.id)[0],
        name=card.id or "plan",
        title=card.title,
        description=card.why or None,
        mime_type=MARKDOWN,
        annotations=types.Annotations(last_modified=changed),
    )
