"""Cards: everything there is to show of a plan, as a value, and the rows that its lines are about."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.board import SessionBoard
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import FilePlan, PlanId
from planwire.model.steps import PlanState
from planwire.readmodel.plain_text import age, one_line
from planwire.readmodel.sessions import ShownSession

__all__ = ["MINUTE", "PLAN", "STEP", "SUGGESTION", "Card", "ago", "cards_of", "origin", "session_cards"]

MINUTE: Final = 60_000

#: The rows of a plan: its head, a step, or a suggestion that stands alone. The plan's id comes second, then that of
#: the step or the number of the suggestion, and a number that tells several rows of one suggestion apart.
PLAN: Final = "plan"
STEP: Final = "step"
SUGGESTION: Final = "wish"


class Card(Struct, frozen=True):
    """A plan to show.

    `record` is what a journal knows of the plan, and `said` what its author was thinking. `stopped`: no agent works on
    it. `uri` is the file that it comes from, `problem` why that can't be read, `client` where people talk to the agent.
    """

    state: PlanState
    record: PlanRecord | None = None
    stopped: bool = False
    said: str | None = None
    problem: str | None = None
    uri: str | None = None
    client: str | None = None

    @property
    def id(self) -> PlanId:
        return self.state.plan.id

    @property
    def is_file(self) -> bool:
        """Whether its text is in a file, which only an editor changes."""
        return self.uri is not None or isinstance(self.state.plan, FilePlan)


def cards_of(plans: SessionState | SessionBoard | Mapping[PlanId, PlanState] | PlanState) -> list[Card]:
    """The live plans of a session, from a journal, a board or single states."""
    if isinstance(plans, SessionState):
        stopped = plans.stopped is not None
        client = plans.opened.client if plans.opened else None
        return [Card(record.state, record, stopped, client=client) for record in plans.live().values()]
    if isinstance(plans, PlanState):
        return [Card(plans)]
    return [Card(state) for state in (plans.plans if isinstance(plans, SessionBoard) else plans).values()]


def session_cards(session: ShownSession, said: Mapping[PlanId, str] | None = None) -> list[Card]:
    """The live plans of a followed session, with the texts of plan files, and what their authors `said`."""
    cards = []
    for card in cards_of(session.state):
        file = session.files.get(card.id)
        problem, uri = (file.problem, file.uri) if file is not None else (None, None)
        cards.append(replace(card, said=(said or {}).get(card.id), problem=problem, uri=uri))
    return cards


def ago(then: int, now: int) -> str:
    """How long ago it was, without seconds, which would only fidget."""
    return "just now" if now - then < MINUTE else f"{age(then, now)} ago"


def origin(by: str, at: int, now: int) -> str:
    """Who said it, and when."""
    return f"{one_line(by)}, {ago(at, now)}"
