"""A server for one test, which it can restart, behind a network that it can cut, slow down or silence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.servers.nats import server as nats_server
from tests.servers.postgres import PostgresServer
from tests.servers.proxy import Proxy, proxy_to

__all__ = ["DURABLE_ENGINES", "ENGINES_WITH_SERVERS", "OwnServer", "journal_in", "own_server"]


class OwnServer(NamedTuple):
    """The URL of an empty journal, how to restart its server, and the network in between."""

    url: str
    restart: Callable[[], None]
    network: Proxy


@contextmanager
def own_server(engine: str) -> Iterator[OwnServer]:
    with _SERVERS[engine]() as made:
        yield made


@contextmanager
def journal_in(folder: Path, engine: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """The URL of an empty journal of any engine that outlives its writers, and how to restart its server. A file is in
    the folder."""
    if engine == _FILE:
        yield str(folder / "journal.db"), lambda: None
    else:
        with own_server(engine) as server:
            yield server.url, server.restart


@contextmanager
def _postgres() -> Iterator[OwnServer]:
    server = PostgresServer()
    try:
        with proxy_to("127.0.0.1", server.port) as network:
            url = server.fresh_url(local=False).replace(f":{server.port}/", f":{network.port}/")
            yield OwnServer(url, server.restart, network)
    finally:
        server.remove()


@contextmanager
def _jetstream() -> Iterator[OwnServer]:
    with nats_server() as server, proxy_to("127.0.0.1", server.port) as network:
        yield OwnServer(server.url().replace(f":{server.port}/", f":{network.port}/"), server.restart, network)


_SERVERS: Final = {"postgresql": _postgres, "jetstream": _jetstream}
ENGINES_WITH_SERVERS: Final = tuple(_SERVERS)
_FILE: Final = "sqlite"
DURABLE_ENGINES: Final = (_FILE, *ENGINES_WITH_SERVERS)
