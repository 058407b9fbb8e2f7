"""The MCP server on standard input and output: it answers `initialize` at once, and loads the rest after that.

The SDK speaks the protocol, in its handshake versions and in those without one, and takes most of a second to load. A
host waits that long for every server that it starts, so nothing is loaded on top that the first answer does not need.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
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
from planwire.hooks.drained import open_drained, open_journal_of
from planwire.hooks.guide import INSTRUCTIONS
from planwire.journal import Journal
from planwire.mcp.stdin import MendedInput

if TYPE_CHECKING:
    from planwire.mcp.plan_server import PlanServer

#: Imports and makes the server that answers the requests.
Loading: TypeAlias = "Callable[[InMemorySubscriptionBus], PlanServer]"


def serve(
    journal: str | None = None,
    *,
    session: str | None = None,
    folder: str | None = None,
    shared: bool = False,
    binding: str | None = None,
    hooks: str | None = None,
    wait_seconds: float,
) -> None:
    """Serve the client at standard input and output until it leaves. Without a `session` it has one of its own, or with
    `shared` the latest of the folder. `binding` is the file in which a relay names session and journal, `hooks` the
    folder in which hooks of the same agent name the session of each call."""
    # A thread blocks on standard input, and nothing wakes it: an interrupt ends the process, as it ends other programs.
    # The journal has everything that the server answered.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        if binding is not None:

            def relayed(bus: InMemorySubscriptionBus) -> "PlanServer":
                from planwire.mcp.plan_server import relayed_session  # noqa: PLC0415  (see above)

                return relayed_session(bus, binding, wait_seconds)

            asyncio.run(_EarlyServer(relayed).run())
        elif hooks is not None:
            _serve_hooked(Path(hooks), _project_folder(folder), wait_seconds)
        else:
            project = _project_folder(folder)
            with open_drained(journal, create=True) as opened:
                bound = session or (_shared_session(opened, project) if shared else None)

                def own(bus: InMemorySubscriptionBus) -> "PlanServer":
                    from planwire.mcp.plan_server import own_session  # noqa: PLC0415  (see above)

                    return own_session(bus, opened, project, bound, wait_seconds)

                asyncio.run(_EarlyServer(own).run())
    except* BrokenPipeError:  # the client is gone
        pass


def _serve_hooked(folder: Path, project: Path, wait_seconds: float) -> None:
    with open_journal_of(folder) as journal, ExitStack() as running:

        def hooked(bus: InMemorySubscriptionBus) -> "PlanServer":
            from planwire.hooks.drain_thread import DrainThread  # noqa: PLC0415  (see above)
            from planwire.hooks.own_calls import OwnCalls  # noqa: PLC0415
            from planwire.mcp.plan_server import hooked_session  # noqa: PLC0415

            running.enter_context(DrainThread(journal, folder))
            return hooked_session(bus, journal, OwnCalls(journal, folder), project, wait_seconds)

        asyncio.run(_EarlyServer(hooked).run())


class _EarlyServer:
    """Answers `initialize` by itself. Once the client confirms that, or sends any other request, a thread loads the
    rest, and everything that needs it waits."""

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
        """Confirm that the client listens only once there is something to hear."""
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

    async def _answering(self) -> "PlanServer":
        self._wanted.set()
        await self._loaded.wait()
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
