"""The delivery of people's words to the agent: how far they have come, when it will hear them, how they ended."""

from typing import Final

from planwire.model.authors import program_name
from planwire.model.events import CHANGES_REQUESTED
from planwire.model.records import ANSWER, IN_TURN, PLANWIRE, PlanRecord, Remark, SessionState, Telling
from planwire.model.remarks import (
    ANSWERED,
    FINISHED,
    FOLLOWED,
    GONE,
    PLAN_ENDED,
    REVISED,
    RUN_ALL,
    SUPERSEDED,
    WITHDRAWN,
)
from planwire.steering.reach import HEAR, NOBODY, STEER, TELL, WORDS, Reach

#: How a remark ended, for people.
CLOSED_WORDS: Final = {
    WITHDRAWN: "Withdrawn",
    ANSWERED: "Answered",
    FINISHED: "Done",
    GONE: "Step is gone",
    REVISED: "Plan revised",
    SUPERSEDED: "Superseded",
    FOLLOWED: "Done",
    PLAN_ENDED: "Plan ended",
    RUN_ALL: "All steps run",
}

_WAITING: Final = "The agent is waiting for it."
_NOW: Final = "The agent hears it now."
_INTERRUPTED: Final = "The agent's turn is cancelled, and then it hears it."


def client_name(client: str | None) -> str:
    """The name of the agent's client, without its version."""
    name, _, version = program_name(client or "").rpartition(" ")
    return program_name(name if name and version[:1].isdigit() else client or "") or "the editor"


def someone_in(client: str | None) -> str:
    """Whoever answers in the agent's client. A client that calls itself by a person's name does not pass for them."""
    return f"someone in {client_name(client)}"


def heard_when(state: SessionState, record: PlanRecord, reach: Reach = NOBODY, *, now: bool = False) -> str:
    """A sentence on when the agent will hear what a person says about a plan; `now`: it is to hear it at once."""
    if record.asked is not None and record.asked.is_review:
        return _WAITING
    if now and TELL in reach.can:
        return _INTERRUPTED if reach.needs_interrupt else _NOW
    client = state.opened.client if state.opened else None
    has_tools = record.owner == PLANWIRE or any(each.owner == PLANWIRE for each in state.living().values())
    ways = ["its next call of a plan tool"] if has_tools else []
    if HEAR in reach.can and reach.is_working:
        ways = ["the result of its next tool call"]
    ways += [f"the next prompt in {client_name(client)}"] if client or not has_tools else []
    return f"The agent will see it with {' or '.join(ways)}."


def heard_with_answer(heard: str, reach: Reach, verdict: str | None = None, *, now: bool = False) -> str:
    """A sentence on when the agent hears the words that come with an answer: with the answer if that can carry them,
    after the turn, or when it would hear any other words. Without a `verdict` the answer is not chosen yet."""
    if STEER in reach.can or (WORDS in reach.can and verdict == CHANGES_REQUESTED):
        return "Your words go along."
    if WORDS in reach.can and verdict is None:
        return "Your words go along with a request for changes."
    if now and TELL in reach.can:
        return "The agent hears your words when its turn is over."
    return heard.replace(" it ", " your words ", 1)


def delivered(remark: Remark, acted: int) -> str:
    """The state of a remark, in one to three words for a badge. `acted` is the agent's last sign of work."""
    if remark.closed is not None:
        return CLOSED_WORDS.get(remark.closed.how, remark.closed.how.replace("_", " ").capitalize())
    if remark.answers:
        return "Answered"
    return how_far(remark.told or remark.offered, acted, is_sure=remark.told is not None)


def how_far(telling: Telling | None, acted: int, *, is_sure: bool = True) -> str:
    """How far words have come: *Queued* until somebody hands them over, *Delivered* until it is sure that the agent
    has them, then *Seen*. A prompt or an answer may lie unread in a pipe, so there only the agent's work proves it."""
    if telling is None:
        return "Queued"
    is_unread = telling.way in (*IN_TURN, ANSWER) and telling.seq > acted
    return "Seen" if is_sure and not is_unread else "Delivered"
