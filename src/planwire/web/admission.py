"""Who may hold a connection to the board when there are too many.

Every connection is a file of this process, which has only so many. When they run short, a newcomer is taken, and a
stranger pays for it: of the address with the most strangers, the one that has been there longest. So nobody's idle
connections keep others out, and a connection that a person was let in on stays.
"""

import os
import socket
from collections import Counter
from contextlib import suppress
from ipaddress import IPv6Address
from math import inf
from typing import Any, Final

#: Files that a board keeps for itself, however many connect.
OWN_FILES: Final = 100


class Admission:
    """The connections of one board, by their addresses, the oldest first. One thread uses it."""

    def __init__(self) -> None:
        self._strangers: dict[Any, socket.socket] = {}
        self._people: dict[Any, socket.socket] = {}

    def admit(self, connection: socket.socket, address: Any) -> None:
        """Take a connection in. One from a Unix socket has no address, and comes from a proxy."""
        (self._strangers if address else self._people)[address or connection] = connection
        if self._are_too_many():
            self._strangers = {each: held for each, held in self._strangers.items() if held.fileno() >= 0}
            self._people = {each: held for each, held in self._people.items() if held.fileno() >= 0}
            if self._are_too_many():
                self._make_room(connection)

    def welcome(self, address: Any) -> None:
        """A person was let in on a connection."""
        if address in self._strangers:
            self._people[address] = self._strangers.pop(address)

    def _are_too_many(self) -> bool:
        return len(self._strangers) + len(self._people) > most_connections()

    def _make_room(self, newcomer: socket.socket) -> None:
        """Hang up on the oldest stranger of the address that has the most."""
        crowds = Counter(network(host) for host, *_ in self._strangers)
        largest = max(crowds, key=crowds.__getitem__, default="")
        longest_there = next((each for each in self._strangers if network(each[0]) == largest), None)
        with suppress(OSError):  # the loop finds it at its end, and closes it
            self._strangers.pop(longest_there, newcomer).shutdown(socket.SHUT_RDWR)


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
