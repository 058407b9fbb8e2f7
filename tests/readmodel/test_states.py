"""The state of a session: from its events, its leases and the time; and the words for it."""

import pytest

from planwire.journal import KnownLease, Terms
from planwire.model.events import Event, PlanSet, Recorded, ReviewAsked, TurnEnded
from planwire.readmodel.overview import DONE, IDLE, NEEDS_YOU, RUNNING, STOPPED, overview, state_words
from planwire.readmodel.states import NOBODY, Hold, holds_of, stop_words
from tests.deciding import fold_all
from tests.journals import items

MINUTE = 60_000
OPEN = PlanSet(items("main", "completed", "in_progress"))
FINISHED = PlanSet(items("main", "completed"))
ENDED = TurnEnded("end_turn")
RELAY = holds_of([KnownLease("s", "1", Terms("relay"), True)])["s"]
AT_WORK = holds_of([KnownLease("s", "1", Terms("relay", is_working=True), True)])["s"]
TOOLS = holds_of([KnownLease("s", "1", Terms("mcp"), True)])["s"]


@pytest.mark.parametrize(
    ("events", "hold", "minutes", "state"),
    [
        ((OPEN, ReviewAsked("main")), NOBODY, 5_000, NEEDS_YOU),
        ((FINISHED, ReviewAsked("main")), AT_WORK, 0, NEEDS_YOU),
        ((OPEN,), AT_WORK, 600, RUNNING),
        ((OPEN, ENDED), AT_WORK, 0, RUNNING),
        ((OPEN, TurnEnded("cancelled")), AT_WORK, 0, RUNNING),
        ((OPEN,), RELAY, 0, IDLE),
        ((OPEN,), TOOLS, 4, RUNNING),
        ((OPEN,), TOOLS, 5, IDLE),
        ((OPEN,), NOBODY, 9, RUNNING),
        ((OPEN,), NOBODY, 10, IDLE),
        ((OPEN,), NOBODY, -3, RUNNING),  # a clock that is a little ahead
        ((OPEN,), NOBODY, -60 * 24 * 365, IDLE),  # one that is wrong is no sign of life
        ((OPEN, ENDED), TOOLS, 0, IDLE),
        ((OPEN, ENDED), NOBODY, 0, IDLE),
        ((OPEN, TurnEnded("idle")), NOBODY, 0, IDLE),
        ((OPEN, TurnEnded("cancelled")), NOBODY, 0, STOPPED),
        ((OPEN, TurnEnded("error")), RELAY, 0, STOPPED),
        ((OPEN, TurnEnded("disconnected")), NOBODY, 5_000, STOPPED),
        ((FINISHED,), AT_WORK, 0, DONE),
        ((FINISHED, TurnEnded("disconnected")), NOBODY, 0, DONE),
    ],
)
def test_a_session_is_in_one_of_five_states(events: tuple[Event, ...], hold: Hold, minutes: int, state: str) -> None:
    folded = fold_all("s", [Recorded("s", n, 1_000, "agent", event) for n, event in enumerate(events, 1)])
    assert overview(folded, 1_000, 1_000, 1_000 + minutes * MINUTE, hold).state == state


@pytest.mark.parametrize(
    ("events", "minutes", "words"),
    [
        ((OPEN, ReviewAsked("main")), 0, "needs you"),
        ((OPEN,), 0, "running"),
        ((OPEN,), 20, "quiet for 20 min"),
        ((OPEN,), 60 * 24 * 3, "quiet for 3 d"),
        ((OPEN, ENDED), 20, "idle"),
        ((OPEN, TurnEnded("disconnected")), 20, "stopped: disconnected"),
        ((OPEN, TurnEnded("error")), 20, "stopped: failed"),
        ((FINISHED,), 20, "done"),
    ],
)
def test_people_read_the_state_in_words(events: tuple[Event, ...], minutes: int, words: str) -> None:
    folded = fold_all("s", [Recorded("s", n, 1_000, "agent", event) for n, event in enumerate(events, 1)])
    now = 1_000 + minutes * MINUTE
    assert state_words(overview(folded, 1_000, 1_000, now), now, why=True) == words


def test_a_session_behind_a_relay_that_has_no_turn_yet_is_idle_and_not_quiet() -> None:
    folded = fold_all("s", [Recorded("s", 1, 1_000, "agent", OPEN)])
    for hold, words in ((RELAY, "idle"), (TOOLS, "quiet for 20 min")):
        now = 1_000 + 20 * MINUTE
        assert state_words(overview(folded, 1_000, 1_000, now, hold), now) == words


def test_the_leases_of_a_session_speak_together_and_lapsed_ones_say_only_that_they_are() -> None:
    leases = [
        KnownLease("s", "1", Terms("mcp", can=("tell",)), True),
        KnownLease("s", "2", Terms("relay", is_working=True, can=("answer", "tell")), True),
        KnownLease("s", "3", Terms("relay", can=("fly",)), False),
        KnownLease("t", "4", Terms("relay", is_working=True), False),
        KnownLease("u", "5", Terms("mcp"), True),
    ]
    assert holds_of(leases) == {
        "s": Hold(True, True, True, ("tell", "answer")),
        "t": Hold(is_lost=True),
        "u": Hold(True, False, False, ()),
    }


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("max_tokens", "ran out of tokens"),
        ("end_turn", "finished its turn"),
        ("refusal", "the model refused"),
        ("disconnected", "disconnected"),
        ("_out_of_budget", "out of budget"),
        (None, ""),
    ],
)
def test_a_stop_reason_reads_as_words(reason: str | None, words: str) -> None:
    assert stop_words(reason) == words


@pytest.mark.parametrize("events", [(OPEN,), (OPEN, ReviewAsked("main"))])
def test_a_session_whose_holder_died_is_stopped_before_anyone_could_record_it(events: tuple[Event, ...]) -> None:
    folded = fold_all("s", [Recorded("s", n, 1_000, "agent", event) for n, event in enumerate(events, 1)])
    lost = holds_of([KnownLease("s", "1", Terms("relay", is_working=True), False)])["s"]
    glance = overview(folded, 1_000, 1_000, 1_000, lost)
    assert (glance.state, glance.asked) == (STOPPED, False)
