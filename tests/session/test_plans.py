"""A pool of sessions: one for each conversation, open while it is used."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from planwire import V1, BlockingPlanSession, Peer, Plans, PlanSession
from planwire.session import plans as pool


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool that looks for idle sessions at every return."""
    monkeypatch.setattr(pool, "_LOOK_SECONDS", 0.0)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 60)

    asyncio.run(bounded())


def test_a_conversation_is_never_shown_the_plan_of_another() -> None:
    async def serve() -> None:
        async with Plans("memory:", format="anthropic") as plans:
            async with plans.session("alice") as alice:
                await alice.call("set_plan", {"entries": ["Book the flight"]})
                assert "Book the flight" in await alice.recap_text()
            async with plans.session("bob") as bob:
                assert await bob.recap() == await bob.pending() == []
            async with plans.session("alice") as again:
                assert again is alice

    run(serve)


def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    plans = Plans(tmp_path / "plans.db")
    lent = plans.session("s")
    assert list(tmp_path.iterdir()) == []
    with lent as session:
        assert session.id == "s"
    assert len(plans) == 1
    plans.close()
    plans.close()
    assert len(plans) == 0


@pytest.mark.usefixtures("eager")
def test_an_idle_session_goes_and_is_back_with_its_plan_when_it_is_needed(tmp_path: Path) -> None:
    with Plans(tmp_path / "plans.db", idle_seconds=-1) as plans:
        with plans.session("s") as first:
            first.set(["Read the config"])
            assert len(plans) == 1
        assert len(plans) == 0
        with plans.session("s") as second:
            assert second is not first
            assert "Read the config" in second.pending_text()


@pytest.mark.usefixtures("eager")
def test_those_used_last_stay_when_there_are_too_many() -> None:
    with Plans("memory:", idle_sessions=2) as plans:
        first: dict[str, BlockingPlanSession] = {}
        for key in ("a", "b", "a", "c"):
            with plans.session(key) as session:
                first.setdefault(key, session)
        with plans.session("a") as again:
            assert again is first["a"], "b was used longest ago"
        assert len(plans) == 2


@pytest.mark.usefixtures("eager")
def test_a_session_stays_while_someone_uses_it_or_a_client_hears_of_it() -> None:
    with Plans("memory:", idle_seconds=-1) as plans:
        with plans.session("s") as outer:
            with plans.session("s") as inner:
                assert inner is outer
            assert len(plans) == 1
            connection = outer.connect(Peer(V1, lambda line: None))
        assert len(plans) == 1, "its client would hear nothing more"
        with plans.session("s"):
            connection.close()
        assert len(plans) == 0


@pytest.mark.usefixtures("eager")
def test_a_client_of_an_event_loop_counts_until_its_connection_closes() -> None:
    async def send(line: bytes) -> None: ...

    async def serve() -> None:
        async with Plans("memory:", idle_seconds=-1) as plans:
            async with plans.session("s") as session:
                connection = session.connect(Peer(V1, send))
            assert len(plans) == 1
            await connection.close()
            async with plans.session("s"):
                pass
            assert len(plans) == 0

    run(serve)


def test_both_kinds_of_session_come_from_one_pool() -> None:
    async def serve() -> None:
        async with Plans("memory:", by="ann") as plans:
            session = await plans.session("s")
            assert isinstance(session, PlanSession)
            await session.set(["Read the config"])
            with plans.session("s") as same:
                assert isinstance(same, BlockingPlanSession)
                assert same.state is session.state
                assert same.state.plans["main"].by == "ann"

    run(serve)


def test_an_option_that_there_is_none_of_is_refused_at_the_call() -> None:
    with pytest.raises(TypeError, match="no option 'fromat'"):
        Plans("memory:", fromat="anthropic")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no option 'fromat'"):
        Plans("memory:").session("s", fromat="anthropic")  # type: ignore[call-arg]
