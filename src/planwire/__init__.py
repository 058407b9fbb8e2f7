"""planwire: the plan layer for AI agents.

A client's author starts with `Board`, which takes the lines of an ACP connection and tells what became of the plans:

    board = Board()
    change = board.apply(line)

`read` and `write` are the wire in every dialect; `Translator` turns one dialect into another.
"""

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
from planwire.board import Board, Change, Moment, PlanChange, SessionBoard
from planwire.diff import Diff
from planwire.errors import PlanwireError
from planwire.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.steps import PlanState, Progress, Step, mark, track

__all__ = [
    "DIALECTS",
    "V1",
    "V1_DRAFT",
    "V1_RFD",
    "V2",
    "Board",
    "Change",
    "Dialect",
    "Diff",
    "Entry",
    "FilePlan",
    "ItemsPlan",
    "MarkdownPlan",
    "Moment",
    "OtherPlan",
    "Plan",
    "PlanChange",
    "PlanState",
    "PlanwireError",
    "Progress",
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
    "read",
    "track",
    "write",
]

__version__ = "0.1.0"
