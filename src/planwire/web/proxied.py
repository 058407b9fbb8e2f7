"""The person that a trusted proxy names in a header. From anywhere else such a header is refused as forged."""

from ipaddress import ip_address
from typing import Final

from planwire.errors import InputError
from planwire.readmodel.authors import person_name
from planwire.readmodel.plain_text import one_line
from planwire.web.guard import Scope
from planwire.web.team import TrustedProxy

_LOUD: Final = "planwire: refused a request with {header} from {peer}: only the proxy at {proxy} may name people"


class ProxyRefusal(Exception):
    """A request that did not come through the proxy, or for which the proxy did not name one valid person. `report` is
    for whoever runs the board: words about a forged name, or ""."""

    def __init__(self, words: str, report: str = "") -> None:
        super().__init__(words)
        self.report = report


def proxied_name(proxy: TrustedProxy, scope: Scope) -> str | None:
    """The person that the proxy names; None if it names none. Raises `ProxyRefusal` for any other request."""
    header = proxy.header.lower().encode("latin-1")
    named = [value for name, value in scope["headers"] if name == header]
    peer = (scope.get("client") or ("",))[0]
    if not _is_from(peer, proxy.address):
        shown = one_line(peer) or "a socket"
        report = _LOUD.format(header=proxy.header, peer=shown, proxy=proxy.address or "its socket") if named else ""
        raise ProxyRefusal("This board answers only to its proxy: open the proxy's address", report)
    if not named:
        return None
    if len(named) > 1:
        raise ProxyRefusal(f"The proxy must name one person: there are {len(named)} {proxy.header} headers")
    try:
        return person_name(named[0].decode("utf-8"))
    except UnicodeDecodeError:
        raise ProxyRefusal(f"The name in {proxy.header} is not UTF-8") from None
    except InputError as error:
        raise ProxyRefusal(f"{error}"[:1].upper() + f"{error}"[1:]) from None


def _is_from(peer: str, address: str) -> bool:
    if not peer or not address:  # a Unix socket has no addresses: its folder says who may use it
        return not peer and not address
    try:
        return ip_address(peer.partition("%")[0]) == ip_address(address)
    except ValueError:
        return False
