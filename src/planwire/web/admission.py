"""Who may hold a connection to the board when there are too many.

Every connection is a file of this process, which has only so many. When they run short, a newcomer is taken, and a
stranger pays for it: of the address with the most strangers, the one that has been there longest. So nobody's idle
connections keep others out, and a connection that a person was let in on stays.
"""

import os
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv6Address
from math import inf
from typing import Any, Final

#: Files that a board keeps for itself, however many connect.
OWN_FILES: Final = 100


class Admission:
    """The connections of one board. One thread uses it. `most` tells how many there may be."""

    def __init__(self, most: Callable[[], float] | None = None) -> None:
        self._most = most or most_connections
        self._strangers: dict[socket.socket, str] = {}  # with their addresses, the oldest first
        self._welcome: set[socket.socket] = set()
        self._newest: dict[Any, socket.socket] = {}

    def admit(self, connection: socket.socket, address: Any) -> None:
        """Take a connection in. One from a Unix socket has no address, and comes from a proxy."""
        self._newest[address] = connection
        if address:
            self._strangers[connection] = network(address[0])
        else:
            self._welcome.add(connection)
        if self._count() > (most := self._most()):
            self._tidy()
            if self._count() > most:
                self._hang_up(self._longest_there() or connection)

    def welcome(self, address: Any) -> None:
        """A person was let in on a connection."""
        connection = self._newest.get(address)
        if connection is not None and self._strangers.pop(connection, None) is not None:
            self._welcome.add(connection)

    def _count(self) -> int:
        return len(self._strangers) + len(self._welcome)

    def _tidy(self) -> None:
        """Forget the connections that have ended."""
        self._strangers = {each: host for each, host in self._strangers.items() if each.fileno() >= 0}
        self._welcome = {each for each in self._welcome if each.fileno() >= 0}
        self._newest = {address: each for address, each in self._newest.items() if each.fileno() >= 0}

    def _longest_there(self) -> socket.socket | None:
        """The oldest stranger of the address that has the most."""
        crowds = Counter(self._strangers.values()).most_common(1)
        return next((each for each, host in self._strangers.items() if host == crowds[0][0]), None) if crowds else None

    def _hang_up(self, connection: socket.socket) -> None:
        self._strangers.pop(connection, None)
        self._welcome.discard(connection)
        with suppress(OSError):  # the loop finds it at its end, and closes it
            connection.shutdown(socket.SHUT_RDWR)


class GuardedSocket(socket.socket):
    """A socket that listens, and asks an admission about every connection: also about one that never says a word, or
    begins no encryption."""

    admission: Admission

    def accept(self) -> tuple[socket.socket, Any]:
        connection, address = super().accept()
        self.admission.admit(connection, address)
        return connection, address


def guarded(listening: socket.socket, admission: Admission) -> socket.socket:
    """The same socket, under an admission."""
    made = GuardedSocket(listening.family, listening.type, listening.proto, listening.detach())
    made.admission = admission
    return made


def network(address: str) -> str:
    """The network of an IPv6 address, in which one person has many addresses; any other address as it is."""
    try:
        found = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))


def most_connections() -> float:
    """The connections that this process may have at once: it needs files for itself, too."""
    if os.name != "posix":
        return inf
    import resource  # noqa: PLC0415  (Windows has neither the module nor the limit)

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return inf if files == resource.RLIM_INFINITY else max(files - OWN_FILES, files // 2)
