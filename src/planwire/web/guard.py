"""The guard: every request passes here before anything else looks at it.

The board shows what agents do on this machine, and any page in the user's browser can try to reach it. So:

- the Host must be a name of this board: an attacker may point a name of their own at this address (DNS rebinding);
- `Origin` and `Sec-Fetch-Site` must not name another site, or another port of this machine; only a click on a link may
  come from there;
- the request must carry the token as `Authorization: Bearer`, or a cookie that stands for it, which a browser gets if
  the token is in the address. The cookie counts only below its own path, which no other server knows (`cookie_path`);
- bodies and addresses have a size limit;
- every answer forbids all that the pages don't need: scripts and styles from elsewhere or in line, frames, sniffing.
"""

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.responses import HTMLResponse, Response

from planwire.web.cookie_path import AnswerBelow, Message, Send, browser_key
from planwire.web.frame import words_page

__all__ = ["LARGEST_BODY", "LONGEST_ADDRESS", "App", "Receive", "RequestGuard", "Scope", "Send"]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Room for the text of a plan with thousands of steps.
LARGEST_BODY: Final = 1024 * 1024
LONGEST_ADDRESS: Final = 8 * 1024
LARGEST_HEADERS: Final = 32 * 1024

#: The methods that only read.
_READING: Final = ("GET", "HEAD")
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
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
]


def _host_name(host: str) -> str:
    """The name in a Host header, without its port, in small letters."""
    return _PORT.sub("", host.strip()).lower().rstrip(".")


class RequestGuard:
    """An application behind the rules above. `hosts` are the names of this board, without ports."""

    def __init__(self, app: App, token: str, hosts: Iterable[str], cookie: str) -> None:
        self._app = app
        self._token = token
        self._hosts = {host.lower() for host in hosts}
        self._cookie = cookie
        self._key = browser_key(token, cookie)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            limited = _Limited(receive, send)
            await self._answer(scope)(scope, limited.receive, limited.send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _answer(self, scope: Scope) -> App:
        """The application, or else the answer that turns the request away or lets its sender in."""
        headers = {name: value.decode("latin-1") for name, value in reversed(scope["headers"])}
        if refusal := self._refusal(scope, headers):
            return _words(*refusal)
        below = self._path_below(scope)
        path = scope["path"] if below is None else below
        if admission := self._admission(scope, path):
            return admission
        public = path.startswith("/static/") and scope["method"] in _READING
        if public or self._has_token(headers) or (below is not None and self._has_cookie(headers)):
            return self._app if below is None else self._app_below(path)
        what = "Open the address that planwire board printed: it has the token. Programs send it as a Bearer token."
        return _words(401, "The board is locked", what, {"www-authenticate": 'Bearer realm="planwire board"'})

    def _path_below(self, scope: Scope) -> str | None:
        """The rest of a path that begins with that of the cookie; None for any other."""
        first, _, rest = scope["path"][1:].partition("/")
        return f"/{rest}" if _same(f"/{first}", self._key.path) else None

    def _app_below(self, path: str) -> App:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await self._app({**scope, "path": path}, receive, AnswerBelow(self._key.path, send).send)

        return answer

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> tuple[int, str, str] | None:
        """The reason to turn a request away: a status, a title, and what to do; None if there is none."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or _host_name(headers[b"host"]) not in self._hosts:
            what = "Open the address that planwire board printed, or start it with --allow-host and this name."
            return 421, "Unknown host name", what
        origin = headers.get(b"origin")
        if origin is not None and _origin_host(origin) != headers[b"host"].lower():
            return 403, "Request from another site", "The board answers only to its own pages."
        reading = scope["method"] in _READING
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

    def _has_token(self, headers: dict[bytes, str]) -> bool:
        scheme, _, given = headers.get(b"authorization", "").partition(" ")
        return scheme.lower() == "bearer" and _same(given.strip(), self._token)

    def _has_cookie(self, headers: dict[bytes, str]) -> bool:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get(b"cookie", ""))
        except CookieError:
            return False
        return self._cookie in cookies and _same(cookies[self._cookie].value, self._key.value)

    def _admission(self, scope: Scope, path: str) -> Response | None:
        """Exchange the token in an address for the cookie, and lead to the same address below the cookie's path."""
        fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in fields if name == "token"]
        if scope["method"] != "GET" or len(given) != 1 or not _same(given[0], self._token):
            return None
        rest = urlencode([field for field in fields if field[0] != "token"])
        target = self._key.path + (path if re.fullmatch(r"(?:/[A-Za-z0-9_~.-]+)*/?", path) else "/")
        cookie = f"{self._cookie}={self._key.value}; Path={self._key.path}; HttpOnly; SameSite=Strict"
        return Response(
            status_code=303, headers={"location": f"{target}?{rest}" if rest else target, "set-cookie": cookie}
        )


def _same(given: str, secret: str) -> bool:
    """Compare with a secret in a time that tells nothing about it."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode())


def _origin_host(origin: str) -> str | None:
    """Host and port of an Origin header; None for what is none (`null`, for one)."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _follows_a_link(scope: Scope, headers: dict[bytes, str]) -> bool:
    return (
        scope["method"] == "GET"
        and headers.get(b"sec-fetch-mode") == "navigate"
        and headers.get(b"sec-fetch-dest") == "document"
    )


class _Limited:
    """A request whose body has a limit, and an answer with the headers that every answer has."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
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
            message = {**message, "headers": [*own, *cache, *_HEADERS]}
        await self._send(message)


def _words(status: int, title: str, what: str, headers: Mapping[str, str] | None = None) -> Response:
    return HTMLResponse(words_page(title, what, way_back=False), status, headers)
