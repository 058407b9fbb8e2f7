"""A session as people see it: with the texts of its plan files, and with silence taken for what it is.

An agent that dies says nothing, and its last turn has no end. After a day without an event nobody believes that it
still runs, unless it waits for a review. Every face gets its sessions from here, so that they agree about states and
counts.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.kinds import text_of
from planwire.model.plan import MAIN, PlanId
from planwire.model.records import SessionState
from planwire.readmodel.card import PlanCard
from planwire.readmodel.cards import cards_of
from planwire.readmodel.file_text import FileText, with_files
from planwire.readmodel.overview import Overview, overview

__all__ = ["SILENCE", "ShownSession", "show_session"]

#: Milliseconds of silence after which an agent works no more.
SILENCE: Final = 24 * 3_600_000
_SILENT: Final = "silent for a day"


class ShownSession(Struct, frozen=True):
    """A session to show: the glance at it, its plan files, and the state in its journal, which acts are written to."""

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
        return cards_of(self._now, self.files, thinking)

    def dismissed(self) -> tuple[PlanCard, ...]:
        """The cards of the plans that were removed."""
        return cards_of(self._now, self.files, removed=True)

    def card(self, plan_id: PlanId, thinking: Mapping[PlanId, str] | None = None) -> PlanCard | None:
        """The card of a plan, live or removed; None if the session never had it."""
        return next((card for card in (*self.cards(thinking), *self.dismissed()) if card.id == plan_id), None)

    def file_text(self, uri: str) -> str | None:
        """The text of its plan file at an address; None if it can't be read."""
        found = (each.readable for each in self.files.values() if each.uri == uri)
        return next((text_of(state.plan) for state in found if state is not None), None)

    def main_card(self) -> PlanCard | None:
        """The plan that is meant where nobody names one: the only one that has not ended, or the one with the id
        `main`."""
        cards = [card for card in self.cards() if not card.ended] or self.cards()
        return cards[0] if len(cards) == 1 else next((card for card in cards if card.id == MAIN), None)

    @property
    def _now(self) -> SessionState:
        return replace(self.journalled, stopped=self.glance.stop_reason)


def show_session(
    state: SessionState, files: dict[PlanId, FileText], first_at: int, last_at: int, now: int
) -> ShownSession:
    """A session to show, given when its first and its last event happened. Times are Unix times in milliseconds."""
    seen = with_files(state, files)
    asked = any(record.asked for record in state.live().values())
    if state.stopped is None and not asked and now - last_at > SILENCE:
        seen = replace(seen, stopped=_SILENT)
    return ShownSession(overview(seen, first_at, last_at), state, files)
