"""Codex's plan of a turn, in the transcript (a "rollout": one JSON object on a line) that its hooks name.

The plan of Plan mode is written there before the turn is over, so the end of the file is enough.
"""

from typing import Any, Final

import msgspec

from planwire.hooks.loose_fields import fields_in, text_in

#: Bytes at the end of a transcript to look at. A turn may have said a lot since it wrote the plan.
TAIL_BYTES: Final = 4 * 1024 * 1024
#: What a line with a plan has in it.
_SIGN: Final = b'"Plan"'


def newest_plan(tail: bytes, turn: str | None = None) -> str | None:
    """The newest plan in the end of a transcript, and of this turn if one is given; None if there is none. The first
    line may be half a line."""
    for line in reversed(tail[-TAIL_BYTES:].split(b"\n")):
        if _SIGN not in line:
            continue
        try:
            record = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        said = fields_in(record, "payload")
        text = plan_item(said) if text_in(record, "type") == "event_msg" else ""
        if text and turn in (None, text_in(said, "turn_id")):
            return text
    return None


def plan_item(said: Any) -> str:
    """The text of the plan that a message of a transcript completes; empty if it completes anything else."""
    item = fields_in(said, "item")
    is_plan = text_in(said, "type") == "item_completed" and text_in(item, "type") == "Plan"
    return text_in(item, "text") if is_plan else ""
