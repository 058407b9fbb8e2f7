"""How a session is opened and closed, and what it costs to have many."""

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest

from planwire import V1, BlockingPlanSession, Peer, Plans, PlanSession, open_journal
from planwire.chat import CHAT_FORMATS
from planwire.errors import FormatError, JournalUnavailable
from planwire.journal import Stamped, load_state, state_at
from planwire.model.events import TurnEnded
from planwire.session import pool
from planwire.session.options import Oversize, ProviderFormat
from planwire.tools.size_limits import OVERSIZE


def test_journals_and_sessions_need_no_module_that_only_some_systems_have() -> None:
    code = """
import sys
sys.modules |= dict.fromkeys(("fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty"))
import planwire.journal.sqlite.journal, planwire.session.plan_session
with planwire.BlockingPlanSession.open(sys.argv[1], "s") as plans:
    print(plans.call("set_plan", {"entries": ["read"]})["revision"])
"""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-c", code, f"{folder}/plans.db"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1\n"


def test_the_formats_that_the_type_checker_knows_are_those_that_there_are() -> None:
    assert set(get_args(ProviderFormat)) == set(CHAT_FORMATS)
    assert set(get_args(Oversize)) == set(OVERSIZE)


@pytest.mark.parametrize("kind", [PlanSession, BlockingPlanSession])
def test_an_option_that_there_is_none_of_is_refused_before_anything_is_opened(kind: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="no option 'fromat': did you mean format"):
        kind.open(tmp_path / "plans.db", "s", fromat="anthropic")
    with pytest.raises(TypeError, match="no option 'x': there are format, by, folders"):
        kind.open(tmp_path / "plans.db", "s", x=1)
    assert list(tmp_path.iterdir()) == []


def test_an_id_that_is_a_number_is_an_error_that_says_what_to_use() -> None:
    key: Any = 5
    with pytest.raises(TypeError, match="a session id must be a text, not 5: use '5'"):
        BlockingPlanSession.open("memory:", key)
    with BlockingPlanSession.open("memory:", "s") as session, pytest.raises(TypeError, match="use '5'"):
        session.fork(key)
    with Plans("memory:") as plans, pytest.raises(TypeError, match="use '5'"), plans.session(key):
        pass


@pytest.mark.parametrize("name", ["plans.db", Path("plans.db")])
def test_a_name_where_a_journal_belongs_is_an_error_that_says_how_to_open_it(name: Any) -> None:
    on_a_loop: Any = PlanSession
    with pytest.raises(TypeError, match=r"not its name .*: use BlockingPlanSession\.open\(.*plans\.db'"):
        BlockingPlanSession(name, "s")
    with pytest.raises(TypeError, match=r"use PlanSession\.open\(.*plans\.db'"):
        on_a_loop(name, "s", format="anthropic")
    asked: list[Callable[[], object]] = [lambda: load_state(name, "s"), lambda: state_at(name, "s", 1)]
    for ask in asked:
        with pytest.raises(TypeError, match=r"use open_journal\(.*plans\.db'"):
            ask()


def test_a_blocking_session_is_closed_by_with_by_hand_or_when_it_is_forgotten(tmp_path: Path) -> None:
    with BlockingPlanSession.open(tmp_path / "plans.db", "s") as plans:
        plans.call("set_plan", {"entries": ["read"]})
    by_hand = BlockingPlanSession.open(tmp_path / "plans.db", "s")
    assert by_hand.call("get_plan")["plan"]["revision"] == 1
    by_hand.close()
    by_hand.close()
    for each in (plans, by_hand):
        with pytest.raises(JournalUnavailable, match="closed"):
            each.refresh()
    forgotten = BlockingPlanSession.open(tmp_path / "plans.db", "s")
    journal = forgotten.journal
    del forgotten
    gc.collect()
    with pytest.raises(JournalUnavailable, match="closed"):
        journal.last_seq("s")


def test_a_session_on_an_event_loop_is_closed_by_async_with_or_by_hand(tmp_path: Path) -> None:
    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            await plans.call("set_plan", {"entries": ["read"]})
        by_hand = await PlanSession.open(tmp_path / "plans.db", "s")
        assert by_hand.state.plans["main"].revision == 1
        await by_hand.close()
        await by_hand.close()
        async with await PlanSession.open(tmp_path / "plans.db", "s") as again:
            assert again.state.seq == 1
        for each in (plans, by_hand, again):
            with pytest.raises(JournalUnavailable, match="closed"):
                await each.refresh()

    asyncio.run(main())


def test_a_process_that_forgets_to_close_its_sessions_ends_in_peace(tmp_path: Path) -> None:
    code = """
import asyncio, sys
from planwire import V2, BlockingPlanSession, Peer, PlanSession
async def send(line):
    pass
async def main():
    plans = await PlanSession.open(sys.argv[1], "s")
    plans.connect(Peer(V2, send))
    await plans.call("set_plan", {"entries": ["read"]})
    await plans.changed(0)
blocking = BlockingPlanSession.open(sys.argv[1], "other")
blocking.call("set_plan", {"entries": ["read"]})
asyncio.run(main())
"""
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "plans.db")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [each.name for each in tmp_path.iterdir()] == ["plans.db"]


def test_a_journal_of_the_callers_stays_open() -> None:
    async def main() -> None:
        with open_journal("memory:") as journal:
            with BlockingPlanSession.open(journal, "s") as blocking:
                blocking.call("set_plan", {"entries": ["read"]})
            async with PlanSession.open(journal, "s") as plans:
                await plans.changed(0)
            assert journal.last_seq("s") == 1

    asyncio.run(main())


def test_a_session_that_can_not_be_opened_leaves_no_journal_open(tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        BlockingPlanSession.open(tmp_path / "plans.db", "s", format="mcp")  # type: ignore[arg-type]
    assert [each.name for each in tmp_path.iterdir()] == ["plans.db"]


@pytest.mark.parametrize("url", ["memory:", "plans.db"])
def test_fifty_sessions_that_wait_for_changes_share_one_follower_and_one_pool(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"session {number}" for number in range(50)]

    async def main(before: set[threading.Thread]) -> None:
        with open_journal(url) as journal:
            sessions = [await PlanSession.open(journal, name) for name in names]
            waiting = [asyncio.create_task(each.changed(0)) for each in sessions]
            following = [each._blocking._following for each in sessions]
            while not all(each._subscription and each._subscription.done() for each in following):
                await asyncio.sleep(0)
            new = [thread.name for thread in set(threading.enumerate()) - before]
            assert new.count("planwire-follower") == 1
            assert len(new) <= 1 + pool.WORKERS
            for name in names:
                await asyncio.to_thread(journal.append, name, [Stamped(1, "agent", TurnEnded("end_turn"))])
            assert [state.id for state in await asyncio.gather(*waiting)] == names
            for each in sessions:
                await each.close()

    asyncio.run(main(set(threading.enumerate())))


def test_two_hundred_sessions_with_a_client_each_cost_no_thread_of_their_own(tmp_path: Path) -> None:
    heard: dict[str, list[bytes]] = {}

    async def main(before: set[threading.Thread]) -> None:
        with open_journal(tmp_path / "plans.db") as journal:
            sessions = [await PlanSession.open(journal, f"s{number}") for number in range(200)]
            for each in sessions:
                lines = heard.setdefault(each.id, [])
                each.connect(Peer(V1, lines.append))
            await asyncio.gather(*(each.set([f"plan of {each.id}"]) for each in sessions))
            await asyncio.gather(*(each.flush() for each in sessions))
            assert len(set(threading.enumerate()) - before) <= 1 + pool.WORKERS
            await asyncio.gather(*(each.close() for each in sessions))

    asyncio.run(main(set(threading.enumerate())))
    assert all(f'"plan of {name}"'.encode() in b"".join(lines) for name, lines in heard.items())


def test_a_compaction_that_is_cancelled_in_the_middle_holds_up_no_other() -> None:
    async def main() -> None:
        with open_journal("memory:") as journal:
            sessions = [await PlanSession.open(journal, f"s{number}") for number in range(12)]
            together = asyncio.Barrier(len(sessions))

            async def compact(plans: PlanSession) -> None:
                async def summarise(_messages: Any) -> str:
                    await together.wait()
                    await asyncio.sleep(0 if plans.id < "s2" else 3_600)
                    return "a summary"

                await plans.add(*({"role": "user", "content": "x" * 400} for _ in range(9)))
                await plans.compact(300, tail=1, summarise=summarise)

            tasks = [asyncio.create_task(compact(each)) for each in sessions]
            quick = [task for task, each in zip(tasks, sessions, strict=True) if each.id < "s2"]
            await asyncio.wait_for(asyncio.gather(*quick), 60)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for each in sessions:
                compacted = "a summary" in str(await each.context())
                assert compacted == (each.id < "s2")
                assert (await each.compact(300, tail=1)).tokens_after <= 300
                await each.close()

    asyncio.run(main())


def test_more_compactions_at_once_than_the_pool_has_threads_do_not_wait_for_each_other() -> None:
    async def main() -> None:
        with open_journal("memory:") as journal:
            number = pool.WORKERS + 4
            sessions = [await PlanSession.open(journal, f"s{each}") for each in range(number)]
            together = asyncio.Barrier(number)

            async def compact(plans: PlanSession) -> None:
                async def summarise(_messages: Any) -> str:
                    await together.wait()
                    await asyncio.get_running_loop().getaddrinfo("localhost", 80)  # as every HTTP client does
                    await plans.add({"role": "user", "content": "meanwhile"})
                    return "a summary"

                await plans.add(*({"role": "user", "content": "x" * 400} for _ in range(9)))
                await plans.compact(300, tail=1, summarise=summarise)

            await asyncio.wait_for(asyncio.gather(*map(compact, sessions)), 60)
            for each in sessions:
                assert "meanwhile" in str(await each.context())
                await each.close()

    asyncio.run(main())


def test_compactions_go_on_while_an_application_fills_the_threads_of_its_loop() -> None:
    async def main() -> None:
        loop, done = asyncio.get_running_loop(), threading.Event()
        loop.set_default_executor(ThreadPoolExecutor(1))
        busy = loop.run_in_executor(None, done.wait)
        async with PlanSession.open("memory:", "s") as plans:

            async def summarise(_messages: Any) -> str:
                return "a summary"

            await plans.add(*({"role": "user", "content": "x" * 400} for _ in range(9)))
            made = await asyncio.wait_for(plans.compact(300, tail=1, summarise=summarise), 60)
            assert made.tokens_after <= 300
        done.set()
        await busy

    asyncio.run(main())
