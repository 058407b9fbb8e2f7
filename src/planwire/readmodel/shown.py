"""A session as people see it: with the texts of its plan files, and with what its leases say.

Every face gets its sessions from here, so that all agree on states and counts.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.kinds import text_of
from planwire.model.plan import MAIN, PlanId
from planwire.model.records import SessionState
from planwire.model.unheard import news
from planwire.readmodel.card import PlanCard
from planwire.readmodel.cards import cards_of
from planwire.readmodel.file_text import FileText, with_files
from planwire.readmodel.overview import Overview, overview
from planwire.readmodel.states import NOBODY, Hold
from planwire.steering.reach import Reach


class ShownSession(Struct, frozen=True):
    """A session to show: its overview, its plan files, and its state in the journal, which acts are written to."""

    glance: Overview
    journalled: SessionState
    files: dict[PlanId, FileText] = {}

    @property
    def id(self) -> str:
        return self.journalled.id

    @property
    def name(self) -> str:
        return self.glance.name

    def cards(self, thinking: Mapping[PlanId, str] | None = None) -> tuple[PlanCard, ...]:
        """The cards of its live plans, with what their authors were `thinking`."""
        return cards_of(self._now, self.files, thinking, reach=self.reach)

    def dismissed(self) -> tuple[PlanCard, ...]:
        """The cards of its removed plans."""
        return cards_of(self._now, self.files, removed=True, reach=self.reach)

    def card(self, plan_id: PlanId, thinking: Mapping[PlanId, str] | None = None) -> PlanCard | None:
        """The card of a plan, live or removed; None if the session never had it."""
        return next((card for card in (*self.cards(thinking), *self.dismissed()) if card.id == plan_id), None)

    def file_text(self, uri: str) -> str | None:
        """The text of its plan file at an address; None if it can't be read."""
        found = (each.readable for each in self.files.values() if each.uri == uri)
        return next((text_of(state.plan) for state in found if state is not None), None)

    def main_card(self) -> PlanCard | None:
        """The plan that is meant if none is named: the only one that has not ended and works for no step, or the one
        with the id `main`."""
        cards = [card for card in self.cards() if not card.ended and not card.level] or self.cards()
        return cards[0] if len(cards) == 1 else next((card for card in cards if card.id == MAIN), None)

    def meant_card(self, act: str) -> PlanCard | None:
        """The plan that an act is on if none is named. A verdict is on the plan that needs a person, if it is the only
        one. `tell` and `stop` are about the agent: any plan will do, preferably the one that changed last."""
        asking = [card for card in self.cards() if card.needs_you and not card.ended]
        if act == "review" and asking:
            return asking[0] if len(asking) == 1 else None
        newest = max(self.cards(), key=lambda card: card.changed_at, default=None) if act in ("tell", "stop") else None
        return self.main_card() or newest

    @property
    def reach(self) -> Reach:
        """What its agent can be given now."""
        return Reach(frozenset(self.glance.can), self.glance.is_working)

    @property
    def unheard(self) -> int:
        """How many of people's remarks and changes its agent has not heard."""
        words = news(self.journalled)
        return len(words.items) + len(words.besides)

    @property
    def _now(self) -> SessionState:
        """The state with a running turn exactly while the overview says so, so that the steps in progress match it."""
        stopped = None if self.glance.goes_on else self.glance.stop_reason or ""
        return self.journalled if stopped == self.journalled.stopped else replace(self.journalled, stopped=stopped)


def show_session(
    state: SessionState, files: dict[PlanId, FileText], first_at: int, last_at: int, now: int, hold: Hold = NOBODY
) -> ShownSession:
    """A session to show, given the times of its first and last event, and who holds it. Times are Unix times in
    milliseconds."""
    return ShownSession(overview(with_files(state, files), first_at, last_at, now, hold), state, files)
