"""Signing in: a person types the code of `planwire user code`, and their browser gets a secret of its own.

A code pairs one browser, and lasts ten minutes. One address has few tries a minute, and so have all together: all the
tries in a code's life find it once in a hundred million times. The secret is new at every sign-in, so nobody can have
planted it.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from planwire.errors import PlanwireError
from planwire.session.users_file import UsersFile
from planwire.web.addresses import OVERVIEW
from planwire.web.admission import network
from planwire.web.cookie_path import browser_key
from planwire.web.frame import document
from planwire.web.guard import Headers, Receive, Scope, Send
from planwire.web.html import el, void
from planwire.web.team import SignedIn

SIGN_IN: Final = "/sign-in"
SIGN_OUT: Final = "/sign-out"
#: Seconds that a browser keeps its cookie, the most that browsers allow. The last visit ends it sooner (`KEY_LIFE`).
LASTS: Final = 400 * 86_400
#: Wrong codes a minute from one address, and from all together.
TRIES: Final = 5
ALL_TRIES: Final = 30
MINUTE: Final = 60.0
LARGEST_FORM: Final = 2_048
#: The words for people while the file of users can't be changed.
UNCHANGED: Final = "The board can't change its users now, and whoever runs it is told why. Try again later."

#: The end of an address that a sign-in may lead to: a page of sessions, with what was looked for there.
_NEXT: Final = re.compile(rf"{OVERVIEW}(?:/[A-Za-z0-9_~-][A-Za-z0-9_~.-]*)*(?:\?[!-~]*)?\Z")
#: The longest one. It comes back in the form, in which each character takes up to three bytes.
LONGEST_NEXT: Final = 600
_WRONG: Final = "This code is not right, was already used, or is older than ten minutes. Ask for a new one."
_BROKEN: Final = "No code came. Type it in here."
_TOO_MANY: Final = "There were too many wrong codes. Wait a minute, then try again."

#: Words in a User-Agent that tell browsers and systems apart, the most specific first.
_BROWSERS: Final = {"Edg": "Edge", "OPR/": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
_SYSTEMS: Final = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


class Tries:
    """Wrong codes in the last minute. A try counts from when it begins, so that many at once don't pass as one."""

    def __init__(self) -> None:
        self._made: deque[tuple[float, str]] = deque()

    def begin(self, address: str) -> bool:
        """Whether one more try is allowed, which counts from now on."""
        now, own = monotonic(), network(address)
        while self._made and now - self._made[0][0] > MINUTE:
            self._made.popleft()
        if len(self._made) >= ALL_TRIES or sum(each == own for _, each in self._made) >= TRIES:
            return False
        self._made.append((now, own))
        return True

    def right(self, address: str) -> None:
        """Forget the last try from there: it was right."""
        own = network(address)
        last = next((each for each in reversed(self._made) if each[1] == own), None)
        if last is not None:
            self._made.remove(last)


class SignIn:
    """The answers to people who sign in and out. `say` tells whoever runs the board what is wrong."""

    def __init__(self, users: UsersFile, cookie: str, say: Callable[[str], None]) -> None:
        self._users = users
        self._cookie = cookie
        self._say = say
        self._tries = Tries()

    async def posted(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await (await self._paired(request))(scope, receive, send)

    async def signed_out(self, person: SignedIn) -> None:
        await asyncio.to_thread(self._users.sign_out, person.name, person.key)

    async def _paired(self, request: Request) -> Response:
        form = await _form(request)
        if form is None:  # no code came, so none was wrong
            return HTMLResponse(sign_in_page(_BROKEN), 400)
        code, next_page = form
        address = request.client.host if request.client else ""
        if not self._tries.begin(address):
            return HTMLResponse(sign_in_page(_TOO_MANY, next_page), 429, {"retry-after": "60"})
        try:
            paired = await asyncio.to_thread(self._users.pair, code, _about(request.headers.get("user-agent", "")))
        except PlanwireError as error:  # no stranger hears where the file is
            self._say(f"planwire: nobody can sign in or out: {error}")
            return HTMLResponse(sign_in_page(UNCHANGED, next_page), 503)
        if paired is None:
            return HTMLResponse(sign_in_page(_WRONG, next_page), 403)
        self._tries.right(address)
        _, secret = paired
        is_safe = is_encrypted(request.scope, {b"origin": request.headers.get("origin", "")})
        path = "" if is_safe else browser_key(secret, self._cookie).path
        cookie = cookie_text(cookie_name(self._cookie, is_encrypted=is_safe), secret, path, lasts=LASTS)
        return RedirectResponse(path + (next_page or OVERVIEW), 303, {"set-cookie": cookie})


def cookie_name(cookie: str, *, is_encrypted: bool) -> str:
    """The name of the cookie. Browsers keep one with the prefix `__Host-` to encrypted connections and to this host."""
    return f"__Host-{cookie}" if is_encrypted else cookie


def cookie_text(name: str, value: str, path: str, *, lasts: int) -> str:
    """The header that sets a cookie, below a path or, encrypted, for the whole host."""
    secure = "" if path else "; Secure"
    return f"{name}={value}; Path={path or '/'}; Max-Age={lasts}; HttpOnly; SameSite=Strict{secure}"


def is_encrypted(scope: Scope, headers: Headers) -> bool:
    """Whether the browser's connection is encrypted: to this board, or to a proxy in front of it, as its Origin
    says."""
    return scope.get("scheme") == "https" or headers.get(b"origin", "").startswith("https://")


def sign_in_page(trouble: str = "", next_page: str = "") -> str:
    """The page to type the code into. It works without a script."""
    code = void(
        "input",
        id="code",
        name="code",
        required=True,
        autofocus=True,
        autocomplete="one-time-code",
        autocapitalize="characters",
        spellcheck="false",
        maxlength=16,
        placeholder="XXXX-XXXX",
        aria_describedby="code-help code-trouble" if trouble else "code-help",
        aria_invalid="true" if trouble else None,
    )
    how = "planwire user code NAME"
    form = el(
        "form",
        el("label", "Your code", for_="code"),
        code,
        el("p", trouble, id="code-trouble", class_="trouble", role="alert") if trouble else None,
        void("input", type="hidden", name="next", value=next_page) if next_page else None,
        el("button", "Sign in", class_="primary"),
        method="post",
        action=SIGN_IN,
    )
    why = el(
        "p",
        "The person who runs this board gets a code for you with ",
        el("code", how),
        ". It works once, for ten minutes.",
        id="code-help",
        class_="hint",
    )
    words = el("h1", "Sign in"), el("p", "This board is for a team. A code pairs this browser with your name.")
    return document("Sign in", el("main", *words, form, why, id="content", class_="sign-in"), script=False)


def page_to_open(address: str) -> str:
    """The page that a sign-in leads to, from the address that was asked for; "" for the overview."""
    found = _NEXT.search(address)
    return found[0] if found and len(found[0]) <= LONGEST_NEXT else ""


async def _form(request: Request) -> tuple[str, str] | None:
    """The code and the next page in a form; None if it did not come whole, or is none."""
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST_FORM:
                return None
    except ClientDisconnect:
        return None
    try:
        fields = parse_qs(body.decode("latin-1"), max_num_fields=8)
    except ValueError:  # too many
        return None
    if "code" not in fields:
        return None
    return fields.get("code", [""])[0][:40], page_to_open(fields.get("next", [""])[0])


def _about(agent: str) -> str:
    """A browser in words, for the list of those that are paired."""
    browser = next((name for word, name in _BROWSERS.items() if word in agent), "a browser")
    system = next((name for word, name in _SYSTEMS.items() if word in agent), "")
    return f"{browser} on {system}" if system else browser
