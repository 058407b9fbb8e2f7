"""The entry of a personal board: one token, for the person who started it.

A program sends the token as `Authorization: Bearer`. A browser that opens an address with the token gets a cookie that
stands for it. The cookie counts only below its own path, which no other server knows (`cookie_path`).
"""

import re
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from planwire.web.cookie_path import AnswerBelow, browser_key
from planwire.web.guard import (
    CHALLENGE,
    READING,
    App,
    Headers,
    Receive,
    Scope,
    Send,
    bearer_of,
    cookie_of,
    same_secret,
    welcome,
    words_answer,
)


class TokenEntry:
    """The application for requests with the token, or with the cookie of that name."""

    def __init__(self, app: App, token: str, cookie: str) -> None:
        self._app = app
        self._token = token
        self._cookie = cookie
        self._key = browser_key(token, cookie)

    def answer(self, scope: Scope, headers: Headers) -> App:
        below = self._path_below(scope)
        path = scope["path"] if below is None else below
        if admission := self._admission(scope, path):
            return admission
        public = path.startswith("/static/") and scope["method"] in READING
        if is_person := self._has_token(headers) or (below is not None and self._has_cookie(headers)):
            welcome(scope)
        if public or is_person:
            return self._app if below is None else self._app_below(path)
        what = "Open the address that planwire board printed: it has the token. Programs send it as a Bearer token."
        return words_answer(401, "The board is locked", what, CHALLENGE)

    def _path_below(self, scope: Scope) -> str | None:
        """The rest of a path that begins with the cookie's path; None for any other."""
        first, _, rest = scope["path"][1:].partition("/")
        return f"/{rest}" if same_secret(f"/{first}", self._key.path) else None

    def _app_below(self, path: str) -> App:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await self._app({**scope, "path": path}, receive, AnswerBelow(self._key.path, send).send)

        return answer

    def _has_token(self, headers: Headers) -> bool:
        return same_secret(bearer_of(headers), self._token)

    def _has_cookie(self, headers: Headers) -> bool:
        return same_secret(cookie_of(headers, self._cookie), self._key.value)

    def _admission(self, scope: Scope, path: str) -> Response | None:
        """Exchange the token in an address for the cookie, and lead to the same address below the cookie's path."""
        fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in fields if name == "token"]
        if scope["method"] != "GET" or len(given) != 1 or not same_secret(given[0], self._token):
            return None
        rest = urlencode([field for field in fields if field[0] != "token"])
        target = self._key.path + (path if re.fullmatch(r"(?:/[A-Za-z0-9_~.-]+)*/?", path) else "/")
        cookie = f"{self._cookie}={self._key.value}; Path={self._key.path}; HttpOnly; SameSite=Strict"
        return Response(
            status_code=303, headers={"location": f"{target}?{rest}" if rest else target, "set-cookie": cookie}
        )
