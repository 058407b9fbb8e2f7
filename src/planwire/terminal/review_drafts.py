"""Comments that a person collects for each plan, to send them with one review."""

from planwire.readmodel.card import PlanId
from planwire.steering.wanted import Comment


class ReviewDrafts:
    """The comments that are not sent yet. They belong to a session and one of its plans."""

    def __init__(self) -> None:
        self._comments: dict[tuple[str, PlanId], tuple[Comment, ...]] = {}
        self._kept: set[tuple[str, PlanId]] = set()
        self._sent: dict[tuple[str, PlanId], tuple[Comment, ...]] = {}

    @property
    def all(self) -> tuple[Comment, ...]:
        return tuple(comment for comments in self._comments.values() for comment in comments)

    def of(self, session: str, plan_id: PlanId) -> tuple[Comment, ...]:
        return self._comments.get((session, plan_id), ())

    def is_kept(self, session: str, plan_id: PlanId) -> bool:
        """Whether the person wants one of them kept in force."""
        return (session, plan_id) in self._kept

    def add(self, session: str, plan_id: PlanId, comment: Comment, *, kept: bool = False) -> None:
        self._comments[session, plan_id] = (*self.of(session, plan_id), comment)
        self._kept |= {(session, plan_id)} if kept else set()

    def remove(self, session: str, plan_id: PlanId, comments: tuple[Comment, ...]) -> None:
        """Forget these comments, but none that say the same: they were sent, or are not wanted any more."""
        left = tuple(each for each in self.of(session, plan_id) if not any(each is gone for gone in comments))
        self._comments[session, plan_id] = left
        self._kept -= set() if left else {(session, plan_id)}

    def note_sent(self, session: str, plan_id: PlanId, comments: tuple[Comment, ...]) -> None:
        """Forget comments that were sent with a verdict, unless the person undoes it."""
        self.remove(session, plan_id, comments)
        self._sent[session, plan_id] = comments

    def bring_back(self, session: str, plan_id: PlanId) -> None:
        """Have the comments back that were sent last: the person undid their verdict."""
        back = self._sent.pop((session, plan_id), ())
        self._comments[session, plan_id] = (*self.of(session, plan_id), *back)
