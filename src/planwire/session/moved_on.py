"""The refusal of an act that was meant for another state of a plan, with what a person needs to decide again."""

from typing import Final

from planwire.errors import PlanError, StaleRevision
from planwire.journal import Journal, state_at
from planwire.model.kinds import text_of
from planwire.model.plan import PlanId
from planwire.model.records import PlanRecord, SessionState
from planwire.model.step_changes import StepChange
from planwire.model.steps import PlanState
from planwire.model.titles import UNNAMED, plan_titles
from planwire.readmodel.history import HistoryEntry, Phrase, history
from planwire.steering.conflict import gone
from planwire.steering.fallback import Instead, fallback
from planwire.steering.target import Disputed
from planwire.steering.wanted import Wanted
from planwire.steering.words import step_of

#: The kinds of phrases that are not about the steps of a plan.
_BESIDE: Final = (
    *("suggested", "settled", "withdrawn", "reopened", "comment", "request", "selected", "answered"),
    *("note", "why", "text", "asked"),
)


class MovedOn(PlanError):
    """A plan is no longer the one that a person saw when they decided. Nothing was written.

    `before` and `now` are None where there was no such plan; `moments` tell what happened to it since. `missing` are
    the steps of the act that are gone. If the act made several changes, `others` are those that still fit the plan, and
    the `words` of the error name those to decide on again.
    """

    def __init__(
        self,
        plan_id: PlanId,
        wanted: Wanted,
        before: PlanRecord | None,
        now: PlanRecord | None,
        moments: tuple[HistoryEntry, ...],
        missing: tuple[str, ...] = (),
        others: tuple[StepChange, ...] = (),
        title: str = UNNAMED,
        words: str = "",
    ) -> None:
        self.title = title
        self.plan_id = plan_id
        self.wanted = wanted
        self.seen = wanted.seen or 0
        self.before = before
        self.now = now
        self.moments = moments
        self.missing = missing
        self.others = others
        self.revision = now.revision if now else 0
        super().__init__(words or f"{title} changed since you looked at it. Nothing was written.")

    @property
    def fits_anyway(self) -> bool:
        """Whether the act is still possible on the plan as it is now."""
        return not self.missing and self.wanted.plan_text is None and self.wanted.edited is None

    @property
    def instead(self) -> Instead | None:
        """What is left of an act whose steps are gone."""
        return fallback(self.wanted, self.missing, self.revision)

    @property
    def beside(self) -> tuple[tuple[str, Phrase], ...]:
        """What was said and suggested since, and by whom, which a difference between the two plans does not show."""
        return tuple((each.by, word) for each in self.moments for word in each.words if word.kind in _BESIDE)

    def text_of(self, step: str | None) -> str:
        """The text of a step as the person saw it; "" for none."""
        steps = self.before.state.steps if self.before else ()
        return next((each.content for each in steps if each.id == step), "")


def moved_on(
    journal: Journal,
    state: SessionState,
    plan_id: PlanId,
    wanted: Wanted,
    refusal: StaleRevision | Disputed,
    file: PlanState | None = None,
) -> MovedOn:
    """The refusal that tells what happened to a plan since the revision that an act was for. `file` has the text of a
    plan file."""
    then = state_at(journal, state.id, min(wanted.seen or 0, state.seq))
    moments = tuple(
        moment
        for moment, _, _ in history(journal.read(state.id, then.seq, state.seq), then)
        if moment.plan is not None and moment.plan_id == plan_id and moment.words
    )
    now = state.live().get(plan_id)
    missing = tuple(step for step in _named(wanted, refusal) if now is not None and gone(step, now))
    others, words = (refusal.others, str(refusal)) if isinstance(refusal, Disputed) else ((), "")
    texts = {} if file is None else {plan_id: text_of(file.plan)}
    title = plan_titles((record.state.plan for record in state.plans.values()), texts).get(plan_id, UNNAMED)
    return MovedOn(plan_id, wanted, then.live().get(plan_id), now, moments, missing, others, title, words)


def _named(wanted: Wanted, refusal: StaleRevision | Disputed) -> tuple[str, ...]:
    """The steps that an act names, itself or in the changes that do not fit any more."""
    disputed = [step_of(each) for each in refusal.changes] if isinstance(refusal, Disputed) else []
    return tuple(dict.fromkeys((*wanted.named_steps, *filter(None, disputed))))
