"""Batches of messages on one line (R36)."""

from collections.abc import Callable

from planwire.acp.batches import split_batch
from planwire.relay.actions import Action, ToAgent, ToClient


def batched(
    line: bytes, hear: Callable[[bytes], list[Action]], to: type[ToAgent] | type[ToClient]
) -> list[Action] | None:
    """Hear each message of a batch on its own. None if the line is no batch; no line is sent if nothing is left."""
    messages = split_batch(line)
    if not messages:
        return None
    actions = [action for message in messages for action in hear(message)]
    sent = [action.data.rstrip(b"\r\n") for action in actions if isinstance(action, to)]
    rest = [action for action in actions if not isinstance(action, to)]
    if sent == messages:
        return [to(line), *rest]
    return [*([to(b"[%b]\n" % b",".join(sent))] if sent else []), *rest]
