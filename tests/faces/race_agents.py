"""Two agents that never rest: one behind a real relay, which sends its own list, and one with the plan tools. Each
changes one of its first ten steps every 250 ms."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

from planwire import PlanSession
from planwire.journal import Journal, load_state
from planwire.model.plan import Fields
from tests.agents.driving import Relayed
from tests.faces.race_acts import RELAYED, STEPS, TOOLED
from tests.waiting import until
from tests.wire import entry

__all__ = ["Answered", "RelayedAgent", "ToolAgent"]

SECONDS = 0.25
OWN_STEPS = 10
STATUSES = ("in_progress", "completed", "pending")


class RelayedAgent:
    """An agent behind `planwire relay`. Its client prompts it once, and cancels that turn in the end."""

    def __init__(self, folder: Path, journal: Journal, path: Path) -> None:
        self._memory = folder / "prompts.jsonl"
        self._journal = journal
        self._path = path

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Works until the end of the block; then it is prompted once more, and hears what people said."""
        entries = json.dumps([entry(step) for step in STEPS])
        with Relayed("restless.py", str(self._memory), journal=self._path) as relayed:
            assert relayed.begin() == RELAYED
            turn = Thread(target=self._prompt, args=(relayed, entries))
            turn.start()
            try:
                until(lambda: load_state(self._journal, RELAYED).plans)
                yield
            finally:
                cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": RELAYED}}
                relayed.write(json.dumps(cancel).encode() + b"\n")
                turn.join()
            self._prompt(relayed, "What did people say?")
            assert relayed.end() == (0, "")

    def _prompt(self, relayed: Relayed, text: str) -> None:
        relayed.ask("session/prompt", sessionId=RELAYED, prompt=[{"type": "text", "text": text}])

    def prompts(self) -> list[list[str]]:
        """The texts of each prompt, as the agent got them."""
        return [json.loads(line) for line in self._memory.read_text().splitlines()]


class Answered(NamedTuple):
    """The answer of a call: the last event before the call began, and what the answer said of people."""

    since: int
    people: list[Fields]


class ToolAgent:
    """An agent with a `PlanSession`, on an event loop in a thread of its own."""

    def __init__(self, journal: Journal, path: Path) -> None:
        self._journal = journal
        self._path = path
        self._is_over = Event()
        self.answers: list[Answered] = []
        self.problems: list[object] = []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Works until the end of the block, and makes one more call."""
        thread = Thread(target=lambda: asyncio.run(self._work()))
        thread.start()
        try:
            until(lambda: load_state(self._journal, TOOLED).plans)
            yield
        finally:
            self._is_over.set()
            thread.join()

    async def _work(self) -> None:
        async with PlanSession.open(self._path, TOOLED) as plans:
            await self._call(plans, "set_plan", entries=list(STEPS))
            for beat in count():
                was_over = self._is_over.is_set()
                status = STATUSES[beat // OWN_STEPS % len(STATUSES)]
                await self._call(plans, "update_plan", steps={f"s{beat % OWN_STEPS + 1}": status})
                if was_over:
                    return
                await asyncio.sleep(SECONDS)

    async def _call(self, plans: PlanSession, name: str, **arguments: object) -> None:
        since = self._journal.last_seq(TOOLED)
        answer = await plans.call(name, arguments)
        self.answers.append(Answered(since, list(answer.get("people", ()))))
        if "error" in answer:
            self.problems.append(answer["error"])
