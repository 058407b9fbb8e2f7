"""Acts that take effect now: have the agent hear what people said, or stop its turn."""

from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from planwire.errors import InterruptNeeded, NothingChanges, PlanError
from planwire.model.events import PlanReviewed, StopAsked, TellAsked
from planwire.model.unheard import news
from planwire.steering.reach import STOP, TELL
from planwire.steering.reviews import comment
from planwire.steering.target import Decision, Target
from planwire.steering.wanted import Wanted
from planwire.steering.words import in_a_row

_NO_RELAY: Final = "no relay runs it, or its relay leaves that to the client"
_NOT_NOW: Final = f"The agent can't be told now: {_NO_RELAY}."
_IN_A_TURN: Final = "The agent is working, and can't be told anything in the middle of its turn: cancel the turn?"


def tell(on: Target, wanted: Wanted) -> Decision:
    """Have the agent hear now what people said; with a text, that too."""
    if (wanted.text or "").strip():
        with suppress(NothingChanges):  # said before, but it may still be news to the agent
            return comment(on, wanted)
    if not news(on.session):
        raise NothingChanges("Nothing to tell: the agent has heard everything.")
    if TELL not in on.reach.can:
        raise PlanError(f"{_NOT_NOW} It will hear it with its next prompt.")
    return Decision((), on.heard)


def stop(on: Target, _wanted: Wanted) -> Decision:
    """Cancel the agent's turn."""
    if STOP not in on.reach.can:
        raise PlanError(f"The agent can't be stopped from here: {_NO_RELAY}.")
    if not on.reach.is_working:
        raise NothingChanges("Nothing to stop: the agent is not working.")
    return Decision((StopAsked(),), "The agent is told to stop.")


def with_telling(on: Target, wanted: Wanted, decision: Decision) -> Decision:
    """A decision whose words the agent is to hear now; what can't be told now is told later. Raises `InterruptNeeded`
    if the agent's turn has to be cancelled for it and the person has not agreed to that. Words that come with an answer
    wait for the turn that the answer lets go on."""
    if TELL not in on.reach.can:
        return replace(decision, words=in_a_row(decision.words, _NOT_NOW))
    is_answer = any(isinstance(each, PlanReviewed) and each.question for each in decision.events)
    if on.reach.needs_interrupt and not wanted.interrupt and not is_answer:
        raise InterruptNeeded(_IN_A_TURN)
    return replace(decision, events=(*decision.events, TellAsked(bool(wanted.interrupt))))
