"""Where Anthropic may cache a prompt: breakpoints on blocks, at most four in a request.

Planwire sets two, on the first plans that are shown, and leaves two to the author, for their tools and system prompt. A
breakpoint stays where it is: what was sent once is sent again as it was, to the byte. One that moves along with the end
of the chat is the provider's to set: give `cache_control={"type": "ephemeral"}` with the request. An author who sets
breakpoints in messages knows better: from then on there are none but theirs.
"""

from typing import Final

from planwire.model.plan import Fields

__all__ = ["BREAKPOINTS", "has_breakpoint", "with_breakpoint"]

BREAKPOINTS: Final = 2


def has_breakpoint(message: Fields) -> bool:
    """Whether the author of a message put a breakpoint into it, on a block or inside the result of a tool."""
    blocks = message.get("content")
    if isinstance(blocks, list):
        for block in blocks:
            if isinstance(block, dict) and ("cache_control" in block or has_breakpoint(block)):
                return True
    return False


def with_breakpoint(message: Fields) -> Fields:
    """A message of blocks, with a breakpoint on the last of them."""
    *blocks, last = message["content"]
    return {**message, "content": [*blocks, {**last, "cache_control": {"type": "ephemeral"}}]}
