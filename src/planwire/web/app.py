"""The application: the pages and their addresses."""

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from planwire import __version__
from planwire.errors import JournalError
from planwire.journal import Journal
from planwire.readmodel.documents import plan_markdown
from planwire.readmodel.followed_files import FilePlans
from planwire.web.addresses import OVERVIEW, plan_address, session_address
from planwire.web.frame import asset, asset_kind, document
from planwire.web.guard import App, Receive, RequestGuard, Scope, Send
from planwire.web.history_app import HistoryPages
from planwire.web.hub import Hub, Key
from planwire.web.json_views import glance_json, plan_json, session_json
from planwire.web.live_app import LiveStreams
from planwire.web.overview_page import found, with_ages
from planwire.web.page_tree import part_html
from planwire.web.plan_view import names
from planwire.web.responses import (
    Endings,
    asked_for,
    find_session,
    json_response,
    named_plan,
    say_what_is_wrong,
    wants_json,
)
from planwire.web.session_page import session_name
from planwire.web.steer_app import Steering

__all__ = ["BoardApp"]

_FOR_GOOD: Final = {"cache-control": "public, max-age=31536000, immutable"}


class BoardApp:
    """The board as an ASGI application, with its guard before it."""

    def __init__(
        self,
        journal: Journal,
        token: str,
        hosts: Iterable[str],
        *,
        cookie: str = "planwire",
        editor: str | None = None,
        folders: Iterable[str] = (),
    ) -> None:
        self.hub = Hub(journal, FilePlans(folders), editor)
        history = HistoryPages(self.hub)
        plan = OVERVIEW + "/{session}/plans/{plan}"
        routes = [
            Route("/", self._home),
            Route("/about", self._about),
            Route("/static/{name}", self._static),
            Route(OVERVIEW, self._overview),
            Route(OVERVIEW + "/{session}", self._session),
            Route(plan, self._plan),
            *Steering(self.hub).routes(plan),
            Route(OVERVIEW + "/{session}/history", history.history),
            Route(OVERVIEW + "/{session}/compare", history.compare),
        ]
        problems = {HTTPException: say_what_is_wrong, JournalError: say_what_is_wrong}
        pages = Starlette(routes=routes, lifespan=self._lifespan, exception_handlers=problems)
        live = LiveStreams(self.hub)

        async def live_or_page(scope: Scope, receive: Receive, send: Send) -> None:
            await (live if scope.get("path", "").startswith("/live/") else pages)(scope, receive, send)

        self._app: App = RequestGuard(Endings(live_or_page), token, hosts, cookie)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        await self.hub.start()
        try:
            yield
        finally:
            await self.hub.close()

    async def _home(self, _request: Request) -> Response:
        return RedirectResponse(OVERVIEW, 303)

    async def _about(self, _request: Request) -> Response:
        """Facts about the board itself, for programs."""
        hub = self.hub
        numbers = {"watchers": hub.watchers, "changes": hub.changes, "renders": hub.renders}
        return json_response({"planwire": __version__, "position": hub.sessions.position, **numbers})

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        kind = asset_kind(name)
        if kind is None:
            raise HTTPException(404)
        return Response(asset(name), media_type=kind, headers=_FOR_GOOD)

    async def _overview(self, request: Request) -> Response:
        query = asked_for(request)
        if wants_json(request):
            glances = found(self.hub.sessions.glances(), query)
            value = {"position": self.hub.sessions.position, "sessions": [glance_json(glance) for glance in glances]}
            return json_response({**value, "loading": self.hub.sessions.loading})
        search = f"?{request.url.query}" if request.url.query else ""
        return await self._page(query, "", f"/live{OVERVIEW}{search}")

    async def _session(self, request: Request) -> Response:
        session = await find_session(self.hub.sessions, request)
        if wants_json(request):
            return json_response(session_json(session))
        return await self._page(session.id, session_name(session), "/live" + session_address(session.id))

    async def _plan(self, request: Request) -> Response:
        session = await find_session(self.hub.sessions, request)
        plan_id = named_plan(request, session)
        record = session.state.plans[plan_id]
        if request.scope.get("ending") == "md":
            return Response(plan_markdown(record.state), media_type="text/markdown; charset=utf-8")
        if wants_json(request):
            return json_response(plan_json(session.id, record, session.files.get(plan_id)))
        name, _ = names(record.state, session.files.get(plan_id))
        return await self._page((session.id, plan_id), name, "/live" + plan_address(session.id, plan_id))

    async def _page(self, key: Key, title: str, live: str) -> Response:
        topic = await self.hub.topic(key)
        page = document(title, part_html(topic.page), live=live, version=topic.id)
        return HTMLResponse(with_ages(page, int(time.time() * 1_000)))
