"""The dialects of ACP plan messages: one table, one row per dialect.

The reader accepts all of them at once, so it asks the table for every spelling of a plan's id. The writer uses the
dialect that the peer speaks, which `negotiate` finds in the `initialize` request and its response. A new dialect is a
new row: readers, writers, the relay's offer and `planwire check` follow from it.
"""

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import UnknownDialect
from planwire.model.plan import PRIORITIES, Entry, Fields, OtherPlan
from planwire.model.statuses import STATUSES, V1_STATUSES

#: The path, among a client's capabilities, of the object that announces that it takes compaction updates.
COMPACTION: Final = ("session", "compaction")


class Dialect(Struct, frozen=True, kw_only=True):
    """One way of putting plans on the wire.

    - `capability`: the key of `clientCapabilities` that must hold an object; None if the version alone decides.
    - `baseline`: has the v1 `plan` update. `operations`: has `plan_update` and `plan_removed`.
    - `id_keys`: spellings of a plan's id, the preferred one first.
    - `custom_types`: takes plans of other types than `items`, `markdown` and `file` (R19, R23).
    - `statuses`, `priorities`: the words that the protocol names. Where these are `closed`, readers drop an entry with
      any other word (R7); elsewhere a custom word starts with `_` (R19).
    - `has_batches`: a line may hold several messages. `absolute_uris`: the URI of a file plan is absolute (R25).
    - `option`: the name of such a client on the command line of `planwire check`.

    The other fields differ by protocol version: where each side's capabilities stand in `initialize` and its answer;
    the path of the agent capability that says it starts MCP servers (empty if every agent does); whether an entry of
    `mcpServers` names its type; whether every client takes compaction updates; whether the answer to a prompt only says
    that the turn has begun.
    """

    name: str
    version: int
    option: str
    capability: str | None = None
    baseline: bool
    operations: bool
    id_keys: tuple[str, ...] = ()
    custom_types: bool = False
    statuses: frozenset[str]
    priorities: frozenset[str] = frozenset(PRIORITIES)
    closed: bool
    has_batches: bool
    absolute_uris: bool
    client_capabilities: str
    agent_capabilities: str
    mcp_capability: tuple[str, ...] = ()
    types_servers: bool
    hears_of_compactions: bool
    answers_prompts_at_once: bool

    def __str__(self) -> str:
        return self.name

    def spelling(self, id_key: str) -> "Dialect":
        """The same dialect with one spelling of the id, for a peer that reads only that one."""
        return replace(self, id_keys=(id_key,))

    def knows(self, plan: object) -> bool:
        """Whether a `plan_update` of this dialect can hold a plan."""
        return self.custom_types or not isinstance(plan, OtherPlan)

    def keeps(self, entry: Entry) -> bool:
        """Whether a reader of this dialect keeps the entry as it is."""
        if self.closed:
            return entry.status in self.statuses and entry.priority in self.priorities
        return entry.priority is not None

    def initialize(self) -> Fields:
        """The `params` with which a client of this dialect introduces itself, as far as plans go."""
        announced: Fields = {} if self.capability is None else {self.capability: {}}
        return {"protocolVersion": self.version, self.client_capabilities: announced}

    def is_announced(self, request: Any) -> bool:
        """Whether the `params` of a client's `initialize` announce this dialect.

        Only an object announces it: true, null or a missing key does not (R10, R15).
        """
        return self.capability is None or has_object(request, self.client_capabilities, self.capability)

    def may_report_compactions(self, request: Any) -> bool:
        """Whether an agent may report compactions to a client with these `params` of `initialize` (R51)."""
        return self.hears_of_compactions or has_object(request, self.client_capabilities, *COMPACTION)


V1: Final = Dialect(
    name="v1",
    version=1,
    option="none",
    baseline=True,
    operations=False,
    statuses=V1_STATUSES,
    closed=True,
    has_batches=False,
    absolute_uris=False,
    client_capabilities="clientCapabilities",
    agent_capabilities="agentCapabilities",
    types_servers=False,
    hears_of_compactions=False,
    answers_prompts_at_once=False,
)
V1_RFD: Final = replace(
    V1, name="v1-rfd", option="rfd", capability="planCapabilities", operations=True, id_keys=("id",)
)
V1_DRAFT: Final = replace(V1_RFD, name="v1-draft", option="draft", capability="plan", id_keys=("planId", "id"))
V2: Final = Dialect(
    name="v2",
    version=2,
    option="v2",
    baseline=False,
    operations=True,
    id_keys=("planId",),
    custom_types=True,
    statuses=frozenset(STATUSES),
    closed=False,
    has_batches=True,
    absolute_uris=True,
    client_capabilities="capabilities",
    agent_capabilities="capabilities",
    mcp_capability=("session", "mcp", "stdio"),
    types_servers=True,
    hears_of_compactions=True,
    answers_prompts_at_once=True,
)

#: The rows by name. Within one version `negotiate` prefers the later row.
DIALECTS: Final = {row.name: row for row in (V1, V1_RFD, V1_DRAFT, V2)}


def dialect(name: str) -> Dialect:
    """The dialect with that name, for people who type one."""
    try:
        return DIALECTS[name]
    except KeyError:
        raise UnknownDialect(f"there is no dialect {name!r}: use one of {', '.join(DIALECTS)}") from None


def dialect_options() -> list[str]:
    """The values of `planwire check --capability`, one for each dialect."""
    return [row.option for row in DIALECTS.values()]


def dialect_of_option(option: str) -> Dialect:
    """The dialect that `planwire check --capability` calls `option`."""
    return next(row for row in DIALECTS.values() if row.option == option)


def id_keys() -> tuple[str, ...]:
    """Every spelling of a plan's id, newest version first. Where a line has several that differ, the first counts."""
    newest_first = sorted(DIALECTS.values(), key=lambda row: -row.version)
    return tuple(dict.fromkeys(key for row in newest_first for key in row.id_keys))


def capabilities_of(version: int) -> tuple[str, ...]:
    """The keys with which clients of a version announce more than the baseline, the preferred one first."""
    return tuple(row.capability for row in reversed(_rows_of(version)) if row.capability is not None)


def negotiate(request: Any, response: Any) -> Dialect:
    """The dialect for a client, from the `params` of its `initialize` and the agent's `result`.

    The answered version is in force, not the one asked for (R30).
    """
    version = response.get("protocolVersion") if isinstance(response, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        version = V1.version
    return next(row for row in reversed(_rows_of(version)) if row.is_announced(request))


def has_object(value: Any, *path: str) -> bool:
    """Whether an object stands at a path of keys: only an object announces a capability."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return isinstance(value, dict)


def _rows_of(version: int) -> list[Dialect]:
    """The rows of the newest version up to `version`; of the oldest version if all are newer."""
    versions = {row.version for row in DIALECTS.values()}
    in_force = max((each for each in versions if each <= version), default=min(versions))
    return [row for row in DIALECTS.values() if row.version == in_force]
