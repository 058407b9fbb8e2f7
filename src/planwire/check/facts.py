"""The state of a checked connection: its sessions, their turns, and each plan over time."""

from msgspec import Struct, field

from planwire.acp.dialects import Dialect
from planwire.acp.heard_plans import MAX_PLANS, Heard, HeardPlans
from planwire.acp.messages import Update
from planwire.model.identity import track
from planwire.model.kinds import entries_of
from planwire.model.plan import PlanId
from planwire.model.steps import PlanState, Step


class Turn(Struct):
    """One prompt and its consequences. `planned_at` is a line on which the model made a plan, reported or not."""

    number: int
    updates: int = 0
    tool_calls: int = 0
    planned_at: int | None = None
    planned_how: str = ""


class PlanHistory(Struct):
    """One plan over time, as far as the rules ask. `left` maps unfinished steps that left the list to the line where
    they left. `shrank` is the line where the list lost at least half of them, if it has gained nothing since."""

    state: PlanState | None = None
    line: int = 0
    turn: int = 0
    priorities: set[str] = field(default_factory=set)
    left: dict[str, int] = field(default_factory=dict)
    shrank: int | None = None
    has_completed: bool = False
    dropped_at_work: int = 0


class Replay(Struct):
    """A replay that a method asks for (`expected`) or must not cause, with the number of updates per plan. `stated`: a
    `state_update` came with it."""

    method: str
    expected: bool
    updates: dict[PlanId, int] = field(default_factory=dict)
    first_line: int = 0
    stated: bool = False


class CheckedSession(Struct):
    """One session. `known`: the client has its id. `continued`: the session began before this connection. `doing`: what
    the client last drove it to do."""

    id: str
    known: bool = False
    continued: bool = False
    first_line: int = 0
    turns: int = 0
    open_prompts: int = 0
    turn: Turn | None = None
    cancelled: bool = False
    ended_by_cancel: bool = False
    replay: Replay | None = None
    doing: str | None = None
    heard: HeardPlans = field(default_factory=HeardPlans)
    plans: dict[PlanId, PlanHistory] = field(default_factory=dict)

    def begin_replay(self, method: str, *, expected: bool) -> None:
        self.replay = Replay(method, expected=expected)
        self.heard.begin_retelling()

    def end_replay(self) -> None:
        """Forget the replay, which the rules have judged by now: they compare live updates only with live ones."""
        self.replay = None
        self.heard.end_retelling(failed=True)


class PlanUpdate(Struct, frozen=True):
    """One update about plans, with the facts when it came. `live` is False during a replay."""

    update: Update
    facts: "Facts"
    session: CheckedSession
    line: int
    live: bool
    before: PlanState | None = None
    after: PlanState | None = None
    returned: tuple[tuple[Step, int], ...] = ()


class TurnEnd(Struct, frozen=True):
    """The end of a turn."""

    session: CheckedSession
    turn: Turn
    stop_reason: str | None


class ReplayEnd(Struct, frozen=True):
    """The end of a replay, at the line that answers the request for it."""

    session: CheckedSession
    replay: Replay
    line: int
    dialect: Dialect | None


class Facts:
    """One connection. `dialect` is None until the agent answers `initialize`, unless the caller assumes one."""

    def __init__(self, dialect: Dialect | None) -> None:
        self.dialect = dialect
        self.greeted = False
        self.agent: str | None = None
        self.may_report_compactions = False
        self.may_stream_in_meta = False
        self.sessions: dict[str, CheckedSession] = {}
        self.subagents: set[str] = set()
        self.updates = 0
        self.driven: dict[str, bool] = {}
        self.open_forks = 0

    @property
    def version(self) -> int | None:
        """The version of the protocol in force."""
        return None if self.dialect is None else self.dialect.version

    def session(self, session_id: str) -> CheckedSession:
        session = self.sessions.get(session_id)
        if session is None:
            session = self.sessions[session_id] = CheckedSession(session_id)
        return session

    def drive(self, session: CheckedSession, what: str) -> None:
        """Note that the client drives a session to do something. `driven` says of each whether a plan was sent then."""
        session.doing = what
        self.driven.setdefault(what, False)

    def take(self, update: Update, line: int) -> PlanUpdate:
        """Take in an update and follow its plan."""
        self.updates += 1
        session = self.session(update.session or "")
        session.first_line = session.first_line or line
        session.continued |= bool(self.open_forks) and not session.known
        if session.doing is not None:
            self.driven[session.doing] = True
        if session.replay is not None:
            return _retell(self, update, session, session.replay, line)
        if session.turn is not None:
            session.turn.updates += 1
            session.turn.tool_calls = 0
        body = update.body
        nameless = update.tag == "plan_update" and body is not None and body.id is None
        if body is None or nameless or (body.id not in session.plans and len(session.plans) >= MAX_PLANS):
            return PlanUpdate(update, self, session, line, live=True)
        heard = session.heard.hear(body)
        plan = heard.plan if isinstance(heard, Heard) else None
        history = session.plans.get(body.id) or session.plans.setdefault(body.id, PlanHistory())
        before = history.state
        after = None if plan is None else track(plan, before)
        history.state, history.line = after, line
        returned = _compare(history, before, after, line, session.turns)
        return PlanUpdate(update, self, session, line, True, before, after, returned)


def _retell(facts: Facts, update: Update, session: CheckedSession, replay: Replay, line: int) -> PlanUpdate:
    if update.body is not None:
        session.heard.hear(update.body)
        replay.first_line = replay.first_line or line
        replay.updates[update.body.id] = replay.updates.get(update.body.id, 0) + 1
    return PlanUpdate(update, facts, session, line, live=False)


def _compare(
    history: PlanHistory, before: PlanState | None, after: PlanState | None, line: int, turn: int
) -> tuple[tuple[Step, int], ...]:
    """Note which steps left the list. Returns those that came back, with the lines at which they had left.

    Entries may come and go (R5), so only a list that loses at least half of its unfinished steps counts as incomplete.
    """
    if turn != history.turn or after is None:  # a plan that is set after a removal counts its steps anew
        history.turn, history.left, history.shrank = turn, {}, None
    entries = entries_of(after.plan) if after is not None else None
    if after is None or entries is None:
        return ()
    history.priorities.update(entry.priority for entry in entries if entry.priority is not None)
    history.has_completed |= any(step.is_done for step in after.steps)
    returned = tuple((step, history.left.pop(step.id)) for step in after.steps if step.id in history.left)
    if before is not None:
        stayed = {step.id for step in after.steps}
        unfinished = [step for step in before.steps if step.is_open]
        gone = [step for step in unfinished if step.id not in stayed]
        if 2 * len(gone) >= len(unfinished):
            history.left |= {step.id: line for step in gone}
        if not stayed <= {step.id for step in before.steps}:
            history.shrank = None  # other work took their place
        elif 2 * len(gone) >= len(unfinished) and gone and stayed:
            history.shrank = history.shrank or line
        if stayed:
            history.dropped_at_work += sum(step.is_current for step in gone)
    return returned
