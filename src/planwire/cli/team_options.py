"""The options of a board for a team: its users, encryption, and a proxy in front of it."""

import argparse
import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from planwire.errors import InputError
from planwire.session.users_file import UsersFile
from planwire.steering.roles import ROLES

if TYPE_CHECKING:
    from planwire.web.team import Team

_HEADER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{2,60}")
#: Options that mean nothing on a personal board.
_ONLY_TEAM: Final = ("users", "tls_cert", "tls_key", "behind_proxy", "proxy_from", "proxy_role", "uds", "insecure")


def add_team_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("for a team")
    group.add_argument("--team", action="store_true", help="people sign in, each with a name and a role: planwire user")
    group.add_argument("--users", metavar="FILE", help="the file of the users (default: PLANWIRE_USERS)")
    group.add_argument("--tls-cert", metavar="FILE", help="encrypt: the certificate with its chain, as PEM")
    group.add_argument("--tls-key", metavar="FILE", help="its key, as PEM")
    group.add_argument("--behind-proxy", metavar="HEADER", help="a reverse proxy names the person in this header")
    group.add_argument("--proxy-from", metavar="ADDRESS", help="the address of that proxy; nobody else may connect")
    group.add_argument("--uds", metavar="PATH", help="listen on a Unix socket instead, for a proxy")
    group.add_argument(
        "--proxy-role", metavar="ROLE", choices=list(ROLES), help="the role of people who are not users (default: none)"
    )
    group.add_argument("--insecure", action="store_true", help="let people sign in over a network without encryption")


def team_of(arguments: argparse.Namespace) -> "Team | None":
    """The team that the options describe; None for a personal board. Raises `InputError` if they don't fit."""
    if not arguments.team:
        for name in _ONLY_TEAM:
            if getattr(arguments, name):
                raise InputError(f"--{name.replace('_', '-')} needs --team")
        return None
    if arguments.uds and arguments.host != "127.0.0.1":
        raise InputError("--uds listens on a Unix socket instead of an address: leave out --host, or --uds")
    from planwire.web.team import Team, TrustedProxy

    users = UsersFile(arguments.users)
    users.read()
    header, address = arguments.behind_proxy, arguments.proxy_from
    if header is None:
        for name in ("proxy_from", "proxy_role"):
            if getattr(arguments, name):
                raise InputError(f"--{name.replace('_', '-')} needs --behind-proxy and the header that names people")
        return Team(users, insecure=arguments.insecure)
    if not _HEADER.fullmatch(header):
        raise InputError("--behind-proxy takes the name of a header of your proxy's own, such as X-Forwarded-User")
    if (address is None) == (arguments.uds is None):
        raise InputError(
            "--behind-proxy needs either --proxy-from and the proxy's address, such as 127.0.0.1, or --uds and a path: "
            "otherwise anyone could send the header and pass for any user"
        )
    if address is not None:
        _check_address(address)
    return Team(users, TrustedProxy(header, address or "", arguments.proxy_role), arguments.insecure)


def tls_of(arguments: argparse.Namespace) -> tuple[str, str] | None:
    """The certificate and its key; None without encryption."""
    given = arguments.tls_cert, arguments.tls_key
    if any(given) and not all(given):
        raise InputError("--tls-cert and --tls-key belong together: a certificate is of no use without its key")
    return given if all(given) else None


def _check_address(address: str) -> None:
    try:
        ip_address(address)
    except ValueError:
        raise InputError(f"--proxy-from takes one address, such as 127.0.0.1, not {address!r}") from None
