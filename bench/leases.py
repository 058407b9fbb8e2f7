"""A relay that is killed in the middle of a turn: how long the board still says that its session runs.

Relay, agent and board are processes of their own, with one journal in a file. Nothing tells the board that the relay
ended: it has to find out.
"""

import http.client
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import monotonic, sleep

from bench.fanout import TOKEN, board
from bench.figure import Figure, at_most
from bench.progress import say
from bench.relay import Client
from bench.relay_agent import SESSION, THINK

__all__ = ["measure"]

ROUNDS = 5
#: Seconds after which the wait fails.
PATIENCE = 60.0
_GLANCE = 0.02


def measure() -> Iterator[Figure]:
    say(f"{ROUNDS} relays that are killed in the middle of a turn")
    with tempfile.TemporaryDirectory() as folder:
        late = [_round(Path(folder) / f"{number}.db") for number in range(ROUNDS)]
    yield Figure("lease_lapse_s", max(late), "s", at_most(10))
    yield Figure("lease_lapse_median_s", median(late), "s")


def _round(path: Path) -> float:
    relay = [sys.executable, "-m", "planwire", "relay", "--", sys.executable, "-m", "bench.relay_agent"]
    client = Client(relay, {**os.environ, "PLANWIRE_JOURNAL": str(path)})
    client.trip("plan")
    client.send("session/prompt", sessionId=SESSION, prompt=[{"type": "text", "text": THINK}])
    with board(path) as port:
        _wait_for(port, "running")
        client.process.kill()
        start = monotonic()
        _wait_for(port, "stopped")
        seconds = monotonic() - start
    client.close()
    return seconds


def _wait_for(port: int, state: str) -> None:
    end = monotonic() + PATIENCE
    while monotonic() < end:
        if _states(port) == [state]:
            return
        sleep(_GLANCE)
    raise TimeoutError(f"the board does not say that the session is {state}")


def _states(port: int) -> list[str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/sessions.json", headers={"Authorization": f"Bearer {TOKEN}"})
    sessions = json.loads(connection.getresponse().read())["sessions"]
    connection.close()
    return [each["state"] for each in sessions]
