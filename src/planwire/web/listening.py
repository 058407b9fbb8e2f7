"""Where a board listens: on an address of this machine, on others for a team, or on a Unix socket for a proxy."""

import errno
import socket
import stat
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from planwire.errors import InputError, reason
from planwire.web.team import Team
from planwire.web.tls_files import TlsFiles

BACKLOG: Final = 2_048
#: The names of this machine for itself, as a Host header has them.
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
#: A Unix socket is open to its owner and to its group, which is the proxy's.
_SOCKET_MODE: Final = 0o660
#: Addresses in networks reserved for examples. Connecting a datagram socket sends nothing, but finds the way out.
_ELSEWHERE: Final = {4: (socket.AF_INET, "192.0.2.1"), 6: (socket.AF_INET6, "2001:db8::1")}


def refuse_unsafe(host: str, port: int, team: Team | None, tls: TlsFiles | None) -> None:
    """Raise `InputError` if others could open a personal board, or listen to what a team's people send."""
    if is_loopback(host):
        return
    if team is None:
        raise InputError(
            f"the board can't listen on {host}: without --team it has no users, and is for this machine only. On the "
            f"other machine, run ssh -L {port}:127.0.0.1:{port} THIS_MACHINE and open the board's address there"
        )
    if tls is None and team.proxy is None and not team.insecure:
        raise InputError(
            f"the board can't listen on {host} without encryption: anyone on the network could read what people "
            "send, and sign in as them. Pass --tls-cert and --tls-key, or put a proxy in front of it (--behind-proxy), "
            "or, if you trust everybody there, --insecure"
        )


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine only. A name other than `localhost` may mean any machine tomorrow."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=BACKLOG
        )
    except (OSError, OverflowError) as error:
        why = reason(error).partition(" (while")[0]  # Python says the address again
        is_port = isinstance(error, OverflowError) or error.errno in (errno.EADDRINUSE, errno.EACCES)
        how = "choose another with --port" if is_port else "pass an address of this machine to --host"
        raise InputError(f"the board can't listen on {host} port {port} ({why}): {how}") from None


def listen_on_path(path: str) -> socket.socket:
    """A Unix socket that listens. One that a board left behind is replaced; one that a process still listens on is
    not."""
    place = Path(path)
    try:
        if place.exists() and stat.S_ISSOCK(place.stat().st_mode) and not _is_answered(path):
            place.unlink()
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.bind(path)
            place.chmod(_SOCKET_MODE)
            made.listen(BACKLOG)
        except OSError:
            made.close()
            raise
    except (OSError, AttributeError) as error:
        why = reason(error) if isinstance(error, OSError) else "this system has none"
        raise InputError(f"the board can't listen on the socket {path} ({why}): choose another with --uds") from None
    return made


def _is_answered(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried:
        try:
            tried.connect(path)
        except ConnectionRefusedError:
            return False
    return True


def addresses_of(host: str) -> list[str]:
    """The addresses at which other machines reach a board that listens on `host`: that one, or those of
    this machine of the same kind. A board on `::` takes no IPv4 connections."""
    try:
        address = ip_address(host)
    except ValueError:
        return [host]
    if not address.is_unspecified:
        return [host]
    found = [socket.gethostname().lower()]
    family, elsewhere = _ELSEWHERE[address.version]
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as way:
        way.connect((elsewhere, 9))
        found.append(way.getsockname()[0])
    return list(dict.fromkeys(found))
