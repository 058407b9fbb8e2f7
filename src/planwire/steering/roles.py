"""Roles: what each person on a team's board may do. Each role includes those before it.

*look* reads. *steer* also says and suggests: comments, ticks, changes, requests for changes, words to tell now. Telling
words now may cancel a turn, so *steer* may also stop one. *approve* also decides: it approves and dismisses plans, and
answers agents' questions.
"""

from typing import Final

from planwire.errors import NotAllowed
from planwire.model.events import CHANGES_REQUESTED, COMMENTED
from planwire.model.records import PlanRecord
from planwire.steering.wanted import Wanted

LOOK: Final = "look"
STEER: Final = "steer"
APPROVE: Final = "approve"

#: The roles from least to most, each with what its people can do.
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
    """Raise `NotAllowed` if an act needs more than this role. The `record` of its plan at the moment of writing tells
    whether the act would answer a question."""
    needed = STEER if _only_asks(wanted, record) else ACT_ROLES.get(wanted.act, APPROVE)
    if _RANKS[role] < _RANKS[needed]:
        is_answer = record is not None and record.asked is not None and wanted.act == "review"
        what = "Answering an agent" if is_answer or wanted.option or wanted.question else "This"
        verb = "takes" if what != "This" else "needs"
        raise NotAllowed(f"{what} {verb} the role “{needed}”, and yours is “{role}”. Nothing was changed.")


def barred_acts(role: str) -> tuple[str, ...]:
    """The acts that a role can never do, for a face to leave out."""
    return tuple(
        act for act, needed in ACT_ROLES.items() if _RANKS[role] < _RANKS[needed] and (act != "review" or role == LOOK)
    )


def _only_asks(wanted: Wanted, record: PlanRecord | None) -> bool:
    """Whether a review decides nothing. A request for changes does not, unless it answers the agent's question."""
    if wanted.act != "review" or wanted.option is not None:
        return False
    is_answer = wanted.question is not None or (record is not None and record.asked is not None)
    return wanted.verdict == COMMENTED or (wanted.verdict == CHANGES_REQUESTED and not is_answer)
