"""Followers that sleep, and servers that answer late or not at all."""

from collections.abc import Callable
from time import monotonic, sleep

import pytest

from planwire.errors import EngineAway
from planwire.journal import Journal, Stamped
from planwire.journal.engines import open_engine
from planwire.model.events import Event, TurnEnded
from tests.servers.own import ENGINES_WITH_SERVERS, own_server
from tests.torture.ledger import Outcome, judged
from tests.torture.writing import Writer
from tests.waiting import until

#: Seconds that the follower sleeps, and appends meanwhile.
SLEEPS = [(0.5, 200), pytest.param((60.0, 20_000), marks=[pytest.mark.torture, pytest.mark.timeout(600)])]
#: Seconds that each answer takes, and appends.
LATE = [(0.1, 3), pytest.param((1.0, 60), marks=[pytest.mark.torture, pytest.mark.timeout(600)])]
#: Seconds after which no call may still wait for a silent server.
BOUND = 45.0


@pytest.mark.parametrize("rest", SLEEPS)
@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_a_follower_that_sleeps_misses_nothing(
    engine: str, rest: tuple[float, int], proves: Callable[[str, str, str, Outcome], None]
) -> None:
    seconds, count = rest
    with own_server(engine) as server, open_engine(server.url) as journal:
        journal.append("race", [Stamped(1, "one", TurnEnded("one -1"))])
        following = journal.follow(0, timeout=BOUND)
        next(following)
        writer = Writer(server.url, "one", "race", count)
        try:
            writer.has_written(count // 2)
            sleep(seconds)  # the follower does not listen meanwhile: that is the test
            heard = [next(following).recorded.seq for _ in range(count)]
            assert writer.wait() == 0
        finally:
            writer.kill()
        assert heard == [*range(2, count + 2)]
        outcome = judged(journal, ["race"], {"one": writer.acknowledged})
    proves("a follower that sleeps", engine, f"{seconds:g} s", outcome)


@pytest.mark.parametrize("patience", [1.0, pytest.param(None, marks=pytest.mark.torture)])
@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_a_server_that_says_nothing_is_away_and_no_call_waits_for_ever(
    engine: str, patience: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if patience is not None:
        for name in ("postgres.server.ANSWER_TIMEOUT", "jetstream.journal.PATIENCE"):
            monkeypatch.setattr(f"planwire.journal.{name}", patience)
    with own_server(engine) as server, open_engine(server.url) as journal:
        journal.append("a", [Stamped(1, "agent", TurnEnded("one"))])
        server.network.fall_silent()
        start = monotonic()
        with pytest.raises(EngineAway):
            journal.append("a", [Stamped(1, "agent", TurnEnded("two"))])
        assert monotonic() - start < BOUND
        server.network.recover()
        server.network.cut()
        found: list[Event] = []
        until(lambda: _has_read(journal, found), BOUND)
        assert found[0] == TurnEnded("one")
        assert len(found) <= 2


def _has_read(journal: Journal, found: list[Event]) -> bool:
    try:
        found[:] = [each.event for each in journal.read("a")]
    except EngineAway:
        return False
    return True


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_a_server_that_answers_late_is_waited_for(
    engine: str, late: tuple[float, int], proves: Callable[[str, str, str, Outcome], None]
) -> None:
    seconds, count = late
    with own_server(engine) as server, open_engine(server.url) as journal:
        server.network.answer_late(seconds)
        for n in range(count):
            journal.append("race", [Stamped(1, "one", TurnEnded(f"one {n}"))])
        server.network.answer_late(0)
        outcome = judged(journal, ["race"], {"one": range(count)})
    proves("a server that answers late", engine, f"{count:,} appends, {seconds:g} s each", outcome)
