"""The difference of all plans between two states, of one session or of two."""

from planwire.acp.board import PlanChange
from planwire.model import diff
from planwire.model.fold import SessionState
from planwire.model.steps import track

__all__ = ["compare_states"]


def compare_states(before: SessionState, after: SessionState) -> list[PlanChange]:
    """The change of every plan. Two sessions with one plan each compare these two, whatever their ids."""
    olds = {plan_id: record.state for plan_id, record in before.live().items()}
    news = {plan_id: record.state for plan_id, record in after.live().items()}
    if before.id != after.id and len(olds) == len(news) == 1:
        olds = dict(zip(news, olds.values(), strict=True))
    changes = []
    for plan_id in {**olds, **news}:
        old, new = olds.get(plan_id), news.get(plan_id)
        if new is None:
            gone = tuple(diff.Removed(step, at) for at, step in enumerate(old.steps if old else ()))
            changes.append(PlanChange(plan_id, old, None, diff.Diff(removed=gone)))
        else:
            if before.id != after.id and old is not None:
                new = track(new.plan, old)  # the steps of another session have other ids
            difference = diff.compare(old, new)
            if old is None or difference:
                changes.append(PlanChange(plan_id, old, new, difference))
    return changes
