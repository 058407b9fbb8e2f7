"""One session's part in the turns that a person starts from planwire: what is wanted, and what waits for it."""

from planwire.model.records import Review, Wish
from planwire.relay.questions import Question

__all__ = ["OwnTurn"]


class OwnTurn:
    """A turn of the relay's own.

    - `wanted`: a person wants the agent to hear now what people said, and it has not been sent yet.
    - `is_on`: a prompt of ours runs, and prompts of the client's wait in `held` until it is answered. `number` counts
      these turns.
    - `steering`: words that are on their way into a running turn. `is_unsteerable`: the agent refused some, and
      `is_deaf`: it takes none in this turn. `answers`: what the agent gets once it has said what came of the words.
    """

    def __init__(self) -> None:
        self.wanted: Wish | None = None
        self.is_on = False
        self.number = 0
        self.held: list[bytes] = []
        self.steering = 0
        self.is_unsteerable = False
        self.is_deaf = False
        self.answers: list[tuple[Question, Review]] = []
        self._forgotten = 0
        self._seen: set[int] = set()

    def forget_until(self, seq: int) -> None:
        """Nothing that was wanted up to an event is wanted now: nobody waits for it any more."""
        self._forgotten = seq
        self._seen.clear()

    def is_news(self, asked: Wish | None) -> bool:
        """Whether a person asked for something that nobody has seen to. The second time it is no news."""
        if asked is None or asked.seq <= self._forgotten or asked.seq in self._seen:
            return False
        self._seen.add(asked.seq)
        return True
