"""The pages of the past: their parameters, and the states that they show."""

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from planwire.model.fold import SessionState
from planwire.readmodel.timeline import Timeline, Timelines
from planwire.web.frame import document
from planwire.web.history_page import compare_page, history_page, then_part
from planwire.web.hub import Hub
from planwire.web.json_views import difference_json, entry_json, state_json
from planwire.web.responses import find_session, json_response, wants_json
from planwire.web.session_page import session_name

__all__ = ["HistoryPages"]


class HistoryPages:
    """History and comparison of sessions."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._timelines = Timelines(hub.sessions.journal)

    async def history(self, request: Request) -> Response:
        session = await find_session(self._hub.sessions, request)
        timeline = await run_in_threadpool(self._timelines.get, session.id)
        last = len(timeline.moments) - 1
        if "at" in request.query_params:
            index = timeline.index(_number(request, "at", 0))
        else:
            index = min(_number(request, "moment", max(last, 0)), max(last, 0))
        state = await self._state(timeline, index)
        if wants_json(request):
            moments = [entry_json(moment) for moment in timeline.moments]
            return json_response({"session": session.id, "moments": moments, "then": state_json(state)})
        if request.query_params.get("part") == "then":
            return HTMLResponse(then_part(session.id, timeline, index, state))
        name = session_name(session)
        before = _number(request, "before", last + 1)
        page = await run_in_threadpool(history_page, name, session.id, timeline, index, state, before)
        return HTMLResponse(document(f"History of {name}", page))

    async def compare(self, request: Request) -> Response:
        session = await find_session(self._hub.sessions, request)
        timeline = await run_in_threadpool(self._timelines.get, session.id)
        if not timeline.moments:
            raise HTTPException(404, "nothing has happened in this session yet")
        last = len(timeline.moments) - 1
        to = timeline.index(_number(request, "to", timeline.seq)) if "to" in request.query_params else last
        start = timeline.index(_number(request, "from", 0)) if "from" in request.query_params else max(to - 1, 0)
        before, after = await self._state(timeline, start), await self._state(timeline, to)
        if wants_json(request):
            between = {"from": timeline.moments[start].seq, "to": timeline.moments[to].seq}
            return json_response({"session": session.id, **between, "plans": difference_json(before, after)})
        name = session_name(session)
        sides = (timeline.moments[start], before), (timeline.moments[to], after)
        page = await run_in_threadpool(compare_page, name, session.id, timeline, *sides)
        return HTMLResponse(document(f"Two moments of {name}", page))

    async def _state(self, timeline: Timeline, index: int) -> SessionState:
        seq = timeline.moments[index].seq if timeline.moments else 0
        return await run_in_threadpool(timeline.at, self._hub.sessions.journal, seq)


def _number(request: Request, field: str, default: int) -> int:
    text = request.query_params.get(field)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise HTTPException(400, f"{field} must be a number")
    return int(text)
