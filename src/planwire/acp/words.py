"""Words of wire messages other than plans, under names of their own: none of them is the status of a step."""

from typing import Final

__all__ = ["STOP_COMPLETED", "STOP_END_TURN", "STOP_IDLE"]

STOP_COMPLETED: Final = "completed"
STOP_END_TURN: Final = "end_turn"
STOP_IDLE: Final = "idle"
