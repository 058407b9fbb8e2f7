"""Ports of this machine for servers to listen on."""

import socket
from secrets import choice

__all__ = ["free_port"]

#: Below the range that systems take the ports of outgoing connections from. One of those could take a port after it was
#: drawn and before its server listens on it, for the first time or after a restart.
PORTS = range(15_000, 32_000)


def free_port() -> int:
    """A port on which nobody listens, and which no other process of tests draws while this one runs.

    This process keeps the UDP port of the same number, which the system lets no other process have.
    """
    while True:
        port = choice(PORTS)
        claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            claim.bind(("127.0.0.1", port))
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            claim.close()
        else:
            claim.detach()  # kept until the process ends
            return port
