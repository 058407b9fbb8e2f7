"""The journal on NATS: appends beside bare nats-py, alone and from 16 processes, long sessions, and following.

The bare peer publishes a message of the same size to a stream of its own on the same server, and waits for the
acknowledgement, as every writer must. Both take turns, and a ratio is the median of what each round says on its own.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from statistics import median, quantiles
from time import monotonic_ns, perf_counter
from typing import Final

import nats
from nats.js.api import StreamConfig

from bench.figure import Cell, Figure, at_least, at_most
from bench.progress import say
from planwire.journal import Journal, Stamped, open_journal
from planwire.journal.codec import chained, encode
from planwire.journal.jetstream_messages import body_of
from planwire.model.events import PlanChanged
from planwire.model.step_changes import SetStatus
from tests.servers.nats import NatsServer, server

__all__ = ["measure"]

ROUNDS: Final = 25
APPENDS: Final = 100
PROCESSES: Final = 16
EACH: Final = 150
FOLLOWED: Final = 200
LONG: Final = 100_000
SHORT: Final = 1_000

_EVENT: Final = PlanChanged("main", "the lexer is done, on to the grammar", (SetStatus("s3", "completed"),))
_STAMPED: Final = [Stamped(1_760_000_000_000, "agent", _EVENT)]
_BODY: Final = body_of(chained("s", 0, None, encode("s", _STAMPED)))[0]

#: Sixteen of each: they say that they are ready, wait for a line, and work.
_WRITER: Final = """
import sys
from planwire.journal import Stamped, open_journal
from bench.jetstream import _STAMPED
with open_journal(sys.argv[1]) as journal:
    journal.append(sys.argv[2], _STAMPED)
    for line in sys.stdin:
        for number in range(int(sys.argv[3])):
            journal.append(sys.argv[2], _STAMPED)
        print("done", flush=True)
"""
_BARE_WRITER: Final = """
import asyncio, sys
import nats
from bench.jetstream import _BODY
async def main():
    connection = await nats.connect(sys.argv[1])
    stream = connection.jetstream()
    await stream.publish(f"bare.{sys.argv[2]}", _BODY)
    while sys.stdin.readline():
        for number in range(int(sys.argv[3])):
            await stream.publish(f"bare.{sys.argv[2]}", _BODY)
        print("done", flush=True)
asyncio.run(main())
"""
_TELLER: Final = """
import random, sys, time
from planwire.model.events import TurnEnded
from planwire.journal import Stamped, open_journal
draw = random.Random(1)
with open_journal(sys.argv[1]) as journal:
    for number in range(int(sys.argv[2])):
        time.sleep(draw.uniform(0.02, 0.05))
        journal.append("s", [Stamped(1, "agent", TurnEnded("x"))])
        print(time.monotonic_ns(), flush=True)
"""


def measure() -> Iterator[Figure]:
    with server() as running:
        yield from _one_writer(running)
        yield from _many_writers(running)
        yield from _long_session(running)
        yield from _following(running)


def _one_writer(running: NatsServer) -> Iterator[Figure]:
    say(f"{ROUNDS} rounds of {APPENDS} appends")
    loop = asyncio.new_event_loop()

    async def connected() -> nats.js.JetStreamContext:
        connection = await nats.connect(running.url(""))
        stream = connection.jetstream()
        await stream.add_stream(StreamConfig(name="BARE", subjects=["bare.>"]))
        return stream

    bare = loop.run_until_complete(connected())

    async def publish() -> None:
        for _ in range(APPENDS):
            await bare.publish("bare.s", _BODY)

    with open_journal(running.url("ONE")) as journal:

        def timed(name: str) -> float:
            start = perf_counter()
            if name == "nats-py":
                loop.run_until_complete(publish())
            else:
                for _ in range(APPENDS):
                    journal.append("s", _STAMPED)
            return (perf_counter() - start) / APPENDS

        for name in ("nats-py", "planwire"):
            timed(name)
        rounds = [
            {name: timed(name) for name in ("nats-py", "planwire")[:: (-1) ** number]} for number in range(ROUNDS)
        ]
    loop.run_until_complete(bare._nc.close())
    loop.close()
    for name, column in (("nats_bare_us", "nats-py"), ("nats_append_us", "planwire")):
        value = median(each[column] for each in rounds) * 1e6
        yield Figure(name, value, "µs", cell=Cell("an acknowledged append", column))
    ratio = median(each["nats-py"] / each["planwire"] for each in rounds)
    yield Figure("nats_append_vs_bare", ratio, "", at_least(0.6))


def _many_writers(running: NatsServer) -> Iterator[Figure]:
    say(f"{PROCESSES} processes of {EACH} appends, a session each")
    programs = {"nats-py": (_BARE_WRITER, running.url("")), "planwire": (_WRITER, running.url("MANY"))}
    writers = {
        name: [
            subprocess.Popen(
                [sys.executable, "-c", code, url, f"s{number}", str(EACH)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(PROCESSES)
        ]
        for name, (code, url) in programs.items()
    }

    def lap(name: str) -> float:
        start = perf_counter()
        for each in writers[name]:
            assert each.stdin
            each.stdin.write("go\n")
            each.stdin.flush()
        for each in writers[name]:
            assert each.stdout
            if each.stdout.readline() != "done\n":
                raise RuntimeError(f"a writer with {name} ended early")
        return perf_counter() - start

    for name in writers:
        lap(name)
    rounds = [{name: lap(name) for name in ("nats-py", "planwire")[:: (-1) ** number]} for number in range(8)]
    for each in (each for of_name in writers.values() for each in of_name):
        each.communicate("")
    ratio = median(each["nats-py"] / each["planwire"] for each in rounds)
    yield Figure("nats_append_16_per_s", PROCESSES * EACH / median(each["planwire"] for each in rounds), "/s")
    yield Figure("nats_append_16_vs_bare", ratio, "", at_least(0.7))


def _long_session(running: NatsServer) -> Iterator[Figure]:
    say(f"sessions of {SHORT:,} and {LONG:,} events")
    with open_journal(running.url("LONG")) as journal:
        for session, size in (("short", SHORT), ("long", LONG)):
            for _ in range(size // 10):
                journal.append(session, _STAMPED * 10)
        rounds = [
            {session: _seconds_each(journal, session) for session in ("short", "long")[:: (-1) ** number]}
            for number in range(ROUNDS)
        ]
        growth = median(each["long"] / each["short"] for each in rounds)
        yield Figure("nats_append_growth_100k_over_1k", growth, "", at_most(1.3))
        start = perf_counter()
        assert len(list(journal.read("long", LONG - 10, LONG))) == 10
        yield Figure("nats_read_tail_of_100k_ms", (perf_counter() - start) * 1e3, "ms")


def _seconds_each(journal: Journal, session: str) -> float:
    start = perf_counter()
    for _ in range(20):
        journal.append(session, _STAMPED)
    return perf_counter() - start


def _following(running: NatsServer) -> Iterator[Figure]:
    say(f"{FOLLOWED} events from another process")
    url = running.url("FOLLOW")
    with open_journal(url) as journal:
        following = journal.follow(timeout=60)
        command = [sys.executable, "-c", _TELLER, url, str(FOLLOWED)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as teller:
            seen = [monotonic_ns() for _ in islice(following, FOLLOWED)]
            told = [int(line) for line in teller.communicate()[0].split()]
    late = [max(there - said, 0) / 1e6 for there, said in zip(seen, told, strict=True)]
    yield Figure("nats_follow_p50_ms", median(late), "ms")
    yield Figure("nats_follow_p99_ms", quantiles(late, n=100)[98], "ms", at_most(25))
