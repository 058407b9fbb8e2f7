"""Stop reasons in the agents' words. Events keep them as they came."""

from typing import Final

STOP_END_TURN: Final = "end_turn"
STOP_CANCELLED: Final = "cancelled"
STOP_COMPLETED: Final = "completed"
STOP_IDLE: Final = "idle"
