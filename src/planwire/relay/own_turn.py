"""One session's side of the turns that a person starts from planwire: what is wanted, and what waits for it."""

from typing import Final

from planwire.model.records import Review, Wish
from planwire.relay.framing import LONGEST_LINE
from planwire.relay.questions import Question

#: Lines that may wait for a turn, and their bytes.
_MOST_LINES: Final = 64
_MOST_BYTES: Final = LONGEST_LINE


class OwnTurn:
    """A turn of the relay's own.

    - `wanted`: a person wants the agent to hear now what people said, and it has not been sent yet.
    - `is_on`: a prompt of ours runs, and prompts of the client's wait in `held` until it is answered. `number` counts
      these turns.
    - `steering`: how many requests with words for the running turn are unanswered. `is_unsteerable`: the agent refused
      one. `is_deaf`: it takes none in this turn. `answers`: what the agent gets once it has said what became of the
      words.
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

    @property
    def is_idle(self) -> bool:
        """Whether nothing is wanted, and nothing waits."""
        return not (self.wanted or self.is_on or self.steering or self.held or self.answers)

    @property
    def is_full(self) -> bool:
        """Whether no more lines may wait."""
        return len(self.held) >= _MOST_LINES or sum(map(len, self.held)) > _MOST_BYTES

    def hold(self, line: bytes) -> None:
        """Let a line wait. A message of a batch becomes a line of its own."""
        self.held.append(line if line.endswith(b"\n") else line + b"\n")

    def forget_until(self, seq: int) -> None:
        """Ignore every wish up to an event: no one waits for it any more."""
        self._forgotten = seq
        self._seen.clear()

    def is_news(self, asked: Wish | None) -> bool:
        """Whether a person's wish is new here. The second time it is no news."""
        if asked is None or asked.seq <= self._forgotten or asked.seq in self._seen:
            return False
        self._seen.add(asked.seq)
        return True
