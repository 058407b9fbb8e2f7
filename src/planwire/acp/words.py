"""Words of ACP messages other than plans, under names of their own: the statuses of steps are in `model.statuses`."""

from typing import Final

__all__ = ["COMPACTION_COMPLETED", "COMPACTION_RUNNING", "OUTCOME_CANCELLED", "STOP_CANCELLED", "STOP_END_TURN"]

COMPACTION_COMPLETED: Final = "completed"
COMPACTION_RUNNING: Final = "in_progress"
#: The answer to a permission request that nobody decided.
OUTCOME_CANCELLED: Final = "cancelled"
STOP_CANCELLED: Final = "cancelled"
STOP_END_TURN: Final = "end_turn"
