"""Machines whose clocks are hours apart: times never run backwards in a session, and no lease lapses early."""

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Timer

import pytest

from planwire.journal.engines import open_engine
from tests.servers.own import ENGINES_WITH_SERVERS, own_server
from tests.torture.ledger import Outcome

ROOT = Path(__file__).parents[2]
#: A machine whose clock is wrong by so many seconds: it writes a plan, and holds a lease until its input ends.
MACHINE = """
import sys, time
wrong, now, now_ns = float(sys.argv[1]), time.time, time.time_ns
time.time = lambda: now() + wrong
time.time_ns = lambda: now_ns() + int(wrong * 1e9)
import os
from planwire import BlockingPlanSession, open_journal
from planwire.journal import Terms
with open_journal(os.environ["PLANWIRE_JOURNAL"]) as journal:
    with BlockingPlanSession(journal, "s") as plans:
        if plans.state.plans:
            plans.call("update_plan", {"note": f"a clock that is wrong by {wrong} seconds"})
        else:
            plans.call("set_plan", {"entries": ["Read", "Write"]})
    lease = journal.lease("s", Terms("relay", is_working=True))
    print("held", flush=True)
    sys.stdin.read()
"""
#: Machines: the clocks are two hours ahead and behind by turns.
MACHINES = [2, pytest.param(20, marks=[pytest.mark.torture, pytest.mark.timeout(600)])]


@pytest.mark.parametrize("count", MACHINES)
@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_clocks_that_are_hours_apart_neither_turn_times_back_nor_end_a_lease(
    engine: str, count: int, tmp_path: Path, proves: Callable[[str, str, str, Outcome], None]
) -> None:
    with own_server(engine) as server:
        environment = {**os.environ, "PLANWIRE_JOURNAL": server.url, "PYTHONPATH": str(ROOT / "src")}
        machines = []
        try:
            for number in range(count):
                machine = subprocess.Popen(
                    [sys.executable, "-c", MACHINE, str(7_200 * (-1) ** number)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**environment, "XDG_DATA_HOME": str(tmp_path / str(number))},
                )
                machines.append(machine)
                assert machine.stdout is not None
                watchdog = Timer(30, machine.kill)
                watchdog.start()
                assert machine.stdout.readline() == b"held\n"
                watchdog.cancel()
            with open_engine(server.url) as journal:
                times = [each.at for each in journal.read("s")]
                assert [each.is_held for each in journal.leases()] == [True] * count
        finally:
            for machine in machines:
                machine.kill()
                machine.communicate()
    backwards = sum(before > after for before, after in pairwise(times))
    outcome = Outcome(len(times), lost=max(count - len(times), 0), doubled=0, disordered=backwards, unlinked=0)
    proves("clocks that are four hours apart", engine, f"{count} machines", outcome)
