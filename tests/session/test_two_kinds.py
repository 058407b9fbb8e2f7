"""The two kinds of session have the same methods, with the same arguments; and both tell as text what they tell as
messages."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Final

import pytest

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.chat import chat_format

#: What only one kind has, and why.
ONLY_BLOCKING: Final = {
    "as_messages": "the rest of the work, for the other kind",
    "call_now": "an event loop waits without a thread",
    "compacting": "an event loop awaits summaries between the steps of a compaction",
    "follow": "on_change, connect and changed begin it",
    "hand_pending": "an event loop can cancel a call, and then nothing was told",
    "hand_recap": "the same",
    "plan_folders": "the core's",
    "read_file": "the core's",
    "reader": "the core's",
    "settle": "an event loop does it in the background",
    "until_news": "an event loop waits for that long without a thread",
}
ONLY_ON_A_LOOP: Final = {
    "changed": "a thread waits with on_change and an event of its own",
    "hold": "servers hold sessions, and run on loops",
}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def parameters(method: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(method).parameters if name != "self"]


def test_both_kinds_have_the_same_methods_with_a_few_exceptions_that_have_reasons() -> None:
    assert public(BlockingPlanSession) - public(PlanSession) == ONLY_BLOCKING.keys()
    assert public(PlanSession) - public(BlockingPlanSession) - {"id", "folders"} == ONLY_ON_A_LOOP.keys()
    blocking = BlockingPlanSession.open("memory:", "s")
    assert (blocking.id, blocking.folders) == ("s", ())
    blocking.close()


@pytest.mark.parametrize("name", sorted(public(PlanSession) & public(BlockingPlanSession)))
def test_a_method_takes_the_same_on_both_kinds(name: str) -> None:
    ours, theirs = getattr(PlanSession, name), getattr(BlockingPlanSession, name)
    if callable(ours):
        assert parameters(ours) == parameters(theirs)
    else:
        assert isinstance(ours, property)
        assert isinstance(theirs, property)


def test_what_a_session_tells_comes_as_one_text_too() -> None:
    with open_journal("memory:") as journal:
        plans, person = (BlockingPlanSession(journal, "s", by=by) for by in ("agent", "ann"))
        assert plans.pending_text() == plans.recap_text() == ""
        plans.set(["Read", "Write"])
        person.note("It is TOML.")
        told = plans.pending_text()
        assert told.startswith('<plan id="main"')
        assert told.count("<plan-update") == 1
        assert plans.pending_text(again=True) == told
        assert plans.pending_text() == ""
        assert plans.recap_text() == plans.recap()[0]["content"]


def test_it_does_on_an_event_loop_as_well() -> None:
    async def work() -> None:
        async with PlanSession.open("memory:", "s", format="anthropic") as plans:
            await plans.set(["Read", "Write"])
            told = await plans.pending_text()
            assert await plans.pending(again=True) == [chat_format("anthropic").context(told)]
            assert await plans.pending_text() == ""
            assert await plans.recap_text() == told

    asyncio.run(work())
