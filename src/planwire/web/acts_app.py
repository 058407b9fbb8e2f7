"""Steering over HTTP: a page posts an act of a person, and the board writes it or says why not.

`POST /sessions/S/plans/P/acts` takes one act as JSON, in the form that all faces share. The answers:

- 200: it was written, or there was nothing to write (`unchanged`); `words` are for the person.
- 409: the person has to decide again. The plan is not the one that they saw (`moved_on`, with the difference: they may
  send the act without `seen`); the agent's turn would have to be cancelled (`interrupt`: they may send it with
  `interrupt`); or they have to choose an answer (`options`: they may send it with one of these as `option`).
- 403: this board only shows, or the person's role does not allow it. 422: the plan can't do it, and why. 400: the
  request can't be understood, and where. 503: too many acts are waiting, or the journal can't be written: try again.

A page that got no answer sends the act again with the same `Idempotency-Key`. The journal keeps the key with the act,
so the page gets the first answer again, even from a board that was restarted in between.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from planwire.errors import (
    CannotWait,
    ChoiceNeeded,
    InterruptNeeded,
    NotAllowed,
    NothingChanges,
    PlanError,
    UnknownPlan,
    UnstorableEvent,
)
from planwire.readmodel.as_json import entry_json
from planwire.readmodel.authors import BY_SCRIPT, authored, name_and_way
from planwire.readmodel.card import PlanCard, PlanId
from planwire.readmodel.cards import card_of
from planwire.readmodel.compare import compare_cards
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.shown import ShownSession
from planwire.session.editor import text_after_conflict, text_to_edit
from planwire.session.moved_on import MovedOn
from planwire.session.pending_reviews import undo_delay
from planwire.session.steering import Once, steer
from planwire.steering.roles import refuse_beyond
from planwire.steering.wanted import Wanted
from planwire.web.act_pool import ActPool, ActsWait
from planwire.web.difference import comparison_view
from planwire.web.history_page import entry_head, entry_phrases
from planwire.web.html import EMPTY, Html, el
from planwire.web.hub import Hub
from planwire.web.responses import find_session, journal_words, json_response, named_plan
from planwire.web.team import role_now, signed_in

#: Events about a plan that leave it as it is.
WORDS: Final = (
    "plan_reviewed",
    "review_asked",
    "remarked",
    "remark_closed",
    "remark_answered",
    "remark_reopened",
    "told",
)
#: How many of the newest events in between an answer tells.
TOLD: Final = 8
#: Equal rows around each change of a plan that moved on.
AROUND: Final = 1
#: The refusal of a board that an agent started without a name.
_ONLY_SHOWS: Final = "An agent started this board, so it only shows. Start one yourself to steer: planwire board"


_BUSY: Final = "too many acts are waiting: the journal is slow, or a program keeps it locked. Try again"


class ActsApp:
    """The answers to people who steer, in JSON both ways. `by` is the author of their acts; without one, nobody may
    steer. On a team's board each person is the author of their own."""

    def __init__(self, hub: Hub, by: str | None) -> None:
        self._hub = hub
        self._by = by
        self._pool = ActPool()
        self._undo = undo_delay()

    def routes(self, plan: str) -> list[Route]:
        """The routes below a plan's address."""
        return [Route(f"{plan}/acts", self._act, methods=["POST"]), Route(f"{plan}/text", self._text)]

    async def _text(self, request: Request) -> Response:
        """The steps of a plan as a text to edit."""
        session, plan_id = await self._steered(request)
        card = session.card(plan_id)
        if card is None or card.record is None or "suggest" not in card.acts:
            raise HTTPException(404, "this plan has no steps to edit as a text")
        return PlainTextResponse(text_to_edit(card.record), headers={"planwire-revision": str(card.revision)})

    async def _act(self, request: Request) -> Response:
        request.scope["ending"] = "json"
        if self._by is None:
            raise HTTPException(403, _ONLY_SHOWS)
        person = signed_in(request.scope)
        by, role = _author(request, person.name if person else self._by), role_now(request.scope)
        wanted = await _read(request)
        try:
            refuse_beyond(role(), wanted)
            session, plan_id = await self._steered(request)
            write = partial(self._write, session, plan_id, wanted, by, role, _key(request, plan_id))
            return await self._pool.run(write)
        except NotAllowed as refusal:
            return json_response({"error": str(refusal)}, 403)
        except CannotWait as refusal:
            return json_response({"error": journal_words(request.scope, self._hub.sessions.journal, refusal)}, 422)
        except ActsWait:
            busy = json_response({"error": _BUSY}, 503)
            busy.headers["retry-after"] = "5"
            return busy

    async def _steered(self, request: Request) -> tuple[ShownSession, PlanId]:
        session = await find_session(self._hub.sessions, request)
        return session, named_plan(request, session)

    def _write(
        self,
        session: ShownSession,
        plan_id: PlanId,
        wanted: Wanted,
        by: str,
        role: Callable[[], str],
        once: Once | None,
    ) -> Response:
        file = session.files.get(plan_id)
        steps = file.readable if file else None
        state = session.journalled
        try:
            done = steer(self._hub.sessions.journal, state, plan_id, wanted, by, steps, once, role, self._undo)
        except NotAllowed:
            raise
        except NothingChanges as nothing:
            revision = state.plans[plan_id].revision
            value = {"words": str(nothing), "revision": revision, "from": revision, "unchanged": True}
            return json_response({**value, "suggestion": False, "remark": None, "added": None})
        except MovedOn as moved:
            return _moved_on(moved, wanted)
        except InterruptNeeded as needed:
            return json_response({"error": str(needed), "interrupt": True}, 409)
        except ChoiceNeeded as needed:
            card = session.card(plan_id)
            known = card.question.options if card and card.question else ()
            options = [{"id": each.id, "name": each.name} for each in known if each.id in needed.options]
            return json_response({"error": str(needed), "options": options}, 409)
        except UnknownPlan as error:
            return json_response({"error": str(error)}, 404)
        except (PlanError, UnstorableEvent) as error:
            return json_response({"error": str(error)}, 422)
        return json_response(
            {
                "words": done.words,
                "revision": done.revision,
                "from": done.seen,
                "suggestion": done.is_suggestion,
                "remark": done.remark,
                "added": done.added,
            }
        )


def _author(request: Request, name: str) -> str:
    """The person behind a request. A token in it is a program's, unless the proxy in front knows the person."""
    person, is_bearer = signed_in(request.scope), "bearer " in request.headers.get("authorization", "").lower()
    who, way = name_and_way(name)
    return authored(who, way or BY_SCRIPT) if is_bearer and (person is None or person.key) else name


def _key(request: Request, plan_id: PlanId) -> Once | None:
    """The key of an act, from the page's `Idempotency-Key`, the person and the plan; None if the page sent none."""
    name, person = request.headers.get("idempotency-key"), signed_in(request.scope)
    whose = f" of {person.name!r}" if person else ""
    return Once(f"board{whose} {plan_id!r} {name}", 1) if name else None


async def _read(request: Request) -> Wanted:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON, with application/json as its Content-Type")
    try:
        body = await request.body()
        wanted = msgspec.json.decode(body, type=Wanted)
        _refuse_unknown_fields(msgspec.json.decode(body), wanted)
        return wanted
    except ClientDisconnect:
        raise HTTPException(413, "the request is too large") from None
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"invalid request: {error}") from None


def _refuse_unknown_fields(sent: dict[str, Any], wanted: Wanted) -> None:
    """Refuse fields that would be ignored: one of them could be the one that matters. Changes and comments are checked
    here because their types accept unknown fields, which journals of later versions have."""
    for name in ("changes", "comments"):
        for at, (each, known) in enumerate(zip(sent.get(name) or (), getattr(wanted, name) or (), strict=True)):
            for key in each:
                if key not in (*known.__struct_fields__, known.__struct_config__.tag_field):
                    raise ValueError(f"Object contains unknown field `{key}` - at `$.{name}[{at}]`")


def _moved_on(moved: MovedOn, wanted: Wanted) -> Response:
    value = {
        "error": "moved_on",
        "message": str(moved),
        "seen": moved.seen,
        "revision": moved.revision,
        "missing": moved.missing,
        "anyway": moved.fits_anyway,
        "text": None if wanted.plan_text is None else text_after_conflict(moved, wanted.plan_text),
        "instead": {"label": moved.instead.label, "act": moved.instead.wanted} if moved.instead else None,
        "moments": [entry_json(each) for each in moved.moments[-TOLD:]],
        "html": str(_moved_view(moved)),
    }
    return json_response(value, 409)


def _moved_view(moved: MovedOn) -> Html:
    """The change since the revision that the person saw: the difference first, then its events."""
    before, now = (_card(record, moved.title) for record in (moved.before, moved.now))
    compared = compare_cards(before, now)
    told = [each for each in moved.moments if each.event not in WORDS]
    left_out = len(told) - TOLD
    return el(
        "div",
        EMPTY if compared.is_same and before else comparison_view(compared, AROUND),
        el("p", f"{left_out:,} more changes, then:", class_="nothing") if left_out > 0 else None,
        el("ol", *(_entry(each) for each in told[-TOLD:]), class_="moments"),
        class_="moved",
    )


def _card(record: Any, title: str) -> PlanCard | None:
    return card_of(record, title) if record is not None else None


def _entry(entry: HistoryEntry) -> Html:
    return el("li", entry_head(entry), el("ul", *entry_phrases(entry), class_="words-list"), class_="moment")
