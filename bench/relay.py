"""What a relay costs: the time of a line or a prompt, the lines a second, the time to start, its memory.

Every relay runs the same agent and gets the same lines in the same run, in turns. A ratio is the median of the ratios
of the rounds: a machine that is slow for a while is slow for all of them. planwire runs as installed, with its journal
in a file.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter
from typing import Any

from bench.figure import Cell, Figure, at_least, at_most
from bench.progress import say
from bench.proof import prove
from bench.relay_agent import SESSION

__all__ = ["measure"]

ROUNDS = 21
TRIPS = 100
PROMPTS = 20
FLOODS = {
    "plan": {"planwire": 10_000, "pump": 10_000, "sdk": 1_000},
    "chunk": {"planwire": 100_000, "pump": 100_000, "sdk": 2_000},
    "draft": {"planwire": 10_000, "sdk": 1_000},
}
#: The kinds of lines that a client without capabilities gets unchanged.
_USUAL = ("plan", "chunk")
STARTS = 20
MEMORY_LINES = (100_000, 1_000_000)
#: Plans among 10,000 lines.
MEMORY_MIXES = (100, 500, 5_000)

_AGENT = [sys.executable, "-m", "bench.relay_agent"]
_ROOT = Path(__file__).parent.parent


class Client:
    """The client's end of a relay."""

    def __init__(self, command: list[str], environment: dict[str, str], **capabilities: Any) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=_ROOT, env=environment
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to, self._from = self.process.stdin.fileno(), self.process.stdout.fileno()
        self._held = b""
        self._asked = 0
        self.ask("initialize", protocolVersion=1, clientCapabilities=capabilities)
        self.ask("session/new", cwd="/project", mcpServers=[])

    def send(self, method: str, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if method != "bench/echo":
            self._asked += 1
            message["id"] = self._asked
        os.write(self._to, json.dumps(message).encode() + b"\n")

    def line(self) -> bytes:
        while b"\n" not in self._held:
            chunk = os.read(self._from, 64 * 1024)
            if not chunk:
                raise EOFError("the relay ended")
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line

    def ask(self, method: str, **params: Any) -> bytes:
        self.send(method, **params)
        while b'"result"' not in (line := self.line()):
            pass
        return line

    def trip(self, kind: str) -> float:
        """The seconds that a question and a line in answer take."""
        start = perf_counter()
        self.send("bench/echo", kind=kind)
        self.line()
        return perf_counter() - start

    def prompt(self) -> float:
        """The seconds until the agent has read a prompt that comes right after other traffic."""
        self.trip("plan")
        start = monotonic()  # one clock for all processes
        answer = self.ask("session/prompt", sessionId=SESSION, prompt=[{"type": "text", "text": "Go on."}])
        return float(json.loads(answer)["result"]["readAt"]) - start

    def flood(self, kind: str, count: int) -> float:
        """The lines that come through per second."""
        self.send("bench/flood", kind=kind, count=count)
        start = perf_counter()
        lines = 0
        while lines <= count:  # the answer is one more
            chunk = os.read(self._from, 1024 * 1024)
            prove(bool(chunk), True, "a relay that goes on")
            lines += chunk.count(b"\n")
        seconds = perf_counter() - start
        prove(lines, count + 1, f"lines of a flood of {kind}s")
        return count / seconds

    def resident(self) -> int:
        """The kilobytes that the relay has in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        self.process.wait(20)


def measure() -> Iterator[Figure]:
    with _relays() as (commands, environment):
        yield from _speed(commands, environment)
        yield from _drafts(commands, environment)
        yield from _prompts(commands, environment)
        yield from _start(commands["planwire"], environment)
        yield from _memory(commands["planwire"], environment)


@contextmanager
def _relays() -> Iterator[tuple[dict[str, list[str]], dict[str, str]]]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": f"{folder}/code", "PLANWIRE_JOURNAL": f"{folder}/journal.db"}
        planwire = [sys.executable, "-m", "planwire", "relay", "--"]
        peers = {kind: [sys.executable, "-m", "bench.relay_peers", kind] for kind in ("pump", "sdk")}
        yield {"planwire": planwire, **peers}, environment


def _speed(commands: dict[str, list[str]], environment: dict[str, str]) -> Iterator[Figure]:
    say(f"{ROUNDS} rounds of {len(commands)} relays")
    clients = {name: Client([*command, *_AGENT], environment) for name, command in commands.items()}
    trips: dict[tuple[str, str], list[float]] = {(name, kind): [] for name in clients for kind in _USUAL}
    floods: dict[tuple[str, str], list[float]] = {(name, kind): [] for name in clients for kind in _USUAL}
    for number in range(ROUNDS):
        for kind in _USUAL:
            for name in list(clients)[:: (-1) ** number]:
                trips[name, kind].append(median(clients[name].trip(kind) for _ in range(TRIPS)))
    for number in range(ROUNDS):
        for kind in _USUAL:
            for name in list(clients)[:: (-1) ** number]:
                floods[name, kind].append(clients[name].flood(kind, FLOODS[kind][name]))
    for client in clients.values():
        client.close()
    for name in clients:
        for kind in _USUAL:
            row = f"{name}, {kind} lines"
            microseconds = median(trips[name, kind]) * 1e6
            yield Figure(f"relay_{name}_{kind}_trip_us", microseconds, "µs", cell=Cell(row, "round trip"))
            rate = median(floods[name, kind])
            yield Figure(f"relay_{name}_{kind}_lines_per_s", rate, "1/s", cell=Cell(row, "lines"))
    both = [
        sum(trips["planwire", kind][number] / trips["pump", kind][number] for kind in _USUAL) / len(_USUAL)
        for number in range(ROUNDS)
    ]
    yield Figure("relay_latency_vs_byte_pump", median(both), "x", at_most(1.5))
    for kind, bound in (("plan", 8), ("chunk", 25)):
        ratio = _ratio(floods["planwire", kind], floods["sdk", kind])
        yield Figure(f"relay_{kind}_lines_vs_sdk_relay", ratio, "x", at_least(bound))


def _drafts(commands: dict[str, list[str]], environment: dict[str, str]) -> Iterator[Figure]:
    """Lists of today's draft, whose ids a client may read under another key: planwire adds that key to each."""
    say(f"{ROUNDS} rounds of lines that need a key")
    clients = {name: Client([*commands[name], *_AGENT], environment, plan={}) for name in FLOODS["draft"]}
    rates: dict[str, list[float]] = {name: [] for name in clients}
    for number in range(ROUNDS):
        for name in list(clients)[:: (-1) ** number]:
            rates[name].append(clients[name].flood("draft", FLOODS["draft"][name]))
    clients["planwire"].send("bench/echo", kind="draft")
    prove(b'"planId":"plan-1","id":"plan-1"' in clients["planwire"].line(), True, "the key that was missing")
    for name, client in clients.items():
        client.close()
        yield Figure(
            f"relay_{name}_draft_lines_per_s", median(rates[name]), "1/s", cell=Cell(f"{name}, draft lines", "lines")
        )
    yield Figure("relay_draft_lines_vs_sdk_relay", _ratio(rates["planwire"], rates["sdk"]), "x", at_least(6))


def _prompts(commands: dict[str, list[str]], environment: dict[str, str]) -> Iterator[Figure]:
    """A prompt has to take a person's last word along and still arrive soon, whatever came before it."""
    say(f"{ROUNDS} rounds of {PROMPTS} prompts")
    clients = {name: Client([*commands[name], *_AGENT], environment) for name in ("planwire", "pump")}
    taken: dict[str, list[float]] = {name: [] for name in clients}
    for number in range(ROUNDS):
        for name in list(clients)[:: (-1) ** number]:
            taken[name].append(median(clients[name].prompt() for _ in range(PROMPTS)))
    for name, client in clients.items():
        client.close()
        yield Figure(f"relay_{name}_prompt_us", median(taken[name]) * 1e6, "µs")
    yield Figure("prompt_after_traffic_vs_byte_pump", _ratio(taken["planwire"], taken["pump"]), "x", at_most(10))


def _ratio(own: list[float], theirs: list[float]) -> float:
    return median(one / other for one, other in zip(own, theirs, strict=True))


def _start(command: list[str], environment: dict[str, str]) -> Iterator[Figure]:
    """The time from the start of the process to the first byte that it relayed. The agent, `cat`, starts at once."""
    say(f"{STARTS} starts")
    rounds = []
    for _ in range(STARTS + 1):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True, stdin=subprocess.DEVNULL)
        middle = perf_counter()
        with subprocess.Popen(
            [*command, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=_ROOT
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b"{}\n")
            process.stdin.flush()
            process.stdout.read(1)
            rounds.append((middle - start, perf_counter() - middle))
            process.stdin.close()
            process.stdout.read()
    del rounds[0]  # it wrote the byte code
    yield Figure("relay_start_ms", median(relay for _, relay in rounds) * 1_000, "ms")
    yield Figure("relay_start_vs_python", median(relay / python for python, relay in rounds), "x", at_most(8))


def _memory(command: list[str], environment: dict[str, str]) -> Iterator[Figure]:
    """Memory after plans and chunks in turn, as in a long session: with few plans, some, many. The worst of these
    counts."""
    say(f"memory over {MEMORY_LINES[1]:,} lines of {len(MEMORY_MIXES)} mixes")
    found = [_resident([*command, *_AGENT], environment, plans) for plans in MEMORY_MIXES]
    yield Figure("relay_memory_mb", max(last for _, last in found) / 1024, "MB")
    yield Figure("relay_memory_growth", max(last / first for first, last in found), "x", at_most(1.05))


def _resident(command: list[str], environment: dict[str, str], plans: int) -> tuple[int, int]:
    """The kilobytes after the first lines and after all of them."""
    client = Client(command, environment)
    found = []
    sent = 0
    for lines in MEMORY_LINES:
        while sent < lines:
            client.flood("plan", plans)
            client.flood("chunk", 10_000 - plans)
            sent += 10_000
        found.append(client.resident())
    client.close()
    first, last = found
    return first, last
