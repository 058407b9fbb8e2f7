"""What a thousand sessions cost a program that serves them: at rest, and when all of their plans change.

The sessions are `PlanSession`s on one journal in a file, each with a client (v1) connected. They run in a process of
their own, on one event loop: its threads and its CPU time are all theirs. A change is a `set_plan` and the wait until
the client has the line. All sessions change at once, as they would for a server's many users. The figure compares that
with a session alone on its journal, in the same process, before any other is opened.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from bench.figure import Figure, at_most
from bench.progress import say
from bench.proof import prove
from planwire import V1, Peer, PlanSession, open_journal
from planwire.journal import Journal

__all__ = ["measure"]

SESSIONS = 1_000
#: Seconds at rest, and seconds to wait before: right after a change, a journal is looked at more often.
REST = 5.0
SETTLING = 1.5
#: Changes of the session that is alone, and rounds in which all sessions change.
ALONE = 200
ROUNDS = 5
STEPS = 12
_TASKS = Path("/proc/self/task")


def measure() -> Iterator[Figure]:
    say(f"{SESSIONS:,} sessions in a process: {REST:g} s at rest, {ROUNDS} rounds of changes")
    found = json.loads(subprocess.check_output([sys.executable, "-m", "bench.sessions"]))
    yield Figure("sessions_1000_idle_cpu_percent", found["idle"], "%", at_most(2))
    yield Figure("sessions_1000_threads", found["threads"], "", at_most(12))
    yield Figure("sessions_1000_change_vs_one", found["all"] / found["one"], "x", at_most(1_500))
    yield Figure("sessions_1_change_ms", found["one"] * 1_000, "ms")
    yield Figure("sessions_1000_change_ms", found["all"] * 1_000, "ms")
    yield Figure("sessions_1000_open_ms", found["open"] * 1_000, "ms")


class Served:
    """A session, and the last line that its client got."""

    def __init__(self, plans: PlanSession) -> None:
        self.plans = plans
        self.line = b""
        plans.connect(Peer(V1, self._send))

    async def _send(self, line: bytes) -> None:
        self.line = line

    async def change(self, number: int) -> float:
        """Set a plan. Returns the seconds until the client knows it."""
        start = perf_counter()
        answer = await self.plans.call("set_plan", {"entries": entries(number), "replace": True})
        await self.plans.flush()
        prove("error" in answer, False, f"an answer: {answer}")
        return perf_counter() - start

    def prove(self, number: int) -> None:
        [first, *_] = json.loads(self.line)["params"]["update"]["entries"]
        prove(first["content"], entries(number)[0], "the client's plan")


def entries(number: int) -> list[str]:
    """An agent's list: its first step says what it does now, the others are as before."""
    others = [f"Step {step} of what there is to do" for step in range(1, STEPS)]
    return [f"Working on it, change {number} of many", *others]


async def serve(folder: Path) -> dict[str, float]:
    with open_journal(folder / "one.db") as journal:
        one = Served(await PlanSession.open(journal, "one"))
        alone = [await one.change(number) for number in range(ALONE)]
        one.prove(ALONE - 1)
        await one.plans.close()
    with open_journal(folder / "many.db") as journal:
        return {"one": median(alone), **await serve_many(journal)}


async def serve_many(journal: Journal) -> dict[str, float]:
    start = perf_counter()
    many = [Served(await PlanSession.open(journal, f"session-{number}")) for number in range(SESSIONS)]
    await asyncio.gather(*(each.change(-1) for each in many))
    opened = perf_counter() - start
    rounds = []
    for number in range(ROUNDS):
        start = perf_counter()
        await asyncio.gather(*(each.change(number) for each in many))
        rounds.append(perf_counter() - start)
        for each in many:
            each.prove(number)
    await asyncio.sleep(SETTLING)
    start, worked = perf_counter(), process_time()
    await asyncio.sleep(REST)
    idle = (process_time() - worked) / (perf_counter() - start) * 100
    found = {"all": median(rounds), "idle": idle, "threads": threads(), "open": opened}
    await asyncio.gather(*(each.plans.close() for each in many))
    return found


def threads() -> int:
    """The number of threads of this process, where the system tells also those that Python does not know of."""
    return len([*_TASKS.iterdir()]) if _TASKS.exists() else threading.active_count()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(asyncio.run(serve(Path(place)))), flush=True)
