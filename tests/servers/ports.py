"""Ports of this machine for servers to listen on."""

import socket

__all__ = ["free_port"]


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
