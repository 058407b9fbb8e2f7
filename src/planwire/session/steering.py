"""Acts of people, written: decided on the newest state of a session, and appended before anyone else writes."""

from msgspec import Struct

from planwire.errors import StaleRevision
from planwire.journal import Journal, Stamped, catch_up, load_state, state_at
from planwire.model.fold import USER, PlanRecord, SessionState, fold_all
from planwire.model.plan import PlanId
from planwire.model.steps import PlanState
from planwire.session.moved_on import moved_on
from planwire.session.writer import append_latest, stamped
from planwire.steering.acts import decide
from planwire.steering.commands import Decision, Disputed
from planwire.steering.wanted import Wanted

__all__ = ["USER", "Steered", "steer"]


class Steered(Struct, frozen=True):
    """What came of an act: the session right after it, and the plan's revision before and after it.

    `words` are for the person. `number` is that of its event: a suggestion goes by it. `added` is the new step.
    """

    state: SessionState
    words: str
    is_suggestion: bool
    number: int
    seen: int
    revision: int
    added: str | None = None


def steer(
    journal: Journal,
    session: SessionState | str,
    plan_id: PlanId,
    wanted: Wanted,
    by: str = USER,
    file: PlanState | None = None,
) -> Steered:
    """Decide an act of a person on the newest state of a session, and append what it means.

    Raises `MovedOn` if the act does not fit the plan any more, with all that it takes to decide again; `NothingChanges`
    and other refusals as `steering.decide` has them. Nothing is written then. `file` has the steps of a plan file.
    """
    state = load_state(journal, session) if isinstance(session, str) else session
    decided: list[tuple[SessionState, Decision]] = []

    def latest() -> SessionState:
        nonlocal state
        state = catch_up(journal, state)
        return state

    def recall(revision: int) -> PlanRecord | None:
        return None if revision > state.seq else state_at(journal, state.id, revision).live().get(plan_id)

    def prepared(now: SessionState) -> list[Stamped]:
        try:
            decided[:] = [(now, decide(now, plan_id, wanted, recall, by, file))]
        except (StaleRevision, Disputed) as refusal:
            raise moved_on(journal, now, plan_id, wanted, refusal, file) from None
        return stamped(decided[0][1].events, by)

    recorded = append_latest(journal, latest, prepared)
    [(before, decision)] = decided
    after = fold_all(before.id, recorded, before)
    return Steered(
        after,
        decision.words,
        decision.is_suggestion,
        recorded[0].seq,
        before.plans[plan_id].revision,
        after.plans[plan_id].revision,
        _added(before.plans[plan_id], after.plans[plan_id]),
    )


def _added(before: PlanRecord, after: PlanRecord) -> str | None:
    """The step that a plan has, and had not before."""
    known = {step.id for step in before.state.steps}
    return next((step.id for step in after.state.steps if step.id not in known), None)
