"""Standard input, mended: a line with half of an emoji gets an answer like any other.

Models cut texts between the two halves, and JavaScript hosts pass that on as `\\ud83d`. The SDK can't read such a line,
and would leave the call without any answer.
"""

import io
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Final

import anyio

_SURROGATE: Final = "\\ud"


def mended(line: str) -> str:
    """The line without lone surrogates, which UTF-8 can't hold. Lines that are not JSON stay as they are."""
    if _SURROGATE not in line.lower():
        return line
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") + "\n"


class MendedInput(anyio.AsyncFile[str]):
    """The mended lines of standard input. Its end waits for `at_end`, since the open requests end with it."""

    def __init__(self, at_end: Callable[[], Awaitable[None]]) -> None:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")
        super().__init__(sys.stdin)
        self._at_end = at_end

    async def readline(self) -> str:
        line = await super().readline()
        if not line:
            await self._at_end()
        return mended(line)
