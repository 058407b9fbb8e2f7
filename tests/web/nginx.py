"""A real reverse proxy for tests: nginx, with a folder and a port of its own."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.programs import NGINX
from tests.servers.ports import free_port
from tests.waiting import until

__all__ = ["running_nginx"]

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


@contextmanager
def running_nginx(folder: Path, inside: str) -> Iterator[int]:
    """An nginx with this inside its `http` block, on the port that PORT stands for there."""
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    settings = folder / "nginx.conf"
    settings.write_text(_AROUND.format(folder=folder, user=user, inside=inside.replace("PORT", str(port))))
    process = subprocess.Popen(
        [NGINX.path(), "-p", str(folder), "-c", str(settings), "-e", str(folder / "error.log")],
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
