"""Faults: what happens to clients, servers and the network between them, and how it ends."""

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from tests.lab.clients import Clients
from tests.servers.nats import NatsServer
from tests.servers.nats import server as nats_server
from tests.servers.postgres import PostgresServer
from tests.servers.proxy import Proxy, proxy_to

__all__ = ["PLACES", "Place", "faults"]

#: Something that happens now, and the call that ends it.
Fault = Callable[[Random], Callable[[], object]]


class Place(NamedTuple):
    """Where clients meet: the journal's URL, as they reach it and as nothing disturbs it, and what can happen there.
    Faults that begin with the same word exclude each other."""

    url: str
    quiet_url: str
    faults: dict[str, Fault]
    remote: bool


@contextmanager
def _sqlite(folder: Path) -> Iterator[Place]:
    path = folder / "journal.db"

    def locked(_: Random) -> Callable[[], object]:
        other = sqlite3.connect(path, timeout=1, isolation_level=None)
        with suppress(sqlite3.OperationalError):  # a client that is frozen has the lock
            other.execute("BEGIN IMMEDIATE")
        return other.close

    def checkpoint(_: Random) -> Callable[[], object]:
        with closing(sqlite3.connect(path, timeout=1)) as other, suppress(sqlite3.OperationalError):
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return _nothing

    yield Place(
        str(path), str(path), {"file locked by another": locked, "file checkpointed by another": checkpoint}, False
    )


@contextmanager
def _postgres(_folder: Path) -> Iterator[Place]:
    server = PostgresServer()
    try:
        with proxy_to("127.0.0.1", server.port) as network:
            quiet = server.fresh_url(local=False)
            more: dict[str, Fault] = {
                "server restarted": lambda _: _then(server.restart),
                "server killed": lambda _: _then(lambda: server.restart(signal.SIGQUIT)),
                "server frozen": lambda _: _until(server.freeze, server.thaw),
                "server ends connections": lambda _: _then(server.cut_connections),
            }
            yield Place(quiet.replace(f":{server.port}/", f":{network.port}/"), quiet, more | _network(network), True)
    finally:
        server.remove()


@contextmanager
def _jetstream(_folder: Path) -> Iterator[Place]:
    with nats_server() as server, proxy_to("127.0.0.1", server.port) as network:
        quiet = server.url()
        more: dict[str, Fault] = {
            "server restarted": lambda _: _then(server.restart),
            "server killed": lambda _: _killed(server),
            "server frozen": lambda _: _until(
                lambda: _signal(server, signal.SIGSTOP), lambda: _signal(server, signal.SIGCONT)
            ),
        }
        yield Place(quiet.replace(f":{server.port}/", f":{network.port}/"), quiet, more | _network(network), True)


#: Every engine that keeps a journal for several processes.
PLACES: Final = {"sqlite": _sqlite, "postgresql": _postgres, "jetstream": _jetstream}


def faults(place: Place, clients: Clients) -> dict[str, Fault]:
    """All that can happen there."""

    def killed(draw: Random) -> Callable[[], object]:
        if not (names := clients.names()):
            return _nothing
        name = draw.choice(names)
        clients.kill(name)
        return lambda: clients.start(name)

    def frozen(draw: Random) -> Callable[[], object]:
        if not (names := clients.names()):
            return _nothing
        name = draw.choice(names)
        clients.signal(name, signal.SIGSTOP)
        return lambda: clients.signal(name, signal.SIGCONT)

    return {"client killed": killed, "client killed, too": killed, "client frozen": frozen} | place.faults


def _network(network: Proxy) -> dict[str, Fault]:
    def late(draw: Random) -> Callable[[], object]:
        network.answer_late(draw.choice([0.05, 0.3, 1.0]))
        return network.recover

    def silent(_: Random) -> Callable[[], object]:
        network.fall_silent()

        def end() -> None:
            network.recover()
            network.cut()

        return end

    return {
        "network cut": lambda _: _then(network.cut),
        "network refuses": lambda _: _until(lambda: network.cut(refuse=True), network.recover),
        "network silent": silent,
        "network stalls": lambda _: _until(network.fall_silent, network.recover),
        "network late": late,
    }


def _then(do: Callable[[], object]) -> Callable[[], object]:
    do()
    return _nothing


def _until(begin: Callable[[], object], end: Callable[[], object]) -> Callable[[], object]:
    begin()
    return end


def _killed(server: NatsServer) -> Callable[[], object]:
    server.kill()
    return server.start


def _signal(server: NatsServer, what: signal.Signals) -> None:
    assert server.process is not None
    os.kill(server.process.pid, what)


def _nothing() -> None:
    """This fault needs no end."""
