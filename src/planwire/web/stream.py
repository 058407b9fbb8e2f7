"""A topic as a stream of server-sent events: what a browser's EventSource reads."""

import asyncio
from typing import Final

from planwire.web.guard import Receive, Scope, Send
from planwire.web.hub import Hub
from planwire.web.live import Topic, Watcher

__all__ = ["Stream"]

#: What a browser is to wait before it connects again, in milliseconds.
RETRY: Final = b"retry: 1000\n\n"
_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class Stream:
    """The answer to a watcher. It lasts until one of the two ends goes away."""

    def __init__(self, hub: Hub, topic: Topic, event_id: str | None) -> None:
        self._hub = hub
        self._topic = topic
        self._event_id = event_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_body(body: bytes) -> None:
            await send({"type": "http.response.body", "body": body, "more_body": True})

        if not self._hub.has_room:
            await send({"type": "http.response.start", "status": 503, "headers": [(b"retry-after", b"10")]})
            await send({"type": "http.response.body", "body": b"there are too many watchers\n"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send_body(RETRY)
        with self._hub.watching(self._topic, self._event_id, send_body) as watcher:
            leaving = asyncio.create_task(_notice_leaving(receive, watcher))
            watcher.tell()
            await watcher.gone.wait()
            leaving.cancel()
        await send({"type": "http.response.body", "body": b""})


async def _notice_leaving(receive: Receive, watcher: Watcher) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    watcher.gone.set()
