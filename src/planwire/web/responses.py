"""Parts of many answers: JSON, problems, and the session and plan behind an address."""

from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from planwire.errors import JournalError
from planwire.model.plan import PlanId
from planwire.readmodel.sessions import Sessions
from planwire.readmodel.sessions import ShownSession as Session
from planwire.web.addresses import decode_id
from planwire.web.content_negotiation import wants_json
from planwire.web.frame import words_page
from planwire.web.overview_page import LONGEST_QUERY, STATES, Query

__all__ = [
    "asked_for",
    "find_session",
    "json_response",
    "named_plan",
    "problem_response",
    "say_what_is_wrong",
    "say_what_the_journal_says",
]

_TITLES = {404: "Nothing is here", 405: "That can't be done here", 400: "This can't be understood"}


def json_response(value: Any) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), media_type="application/json", headers={"vary": "Accept"})


async def find_session(sessions: Sessions, request: Request) -> Session:
    """The session in an address, or 404."""
    try:
        name = decode_id(request.path_params["session"])
    except ValueError:
        name = None
    session = await run_in_threadpool(sessions.get, name) if name is not None else None
    if session is None:
        raise HTTPException(404, "the journal has no such session")
    return session


def named_plan(request: Request, session: Session) -> PlanId:
    """The id of the plan in an address, or 404 if the session has no such plan."""
    try:
        plan_id = decode_id(request.path_params["plan"])
    except ValueError:
        plan_id = ""
    if plan_id not in session.state.plans:
        raise HTTPException(404, "this session has no such plan")
    return plan_id


def asked_for(request: Request) -> Query:
    """The search in the address of the overview."""
    fields = request.query_params
    state = fields.get("state", "")
    page = fields.get("page", "1")
    number = int(page) if page.isascii() and page.isdecimal() and len(page) < 6 else 1
    return Query(fields.get("q", "").strip()[:LONGEST_QUERY], state if state in STATES else "", max(1, number))


async def say_what_is_wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem_response(
        request, error.status_code, _TITLES.get(error.status_code, "That did not work"), error.detail
    )


async def say_what_the_journal_says(request: Request, error: Exception) -> Response:
    assert isinstance(error, JournalError)
    return problem_response(request, 503, "The journal can't be read", str(error))


def problem_response(request: Request, status: int, title: str, what: str) -> Response:
    """A problem, as JSON or as a page, whichever the request accepts."""
    if wants_json(request):
        return Response(msgspec.json.encode({"error": what}), status, media_type="application/json")
    return HTMLResponse(words_page(title, f"{what[:1].upper()}{what[1:]}."), status)
