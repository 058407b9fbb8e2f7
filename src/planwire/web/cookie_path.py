"""The path of a browser's cookie: a secret part in front of every address that a browser uses.

A browser sends a cookie to every server on the same host, whatever its port: also to one that an agent starts on this
machine. But it keeps cookies to their paths. So a browser sees the board under a path that nobody can guess, and its
cookie is for that path: another server would have to know the path to be sent the cookie. Unlike a host name under
`localhost`, which not every browser resolves, a path works everywhere, also through a tunnel.

Neither path nor cookie reveals the token. Both are derived from it, so they are the same after a restart with the same
token; and from the port, so the cookie of one board opens no other.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

#: The beginning of an attribute that holds an address of the board; in a stream it is inside JSON. Quotes in texts are
#: escaped, so no text can match.
_ADDRESS: Final = re.compile(
    rb'( (?:href|action|data-(?:answer|copy|live|reopen|steer|then))=\\?")(?=/(?:(?:live/)?sessions|sign-out))'
)
_HTML: Final = b"text/html"
_STREAM: Final = b"text/event-stream"


class BrowserKey(NamedTuple):
    """The path in front of a browser's addresses, without a slash at its end, and the value of the cookie."""

    path: str
    value: str


def browser_key(token: str, cookie: str) -> BrowserKey:
    """The path and the value of the cookie of that name, which contains the port."""

    def derived(use: str) -> str:
        return urlsafe_b64encode(hmac.digest(token.encode(), f"{use} {cookie}".encode(), "sha256")[:18]).decode()

    return BrowserKey(f"/{derived('path')}", derived("cookie"))


class AnswerBelow:
    """Sends an answer with the path in front of every address in it."""

    def __init__(self, path: str, send: Send) -> None:
        self._path = path
        self._send = send
        self._start: Message = {}
        self._kind = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            self._kind = dict(message["headers"]).get(b"content-type", b"").partition(b";")[0]
            if self._kind != _HTML:  # the head of a page waits for the length of its body
                await self._send_head()
            return
        body = message["body"]
        if self._kind in (_HTML, _STREAM):
            body = _with_path(body, self._path)
        if self._kind == _HTML:
            await self._send_head(len(body))
        await self._send({**message, "body": body})

    async def _send_head(self, length: int | None = None) -> None:
        headers = dict(self._start["headers"])
        if length is not None:
            headers[b"content-length"] = b"%d" % length
        if headers.get(b"location", b"").startswith(b"/"):
            headers[b"location"] = self._path.encode() + headers[b"location"]
        await self._send({**self._start, "headers": list(headers.items())})


@lru_cache(maxsize=16)
def _with_path(body: bytes, path: str) -> bytes:
    """A body with the path in its addresses. It is cached: all watchers of a page are sent the same one."""
    return _ADDRESS.sub(rb"\1" + path.encode(), body)
