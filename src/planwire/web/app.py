"""The application: the pages and their addresses."""

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from planwire import __version__
from planwire.errors import JournalError
from planwire.journal import Journal
from planwire.readmodel.as_json import difference_json, entry_json, plan_json, session_json
from planwire.readmodel.as_markdown import plan_markdown
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.timeline import Timeline, Timelines, compare_sessions
from planwire.session.steering import USER
from planwire.web.acts_app import ActsApp
from planwire.web.addresses import OVERVIEW, plan_address, session_address
from planwire.web.compare_page import compare_page
from planwire.web.frame import ASSETS, asset, document
from planwire.web.guard import App, Receive, RequestGuard, Scope, Send
from planwire.web.history_page import MOMENTS_PER_PAGE, Then, history_page, then_part
from planwire.web.html import with_ages
from planwire.web.hub import Hub, Key
from planwire.web.live_app import LiveStreams
from planwire.web.overview_page import found
from planwire.web.page_tree import part_html
from planwire.web.responses import (
    asked_for,
    find_session,
    journal_words,
    json_response,
    named_plan,
    problem,
    wants_json,
    with_ending,
)
from planwire.web.team import Team, signed_in
from planwire.web.team_entry import TeamEntry
from planwire.web.token_entry import TokenEntry

#: Seconds that a program's request waits for a board that has just started and still reads the sessions.
LOADING: Final = 10.0
_FOR_GOOD: Final = {"cache-control": "public, max-age=31536000, immutable"}


class BoardApp:
    """The board as an ASGI application, behind its guard. With a `team`, people sign in and nobody needs the token."""

    def __init__(
        self,
        journal: Journal,
        token: str,
        hosts: Iterable[str],
        *,
        cookie: str = "planwire",
        editor: str | None = None,
        folders: Iterable[str] = (),
        by: str | None = USER,
        thoughts: bool = True,
        team: Team | None = None,
    ) -> None:
        folders = tuple(folders)
        self._only_shows = by is None
        self.hub = Hub(journal, FilePlans(folders), editor, thoughts=thoughts)
        self._timelines = Timelines(journal, FilePlans(folders).of)
        plan = OVERVIEW + "/{session}/plans/{plan}"
        routes = [
            Route("/", self._home),
            Route("/about", self._about),
            Route("/static/{name}", self._static),
            Route(OVERVIEW, self._overview),
            Route(OVERVIEW + "/{session}", self._session),
            Route(plan, self._plan),
            *ActsApp(self.hub, by).routes(plan),
            Route(OVERVIEW + "/{session}/history", self._history),
            Route(OVERVIEW + "/{session}/compare", self._compare),
        ]
        problems = {HTTPException: problem, JournalError: self._journal_problem}
        pages = Starlette(routes=routes, lifespan=self._lifespan, exception_handlers=problems)
        pages.router.redirect_slashes = False  # it would lead to another scheme behind a proxy, or past the secret path
        live = LiveStreams(self.hub)

        async def live_or_page(scope: Scope, receive: Receive, send: Send) -> None:
            answer = live if scope.get("path", "").startswith("/live/") else pages
            await answer(with_ending(scope), receive, send)

        self._team = None if team is None else TeamEntry(live_or_page, team, cookie, only_shows=by is None)
        entry = self._team or TokenEntry(live_or_page, token, cookie)
        self._app: App = RequestGuard(live_or_page, entry, hosts, for_team=team is not None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        await self.hub.start()
        if self._team is not None:
            self._team.streams.start()
        try:
            yield
        finally:
            if self._team is not None:
                await self._team.streams.close()
            await self.hub.close()

    async def _journal_problem(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, JournalError)
        return await problem(
            request, HTTPException(503, journal_words(request.scope, self.hub.sessions.journal, error))
        )

    async def _home(self, _request: Request) -> Response:
        return RedirectResponse(OVERVIEW, 303)

    async def _about(self, _request: Request) -> Response:
        """Facts about the board itself, for programs."""
        hub = self.hub
        numbers = {"watchers": hub.watchers, "changes": hub.changes, "renders": hub.renders}
        return json_response({"planwire": __version__, "position": hub.sessions.position, **numbers})

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset(name), media_type=ASSETS[name], headers=_FOR_GOOD)

    async def _overview(self, request: Request) -> Response:
        query = asked_for(request)
        if wants_json(request):
            sessions = self.hub.sessions
            await self.hub.wait_until_loaded(LOADING)  # people see that more are to come, and a program would not
            loading, glances = sessions.loading, found(sessions.glances(), query, _now())
            return json_response({"sessions": [session_json(glance) for glance in glances], "loading": loading})
        search = f"?{request.url.query}" if request.url.query else ""
        return await self._page(request, query, "", f"/live{OVERVIEW}{search}")

    async def _session(self, request: Request) -> Response:
        session = await find_session(self.hub.sessions, request)
        if wants_json(request):
            return json_response(session_json(session))
        return await self._page(request, session.id, session.name, "/live" + session_address(session.id))

    async def _plan(self, request: Request) -> Response:
        session = await find_session(self.hub.sessions, request)
        plan_id = named_plan(request, session)
        card = session.card(plan_id)
        assert card is not None, "the session has the plan"
        if request.scope.get("ending") == "md":
            return Response(plan_markdown(card), media_type="text/markdown; charset=utf-8")
        if wants_json(request):
            return json_response(plan_json(card))
        live = "/live" + plan_address(session.id, plan_id)
        return await self._page(request, (session.id, plan_id), card.title, live)

    async def _history(self, request: Request) -> Response:
        session = await find_session(self.hub.sessions, request)
        timeline = await run_in_threadpool(self._timelines.get, session.id)
        count = len(timeline.numbers)
        last = max(count - 1, 0)
        if "at" in request.query_params:
            place = timeline.index(_number(request, "at", 0))
        else:
            place = min(_number(request, "moment", last), last)
        then = await self._then(timeline, place)
        if wants_json(request):
            moments = [entry_json(each) for each in await self._entries(timeline, 0, count)]
            return json_response({"session": session.id, "moments": moments, "then": session_json(then.session)})
        if request.query_params.get("part") == "then":
            return _html(await run_in_threadpool(then_part, timeline, then))
        end = min(_number(request, "before", count), count)
        listed = await self._entries(timeline, max(0, end - MOMENTS_PER_PAGE), end)
        page = await run_in_threadpool(history_page, session, timeline, then, listed)
        return _html(document(f"History of {session.name}", page, person=signed_in(request.scope)))

    async def _compare(self, request: Request) -> Response:
        session = await find_session(self.hub.sessions, request)
        timeline = await run_in_threadpool(self._timelines.get, session.id)
        if not timeline.numbers:
            raise HTTPException(404, "nothing has happened in this session yet")
        to = timeline.index(_number(request, "to", timeline.seq))
        start = timeline.index(_number(request, "from", timeline.numbers[to] - 1))
        before, after = await self._then(timeline, start), await self._then(timeline, to)
        if wants_json(request):
            changes = [difference_json(each) for each in compare_sessions(before.session, after.session)]
            between = {"from": timeline.numbers[start], "to": timeline.numbers[to]}
            return json_response({"session": session.id, **between, "plans": changes})
        draw = partial(compare_page, whole="all" in request.query_params)
        page = await run_in_threadpool(draw, session.name, session.id, timeline, (before, after))
        return _html(document(f"Compare {session.name}", page, person=signed_in(request.scope)))

    async def _then(self, timeline: Timeline, place: int) -> Then:
        return await run_in_threadpool(self._then_now, timeline, place)

    def _then_now(self, timeline: Timeline, place: int) -> Then:
        journal = self.hub.sessions.journal
        entry = timeline.entry(journal, place)
        shown = timeline.shown(journal, entry)
        return Then(place, entry, shown, self.hub.reasons.of(shown.journalled))

    async def _entries(self, timeline: Timeline, begin: int, end: int) -> list[HistoryEntry]:
        def entries() -> list[HistoryEntry]:
            return [*self.hub.reasons.with_whys(timeline.entries(self.hub.sessions.journal, begin, end))]

        return await run_in_threadpool(entries)

    async def _page(self, request: Request, key: Key, title: str, live: str) -> Response:
        topic = await self.hub.topic(key)
        page = document(
            title,
            part_html(topic.page),
            live=live,
            version=topic.id,
            only_shows=self._only_shows,
            person=signed_in(request.scope),
        )
        return _html(page)


def _now() -> int:
    return int(time.time() * 1_000)


def _html(page: str) -> Response:
    return HTMLResponse(with_ages(page, _now()))


def _number(request: Request, field: str, default: int) -> int:
    text = request.query_params.get(field)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise HTTPException(400, f"{field} must be a number")
    return int(text)
