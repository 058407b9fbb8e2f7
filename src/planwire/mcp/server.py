"""The MCP server on standard input and output: it answers `initialize` at once, and loads the rest behind that.

The SDK speaks the protocol, in its handshake versions and in those without one, and takes most of a second to load. A
host waits that long for every server that it starts; so nothing comes on top of it that the first answer does not need.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import mcp_types as types
from mcp import stdio_server
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

from planwire import __version__
from planwire.errors import InputError, reason
from planwire.journal import Journal, open_journal
from planwire.mcp.prompt import INSTRUCTIONS
from planwire.mcp.stdin import MendedInput

if TYPE_CHECKING:
    from planwire.mcp.plan_server import PlanServer

__all__ = ["serve"]

#: Makes what answers the requests, and imports it.
Loading: TypeAlias = "Callable[[InMemorySubscriptionBus], PlanServer]"


def serve(
    journal: str | None = None,
    *,
    session: str | None = None,
    folder: str | None = None,
    shared: bool = False,
    binding: str | None = None,
    wait_seconds: float,
) -> None:
    """Serve the client at standard input and output until it goes. Without a `session` it has one of its own, or with
    `shared` the latest of the folder. `binding` is the file in which a relay names session and journal."""
    # A thread blocks on standard input, and nothing wakes it: an interrupt ends the process, as it ends other programs.
    # The journal has everything that the server answered.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        if binding is not None:

            def relayed(bus: InMemorySubscriptionBus) -> "PlanServer":
                from planwire.mcp.plan_server import relayed_session  # noqa: PLC0415  (see above)

                return relayed_session(bus, binding, wait_seconds)

            asyncio.run(_EarlyServer(relayed).run())
        else:
            project = _project_folder(folder)
            with open_journal(journal) as opened:
                bound = session or (_shared_session(opened, project) if shared else None)

                def own(bus: InMemorySubscriptionBus) -> "PlanServer":
                    from planwire.mcp.plan_server import own_session  # noqa: PLC0415  (see above)

                    return own_session(bus, opened, project, bound, wait_seconds)

                asyncio.run(_EarlyServer(own).run())
    except* BrokenPipeError:  # the client is gone
        pass


class _EarlyServer:
    """Answers `initialize` by itself. The first sign that the client has heard that, or any request, has the rest
    loaded, in a thread, and whatever needs it waits for it."""

    def __init__(self, load: Loading) -> None:
        self._load = load
        self._wanted = anyio.Event()
        self._loaded = anyio.Event()
        self._plans: PlanServer | None = None
        self._bus = InMemorySubscriptionBus()

    async def run(self) -> None:
        """Serve until standard input ends."""
        server = self._server()
        options = server.create_initialization_options(NotificationOptions(resources_changed=True))
        async with (
            stdio_server(MendedInput(self._catch_up)) as (incoming, outgoing),
            anyio.create_task_group() as group,
        ):
            group.start_soon(self._work)
            await server.run(incoming, outgoing, options)
            if self._plans is None:
                group.cancel_scope.cancel()
            else:
                self._plans.stop()

    def _server(self) -> Server[Any]:
        server: Server[Any] = Server(
            "planwire",
            version=__version__,
            title="planwire",
            description="Plans that outlive the context, and that people can watch, change and review.",
            instructions=INSTRUCTIONS,
            on_list_tools=self._answer("list_tools"),
            on_call_tool=self._answer("call_tool"),
            on_list_resources=self._answer("list_resources"),
            on_list_resource_templates=self._answer("list_templates"),
            on_read_resource=self._answer("read_resource"),
            on_subscribe_resource=self._answer("subscribe"),
            on_unsubscribe_resource=self._answer("unsubscribe"),
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._answer("list_prompts"),
            on_get_prompt=self._answer("get_prompt"),
        )
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._answer("meet"))
        return server

    async def _listen(self, context: Any, params: Any) -> Any:
        """Say that the client listens only when there is something to hear."""
        await (await self._answering()).watch()
        return await ListenHandler(self._bus)(context, params)

    async def _catch_up(self) -> None:
        """Wait until requests that came while the rest was loaded are answered as if it had been there."""
        if self._wanted.is_set():
            await self._loaded.wait()

    def _answer(self, name: str) -> Callable[..., Awaitable[Any]]:
        """A handler that has `PlanServer` answer."""

        async def answer(context: Any, params: Any) -> Any:
            return await getattr(await self._answering(), name)(context, params)

        return answer

<<<<<<< HEAD
    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            plans = await self._session()
            self._called.set()
            answer = await self._answer(ctx, plans, params)
        except PlanwireError as error:
            answer = Answer(failure(error))
        text = types.TextContent(type="text", text=str(answer))
        return types.CallToolResult(content=[text], structured_content=dict(answer), is_error=answer.is_error)

    async def _answer(self, ctx: Context, plans: PlanSession, params: types.CallToolRequestParams) -> Answer:
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
                await self._introduce(ctx, plans)
            if self._relayed is not None:
                await self._relayed.caught_up()
            answer = await plans.call(tool, arguments, _call_id(params))
            if self._relayed is not None and tool != GET_PLAN and "revision" in answer:
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
        self._plans = await self._exit.enter_async_context(self._reopen(session))
        self._cards = SessionCards(self._plans)
        if self._watching is not None:
            self._watching.cancel()
        with suppress(PlanwireError):
            await self._plans.hold(MCP)
        return self._plans

    async def _introduce(self, ctx: Context, plans: PlanSession) -> None:
        """Record folder and agent with the first plan, where the session lacks them: a session begins with its plan."""
        client = ctx.session.client_params
        agent = client.client_info.title or client.client_info.name if client else None
        with suppress(PlanwireError):  # the plan itself will meet the same trouble, and say so
            await plans.introduce(agent, self._folder)

    async def _report(self, ctx: Context) -> None:
        """Report progress to a client that asked for it, so that it keeps waiting."""
        began = monotonic()
        while True:
            waited = round(monotonic() - began, 1)
            await ctx.session.report_progress(waited, self._wait_seconds, "waiting for a person to review the plan")
            await anyio.sleep(PROGRESS_SECONDS)

    async def _list_resources(self, _: Context, __: Page) -> types.ListResourcesResult:
        if not self._decided.is_set():  # too early for an answer: news follow
            return types.ListResourcesResult(resources=[])
        session, cards = await self._shown()
        return types.ListResourcesResult(resources=[_resource(session, card) for card in cards.values()])

    async def _list_templates(self, _: Context, __: Page) -> types.ListResourceTemplatesResult:
        session = f"the session {self._plans.id}" if self._plans else "this session"
        words = f"A plan of {session}: as markdown, or with format=json all that is known of it, and who said what."
        template = types.ResourceTemplate(uri_template=TEMPLATE, name="plan", title="Plan", description=words)
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri, cards = await self._own(ctx, params.uri)
        if uri.plan_id not in cards:
            known = ", ".join(plan_uris(uri.session, each)[0] for each in cards) or "none"
            raise _not_found(ctx, f"there is no plan at {params.uri}; there are: {known}")
        text = plan_text(cards[uri.plan_id], uri.mime_type)
        contents = types.TextResourceContents(uri=params.uri, mime_type=uri.mime_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def _subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        await self._own(ctx, params.uri)
        self._news.subscribed.add(params.uri)
        return types.EmptyResult()

    async def _unsubscribe(self, _: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._news.subscribed.discard(params.uri)
        return types.EmptyResult()

    async def _list_prompts(self, _: Context, __: Page) -> types.ListPromptsResult:
        task = types.PromptArgument(name="task", description="The work to be done, if it is known.", required=False)
        known = types.Prompt(name=prompt.NAME, title=prompt.TITLE, description=prompt.SUMMARY, arguments=[task])
        return types.ListPromptsResult(prompts=[known])

    async def _get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != prompt.NAME:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name!r}; there is: {prompt.NAME}")
        text = types.TextContent(type="text", text=prompt.prompt_text((params.arguments or {}).get("task")))
        return types.GetPromptResult(
            description=prompt.SUMMARY, messages=[types.PromptMessage(role="user", content=text)]
        )

    async def _meet(self, ctx: Context, _: types.NotificationParams) -> None:
        """The client has introduced itself, as those of the handshake versions do."""
        self._news.client = ctx.session

    async def _shown(self) -> tuple[str, Cards]:
        """The id of the session, and its plans as they are."""
        try:
            await (await self._session()).refresh()
        except PlanwireError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None
=======
    async def _answering(self) -> "PlanServer":
        self._wanted.set()
        await self._loaded.wait()
>>>>>>> setup
        assert self._plans is not None
        return self._plans

    async def _work(self) -> None:
        await self._wanted.wait()
        await anyio.to_thread.run_sync(import_module, "planwire.mcp.plan_server")
        self._plans = self._load(self._bus)
        self._loaded.set()
        await self._plans.run()


def _shared_session(journal: Journal, project: Path) -> str:
    from planwire.mcp.bound_session import find_session  # noqa: PLC0415  (see above)

    return find_session(journal, project)


def _project_folder(name: str | None) -> Path:
    """The folder that a server works for: the named one, or the current one."""
    try:
        folder = Path(name or os.curdir).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"the folder {name or os.curdir} can't be used: {reason(error)}") from None
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give the one that holds the project")
    return folder
