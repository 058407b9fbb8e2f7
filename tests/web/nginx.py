"""A real reverse proxy for tests: Debian's nginx, with a folder and a port of its own.

`make test` looks for one before the tests run (`python -m tests.web.nginx`), as it does for a browser. Where there is
none, and this is Debian and the user is root, Debian's is installed, and said so. Else the tests that need it are
skipped and say why; with `PLANWIRE_REQUIRE_NGINX=1` that is a failure.
"""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.peers.install import Unavailable
from tests.servers.ports import free_port
from tests.waiting import until

__all__ = ["nginx", "nginx_is_required", "running_nginx"]

_AROUND = """\
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
{user}
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{inside}
}}
"""


def nginx() -> str:
    """The path of this machine's nginx."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        raise Unavailable("there is no nginx here: install it")
    return found


def nginx_is_required() -> bool:
    return os.environ.get("PLANWIRE_REQUIRE_NGINX") == "1"


@contextmanager
def running_nginx(folder: Path, inside: str) -> Iterator[int]:
    """An nginx with this inside its `http` block, on the port that PORT stands for there."""
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    settings = folder / "nginx.conf"
    settings.write_text(_AROUND.format(folder=folder, user=user, inside=inside.replace("PORT", str(port))))
    process = subprocess.Popen(
        [nginx(), "-p", str(folder), "-c", str(settings), "-e", str(folder / "error.log")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: process.poll() is not None or _answers(port))
        assert process.poll() is None, (folder / "error.log").read_text()
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def install() -> None:
    """Install Debian's nginx, where that can be done."""
    if os.geteuid() or not Path("/etc/debian_version").exists() or shutil.which("apt-get") is None:
        raise Unavailable("there is no nginx here, and only root on Debian can have it installed: install it")
    print("there is no nginx: installing Debian's, once", file=sys.stderr, flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "nginx-light"]):
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
        if done.returncode and command[1] == "install":
            raise Unavailable(f"apt-get could not install nginx: {done.stderr.strip().splitlines()[-1:]}")


def main() -> int:
    try:
        try:
            nginx()
        except Unavailable:
            install()
    except Unavailable as problem:
        print(f"without nginx: {problem}", file=sys.stderr)
        return 1 if nginx_is_required() else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
