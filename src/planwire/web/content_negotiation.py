"""One address, several forms: a page for people, JSON for programs, markdown for a plan.

The ending of the address chooses the form, or else the Accept header.
"""

from typing import Final

from starlette.requests import Request

from planwire.web.guard import App, Receive, Scope, Send

__all__ = ["Endings", "wants_json"]

_ENDINGS: Final = ("json", "md")


class Endings:
    """Middleware that moves the ending of an address from its path into `scope["ending"]`."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith("/static/"):
            path, _, ending = scope["path"].rpartition(".")
            if ending in _ENDINGS and path:
                scope = {**scope, "path": path, "ending": ending}
        await self._app(scope, receive, send)


def wants_json(request: Request) -> bool:
    """Whether to answer in JSON: the ending says so, or a program that does not accept HTML."""
    if request.scope.get("ending") is not None:
        return bool(request.scope["ending"] == "json")
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted
