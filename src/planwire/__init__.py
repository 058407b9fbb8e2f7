"""planwire: the plan layer for AI agents.

A client's author starts with `Board`, which takes the lines of an ACP connection and answers with what changed:

    board = Board()
    change = board.apply(line)

`read` and `write` are the wire in every dialect; `Translator` turns one dialect into another. `PlanEntry` and
`PlanUpdate` are the protocol's names for `Entry` and `Update`.

An agent's author starts with `PlanSession`: plan tools for the model, a context that survives compaction, and updates
for ACP clients. `BlockingPlanSession` is the same without an event loop, and `Plans` a pool of sessions.

Underneath is a chat with hidden roles: `ChatStream` renders stored messages for a provider, and `compact` shortens
them by their classes (`NEVER` to `PRESERVE_ANCHOR`).

Names load their modules on first use. Otherwise `planwire --help`, and an agent behind `planwire relay`, would wait for
all of them, and msgspec alone takes longer to load than Python itself.
"""

import importlib as _importlib
import typing as _typing

from planwire.errors import PlanwireError

if _typing.TYPE_CHECKING:
    from planwire.acp import (
        DIALECTS,
        V1,
        V1_DRAFT,
        V1_RFD,
        V2,
        Dialect,
        Fallback,
        Reading,
        Removal,
        Report,
        Translator,
        Update,
        dialect,
        negotiate,
        read,
        write,
    )
    from planwire.acp.board import Board, Change, Moment, SessionBoard
    from planwire.chat.compaction import Compaction, compact
    from planwire.chat.formats import chat_format
    from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, read_stream, write_stream
    from planwire.chat.roles import DROP_ON_AGE, KEEP_RECENT_N, NEVER, PRESERVE_ANCHOR, PRESERVE_WINDOW, class_of
    from planwire.chat.said import said_in
    from planwire.chat.stream import ChatStream
    from planwire.chat.subkinds import EVENT_SUBKINDS
    from planwire.chat.token_guess import about_tokens
    from planwire.journal import Journal, open_journal
    from planwire.model.changes import mark
    from planwire.model.diff import Diff
    from planwire.model.events import PlanChanged, PlanRemoved, PlanSet, Recorded, SessionOpened
    from planwire.model.identity import track
    from planwire.model.plan import BODY_CAP, DELTA_CAP, Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
    from planwire.model.plan_change import PlanChange
    from planwire.model.records import PlanRecord, SessionState
    from planwire.model.steps import PlanState, Progress, Step
    from planwire.session.blocking import BlockingPlanSession
    from planwire.session.change import SessionChange
    from planwire.session.client_sync import Peer
    from planwire.session.options import ProviderFormat
    from planwire.session.plan_session import PlanSession
    from planwire.session.plans import Plans
    from planwire.tools.answers import Answer
    from planwire.tools.schemas import tool_schemas

    PlanEntry = Entry
    PlanUpdate = Update

__all__ = [
    "BODY_CAP",
    "DELTA_CAP",
    "DIALECTS",
    "DROP_ON_AGE",
    "EVENT_SUBKINDS",
    "KEEP_RECENT_N",
    "NEVER",
    "PRESERVE_ANCHOR",
    "PRESERVE_WINDOW",
    "V1",
    "V1_DRAFT",
    "V1_RFD",
    "V2",
    "Answer",
    "BlockingPlanSession",
    "Board",
    "Change",
    "ChatStream",
    "Compaction",
    "Dialect",
    "Diff",
    "Entry",
    "EventMessage",
    "Fallback",
    "FilePlan",
    "ItemsPlan",
    "Journal",
    "MarkdownPlan",
    "Moment",
    "Ordinary",
    "OtherPlan",
    "Peer",
    "Plan",
    "PlanChange",
    "PlanChanged",
    "PlanEntry",
    "PlanMessage",
    "PlanRecord",
    "PlanRemoved",
    "PlanSession",
    "PlanSet",
    "PlanState",
    "PlanUpdate",
    "Plans",
    "PlanwireError",
    "Progress",
    "ProviderFormat",
    "Reading",
    "Recorded",
    "Removal",
    "Report",
    "SessionBoard",
    "SessionChange",
    "SessionOpened",
    "SessionState",
    "Step",
    "Translator",
    "Update",
    "__version__",
    "about_tokens",
    "chat_format",
    "class_of",
    "compact",
    "dialect",
    "mark",
    "negotiate",
    "open_journal",
    "read",
    "read_stream",
    "said_in",
    "tool_schemas",
    "track",
    "write",
    "write_stream",
]

__version__ = "0.1.0"

#: The module that each name comes from. The type checker reads the imports above, Python reads this table.
_HOMES: _typing.Final = {
    name: module
    for module, names in {
        "planwire.acp": (
            *("DIALECTS", "V1", "V1_DRAFT", "V1_RFD", "V2", "Dialect", "Fallback", "Reading", "Removal", "Report"),
            *("Translator", "Update", "dialect", "negotiate", "read", "write"),
        ),
        "planwire.acp.board": ("Board", "Change", "Moment", "SessionBoard"),
        "planwire.chat.compaction": ("Compaction", "compact"),
        "planwire.chat.formats": ("chat_format",),
        "planwire.chat.messages": ("EventMessage", "Ordinary", "PlanMessage", "read_stream", "write_stream"),
        "planwire.chat.roles": (
            *("DROP_ON_AGE", "KEEP_RECENT_N", "NEVER", "PRESERVE_ANCHOR", "PRESERVE_WINDOW", "class_of"),
        ),
        "planwire.chat.said": ("said_in",),
        "planwire.chat.stream": ("ChatStream",),
        "planwire.chat.subkinds": ("EVENT_SUBKINDS",),
        "planwire.chat.token_guess": ("about_tokens",),
        "planwire.journal": ("Journal", "open_journal"),
        "planwire.model.changes": ("mark",),
        "planwire.model.diff": ("Diff",),
        "planwire.model.events": ("PlanChanged", "PlanRemoved", "PlanSet", "Recorded", "SessionOpened"),
        "planwire.model.identity": ("track",),
        "planwire.model.plan_change": ("PlanChange",),
        "planwire.model.plan": (
            *("BODY_CAP", "DELTA_CAP", "Entry", "FilePlan", "ItemsPlan", "MarkdownPlan", "OtherPlan", "Plan"),
        ),
        "planwire.model.records": ("PlanRecord", "SessionState"),
        "planwire.model.steps": ("PlanState", "Progress", "Step"),
        "planwire.session.blocking": ("BlockingPlanSession",),
        "planwire.session.change": ("SessionChange",),
        "planwire.session.client_sync": ("Peer",),
        "planwire.session.options": ("ProviderFormat",),
        "planwire.session.plan_session": ("PlanSession",),
        "planwire.session.plans": ("Plans",),
        "planwire.tools.answers": ("Answer",),
        "planwire.tools.schemas": ("tool_schemas",),
    }.items()
    for name in names
}
#: Names that the protocol has for the same things.
_ALIASES: _typing.Final = {"PlanEntry": "Entry", "PlanUpdate": "Update"}


def __getattr__(name: str) -> _typing.Any:
    own = _ALIASES.get(name, name)
    if own not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_importlib.import_module(_HOMES[own]), own)
    return value


def __dir__() -> list[str]:
    return __all__
