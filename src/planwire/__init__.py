"""planwire: the plan layer for AI agents.

A client's author starts with `Board`, which takes the lines of an ACP connection and answers with what changed:

    board = Board()
    change = board.apply(line)

`read` and `write` are the wire in every dialect; `Translator` turns one dialect into another.

An agent's author starts with `PlanSession`: plan tools for the model, a context that survives compaction, and updates
for ACP clients. `BlockingPlanSession` is the same without an event loop.

Names load their modules on first use: `planwire --help` and an agent behind `planwire relay` would wait for them, and
msgspec alone takes longer to load than Python itself.
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
        Reading,
        Report,
        Translator,
        Update,
        dialect,
        negotiate,
        read,
        write,
    )
    from planwire.acp.board import Board, Change, Moment, PlanChange, SessionBoard
    from planwire.journal import Journal, open_journal
    from planwire.model.changes import mark
    from planwire.model.diff import Diff
    from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
    from planwire.model.steps import PlanState, Progress, Step, track
    from planwire.session.blocking import BlockingPlanSession
    from planwire.session.client_sync import Peer
    from planwire.session.options import ProviderFormat
    from planwire.session.plan_session import PlanSession

__all__ = [
    "DIALECTS",
    "V1",
    "V1_DRAFT",
    "V1_RFD",
    "V2",
    "BlockingPlanSession",
    "Board",
    "Change",
    "Dialect",
    "Diff",
    "Entry",
    "FilePlan",
    "ItemsPlan",
    "Journal",
    "MarkdownPlan",
    "Moment",
    "OtherPlan",
    "Peer",
    "Plan",
    "PlanChange",
    "PlanSession",
    "PlanState",
    "PlanwireError",
    "Progress",
    "ProviderFormat",
    "Reading",
    "Report",
    "SessionBoard",
    "Step",
    "Translator",
    "Update",
    "__version__",
    "dialect",
    "mark",
    "negotiate",
    "open_journal",
    "read",
    "track",
    "write",
]

__version__ = "0.1.0"

#: The module that each name comes from. The type checker reads the imports above, Python reads this table.
_HOMES: _typing.Final = {
    name: module
    for module, names in {
        "planwire.acp": (
            *("DIALECTS", "V1", "V1_DRAFT", "V1_RFD", "V2", "Dialect", "Reading", "Report", "Translator", "Update"),
            *("dialect", "negotiate", "read", "write"),
        ),
        "planwire.acp.board": ("Board", "Change", "Moment", "PlanChange", "SessionBoard"),
        "planwire.journal": ("Journal", "open_journal"),
        "planwire.model.changes": ("mark",),
        "planwire.model.diff": ("Diff",),
        "planwire.model.plan": ("Entry", "FilePlan", "ItemsPlan", "MarkdownPlan", "OtherPlan", "Plan"),
        "planwire.model.steps": ("PlanState", "Progress", "Step", "track"),
        "planwire.session.blocking": ("BlockingPlanSession",),
        "planwire.session.client_sync": ("Peer",),
        "planwire.session.options": ("ProviderFormat",),
        "planwire.session.plan_session": ("PlanSession",),
    }.items()
    for name in names
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
