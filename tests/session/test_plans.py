"""A pool of sessions by their keys, for programs that serve many conversations."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from planwire import V2, BlockingPlanSession, Peer, PlanSession, open_journal
from planwire.errors import JournalError, JournalUnavailable
from planwire.session import plans as pooling
from planwire.session.plans import Plans


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool looks for idle sessions whenever one comes back."""
    monkeypatch.setattr(pooling, "_LOOK_SECONDS", 0.0)


@asynccontextmanager
async def pooled(**options: Any) -> AsyncIterator[Plans]:
    async with Plans("memory:", **options) as plans:
        yield plans


def test_tasks_with_one_key_share_one_session_and_those_with_another_never_see_its_plan() -> None:
    async def talk(plans: Plans, key: str, together: asyncio.Barrier) -> tuple[int, str]:
        async with plans.session(key) as session:
            await together.wait()
            return id(session), str(await session.recap())

    async def main() -> None:
        async with pooled() as plans:
            for key in ("alice", "bob"):
                async with plans.session(key) as session:
                    await session.set([f"plan of {key}"])
            together = asyncio.Barrier(8)
            both = [talk(plans, key, together) for key in ("alice", "bob") for _ in range(4)]
            found = await asyncio.gather(*both)
            assert len({session for session, _ in found[:4]}) == len({session for session, _ in found[4:]}) == 1
            assert all("plan of alice" in text and "bob" not in text for _, text in found[:4])
            assert all("plan of bob" in text and "alice" not in text for _, text in found[4:])
            assert len(plans) == 2

    asyncio.run(main())


def test_threads_with_one_key_share_one_session() -> None:
    together = Barrier(6)
    found: list[BlockingPlanSession] = []

    def talk() -> None:
        together.wait()
        with plans.session("alice") as session:
            together.wait()
            found.append(session)

    with Plans("memory:") as plans:
        threads = [Thread(target=talk) for _ in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len({id(each) for each in found}) == 1
        assert isinstance(found[0], BlockingPlanSession)


def test_a_session_that_nobody_uses_goes_and_comes_back_from_the_journal_as_it_was() -> None:
    with Plans("memory:", idle_seconds=0) as plans:
        with plans.session("alice") as first:
            first.set(["read"])
            first.add({"role": "user", "content": "hello"})
            told = first.context()
        assert len(plans) == 0
        with plans.session("alice") as again:
            assert again is not first
            assert again.context() == told
            with plans.session("bob"):
                pass
            assert len(plans) == 1, "one that is in use stays"


def test_only_so_many_idle_sessions_stay_open_those_that_were_used_last() -> None:
    with Plans("memory:", idle_sessions=2) as plans:
        kept = {}
        for key in ("a", "b", "a", "c", "d"):
            with plans.session(key) as kept[key]:
                pass
        assert len(plans) == 2
        with plans.session("d") as d, plans.session("c") as c, plans.session("a") as a:
            assert (d, c) == (kept["d"], kept["c"])
            assert a is not kept["a"]


@pytest.mark.parametrize("is_async", [True, False])
def test_a_session_with_a_client_stays_open_though_nobody_uses_it(is_async: bool) -> None:
    lines: list[bytes] = []

    async def send(line: bytes) -> None:
        lines.append(line)

    async def main() -> None:
        async with pooled(idle_seconds=0) as plans:
            if is_async:
                async with plans.session("alice") as session:
                    client = session.connect(Peer(V2, send))
            else:
                with plans.session("alice") as blocking:
                    blocking_client = blocking.connect(Peer(V2, lines.append))
            assert len(plans) == 1
            await (await plans.session("alice")).set(["read"])
            await (await plans.session("alice")).flush()
            assert len(plans) == 1
            if is_async:
                await client.close()
            else:
                await asyncio.to_thread(blocking_client.close)
            async with plans.session("alice"):
                pass
            assert len(plans) == 0, "a client that was let go keeps nothing open"
        assert b"read" in b"".join(lines)

    asyncio.run(main())


def test_a_session_that_is_awaited_works_though_it_counts_as_idle() -> None:
    async def main() -> None:
        async with pooled() as plans:
            session = await plans.session("alice")
            await session.set(["read"])
            assert (await (await plans.session("alice")).refresh()).plans["main"].version == 1

    asyncio.run(main())


def test_a_pool_is_closed_once_or_twice_and_leaves_the_journal_of_others_open(tmp_path: Path) -> None:
    own = Plans(tmp_path / "plans.db")
    with own.session("alice") as session:
        session.set(["read"])
    own.close()
    own.close()
    with pytest.raises(JournalUnavailable, match="closed"):
        session.refresh()
    with own.session("alice") as again:
        assert again.state.plans["main"].version == 1
    own.close()
    with open_journal("memory:") as journal:
        with Plans(journal) as plans, plans.session("bob") as session:
            session.set(["read"])
        plans.close()
        assert journal.last_seq("bob") == 1

    async def main() -> None:
        plans = Plans("memory:")
        async with plans.session("alice"):
            pass
        await plans.aclose()
        await plans.aclose()

    asyncio.run(main())


def test_a_journal_that_can_not_be_opened_says_so_at_the_first_use_and_at_each(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("this is no database, whatever its name says\n" * 40)
    plans = Plans(tmp_path / "no.db")

    async def main() -> None:
        for _ in range(2):
            with pytest.raises(JournalError):
                async with plans.session("alice"):
                    pytest.fail("it opened")
            with pytest.raises(JournalError), plans.session("alice"):
                pytest.fail("it opened")
        assert len(plans) == 0
        await plans.aclose()

    asyncio.run(main())
    with pytest.raises(TypeError, match="no option 'fromat': did you mean format"):
        Plans("memory:", fromat="anthropic")  # type: ignore[call-arg]
    with Plans("memory:") as other, pytest.raises(TypeError, match="no option"):
        other.session("alice", fromat="x")  # type: ignore[call-arg]


def test_an_error_in_the_block_gives_the_session_back() -> None:
    with Plans("memory:", idle_seconds=0) as plans:
        with pytest.raises(ZeroDivisionError), plans.session("alice"):
            raise ZeroDivisionError
        assert len(plans) == 0


def test_a_task_that_is_cancelled_while_its_session_opens_keeps_nothing_open() -> None:
    async def main() -> None:
        async with pooled(idle_seconds=0) as plans:
            for ticks in range(6):
                task = asyncio.create_task(_use(plans))
                for _ in range(ticks):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            async with plans.session("alice"):
                pass
            async with asyncio.timeout(20):  # those of cancelled tasks come back a little later
                while len(plans):
                    async with plans.session("bob"):
                        pass

    asyncio.run(main())


async def _use(plans: Plans) -> None:
    async with plans.session("alice") as session:
        await session.refresh()


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

    asyncio.run(serve())


def test_an_option_that_there_is_none_of_is_refused_at_the_call() -> None:
    with pytest.raises(TypeError, match="no option 'fromat'"):
        Plans("memory:", fromat="anthropic")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no option 'fromat'"):
        Plans("memory:").session("s", fromat="anthropic")  # type: ignore[call-arg]
