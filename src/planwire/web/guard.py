"""The guard: every request passes through it before anything else sees it.

The board shows what agents do on this machine, and any page in the user's browser can try to reach it. So:

- the Host must be a name of this board: an attacker may point a name of their own at this address (DNS rebinding);
- `Origin` and `Sec-Fetch-Site` must not name another site, or another port of this machine; only a click on a link may
  come from there;
- the entry must know the sender: by the one token of a personal board (`token_entry`), or as one of the users of a
  team's (`team_entry`);
- bodies and addresses have a size limit;
- every answer forbids all that the pages don't need: scripts and styles from elsewhere or inline, frames, sniffing.
"""

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import urlsplit

from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, Response

from planwire.web.cookie_path import Message, Send
from planwire.web.frame import words_page

__all__ = [
    "CHALLENGE",
    "LARGEST_BODY",
    "LONGEST_ADDRESS",
    "READING",
    "App",
    "Entrance",
    "Headers",
    "Receive",
    "RequestGuard",
    "Scope",
    "Send",
    "bearer_of",
    "cookie_of",
    "host_name",
    "same_secret",
    "words_answer",
]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
#: The headers of a request by name; of several with one name, the first.
Headers: TypeAlias = Mapping[bytes, str]

#: Room for the text of a plan with thousands of steps.
LARGEST_BODY: Final = 1024 * 1024
LONGEST_ADDRESS: Final = 8 * 1024
LARGEST_HEADERS: Final = 32 * 1024

#: The header of an answer that asks a program for its token.
CHALLENGE: Final = {"www-authenticate": 'Bearer realm="planwire board"'}
#: The methods that only read.
READING: Final = ("GET", "HEAD")
#: The entry of a scope to call once a person was let in.
WELCOME: Final = "planwire.welcome"
#: Values of `Sec-Fetch-Site` for a request from elsewhere: it may only follow a link.
_FOREIGN: Final = ("cross-site", "same-site")
_PORT: Final = re.compile(r":[0-9]{1,5}\Z")

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types planwire"
)
_HEADERS: Final = [
    (b"content-security-policy", _POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), clipboard-write=(self)"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
]


class Entrance(Protocol):
    """Decides who gets in: gives the application for a request, or the answer that turns it away or signs its sender
    in."""

    def answer(self, scope: Scope, headers: Headers) -> App: ...


def host_name(host: str) -> str:
    """The name in a Host header, without its port, in lower case."""
    return _PORT.sub("", host.strip()).lower().rstrip(".")


class RequestGuard:
    """Applies the rules above to a request, then hands it to the entry; the lifespan goes straight to the application.
    `hosts` are the names of this board, without ports.

    For a team (`for_team`), the address that a connection came to is one of them, too: DNS rebinding needs a name, and
    such a request names an address. And pages send the board their referrer: without one, a form has no Origin.
    """

    def __init__(self, app: App, entry: Entrance, hosts: Iterable[str], *, for_team: bool = False) -> None:
        self._app = app
        self._entry = entry
        self._hosts = {host.lower() for host in hosts}
        self._for_team = for_team
        self._headers = [*_HEADERS, (b"referrer-policy", b"same-origin" if for_team else b"no-referrer")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            limited = _Limited(receive, send, self._headers)
            await self._answer(scope)(scope, limited.receive, limited.send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _answer(self, scope: Scope) -> App:
        headers = {name: value.decode("latin-1") for name, value in reversed(scope["headers"])}
        if refusal := self._refusal(scope, headers):
            return words_answer(*refusal)
        return self._entry.answer(scope, headers)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str, str] | None:
        """The reason to turn a request away: a status, a title, and what to do; None if there is none."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._is_own(scope, host_name(headers[b"host"])):
            what = "Open the address that planwire board printed, or start it with --allow-host and this name."
            return 421, "Unknown host name", what
        origin = headers.get(b"origin")
        if sum(name == b"origin" for name, _ in scope["headers"]) > 1:
            return 403, "More than one Origin", "The board answers only to its own pages."
        if origin is not None and _origin_host(origin) != headers[b"host"].lower():
            return 403, "Request from another site", "The board answers only to its own pages."
        reading = scope["method"] in READING
        if not reading and origin is None:
            return 403, "Unknown origin", "A change needs the board's own address as its Origin."
        if headers.get(b"sec-fetch-site") in _FOREIGN and not _follows_a_link(scope, headers):
            return 403, "Request from another site", "The board answers only to its own pages."
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            return 414, "Address too long", f"The longest has {LONGEST_ADDRESS:,} characters."
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LARGEST_HEADERS:
            return 431, "Headers too long", f"All together may have {LARGEST_HEADERS:,} bytes."
        length = headers.get(b"content-length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > LARGEST_BODY:
            return 413, "Request too large", f"The largest request has {LARGEST_BODY:,} bytes."
        return None

    def _is_own(self, scope: Scope, name: str) -> bool:
        server = (scope.get("server") or ("",))[0]
        return name in self._hosts or (self._for_team and bool(server) and name.strip("[]") == server)


def welcome(scope: Scope) -> None:
    """Note that the connection of a request is a person's: when there are too many, it stays."""
    if WELCOME in scope:
        scope[WELCOME]()


def bearer_of(headers: Headers) -> str:
    """The token that a program sends; "" if it sends none."""
    scheme, _, given = headers.get(b"authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def cookie_of(headers: Headers, name: str) -> str:
    """The value of a cookie; "" if there is none."""
    return cookie_parser(headers.get(b"cookie", "")).get(name, "")


def same_secret(given: str, secret: str) -> bool:
    """Compare with a secret in a time that reveals nothing about it."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode())


def _origin_host(origin: str) -> str | None:
    """Host and port of an Origin header; None if it names none (`null`, for example)."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _follows_a_link(scope: Scope, headers: Headers) -> bool:
    return (
        scope["method"] == "GET"
        and headers.get(b"sec-fetch-mode") == "navigate"
        and headers.get(b"sec-fetch-dest") == "document"
    )


class _Limited:
    """Limits the body of a request, and adds the headers that every answer has."""

    def __init__(self, receive: Receive, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._receive = receive
        self._send = send
        self._headers = headers
        self._read = 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            if self._read > LARGEST_BODY:
                return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            cache = [] if b"cache-control" in dict(own) else [(b"cache-control", b"no-store")]
            message = {**message, "headers": [*own, *cache, *self._headers]}
        await self._send(message)


def words_answer(status: int, title: str, what: str, headers: Mapping[str, str] | None = None) -> App:
    """Words as an answer: a page for people, JSON for programs."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        made: Response = HTMLResponse(words_page(title, what, way_back=False), status, headers)
        if _is_for_program(scope):
            made = JSONResponse({"error": f"{title}. {what}"}, status, headers)
        await made(scope, receive, send)

    return answer


def _is_for_program(scope: Scope) -> bool:
    """Whether the sender of a request wants JSON, or sent some."""
    headers = dict(scope["headers"])
    accepts, sends = (headers.get(name, b"") for name in (b"accept", b"content-type"))
    is_json = scope["path"].endswith(".json") or b"application/json" in accepts or b"application/json" in sends
    return is_json and b"text/html" not in accepts
