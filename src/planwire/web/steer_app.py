"""Steering over HTTP: a page posts what a person does to a plan, and the board writes it or says why not.

Each request names the revision that the page showed. If the plan looks different since, the answer is 409 with the
difference, and the person decides again. If nobody could see the difference (an agent sent the same list once more),
the board goes ahead. A change that changes nothing gets 200 with `unchanged`: it writes no event and makes no revision.

A page that did not hear an answer sends the same again. For a change that is a 409, since the first one made a new
revision. A review that the journal has, and a suggestion that is no longer open, get the first answer again, with
`already`.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from planwire.errors import NothingChanges, PlanError, UnstorableEvent
from planwire.model.events import Event, PlanChanged
from planwire.model.fold import AGENT, SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.sessions import ShownSession
from planwire.session.moved_on import MovedOn
from planwire.session.writer import steer
from planwire.web.difference import difference_view
from planwire.web.history_page import entry_phrases
from planwire.web.html import EMPTY, Html, el, moment
from planwire.web.hub import Hub
from planwire.web.json_views import entry_json
from planwire.web.responses import find_session, json_response, named_plan
from planwire.web.steer_requests import ChangesWanted, ReviewWanted, Wanted, WithdrawalWanted, read_wanted

__all__ = ["Steering"]

#: Events about a plan that leave it as it is.
WORDS: Final = ("plan_reviewed", "review_asked")
#: The newest events in between to tell.
TOLD: Final = 8
#: Equal rows around each change of a plan that moved on.
AROUND: Final = 1


class Steering:
    """The answers to people who steer. Everything is JSON, both ways."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def routes(self, plan: str) -> Iterator[Route]:
        """The addresses behind that of a plan."""
        for name, kind in (("changes", ChangesWanted), ("reviews", ReviewWanted), ("withdrawals", WithdrawalWanted)):
            yield Route(f"{plan}/{name}", partial(self._answer, kind), methods=["POST"])

    async def _answer(self, kind: type[Wanted], request: Request) -> Response:
        request.scope["ending"] = "json"
        wanted = await _read(request, kind)
        session = await find_session(self._hub.sessions, request)
        plan_id = named_plan(request, session)
        if session.journalled.plans[plan_id].removed:
            raise HTTPException(404, "this plan was dismissed: nothing was changed")
        return await run_in_threadpool(self._write, session, plan_id, wanted)

    def _write(self, session: ShownSession, plan_id: PlanId, wanted: Wanted) -> Response:
        try:
            return self._steer(session, plan_id, wanted)
        except MovedOn as moved:
            return _moved_on(moved, wanted)
        except (PlanError, UnstorableEvent) as error:
            if isinstance(wanted, WithdrawalWanted) and self._was_suggested(session, plan_id, wanted.suggestion):
                return _nothing_new(session.journalled.plans[plan_id].revision, wanted)
            return json_response({"error": str(error)}, 422)

    def _steer(self, session: ShownSession, plan_id: PlanId, wanted: Wanted) -> Response:
        seen = wanted.revision
        onto = session.journalled

        def prepare(state: SessionState) -> Event:
            nonlocal onto
            onto = state
            return wanted.event(state, plan_id, seen)

        while True:
            try:
                steer(self._hub.sessions.journal, session.journalled, plan_id, prepare)
                break
            except NothingChanges:
                return _nothing_new(onto.plans[plan_id].revision, wanted)
            except MovedOn as moved:
                if not _looks_the_same(moved):
                    raise
                seen = moved.revision
        before = onto.plans[plan_id]  # others may have written since, which is news to the page
        revision = before.revision if isinstance(wanted, ReviewWanted) else onto.seq + 1
        suggested = isinstance(wanted, ChangesWanted) and before.owner == AGENT
        return json_response({"revision": revision, "from": before.revision, "wished": suggested})

    def _was_suggested(self, session: ShownSession, plan_id: PlanId, suggestion: int) -> bool:
        events = self._hub.sessions.journal.read(session.id, suggestion - 1, suggestion) if suggestion else ()
        return any(
            isinstance(each.event, PlanChanged) and each.event.plan_id == plan_id and each.by != AGENT
            for each in events
        )


async def _read(request: Request, kind: type[Wanted]) -> Wanted:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON, with application/json as its Content-Type")
    try:
        return read_wanted(await request.body(), kind)
    except ClientDisconnect:
        raise HTTPException(413, "the request is larger than it may be") from None
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"this can't be understood: {error}") from None


def _looks_the_same(moved: MovedOn) -> bool:
    """Whether everything that happened is invisible: the page could not tell."""
    before = moved.before
    touched = [moment for moment in moved.moments if moment.event not in WORDS]
    if before is None or moved.now is None or before.revision != moved.seen or not touched:
        return False
    return all(word.kind == "none" for moment in touched for word in moment.words)


def _nothing_new(revision: int, wanted: Wanted) -> Response:
    """The answer to a request that wrote nothing: the plan is as it was, or the journal has it already."""
    why = "unchanged" if isinstance(wanted, ChangesWanted) else "already"
    return json_response({"revision": revision, "from": revision, "wished": False, why: True})


def _moved_on(moved: MovedOn, wanted: Wanted) -> Response:
    known = {step.id for step in moved.now.state.steps} if moved.now else set()
    value = {
        "error": "moved_on",
        "message": str(moved),
        "seen": moved.seen,
        "revision": moved.revision,
        "missing": [step for step in dict.fromkeys(wanted.steps()) if step not in known],
        "moments": [entry_json(moment) for moment in moved.moments[-TOLD:]],
        "html": str(_moved_view(moved)),
    }
    return json_response(value, 409)


def _moved_view(moved: MovedOn) -> Html:
    """The change since the revision that the person saw: the difference first, then its events."""
    before, now = moved.before, moved.now
    changed = before is None or now is None or before.state.plan != now.state.plan
    told = [each for each in moved.moments if each.event not in WORDS]
    left_out = len(told) - TOLD
    return el(
        "div",
        difference_view(before, now, AROUND) if changed else EMPTY,
        el("p", f"{left_out:,} more changes, then:", class_="nothing") if left_out > 0 else None,
        el("ol", *(_entry(each) for each in told[-TOLD:]), class_="moments"),
        class_="moved",
    )


def _entry(entry: HistoryEntry) -> Html:
    head = el("div", moment(entry.at), el("span", el("bdi", entry.by), class_="by"), class_="moment-head")
    return el("li", head, el("ul", *entry_phrases(entry), class_="words-list"), class_="moment")
