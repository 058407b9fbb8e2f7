"""The agents for the benchmark of people's words: each in a process of its own, as agents are.

`ask JOURNAL` calls a plan tool for each line of its input, and prints what people said, as the answer brings it.
`work JOURNAL` changes its first step every few milliseconds, until its input ends: with the plan tools in the session
`tools`, and as an agent that reports its list over ACP in the session `wire`.
"""

import json
import select
import sys
from collections.abc import Callable
from itertools import cycle
from typing import Any

from planwire import BlockingPlanSession
from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import ACP, PlanSet
from planwire.model.plan import Entry, ItemsPlan

__all__ = ["MILLISECONDS", "STEPS"]

STEPS = 50
MILLISECONDS = 4
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_plan", {}),
    ("update_plan", {"steps": {"s1": "completed"}}),
    ("update_plan", {"steps": {"s1": "pending"}}),
)


def ask(journal: Journal) -> None:
    agent = BlockingPlanSession(journal, "asked")
    agent.call("set_plan", {"entries": ["Read", "Write"]})
    print("ready", flush=True)
    for (name, arguments), _ in zip(cycle(_CALLS), sys.stdin, strict=False):
        answer = agent.call(name, arguments)
        told = [*answer.get("people", ()), *answer.get("remarks", ())]  # a plan comes with all remarks that are open
        print(json.dumps([each.get("text") for each in told]), flush=True)


def work(journal: Journal) -> None:
    agent = BlockingPlanSession(journal, "tools")
    texts = [f"Step {number}" for number in range(STEPS)]
    agent.call("set_plan", {"entries": texts})

    def report(status: str) -> None:
        entries = (Entry(text, "medium", status if number == 0 else "pending") for number, text in enumerate(texts))
        ids = tuple(f"s{number}" for number in range(1, STEPS + 1))
        journal.append("wire", [Stamped(0, "agent", PlanSet(ItemsPlan(None, tuple(entries)), via=ACP, ids=ids))])

    report("pending")
    print("ready", flush=True)
    for status in cycle(("in_progress", "pending")):
        if select.select([sys.stdin], [], [], MILLISECONDS / 1_000)[0]:
            return
        agent.call("update_plan", {"steps": {"s1": status}})
        report(status)


if __name__ == "__main__":
    doing: dict[str, Callable[[Journal], None]] = {"ask": ask, "work": work}
    with open_journal(sys.argv[2]) as opened:
        doing[sys.argv[1]](opened)
