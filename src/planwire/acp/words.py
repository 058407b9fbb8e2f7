"""Words of ACP messages other than plans. Some read like statuses of steps, so each has a name of its own."""

from typing import Final

#: The `sessionUpdate`s about plans, and those about compactions.
PLAN_UPDATES: Final = frozenset(("plan", "plan_removed", "plan_update"))
COMPACTION_UPDATES: Final = frozenset(("compaction_summary_chunk", "compaction_update"))
#: The `sessionUpdate` of an agent's message to the person.
SPOKEN: Final = "agent_message_chunk"

#: The `kind` of a tool call that leaves or enters a mode, such as that of planning.
SWITCH_MODE: Final = "switch_mode"

#: The requests that open a new session, and those that attach the client to an old one.
FORK: Final = "session/fork"
OPENING: Final = frozenset((FORK, "session/new"))
ATTACHING: Final = frozenset(("session/load", "session/resume"))

#: The `status` of a tool call.
TOOL_IN_PROGRESS: Final = "in_progress"
TOOL_COMPLETED: Final = "completed"
TOOL_FAILED: Final = "failed"

#: The `status` of a compaction.
COMPACTION_IN_PROGRESS: Final = "in_progress"
COMPACTION_COMPLETED: Final = "completed"
COMPACTION_FAILED: Final = "failed"
COMPACTION_CANCELLED: Final = "cancelled"

#: The `outcome` of a permission request.
OUTCOME_CANCELLED: Final = "cancelled"
