"""The table of classes: what a compaction may do with a message.

The classes matter only in a compaction. Until then every message stays where it is, whatever its class.
"""

from typing import Final

from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, Stored

#: Comes out of a compaction byte for byte, unless its plan is past.
NEVER: Final = "Never"
#: Gone once it is older than the kept tail. The newest mode_switch stays: it says which mode holds.
DROP_ON_AGE: Final = "DropOnAge"
#: The newest `KEPT_RECENT` of its source and subkind stay; a marker counts the rest.
KEEP_RECENT_N: Final = "KeepRecentN"
#: Kept inside the tail, gone outside it.
PRESERVE_WINDOW: Final = "PreserveWindow"
#: May become part of a summary that names it; never goes without a trace.
PRESERVE_ANCHOR: Final = "PreserveAnchor"

#: Made from the session's state: a compaction makes it again, with what still holds.
FROM_STATE: Final = "FromState"

CLASSES: Final = (NEVER, DROP_ON_AGE, KEEP_RECENT_N, PRESERVE_WINDOW, PRESERVE_ANCHOR, FROM_STATE)

KEPT_RECENT: Final = 3

#: The subkinds that planwire itself writes or looks for.
PLAN_DELTA: Final = "plan_delta"
REMARK: Final = "remark"
MODE_SWITCH: Final = "mode_switch"
SUMMARIZATION_MARKER: Final = "summarization_marker"
SYSTEM_NOTICE: Final = "system_notice"

#: The source of the message that tells a child which step it works for.
PARENT: Final = "planwire.parent"

#: The role of a goal, which other programs keep in a chat as planwire keeps a plan.
GOAL: Final = "goal"

#: The class of every known subkind of event.
SUBKINDS: Final = {
    PLAN_DELTA: NEVER,
    "goal_delta": NEVER,
    REMARK: FROM_STATE,
    "tick": DROP_ON_AGE,
    MODE_SWITCH: DROP_ON_AGE,
    "process_completed": KEEP_RECENT_N,
    "cron_fire": KEEP_RECENT_N,
    "tool_decision": PRESERVE_WINDOW,
    "ide_callback": PRESERVE_WINDOW,
    "verifier_report": PRESERVE_WINDOW,
    SUMMARIZATION_MARKER: PRESERVE_ANCHOR,
    "cancellation_note": PRESERVE_ANCHOR,
    "goal_pursuit": PRESERVE_ANCHOR,
    SYSTEM_NOTICE: PRESERVE_ANCHOR,
}


def class_of(message: Stored) -> str:
    """The class of a message, by its role, then by its subkind; `PRESERVE_ANCHOR` for a subkind without a row."""
    match message:
        case PlanMessage() | Ordinary(message={"role": "goal"}) | EventMessage(source="planwire.parent"):
            return NEVER
        case EventMessage(subkind=subkind):
            return SUBKINDS.get(subkind, PRESERVE_ANCHOR)
    return PRESERVE_ANCHOR
