"""Where Anthropic may cache a prompt: breakpoints on blocks, at most four in a request.

Planwire uses two and leaves two to the author, for their tools and their system prompt. An author who sets breakpoints
in messages knows better: then there are none but theirs. A breakpoint is put on a copy, and only where a message has
blocks: text on its own stays as it is.
"""

from typing import Any, Final

from planwire.plan import Fields

__all__ = ["has_breakpoint", "with_breakpoints"]

#: The provider looks this many blocks back from a breakpoint for what it has cached (20, less some to be safe).
LOOK_BACK: Final = 15
_SEARCHED: Final = 4 * LOOK_BACK
_BREAKPOINT: Final = {"type": "ephemeral"}
_CACHEABLE: Final = frozenset(("text", "image", "document", "tool_use", "tool_result"))


def has_breakpoint(message: Fields) -> bool:
    """Whether the author of a message put a breakpoint into it, on a block or inside the result of a tool."""
    blocks = message.get("content")
    if isinstance(blocks, list):
        for block in blocks:
            if isinstance(block, dict) and ("cache_control" in block or has_breakpoint(block)):
                return True
    return False


def with_breakpoints(messages: list[Fields]) -> list[Fields]:
    """The messages, with a breakpoint at their end, and one further back for a request that added many blocks."""
    marked = messages[:]
    passed = 0
    wanted = 0
    for index in range(len(messages) - 1, -1, -1):
        blocks = messages[index].get("content")
        blocks = blocks if isinstance(blocks, list) else [blocks]
        if passed >= wanted and blocks and _is_cacheable(blocks[-1]):
            last = {**blocks[-1], "cache_control": _BREAKPOINT}
            marked[index] = {**messages[index], "content": [*blocks[:-1], last]}
            if wanted:
                break
            wanted = LOOK_BACK
        passed += len(blocks)
        if passed > _SEARCHED:
            break
    return marked


def _is_cacheable(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in _CACHEABLE and block.get("text") != ""
