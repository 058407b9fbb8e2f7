"""Plans to show, from the events that made them."""

from planwire.model.events import Event, Recorded
from planwire.model.file_texts import address_of, state_with_text
from planwire.model.plan import PlanId
from planwire.model.records import SessionState
from planwire.readmodel.card import PlanCard
from planwire.readmodel.file_text import FileText
from planwire.readmodel.shown import ShownSession, show_session
from tests.deciding import fold_all

__all__ = ["card_of", "session_of", "shown"]


def session_of(*told: tuple[str, Event]) -> SessionState:
    """A session of events, each with its author."""
    return fold_all("s", [Recorded("s", seq, seq * 1_000, by, event) for seq, (by, event) in enumerate(told, start=1)])


def shown(*told: tuple[str, Event], file: str | None = None) -> ShownSession:
    """The same to show; `file` is the text in its plan files."""
    state = session_of(*told)
    files = {
        plan_id: FileText(uri, "/p/plan.md", state_with_text(record.state, lambda _: file))
        for plan_id, record in state.plans.items()
        if file is not None and (uri := address_of(record.state.plan)) is not None
    }
    return show_session(state, files, 1_000, state.seq * 1_000, state.seq * 1_000)


def card_of(plan_id: PlanId, *told: tuple[str, Event], file: str | None = None) -> PlanCard:
    """The card of a plan."""
    card = shown(*told, file=file).card(plan_id)
    assert card is not None
    return card
