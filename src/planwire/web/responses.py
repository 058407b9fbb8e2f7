"""What many answers share: JSON, problems, and the session and plan that an address names.

One address has several forms: a page for people, JSON for programs, markdown for a plan. The ending of the address
chooses the form; without one, the Accept header does.
"""

from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from planwire.errors import EngineAway, JournalError
from planwire.journal import Journal
from planwire.readmodel.away_words import without_reason
from planwire.readmodel.card import PlanId
from planwire.readmodel.facets import FACETS, GROUPS
from planwire.readmodel.overview import STATES
from planwire.readmodel.sessions import Sessions
from planwire.readmodel.shown import ShownSession
from planwire.web.addresses import decode_id
from planwire.web.frame import words_page
from planwire.web.guard import Scope
from planwire.web.overview_page import LONGEST_QUERY, Query
from planwire.web.team import signed_in

_TITLES: Final = {
    400: "Not a valid address",
    404: "Not found",
    405: "Not allowed here",
    503: "The journal can't be read",
}

#: The words for a problem that has none of its own.
_DETAILS: Final = {404: "there is no such page", 405: "this address can't be used that way"}


def json_response(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, {"vary": "Accept"}, "application/json")


async def find_session(sessions: Sessions, request: Request) -> ShownSession:
    """The session in an address, or 404."""
    try:
        name = decode_id(request.path_params["session"])
    except ValueError:
        name = None
    session = await run_in_threadpool(sessions.get, name) if name is not None else None
    if session is None:
        raise HTTPException(404, "the journal has no such session")
    return session


def named_plan(request: Request, session: ShownSession) -> PlanId:
    """The id of the plan in an address, or 404 if the session has no such plan."""
    try:
        plan_id = decode_id(request.path_params["plan"])
    except ValueError:
        plan_id = ""
    if plan_id not in session.journalled.plans:
        raise HTTPException(404, "this session has no such plan")
    return plan_id


def asked_for(request: Request) -> Query:
    """The search in the address of the overview."""
    fields = request.query_params
    state = fields.get("state", "")
    page = fields.get("page", "1")
    number = int(page) if page.isascii() and page.isdecimal() and len(page) < 6 else 1
    group = fields.get("group", "")
    return Query(
        fields.get("q", "").strip()[:LONGEST_QUERY],
        state if state in STATES else "",
        max(1, number),
        **{facet: fields.get(facet, "")[:LONGEST_QUERY] for facet in FACETS},
        group=group if group in GROUPS else "",
    )


async def problem(request: Request, error: Exception) -> Response:
    """A problem, as JSON or as a page, whichever the request accepts. An error that is not an `HTTPException` is the
    journal's."""
    status, what = (error.status_code, error.detail) if isinstance(error, HTTPException) else (503, str(error))
    if what == HTTPStatus(status).phrase:
        what = _DETAILS.get(status, what)
    title = _TITLES.get(status, "Something went wrong")
    if wants_json(request):
        return json_response({"error": what}, status)
    return HTMLResponse(words_page(title, f"{what[:1].upper()}{what[1:]}."), status)


def journal_words(scope: Scope, journal: Journal, error: JournalError) -> str:
    """A journal's error for whoever sent a request: people on a team's board don't run the journal's server."""
    if isinstance(error, EngineAway) and signed_in(scope) is not None:
        return without_reason(journal, error)
    return str(error)


def with_ending(scope: Scope) -> Scope:
    """A request with the ending of its address in `scope["ending"]` instead of its path."""
    path, _, ending = scope.get("path", "").rpartition(".")
    if ending not in ("json", "md") or not path or path.startswith("/static/"):
        return scope
    return {**scope, "path": path, "ending": ending}


def wants_json(request: Request) -> bool:
    """Whether to answer in JSON: the ending says so, or the request accepts JSON and not HTML."""
    if request.scope.get("ending") is not None:
        return bool(request.scope["ending"] == "json")
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted
