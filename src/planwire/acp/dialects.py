"""The dialects of ACP plan messages: one table, one row a dialect.

Reading accepts all of them at once. Writing uses the one that the peer speaks, which `negotiate` tells from the
`initialize` request and its response.
"""

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import UnknownDialect
from planwire.model.plan import PRIORITIES, Entry

__all__ = ["DIALECTS", "MAIN", "V1", "V1_DRAFT", "V1_RFD", "V2", "Dialect", "dialect", "negotiate"]

#: The id that a plan without identity gets where a dialect asks for one (R27).
MAIN: Final = "main"

V1_PRIORITIES: Final = frozenset(PRIORITIES)
V1_STATUSES: Final = frozenset(("pending", "in_progress", "completed"))


class Dialect(Struct, frozen=True):
    """One way of putting plans on the wire.

    `baseline`: knows the v1 `plan` update. `operations`: may be sent `plan_update` and `plan_removed`. `id_keys`: how
    the id of a plan is spelled, in the order of preference. `closed`: priorities and statuses are the v1 sets (R7),
    and a reader drops an entry that has another.
    """

    name: str
    version: int
    baseline: bool
    operations: bool
    id_keys: tuple[str, ...]
    closed: bool

    def spelling(self, id_key: str) -> "Dialect":
        """The same dialect with one spelling of the id, for a peer that is known to read only that one."""
        return replace(self, id_keys=(id_key,))

    def keeps(self, entry: Entry) -> bool:
        """Whether a reader of this dialect keeps the entry as it is."""
        if self.closed:
            return entry.status in V1_STATUSES and entry.priority in V1_PRIORITIES
        return entry.priority is not None


#                  name        version  baseline operations id_keys          closed
V1: Final = Dialect("v1", 1, True, False, (), True)
V1_RFD: Final = Dialect("v1-rfd", 1, True, True, ("id",), True)
V1_DRAFT: Final = Dialect("v1-draft", 1, True, True, ("planId", "id"), True)
V2: Final = Dialect("v2", 2, False, True, ("planId",), False)

DIALECTS: Final = {row.name: row for row in (V1, V1_RFD, V1_DRAFT, V2)}


def dialect(name: str) -> Dialect:
    """The dialect with that name."""
    try:
        return DIALECTS[name]
    except KeyError:
        raise UnknownDialect(f"there is no dialect {name!r}: use one of {', '.join(DIALECTS)}") from None


def negotiate(request: Any, response: Any) -> Dialect:
    """The dialect that a client is spoken to, from the `params` of its `initialize` and the agent's `result`.

    The version in force is the answered one (R30). A capability is an object: true, null or absent is none (R10, R15).
    """
    version = response.get("protocolVersion") if isinstance(response, dict) else None
    if isinstance(version, int) and not isinstance(version, bool) and version >= V2.version:
        return V2
    capabilities = request.get("clientCapabilities") if isinstance(request, dict) else None
    if not isinstance(capabilities, dict):
        return V1
    if isinstance(capabilities.get("plan"), dict):
        return V1_DRAFT
    if isinstance(capabilities.get("planCapabilities"), dict):
        return V1_RFD
    return V1
