"""Writes people's acts: decided on the newest state of a session, and appended before anyone else writes."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import CannotWait, EngineAway, JournalError, PlanError, StaleRevision
from planwire.journal import Journal, Once, Stamped, catch_up, load_state, state_at
from planwire.journal.may_wait import may_wait
from planwire.journal.waiting import (
    NOT_KNOWN,
    NOT_YET,
    is_away,
    is_lost,
    is_right_after,
    is_waiting,
    note_state,
    why_away,
)
from planwire.model.decide import undecided
from planwire.model.events import (
    SELECTION,
    Event,
    FileSeen,
    PersonEvent,
    PlanReviewed,
    Recorded,
    Remarked,
    RemarkReopened,
)
from planwire.model.file_texts import address_of
from planwire.model.fold import fold, fold_all
from planwire.model.kinds import text_of
from planwire.model.plan import PlanId
from planwire.model.records import USER, PlanRecord, SessionState
from planwire.model.steps import PlanState
from planwire.session.file_plans import record_files
from planwire.session.known_agents import with_own_way
from planwire.session.moved_on import moved_on
from planwire.session.reach import Reach, session_reach
from planwire.session.writer import append_latest, stamped
from planwire.steering.acts import decide, is_for_now
from planwire.steering.roles import APPROVE, refuse_beyond
from planwire.steering.target import Decision, Disputed
from planwire.steering.wanted import Wanted
from planwire.steering.words import in_a_row

__all__ = ["USER", "Once", "Steered", "refuse_while_away", "steer"]

ALREADY_DONE: Final = "Already done."


class Steered(Struct, frozen=True):
    """The result of an act: the session right after it, and the plan's revision before and after it.

    `words` are for the person. `remark` is the id of the remark that it made, `added` the id of the new step, `answer`
    the id of the option that answers the agent's question.
    """

    state: SessionState
    words: str
    is_suggestion: bool
    remark: str | None
    seen: int
    revision: int
    added: str | None = None
    answer: str | None = None


def steer(
    journal: Journal,
    session: SessionState | str,
    plan_id: PlanId,
    wanted: Wanted,
    by: str = USER,
    file: PlanState | None = None,
    once: Once | None = None,
    role: Callable[[], str] = lambda: APPROVE,
    undo: int = 0,
) -> Steered:
    """Decide an act of a person on the newest state of a session, and append what it means.

    Raises `MovedOn`, with what a person needs to decide again, if the act no longer fits the plan; `NotAllowed` if it
    exceeds the person's `role` at the moment of writing; and `NothingChanges` and other refusals of `steering.decide`.
    Nothing is written then. `file` has the steps of a plan file. A verdict can be taken back for `undo` milliseconds.
    An act that may be repeated because its answer was lost has a key: `once`. A second one gets the first answer.
    """
    by = with_own_way(by)
    state = load_state(journal, session) if isinstance(session, str) else session
    reach = _known_reach(journal, state.id, wanted, once)
    state = _with_file(journal, state, plan_id, wanted.seen, file)
    decided: list[tuple[SessionState, Decision]] = []
    recalled: dict[int, PlanRecord | None] = {}

    def latest() -> SessionState:
        nonlocal state
        state = catch_up(journal, state)
        return state

    def recall(revision: int) -> PlanRecord | None:
        """The plan that the person saw, read once, however often other writers are faster: histories are long."""
        if revision not in recalled and revision <= state.seq:
            recalled[revision] = _seen_at(journal, state, plan_id, revision)
        return recalled.get(revision)

    def prepared(now: SessionState) -> list[Stamped]:
        refuse_beyond(role(), wanted, now.plans.get(plan_id))
        try:
            decided[:] = [(now, decide(now, plan_id, wanted, recall, by, file, reach, undo))]
        except (StaleRevision, Disputed) as refusal:
            raise moved_on(journal, now, plan_id, wanted, refusal, file) from None
        return stamped(decided[0][1].events, by, waits=partial(_may_wait, now))

    recorded = append_latest(journal, latest, prepared, once)
    if not decided or not is_right_after(recorded[0].seq, decided[0][0].seq):  # the act was written before
        state = state_at(journal, state.id, recorded[0].seq - 1)
        decided[:] = [(state, _made(recorded, partial(decide, state, plan_id, wanted, recall, by, file, reach, undo)))]
    [(before, decision)] = decided
    note_state(journal, after := fold_all(before.id, recorded, before))
    return Steered(
        after,
        in_a_row(decision.words, NOT_YET) if is_waiting(recorded[-1].seq) else decision.words,
        decision.is_suggestion,
        next((each.event.id for each in recorded if isinstance(each.event, Remarked)), None),
        _revision(before, plan_id),
        _revision(after, plan_id),
        _added(before.plans.get(plan_id), after.plans.get(plan_id)),
        next((each.event.option for each in recorded if isinstance(each.event, PlanReviewed)), None),
    )


def _with_file(
    journal: Journal, state: SessionState, plan_id: PlanId, seen: int | None, file: PlanState | None
) -> SessionState:
    """The state with the text of a plan file recorded, unless somebody looked at the file after the person did."""
    shown = state.plans.get(plan_id)
    if file is None or shown is None or (seen is not None and seen < shown.revision):
        return state
    with suppress(JournalError):
        return record_files(journal, state, {address_of(shown.state.plan): text_of(file.plan)}.get)
    return state


def _seen_at(journal: Journal, state: SessionState, plan_id: PlanId, revision: int) -> PlanRecord | None:
    """A plan as it was shown at a revision. Before the text of a plan file was recorded, faces showed the one that was
    recorded first."""
    then = state_at(journal, state.id, revision)
    record = then.live().get(plan_id)
    if record is None or record.file is not None or address_of(record.state.plan) is None:
        return record
    for each in journal.read(state.id, revision, state.seq):
        if isinstance(each.event, FileSeen) and each.event.plan_id == plan_id:
            return fold(then, each).plans[plan_id]
    return record


def _known_reach(journal: Journal, session: str, wanted: Wanted, once: Once | None) -> Reach:
    """What the agent can be given now. While the journal's server is away that is unknown, so an act that depends on it
    is refused for that reason; any other reason would be a guess."""
    reach = session_reach(journal, session)
    if is_for_now(wanted):
        if once and is_away(journal) and is_lost(journal, session, once):
            raise EngineAway(f"{why_away(journal)}. {NOT_KNOWN}")
        refuse_while_away(journal)
    return reach


def _may_wait(state: SessionState, event: Event) -> bool:
    """Whether an act may wait. A choice of steps that is open again would take the place of one that nobody here knows
    of."""
    remark = state.remark(event.remark) if isinstance(event, RemarkReopened) else None
    return may_wait(event, is_act=True) and (remark is None or remark.kind != SELECTION)


def refuse_while_away(journal: Journal) -> None:
    """Raise `CannotWait` while the journal's server is away."""
    if is_away(journal):
        raise CannotWait(
            f"{why_away(journal)}. Nothing was written: only comments and suggestions can wait on this machine"
        )


def _revision(state: SessionState, plan_id: PlanId) -> int:
    """The revision of a plan; 0 if there is none, since the key of an act may have been used for another plan."""
    record = state.plans.get(plan_id)
    return record.revision if record else 0


def _made(recorded: Sequence[Recorded], decide_again: Callable[[], Decision]) -> Decision:
    """The decision that made these events, with its words. If it can't be made again, because a plan file has changed
    or the key belongs to another act, the words only say that it was done."""
    events = tuple(each.event for each in recorded)
    with suppress(PlanError):
        again = decide_again()
        if [*map(_wanted, again.events)] == [*map(_wanted, events)]:
            return again
    return Decision(events, ALREADY_DONE)


def _wanted(event: Event) -> Event:
    """What an event was to say, however it came."""
    plain = undecided(event)
    return replace(plain, way="") if isinstance(plain, PersonEvent) else plain


def _added(before: PlanRecord | None, after: PlanRecord | None) -> str | None:
    """The id of the first step that the plan did not have before; None without one."""
    known = {step.id for step in before.state.steps} if before else set()
    return next((step.id for step in (after.state.steps if after else ()) if step.id not in known), None)
