"""The streams of the board: every page has one, under `/live` and its own address.

They are answered without the router of the pages: what is sent a thousand times a change should pass through as little
as possible.
"""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from planwire.errors import JournalError
from planwire.web.addresses import OVERVIEW
from planwire.web.guard import Receive, Scope, Send
from planwire.web.hub import Hub, Key
from planwire.web.responses import asked_for, find_session, named_plan, say_what_is_wrong, say_what_the_journal_says
from planwire.web.stream import Stream

__all__ = ["LiveStreams"]

_NOTHING: Final = HTTPException(404, "no page has this stream")


class LiveStreams:
    """An application that answers every request with the stream of a page."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            topic = await self._hub.topic(await self._key(request))
        except HTTPException as error:
            await (await say_what_is_wrong(request, error))(scope, receive, send)
        except JournalError as error:
            await (await say_what_the_journal_says(request, error))(scope, receive, send)
        else:
            event_id = request.headers.get("last-event-id") or request.query_params.get("since")
            await Stream(self._hub, topic, event_id)(scope, receive, send)

    async def _key(self, request: Request) -> Key:
        """Which page an address is about."""
        if request.method != "GET":
            raise HTTPException(405, "a stream can only be read")
        path = request.scope["path"].removeprefix("/live")
        if path == OVERVIEW:
            return asked_for(request)
        segments = path.removeprefix(f"{OVERVIEW}/").split("/")
        if not path.startswith(f"{OVERVIEW}/") or len(segments) not in (1, 3) or segments[1:2] not in ([], ["plans"]):
            raise _NOTHING
        request.scope["path_params"] = {"session": segments[0], "plan": segments[-1]}
        session = await find_session(self._hub.sessions, request)
        return session.id if len(segments) == 1 else (session.id, named_plan(request, session))
