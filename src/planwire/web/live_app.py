"""The streams of the board: every page has one, under `/live` and its own address.

A stream is server-sent events, for a browser's EventSource. It has no router in front of it: a message sent a thousand
times per change should pass through as little as possible.
"""

import asyncio
import re
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from planwire.errors import JournalError
from planwire.web.addresses import OVERVIEW
from planwire.web.guard import Receive, Scope, Send
from planwire.web.hub import Hub, Key
from planwire.web.responses import asked_for, find_session, named_plan, problem

_PAGE: Final = re.compile(rf"/live{OVERVIEW}(?:/(?P<session>[^/]*)(?:/plans/(?P<plan>[^/]*))?)?")
#: How long a browser waits before it connects again, in milliseconds.
RETRY: Final = b"retry: 1000\n\n"
_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class LiveStreams:
    """An application that answers every request with the stream of a page."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            key = await self._key(request)
        except (HTTPException, JournalError) as error:
            await (await problem(request, error))(scope, receive, send)
        else:
            event_id = request.headers.get("last-event-id") or request.query_params.get("since")
            await stream(self._hub, key, event_id, receive, send)

    async def _key(self, request: Request) -> Key:
        """The page in an address, or 404."""
        if request.method != "GET":
            raise HTTPException(405, "a stream can only be read")
        found = _PAGE.fullmatch(request.scope["path"])
        if found is None:
            raise HTTPException(404, "no page has this stream")
        if found["session"] is None:
            return asked_for(request)
        request.scope["path_params"] = found.groupdict()
        session = await find_session(self._hub.sessions, request)
        return session.id if found["plan"] is None else (session.id, named_plan(request, session))


async def stream(hub: Hub, key: Key, event_id: str | None, receive: Receive, send: Send) -> None:
    """Stream a page to a watcher that has the version with the id `event_id`, until either end goes away."""

    async def send_body(body: bytes) -> None:
        await send({"type": "http.response.body", "body": body, "more_body": True})

    async def notice_leaving() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        watcher.gone.set()

    if not hub.has_room:
        await send({"type": "http.response.start", "status": 503, "headers": [(b"retry-after", b"10")]})
        await send({"type": "http.response.body", "body": b"there are too many watchers\n"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send_body(RETRY)
    with hub.watching(key, event_id, send_body) as watcher:
        leaving = asyncio.create_task(notice_leaving())
        watcher.tell()
        await watcher.gone.wait()
        leaving.cancel()
    await send({"type": "http.response.body", "body": b""})
