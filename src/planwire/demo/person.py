"""People in the demo's session: what they have done there so far, and the demo's own person, who makes a suggestion if
no one else does. Everything goes through the journal, as in every face."""

from collections.abc import Iterator
from contextlib import ExitStack
from time import monotonic, sleep
from types import TracebackType
from typing import Final, Self

from planwire.journal import Journal, open_journal
from planwire.model.events import APPROVED, CHANGES_REQUESTED, TurnEnded
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.sessions import load_session
from planwire.readmodel.shown import ShownSession
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted

#: The name of the demo's own person, and the step that they suggest.
DEMO_USER: Final = "demo user"
SUGGESTED: Final = "Add a row with umlauts to the smoke test"
_PLAN: Final = "fix"
_VERDICTS: Final = {APPROVED: "Approved", CHANGES_REQUESTED: "Changes requested"}
#: Seconds that the relay may take to record a turn.
_PATIENCE: Final = 5.0
_MOMENT: Final = 0.01


class People:
    """The people of one session of a journal."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._session = ""
        self._turns = 0
        self._journal: Journal | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def join(self, session: str) -> None:
        """The session has begun."""
        self._session = session
        self._journal = self._open.enter_context(open_journal(self._url))

    def unheard(self) -> int:
        """How many of their words the agent has not heard."""
        return next((shown.unheard for shown in self._look()), 0)

    def answer(self) -> str:
        """The answer to the agent's question that one of them gave on the board, for the person at the terminal."""
        cards = [card for shown in self._look() for card in shown.cards()]
        given = [review for card in cards for review in card.reviews if not review.late]
        if not given or given[-1].verdict not in _VERDICTS:
            return "The question was taken back."
        last = given[-1]
        words = f": “{last.answer}”" if last.answer else ""
        return f"{_VERDICTS[last.verdict]} on the board by {last.by}{words}."

    def suggest(self) -> str:
        """Suggest a step as a person, unless one has spoken already. Returns the words for that."""
        shown = self.wait_for_turn()
        if shown is None or self._journal is None or all(card.id != _PLAN for card in shown.cards()):
            return ""
        if shown.unheard:
            return "The agent hears what you said with its next prompt."
        steer(self._journal, self._session, _PLAN, Wanted("add", text=SUGGESTED), by=DEMO_USER)
        return f"A person ({DEMO_USER}) suggests a step: “{SUGGESTED}”. The agent hears it with its next prompt."

    def wait_for_turn(self) -> ShownSession | None:
        """The session once the journal has the end of the next turn, which it gets a moment after the client."""
        self._turns += 1
        end = monotonic() + _PATIENCE
        while self._journal is not None and monotonic() < end:
            events = (recorded.event for recorded in self._journal.read(self._session))
            if sum(isinstance(event, TurnEnded) for event in events) >= self._turns:
                break
            sleep(_MOMENT)
        return next(self._look(), None)

    def _look(self) -> Iterator[ShownSession]:
        """The session as it is now, once the journal has it."""
        if self._journal is not None:
            for known in self._journal.sessions():
                if known.id == self._session:
                    yield load_session(self._journal, known, FilePlans())
