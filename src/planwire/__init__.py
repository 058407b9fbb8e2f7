"""planwire: the plan layer for AI agents.

A client's author starts with `Board`, which takes the lines of an ACP connection and tells what became of the plans:

    board = Board()
    change = board.apply(line)

`read` and `write` are the wire in every dialect; `Translator` turns one dialect into another.

An agent's author starts with `PlanSession`: plan tools for the model, a context that survives compaction, and updates
for ACP clients. `BlockingPlanSession` is the same without an event loop. These are imported when they are first used.
"""

import importlib as _importlib
import typing as _typing

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
from planwire.errors import PlanwireError
from planwire.model.changes import mark
from planwire.model.diff import Diff
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.steps import PlanState, Progress, Step, track

if _typing.TYPE_CHECKING:
    from planwire.journal import Journal, open_journal
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

_LATER = {
    "BlockingPlanSession": "planwire.session.blocking",
    "Journal": "planwire.journal",
    "Peer": "planwire.session.client_sync",
    "PlanSession": "planwire.session.plan_session",
    "ProviderFormat": "planwire.session.options",
    "open_journal": "planwire.journal",
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return __all__
