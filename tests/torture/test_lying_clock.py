"""Machines whose clocks are hours apart: times never run backwards in a session, and nobody's lease lapses for it."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from planwire.journal.engines import open_engine
from tests.servers.own import ENGINES_WITH_SERVERS, own_server

ROOT = Path(__file__).parents[2]
#: A machine that is so many seconds behind: it writes a plan, and holds a lease until its input ends.
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
        plans.call("set_plan" if wrong > 0 else "update_plan", {"entries": ["Read", "Write"]} if wrong > 0 else
                   {"steps": {"s1": "completed"}})
    lease = journal.lease("s", Terms("relay", is_working=True))
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_clocks_that_are_hours_apart_neither_turn_times_back_nor_end_a_lease(engine: str, tmp_path: Path) -> None:
    with own_server(engine) as server:
        environment = {**os.environ, "PLANWIRE_JOURNAL": server.url, "PYTHONPATH": str(ROOT / "src")}
        machines = []
        try:
            for wrong in ("7200", "-7200"):
                machine = subprocess.Popen(
                    [sys.executable, "-c", MACHINE, wrong],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**environment, "XDG_DATA_HOME": str(tmp_path / wrong)},
                )
                machines.append(machine)
                assert machine.stdout is not None
                watchdog = Timer(30, machine.kill)
                watchdog.start()
                assert machine.stdout.readline() == b"held\n"
                watchdog.cancel()
            with open_engine(server.url) as journal:
                times = [each.at for each in journal.read("s")]
                assert times == sorted(times)
                assert len(times) >= 2
                assert [each.is_held for each in journal.leases()] == [True, True]
        finally:
            for machine in machines:
                machine.kill()
                machine.communicate()
