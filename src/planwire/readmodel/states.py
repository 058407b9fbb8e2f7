"""Words for the protocol's codes: why an agent's turn ended."""

from typing import Final

from planwire.acp.words import STOP_CANCELLED, STOP_COMPLETED, STOP_END_TURN, STOP_IDLE

__all__ = ["stop_words"]

_STOPS: Final = {
    STOP_END_TURN: "finished its turn",
    STOP_COMPLETED: "finished",
    STOP_IDLE: "idle",
    STOP_CANCELLED: "cancelled",
    "max_tokens": "ran out of tokens",
    "max_turn_requests": "reached its limit of requests",
    "refusal": "the model refused",
}


def stop_words(reason: str | None) -> str:
    """The reason why a turn ended, for people. A code of an agent's own keeps its words; None gives no words."""
    return "" if reason is None else _STOPS.get(reason, reason.strip("_").replace("_", " "))
