"""Comments that a person collects, plan by plan, to send them with one review."""

from planwire.readmodel.card import PlanId
from planwire.steering.wanted import Comment

__all__ = ["ReviewDrafts"]


class ReviewDrafts:
    """The comments that are not sent yet. They belong to a session and one of its plans."""

    def __init__(self) -> None:
        self._comments: dict[tuple[str, PlanId], tuple[Comment, ...]] = {}

    @property
    def all(self) -> tuple[Comment, ...]:
        return tuple(comment for comments in self._comments.values() for comment in comments)

    def of(self, session: str, plan_id: PlanId) -> tuple[Comment, ...]:
        return self._comments.get((session, plan_id), ())

    def add(self, session: str, plan_id: PlanId, comment: Comment) -> None:
        self._comments[session, plan_id] = (*self.of(session, plan_id), comment)

    def remove(self, session: str, plan_id: PlanId, comments: tuple[Comment, ...]) -> None:
        """Forget comments: they were sent, or are not wanted any more."""
        left = tuple(each for each in self.of(session, plan_id) if each not in comments)
        self._comments[session, plan_id] = left
