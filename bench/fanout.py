"""What it costs to show a plan to many people: how soon each of a thousand watchers sees a change, and how often a page
is rendered for them; and how long the overview of many sessions takes.

The board runs as installed, in a process of its own, with its journal in a file. The watchers, the agent that changes
the plan and the clock are in this process, and everything shares the machine's cores. A change is timed from just
before it is written, until a watcher has a page with it or a later one. Some watchers don't read at all until the end:
they must also end on the newest page, and cost the others nothing.

The updates come in rounds, and the figure is the median of the rounds' figures: other work on the machine may spoil a
round, but not the figure.
"""

import gc
import http.client
import json
import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit

from bench.figure import Figure, at_least, at_most
from bench.progress import say
from bench.proof import prove
from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import ACP, Event, PlanSet, SessionOpened, TurnEnded
from planwire.model.plan import Entry, ItemsPlan

__all__ = ["board", "measure", "post_act"]

WATCHERS = 1_000
LAZY = 20
ROUNDS = 5
UPDATES = 60
PER_SECOND = 20
STEPS = 20
SESSIONS = 500
LOADS = 15

_SESSION = "watched"
_BUFFER = bytearray(65_536)
TOKEN = "bench-" + "0" * 20
#: The settings of a board. An answer is timed from the click on, so nothing holds it back.
_SETTINGS = {"PLANWIRE_BOARD_TOKEN": TOKEN, "PLANWIRE_UNDO_SECONDS": "0"}


class Watcher:
    """One connection, and the last update that it has seen."""

    def __init__(self, port: int, *, lazy: bool) -> None:
        self.lazy = lazy
        self.seen = -1
        self.open = False
        self.socket = socket.create_connection(("127.0.0.1", port))
        if lazy:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        request = f"GET /live/sessions/{_SESSION} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        self.socket.sendall(request.encode())

    def read(self) -> None:
        size = self.socket.recv_into(_BUFFER)
        prove(size > 0, True, "a stream that goes on")
        place = _BUFFER.rfind(b"update ", 0, size)
        number = _BUFFER[place + 7 : place + 11].split(b" ", 1)[0]
        if place >= 0 and number.isdigit():
            self.seen = int(number)
        self.open = self.open or place >= 0


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        with open_journal(path) as journal:
            _write(journal, -1)
            with board(path) as port:
                yield from _fan_out(journal, port)
        path = Path(folder) / "many.db"
        with open_journal(path) as journal:
            _many_sessions(journal)
            with board(path) as port:
                yield from _overview(port)


def _fan_out(journal: Journal, port: int) -> Iterator[Figure]:
    say(f"{WATCHERS:,} watchers, {ROUNDS} rounds of {UPDATES} updates, {PER_SECOND} a second")
    watchers = [Watcher(port, lazy=number < LAZY) for number in range(WATCHERS)]
    selector = selectors.DefaultSelector()
    for watcher in watchers:
        watcher.socket.setblocking(False)
        if not watcher.lazy:
            selector.register(watcher.socket, selectors.EVENT_READ, watcher)
    _read(selector, lambda: all(watcher.open or watcher.lazy for watcher in watchers), 60, {})
    before = _about(port)
    gc.freeze()  # a pause here would be counted as one of the board
    rounds = [_round(selector, watchers, journal, number * UPDATES) for number in range(ROUNDS)]
    after = _about(port)
    for watcher in watchers:
        if watcher.lazy:
            selector.register(watcher.socket, selectors.EVENT_READ, watcher)
    _read(selector, lambda: all(watcher.seen == ROUNDS * UPDATES - 1 for watcher in watchers), 20, {})
    delivered = sum(watcher.seen == ROUNDS * UPDATES - 1 for watcher in watchers) / len(watchers)
    for watcher in watchers:
        watcher.socket.close()
    prove(after["watchers"], WATCHERS, "watchers that the board knows of")
    prove(after["changes"] - before["changes"], ROUNDS * UPDATES, "changes that the board has seen")
    slowest = [quantiles(late, n=100)[98] * 1_000 for late in rounds]
    yield Figure("fanout_1000_median_ms", median(median(late) for late in rounds) * 1_000, "ms")
    yield Figure("fanout_1000_p99_ms", median(slowest), "ms", at_most(100))
    yield Figure("fanout_1000_p99_worst_round_ms", max(slowest), "ms")
    yield Figure("fanout_1000_delivered_share", delivered, "", at_least(1))
    renders = (after["renders"] - before["renders"]) / (ROUNDS * UPDATES)
    yield Figure("fanout_renders_per_change", renders, "", at_most(1))


def _round(selector: selectors.BaseSelector, watchers: list[Watcher], journal: Journal, first: int) -> list[float]:
    """Some updates, and the seconds that each took to each watcher that reads."""
    written: list[float] = []
    seen: dict[Watcher, list[float]] = {watcher: [] for watcher in watchers if not watcher.lazy}
    agent = threading.Thread(target=_agent, args=(journal, written, first))
    agent.start()
    _read(selector, lambda: all(len(times) == UPDATES for times in seen.values()), 120, seen, first)
    agent.join()
    return [at - start for times in seen.values() for at, start in zip(times, written, strict=True)]


def _read(
    selector: selectors.BaseSelector,
    done: Callable[[], bool],
    seconds: float,
    seen: dict[Watcher, list[float]],
    first: int = 0,
) -> None:
    """Let the watchers read until `done`. `seen` gets the time at which each update, or a later one, arrived."""
    end = time.perf_counter() + seconds
    while not done() and time.perf_counter() < end:
        for key, _ in selector.select(0.5):
            watcher: Watcher = key.data
            watcher.read()
            times = seen.get(watcher)
            if times is not None and watcher.seen - first >= len(times):
                times += [time.perf_counter()] * (watcher.seen - first + 1 - len(times))


def _agent(journal: Journal, written: list[float], first: int) -> None:
    start = time.perf_counter()
    for number in range(UPDATES):
        time.sleep(max(0.0, start + number / PER_SECOND - time.perf_counter()))
        written.append(time.perf_counter())
        _write(journal, first + number)


def _write(journal: Journal, number: int) -> None:
    """An agent's list: steps done, and one that it works on, which names the update."""
    done = max(number, 0) * STEPS // (ROUNDS * UPDATES)
    entries = [
        Entry(f"Step {at} of what there is to do", "medium", "completed" if at < done else "pending")
        for at in range(STEPS)
    ]
    entries[done] = Entry(f"Working on it, update {max(number, 0)} of many", "high", "in_progress")
    if number < 0:
        entries[0] = Entry("Waiting for the first update now", "high", "in_progress")
    ids = tuple(f"s{number}" for number in range(1, STEPS + 1))
    event = PlanSet(ItemsPlan("main", tuple(entries)), via=ACP, ids=ids)
    journal.append(_SESSION, [Stamped(time.time_ns() // 1_000_000, "agent", event)])


def _many_sessions(journal: Journal) -> None:
    now = time.time_ns() // 1_000_000
    for number in range(SESSIONS):
        entries = tuple(
            Entry(f"Step {at} of session {number}", "medium", "completed" if at < number % 12 else "pending")
            for at in range(12)
        )
        events: list[Event] = [
            SessionOpened("some-agent 1.0", "some-client 2.0", f"/home/someone/project-{number}", f"Task {number}"),
            PlanSet(ItemsPlan("main", entries)),
            *([TurnEnded("end_turn")] if number % 3 else []),
        ]
        journal.append(f"session-{number}", [Stamped(now - number * 60_000, "agent", event) for event in events])


def _overview(port: int) -> Iterator[Figure]:
    """Time the whole page, without its script."""
    say(f"the overview of {SESSIONS} sessions, {LOADS} times")
    while len(json.loads(_get(port, "/sessions.json"))["sessions"]) < SESSIONS:
        time.sleep(0.05)
    words = ["task", "some-agent", "home", "someone", "project", "client"]  # each search finds all sessions
    taken = []
    for number in range(LOADS):
        start = time.perf_counter()
        page = _get(port, f"/sessions?q={'+'.join(words[: number % len(words)])}")
        taken.append(time.perf_counter() - start)
        prove(page.count(b'class="session-row'), SESSIONS, "sessions on the page")
    yield Figure("overview_500_sessions_ms", median(taken) * 1_000, "ms", at_most(100))
    yield Figure("overview_500_sessions_first_ms", taken[0] * 1_000, "ms")


def _get(port: int, address: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", address, headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    prove(answer.status, 200, f"GET {address}")
    body = answer.read()
    connection.close()
    return body


def post_act(port: int, plan: str, act: dict[str, str]) -> int:
    """Post a person's act on the plan at an address. Returns the status of the board's answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    own = {"Origin": f"http://127.0.0.1:{port}", "Authorization": f"Bearer {TOKEN}"}
    connection.request("POST", f"{plan}/acts", json.dumps(act), {**own, "Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def _about(port: int) -> dict[str, int]:
    found: dict[str, int] = json.loads(_get(port, "/about.json"))
    return found


@contextmanager
def board(journal: Path | str, machine: Mapping[str, str] | None = None) -> Iterator[int]:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192) if hard > 0 else 8_192, hard))
    command = [sys.executable, "-m", "planwire", "board", "--port", "0"]
    environment = {
        **os.environ,
        "PLANWIRE_JOURNAL": str(journal),
        **_SETTINGS,
        **(machine or {}),
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().split()[-1]
        port = urlsplit(address).port
        assert port is not None
        _wait_for(port)
        try:
            yield port
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    for _ in range(400):
        try:
            _about(port)
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("the board did not come up")
