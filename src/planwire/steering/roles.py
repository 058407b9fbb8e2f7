"""Roles: what each person on a team's board may do. Each role includes those before it.

*look* reads. *steer* also says and suggests: comments, ticks, changes, requests for changes, words to tell now. A turn
may be cancelled for words that are told now, so *steer* stops it, too. *approve* also decides: it approves plans,
dismisses them, and answers what agents ask.
"""

from typing import Final

from planwire.errors import NotAllowed
from planwire.model.events import CHANGES_REQUESTED, COMMENTED
from planwire.model.records import PlanRecord
from planwire.steering.wanted import Wanted

__all__ = ["ACT_ROLES", "APPROVE", "LOOK", "ROLES", "STEER", "barred_acts", "refuse_beyond"]

LOOK: Final = "look"
STEER: Final = "steer"
APPROVE: Final = "approve"

#: The roles from the least to the most, each with what its people can do.
ROLES: Final = {LOOK: "can look", STEER: "can steer", APPROVE: "can approve"}

#: The least role for each act. A review that decides nothing is for *steer*: see `_only_asks`.
ACT_ROLES: Final = {
    "tick": STEER,
    "set_status": STEER,
    "reword": STEER,
    "add": STEER,
    "move": STEER,
    "remove": STEER,
    "set_priority": STEER,
    "comment": STEER,
    "review": APPROVE,
    "select": STEER,
    "tell": STEER,
    "stop": STEER,
    "suggest": STEER,
    "withdraw": STEER,
    "reopen": STEER,
    "dismiss": APPROVE,
}
_RANKS: Final = {role: rank for rank, role in enumerate(ROLES)}


def refuse_beyond(role: str, wanted: Wanted, record: PlanRecord | None = None) -> None:
    """Raise `NotAllowed` if an act needs more than this role. With the `record` of its plan as it is at the moment of
    writing it also knows what the act would answer."""
    needed = STEER if _only_asks(wanted, record) else ACT_ROLES.get(wanted.act, APPROVE)
    if _RANKS[role] < _RANKS[needed]:
        is_answer = record is not None and record.asked is not None and wanted.act == "review"
        what = "To answer an agent" if is_answer or wanted.option or wanted.question else "This"
        verb = "takes" if what != "This" else "needs"
        raise NotAllowed(f"{what} {verb} the role “{needed}”, and yours is “{role}”. Nothing was changed.")


def barred_acts(role: str) -> tuple[str, ...]:
    """The acts that a role never may, for a face to leave out."""
    return tuple(
        act for act, needed in ACT_ROLES.items() if _RANKS[role] < _RANKS[needed] and (act != "review" or role == LOOK)
    )


def _only_asks(wanted: Wanted, record: PlanRecord | None) -> bool:
    """Whether a review only says something. A request for changes does, unless the agent takes it for its answer."""
    if wanted.act != "review" or wanted.option is not None:
        return False
    is_answer = wanted.question is not None or (record is not None and record.asked is not None)
    return wanted.verdict == COMMENTED or (wanted.verdict == CHANGES_REQUESTED and not is_answer)
