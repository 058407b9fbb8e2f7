"""The client's side of a connection: lines in, plans and changes out.

    board = Board()
    change = board.apply(line)

A board keeps every session's plans by id; each update replaces its plan whole (R4, R12, R17). It returns what changed
and remembers the states each session went through. It never raises on wire input.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.conversation import Conversation, Prompted, Retelling, Retold
from planwire.acp.dialects import V1, Dialect
from planwire.acp.heard_plans import MAX_PLANS, Heard, HeardPlans, TooMany
from planwire.acp.messages import Removal, Report, Update
from planwire.acp.read import read
from planwire.model.identity import track
from planwire.model.plan import Fields, Plan, PlanId
from planwire.model.plan_change import PlanChange, plan_change
from planwire.model.steps import PlanState


class Change(Struct, frozen=True):
    """The effect of one line on the board. False if no plan changed; reports come either way."""

    session: str | None = None
    plans: tuple[PlanChange, ...] = ()
    reports: tuple[Report, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.plans)


class Moment(Struct, frozen=True):
    """A session's plans after a change, the change itself, and its time if `apply` got one."""

    plans: Mapping[PlanId, PlanState]
    change: Change
    at: float | None = None


class SessionBoard:
    """One session on the board.

    `updates` counts the lines about plans, `states` the changes they made; `history` holds the newest states. A replay
    adds one state, and only if it ends differently from what the board already shows.
    """

    def __init__(self, session_id: str, keep: int | None) -> None:
        self.id = session_id
        self.updates = 0
        self.states = 0
        self.history: deque[Moment] = deque(maxlen=keep)
        self._heard = HeardPlans()
        self._plans: dict[PlanId, PlanState] = {}
        self._removed: dict[PlanId, PlanState] = {}  # a plan that returns gives none of its ids to another step
        self._siblings: dict[PlanId, Fields | None] = {}

    @property
    def plans(self) -> Mapping[PlanId, PlanState]:
        return MappingProxyType(self._plans)

    def begin_retelling(self) -> None:
        self._heard.begin_retelling()

    def end_retelling(self, *, failed: bool, at: float | None) -> Change:
        """Adopt the final state of a replay, or discard it on failure. Plans absent from the replay stay."""
        return self._take(self._heard.end_retelling(failed=failed), at)

    def apply(self, update: Update, at: float | None) -> Change:
        self.updates += 1
        heard = self._heard.hear(update.body, update.envelope.update)
        if heard is None:
            return Change(self.id)
        change = self._take([heard], at)
        if isinstance(update.body, Removal) and not change:
            problem = f"there is no plan {update.body.id!r} to remove"
            return replace(change, reports=(Report("unknown-plan", "params.update", problem),))
        return change

    def _take(self, outcomes: Sequence[Heard | TooMany], at: float | None) -> Change:
        changes: list[PlanChange] = []
        reports: list[Report] = []
        for heard in outcomes:
            if isinstance(heard, TooMany):
                problem = f"the session has {MAX_PLANS:,} plans already: {heard.id!r} is not kept"
                reports.append(Report("too-many-plans", "params.update.plan", problem))
            elif change := self._remove(heard.id) if heard.plan is None else self._put(heard.plan, heard.siblings):
                changes.append(change)
        return self._record(changes, tuple(reports), at)

    def _put(self, plan: Plan, siblings: Fields | None) -> PlanChange | None:
        before = self._plans.get(plan.id)
        if before is not None and before.plan == plan and self._siblings.get(plan.id) == siblings:
            return None
        after = track(plan, before or self._removed.pop(plan.id, None))
        self._plans[plan.id] = after
        self._siblings[plan.id] = siblings
        return plan_change(plan.id, before, after)

    def _remove(self, plan_id: PlanId) -> PlanChange | None:
        before = self._plans.pop(plan_id, None)
        self._siblings.pop(plan_id, None)
        if before is None:
            return None
        if len(self._removed) >= MAX_PLANS:
            del self._removed[next(iter(self._removed))]
        self._removed[plan_id] = before
        return plan_change(plan_id, before, None)

    def _record(self, changes: list[PlanChange], reports: tuple[Report, ...], at: float | None) -> Change:
        change = Change(self.id, tuple(changes), reports)
        if changes:
            self.states += 1
            self.history.append(Moment(MappingProxyType(self._plans.copy()), change, at))
        return change


class Board:
    """Every session of one connection. `keep` limits each session's history; None keeps all of it."""

    def __init__(self, keep: int | None = 1_000) -> None:
        self._keep = keep
        self._conversation = Conversation()
        self._sessions: dict[str, SessionBoard] = {}

    @property
    def sessions(self) -> Mapping[str, SessionBoard]:
        """The sessions by id, in the order of their first plans. "" holds the updates that name no session."""
        return MappingProxyType(self._sessions)

    @property
    def dialect(self) -> Dialect | None:
        """The dialect the agent may use for this client; None until it answers `initialize`."""
        return self._conversation.dialect

    def apply(self, line: Any, sender: str | None = None, at: float | None = None) -> Change:
        """Take in one line of the connection, from either side.

        `line` is its text or its JSON value. `sender` is "client" or "agent"; without it, the line itself decides.
        `at` is a time to remember with the change. A batch yields one change, under the first session it changed.
        """
        reading = read(line, self._conversation.dialect or V1)
        if not reading.messages and len(reading.updates) == 1:  # the common case
            change = self._update(reading.updates[0], at)
            return replace(change, reports=(*reading.reports, *change.reports)) if reading.reports else change
        changes = [self._update(update, at) for update in reading.updates]
        for message in reading.messages:
            changes += self._hear(self._conversation.hear(message, sender), at)
        return _together(changes, reading.reports)

    def close(self, at: float | None = None) -> Change:
        """End of input: adopt every replay as far as it got."""
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
