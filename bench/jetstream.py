"""The journal on NATS: appends against bare nats-py, alone and from 16 processes; long sessions; following; a cluster.

The bare peer publishes a message of the same size to a stream of its own on the same server, and waits for the
acknowledgement, as every writer must. The cluster has three servers and three replicas, all on this machine.
"""

import asyncio
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Final

import nats
from nats.js.api import StreamConfig

from bench.engine import WRITER_APPENDS, WRITERS, appender, crew, followed, many_writers, ratio, seconds_each, turns
from bench.engine_writer import BODY, STAMPED
from bench.figure import Cell, Figure, at_least, at_most
from bench.progress import say
from planwire.journal import open_journal
from tests.servers.nats import NatsServer, cluster, server

__all__ = ["measure"]

ROUNDS: Final = 25
APPENDS: Final = 100
WRITER_ROUNDS: Final = 8
LONG: Final = 100_000
SHORT: Final = 1_000


def measure() -> Iterator[Figure]:
    with server() as running:
        yield from _one_writer(running)
        yield from many_writers("nats_", running.url("MANY"), ("nats-py", running.url("")), WRITER_ROUNDS, 0.7)
        yield from _long_session(running)
        yield from followed(running.url("FOLLOW"), "nats_")
    with cluster() as nodes:
        yield from _cluster(nodes.url())


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
            await bare.publish("bare.s", BODY)

    with open_journal(running.url("ONE")) as journal:
        contenders: dict[str, Callable[[], float]] = {
            "nats-py": lambda: seconds_each(lambda: loop.run_until_complete(publish()), 1) / APPENDS,
            "planwire": appender(journal, "s", APPENDS),
        }
        rounds = turns(contenders, ROUNDS, first=1)
    loop.run_until_complete(bare._nc.close())
    loop.close()
    for name, column in (("nats_bare_us", "nats-py"), ("nats_append_us", "planwire")):
        value = median(each[column] for each in rounds) * 1e6
        yield Figure(name, value, "µs", cell=Cell("an acknowledged append", column))
    yield Figure("nats_append_vs_bare", ratio(rounds, "nats-py", "planwire"), "x", at_least(0.6))


def _long_session(running: NatsServer) -> Iterator[Figure]:
    say(f"sessions of {SHORT:,} and {LONG:,} events")
    with open_journal(running.url("LONG")) as journal:
        for session, size in (("short", SHORT), ("long", LONG)):
            for _ in range(size // 10):
                journal.append(session, STAMPED * 10)
        rounds = turns({session: appender(journal, session, 20) for session in ("short", "long")}, ROUNDS, first=1)
        yield Figure("nats_append_growth_100k_over_1k", ratio(rounds, "long", "short"), "x", at_most(1.3))
        start = perf_counter()
        assert len(list(journal.read("long", LONG - 10, LONG))) == 10
        yield Figure("nats_read_tail_of_100k_ms", (perf_counter() - start) * 1e3, "ms")


def _cluster(url: str) -> Iterator[Figure]:
    say("three replicas")
    with open_journal(url) as journal:
        alone = turns({"planwire": appender(journal, "s", APPENDS)}, 10)
    yield Figure("nats_cluster_append_us", median(each["planwire"] for each in alone) * 1e6, "µs")
    with crew("planwire", url) as own:
        together = turns({"planwire": own}, 4, first=1)
    yield Figure(
        "nats_cluster_append_16_per_s", WRITERS * WRITER_APPENDS / median(each["planwire"] for each in together), "/s"
    )
