"""The client's side: lines in, plans and changes out.

    board = Board()
    change = board.apply(line)

A board follows one connection. It keeps every session's plans by id, replaced whole by each update (R4, R12, R17),
tells what changed, and remembers the states that each session went through. It never raises on wire input.
"""

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.conversation import Conversation, Prompted, Retelling, Retold
from planwire.acp.dialects import V1, Dialect
from planwire.acp.messages import Body, Extension, Removal, Report, Update
from planwire.acp.read import read
from planwire.model import diff
from planwire.model.diff import Diff
from planwire.model.plan import Fields, MarkdownPlan, Plan, PlanId
from planwire.model.steps import PlanState, track

__all__ = ["Board", "Change", "Moment", "PlanChange", "SessionBoard"]

#: Plans that one session can have at a time; more are reported and not kept.
MAX_PLANS: Final = 1_000


class PlanChange(Struct, frozen=True):
    """What became of one plan: `before` is None if it is new, `after` is None if it is gone."""

    id: PlanId
    before: PlanState | None
    after: PlanState | None
    diff: Diff


class Change(Struct, frozen=True):
    """What a line did to the board. It is false if no plan changed; reports come either way."""

    session: str | None = None
    plans: tuple[PlanChange, ...] = ()
    reports: tuple[Report, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.plans)


class Moment(Struct, frozen=True):
    """A session's plans after a change, the change itself, and when it was, if `apply` was told."""

    plans: Mapping[PlanId, PlanState]
    change: Change
    at: float | None = None


class SessionBoard:
    """One session on the board.

    `updates` counts the lines about plans, `states` the distinct states that these led to; `history` holds the newest
    of them. History that is retold counts as one state, and only if it is news.
    """

    def __init__(self, session_id: str, keep: int | None) -> None:
        self.id = session_id
        self.updates = 0
        self.states = 0
        self.history: deque[Moment] = deque(maxlen=keep)
        self._plans: dict[PlanId, PlanState] = {}
        self._details: dict[PlanId, Fields | None] = {}
        self._retold: dict[PlanId, tuple[Plan | None, Fields | None]] | None = None

    @property
    def plans(self) -> Mapping[PlanId, PlanState]:
        return MappingProxyType(self._plans)

    def begin_retelling(self) -> None:
        self._retold = {}

    def end_retelling(self, *, failed: bool, at: float | None) -> Change:
        """Set what the retold history ended with, unless it failed. Plans that were not retold stay."""
        retold, self._retold = self._retold, None
        if failed or not retold:
            return Change(self.id)
        changes = []
        for plan_id, (plan, details) in retold.items():
            change = self._put(plan, details) if plan is not None else self._remove(plan_id)
            if change is not None:
                changes.append(change)
        return self._record(changes, (), at)

    def apply(self, update: Update, at: float | None) -> Change:
        self.updates += 1
        body, details = update.body, update.around.update
        if self._retold is not None:
            return Change(self.id, reports=self._retell(body, details))
        reports: tuple[Report, ...] = ()
        change: PlanChange | None = None
        match body:
            case None:
                pass
            case Removal(id=plan_id):
                change = self._remove(plan_id)
                if change is None:
                    reports = (Report("unknown-plan", "params.update", f"there is no plan {plan_id!r} to remove"),)
            case Extension(id=plan_id):
                plan = _extended(body, self._plans[plan_id].plan if plan_id in self._plans else None)
                change = self._put(plan, details)
            case plan:
                if plan.id not in self._plans and len(self._plans) >= MAX_PLANS:
                    problem = f"the session has {MAX_PLANS:,} plans already: {plan.id!r} is not kept"
                    return Change(self.id, reports=(Report("too-many-plans", "params.update.plan", problem),))
                change = self._put(plan, details)
        return self._record([] if change is None else [change], reports, at)

    def _retell(self, body: Body, details: Fields | None) -> tuple[Report, ...]:
        assert self._retold is not None
        match body:
            case None:
                pass
            case Removal(id=plan_id):
                self._retold[plan_id] = None, None
            case Extension(id=plan_id):
                self._retold[plan_id] = _extended(body, self._retold.get(plan_id, (None, None))[0]), details
            case plan:
                self._retold[plan.id] = plan, details
        return ()

    def _put(self, plan: Plan, details: Fields | None) -> PlanChange | None:
        before = self._plans.get(plan.id)
        if before is not None and before.plan == plan and self._details.get(plan.id) == details:
            return None
        after = track(plan, before)
        self._plans[plan.id] = after
        self._details[plan.id] = details
        return PlanChange(plan.id, before, after, diff.compare(before, after))

    def _remove(self, plan_id: PlanId) -> PlanChange | None:
        before = self._plans.pop(plan_id, None)
        self._details.pop(plan_id, None)
        if before is None:
            return None
        gone = tuple(diff.Removed(step, at) for at, step in enumerate(before.steps))
        return PlanChange(plan_id, before, None, Diff(removed=gone))

    def _record(self, changes: list[PlanChange], reports: tuple[Report, ...], at: float | None) -> Change:
        change = Change(self.id, tuple(changes), reports)
        if changes:
            self.states += 1
            self.history.append(Moment(MappingProxyType(self._plans.copy()), change, at))
        return change


def _extended(extension: Extension, plan: Plan | None) -> MarkdownPlan:
    if isinstance(plan, MarkdownPlan):
        return replace(plan, content=plan.content + extension.text)
    return MarkdownPlan(extension.id, extension.text)


class Board:
    """Every session of one connection. `keep` bounds each session's history; None keeps all of it."""

    def __init__(self, keep: int | None = 1_000) -> None:
        self._keep = keep
        self._conversation = Conversation()
        self._sessions: dict[str, SessionBoard] = {}

    @property
    def sessions(self) -> Mapping[str, SessionBoard]:
        """The sessions by id, in the order in which they had their first plan. Updates without a session are in ""."""
        return MappingProxyType(self._sessions)

    @property
    def dialect(self) -> Dialect | None:
        """What the agent may send this client, once `initialize` was answered."""
        return self._conversation.dialect

    def apply(self, line: Any, sender: str | None = None, at: float | None = None) -> Change:
        """Take in one line of the connection, from either side.

        `line` is its text or its JSON value, `sender` is "client" or "agent" (told from the line if not given), `at` a
        time to remember with the change. What a batch changes is one change only if it is all in one session.
        """
        reading = read(line, self._conversation.dialect or V1)
        if not reading.messages and len(reading.updates) == 1:  # the common case
            change = self._update(reading.updates[0], at)
            reports = (*reading.reports, *change.reports) if reading.reports else change.reports
            return replace(change, reports=reports) if reading.reports else change
        changes = [self._update(update, at) for update in reading.updates]
        for message in reading.messages:
            changes += self._hear(self._conversation.hear(message, sender), at)
        return _together(changes, reading.reports)

    def close(self, at: float | None = None) -> Change:
        """The input is at its end: a history that was being retold counts as told."""
        return _together([session.end_retelling(failed=False, at=at) for session in self._sessions.values()])

    def _update(self, update: Update, at: float | None) -> Change:
        return self._session(update.session or "").apply(update, at)

    def _hear(self, meaning: object, at: float | None) -> list[Change]:
        match meaning:
            case Retelling(session=session):
                self._session(session).begin_retelling()
            case Retold(session=session, failed=failed) if session in self._sessions:
                return [self._sessions[session].end_retelling(failed=failed, at=at)]
            case Prompted(session=session) if session in self._sessions:
                return [self._sessions[session].end_retelling(failed=False, at=at)]
        return []

    def _session(self, session_id: str) -> SessionBoard:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = SessionBoard(session_id, self._keep)
        return session


def _together(changes: list[Change], reports: tuple[Report, ...] = ()) -> Change:
    real = [change for change in changes if change]
    for change in changes:
        reports += change.reports
    return Change(
        real[0].session if real else changes[0].session if changes else None,
        tuple(plan for change in real for plan in change.plans),
        reports,
    )
