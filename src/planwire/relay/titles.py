"""Titles that agents make from a prompt, or from its beginning: the relay's block is cut out of them."""

import re
from contextlib import suppress
from typing import Any, Final

from planwire.acp.conversation import value_of
from planwire.acp.splice import Unspliceable, replace_value
from planwire.chat.reminder import ELEMENT

_TAG: Final = f'{ELEMENT} mark="'
#: The block at the end of a title, or as much of its tag as a short title has.
_BLOCK: Final = re.compile(
    rf"\s*<(?:{_TAG}.*|(?:{'|'.join(_TAG[:end] for end in range(len(_TAG) - 1, 1, -1))})(?:…|\.\.\.)?)\Z", re.DOTALL
)


def without_block(title: str) -> str:
    """A title without the block after its words."""
    return _BLOCK.sub("", title)


def listed_without_blocks(line: bytes) -> bytes:
    """An answer of the agent's, without blocks in the titles of the sessions that it lists. Agents keep such a title,
    and in `_meta` others that they make from the same prompt."""
    if b'"sessions"' not in line or _TAG[:2].encode() not in line:
        return line
    answer: Any = value_of(line)
    result = answer.get("result") if isinstance(answer, dict) else None
    sessions = result.get("sessions") if isinstance(result, dict) else None
    if not isinstance(sessions, list):
        return line
    cleaned = [_cleaned(each) for each in sessions]
    with suppress(Unspliceable):
        return line if cleaned == sessions else replace_value(line, ("result", "sessions"), cleaned)
    return line


def _cleaned(session: Any) -> Any:
    """A listed session, without blocks in the texts that may be titles."""
    if not isinstance(session, dict):
        return session
    title, meta = session.get("title"), session.get("_meta")
    cleaned = {**session}
    if isinstance(title, str):
        cleaned["title"] = without_block(title)
    if isinstance(meta, dict):
        cleaned["_meta"] = {key: without_block(each) if isinstance(each, str) else each for key, each in meta.items()}
    return cleaned
