"""Acts that take effect now: told at once, by whichever way the agent can be reached, or stopped."""

import pytest

from planwire.errors import InterruptNeeded, NothingChanges, PlanError
from planwire.model.events import COMMENT, Event, Remarked, SessionOpened, StopAsked, TellAsked, Told
from planwire.steering import reach
from planwire.steering.acts import acts_for
from planwire.steering.reach import Reach
from tests.steering.acting import LIST, Session, agents

TELLS = frozenset((reach.ANSWER, reach.TELL, reach.STOP))
IDLE = Reach(TELLS)
WORKING = Reach(TELLS, is_working=True)
STEERED = Reach(TELLS | {reach.STEER}, is_working=True)
UNREACHED = (reach.NOBODY, Reach(is_working=True), Reach(frozenset((reach.ANSWER,)), is_working=True))
NOT_NOW = "The agent can't be told now: no relay runs it, or its relay leaves that to the client."
LATER = "The agent will see it with the next prompt in Zed."
SAID = Remarked("main", COMMENT, "look at the tests", 1)


def session_with(reached: Reach) -> Session:
    session = agents(LIST)
    session.append(SessionOpened("agent 1", "Zed 1.2"), by="relay")
    session.reach = reached
    return session


def commented(reached: Reach) -> Session:
    session = session_with(reached)
    session.do("comment", text="never touch vendor/")
    return session


# -- tell


@pytest.mark.parametrize("reached", [IDLE, STEERED])
def test_what_people_said_is_told_now_where_nothing_has_to_be_cancelled(reached: Reach) -> None:
    decision = commented(reached).do("tell")
    assert decision.events == (TellAsked(),)
    assert decision.words == "The agent hears it now."
    decision = session_with(reached).do("tell", text="look at the tests")
    assert decision.events == (SAID, TellAsked())
    assert decision.words == "Comment added to the plan. The agent hears it now."


@pytest.mark.parametrize("text", [None, "look at the tests"])
def test_a_turn_is_cancelled_only_if_the_person_agreed_to_it(text: str | None) -> None:
    session = commented(WORKING)
    with pytest.raises(InterruptNeeded, match="can't be told anything in the middle of its turn: cancel the turn"):
        session.do("tell", text=text)
    with pytest.raises(InterruptNeeded):
        session.do("tell", text=text, interrupt=False)
    decision = session.do("tell", text=text, interrupt=True)
    assert decision.events[-1] == TellAsked(interrupt=True)
    assert decision.words.endswith("The agent's turn is cancelled, and then it hears it.")


@pytest.mark.parametrize("reached", UNREACHED)
def test_what_can_not_be_told_now_is_told_later_and_the_person_knows(reached: Reach) -> None:
    with pytest.raises(PlanError, match=f"{NOT_NOW} It will hear it with its next prompt."):
        commented(reached).do("tell")
    decision = session_with(reached).do("tell", text="look at the tests")
    assert decision.events == (SAID,)
    assert decision.words == f"Comment added to the plan. {LATER} {NOT_NOW}"


@pytest.mark.parametrize("reached", [IDLE, WORKING, STEERED, *UNREACHED])
def test_nothing_is_told_to_an_agent_that_has_heard_everything(reached: Reach) -> None:
    with pytest.raises(NothingChanges, match="Nothing to tell: the agent has heard everything"):
        session_with(reached).do("tell")
    session = commented(reached)
    session.append(Told("prompt", session.state.seq, remarks=("r1",), request="m"), by="relay")
    with pytest.raises(NothingChanges):
        session.do("tell", text=" ")


def test_words_that_were_said_before_are_told_now_if_they_are_still_news() -> None:
    session = commented(IDLE)
    assert session.do("tell", text="never touch vendor/").events == (TellAsked(),)
    session.append(Told("prompt", session.state.seq, remarks=("r1",), request="m"), by="relay")
    with pytest.raises(NothingChanges):
        session.do("tell", text="never touch vendor/")


def test_a_wish_is_open_until_the_words_were_told() -> None:
    session = commented(IDLE)
    session.do("tell")
    wish = session.state.tell
    assert wish is not None
    assert (wish.by, wish.interrupt) == ("user", False)
    session.append(Told("tool", wish.seq - 1, request="m"), by="agent")
    assert session.state.tell == wish
    session.append(Told("prompt", wish.seq, remarks=("r1",), request="m"), by="relay")
    assert session.state.tell is None


# -- now


@pytest.mark.parametrize(
    ("act", "arguments"),
    [
        ("comment", {"text": "look at the tests"}),
        ("comment", {"target": "s2", "text": "why?"}),
        ("select", {"steps": ("s3",)}),
        ("review", {"verdict": "approved"}),
        ("review", {"verdict": "changes_requested", "text": "smaller"}),
        ("review", {"verdict": "commented", "text": "hm"}),
    ],
)
def test_words_and_verdicts_can_be_told_now(act: str, arguments: dict[str, object]) -> None:
    def events(reached: Reach, **more: object) -> tuple[Event, ...]:
        return session_with(reached).do(act, **arguments, **more).events  # type: ignore[arg-type]

    later = events(WORKING)
    for reached in (IDLE, STEERED):
        assert events(reached, now=True) == (*later, TellAsked())
        assert events(reached, now=False) == later
        assert events(reached, interrupt=True) == later
    for reached in UNREACHED:
        assert events(reached, now=True) == later
    with pytest.raises(InterruptNeeded):
        events(WORKING, now=True)
    assert events(WORKING, now=True, interrupt=True) == (*later, TellAsked(interrupt=True))


# -- stop


@pytest.mark.parametrize("reached", [WORKING, STEERED])
def test_a_turn_that_runs_is_stopped(reached: Reach) -> None:
    session = session_with(reached)
    decision = session.do("stop")
    assert decision.events == (StopAsked(),)
    assert decision.words == "The agent is told to stop."
    assert session.state.stop is not None


def test_nothing_is_stopped_where_nothing_runs_or_nobody_can() -> None:
    with pytest.raises(NothingChanges, match="Nothing to stop: the agent is not working"):
        session_with(IDLE).do("stop")
    for reached in UNREACHED:
        with pytest.raises(PlanError, match="can't be stopped from here: no relay runs it"):
            session_with(reached).do("stop")


# -- what is offered, and who can


@pytest.mark.parametrize(
    ("reached", "offered"),
    [
        (IDLE, {"tell"}),
        (WORKING, {"tell", "stop"}),
        (STEERED, {"tell", "stop"}),
        *((each, set()) for each in UNREACHED),
    ],
)
def test_a_plan_is_offered_what_its_agent_can_be_given_now(reached: Reach, offered: set[str]) -> None:
    assert {*acts_for(session_with(reached).record, reached)} & {"tell", "stop"} == offered
