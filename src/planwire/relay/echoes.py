"""Echoes: the relay's blocks in prompts that an agent sends back, live or in the replay of a session.

The client must not see them. Only the exact text that the relay put in is removed, never anything that looks like it.
An agent that joins all texts of a prompt puts something between them, a space or a blank line; that is removed too, and
the person's own whitespace stays.
"""

import re
from typing import Final

from msgspec import Struct

from planwire.acp.splice import Unspliceable, replace_value
from planwire.chat.reminder import ELEMENT
from planwire.model.plan import Fields
from planwire.relay.envelope import text_of
from planwire.relay.reminder import checksum

_END: Final = f"\n</{ELEMENT}>"
_BLOCK: Final = re.compile(rf'<{ELEMENT} mark="([0-9a-z]+)-([0-9a-f]{{8}})">\n(.*?)\n</{ELEMENT}>', re.DOTALL)
_PATH: Final = ("params", "update", "content")


class SentBlock(Struct, frozen=True):
    """A block that went into a prompt. `gap` is the whitespace that the text before it ends with."""

    text: str
    gap: str = ""


class Echoes(Struct, frozen=True):
    """Removes blocks. `sent` are those that went into prompts, by mark. `trust`: a block also counts if it matches its
    own checksum, since the journal may not know it. `joiner` is what the agent puts between two texts, if that is
    known; `wrapping` is what it puts around a resource."""

    sent: dict[str, SentBlock]
    trust: bool = False
    joiner: str | None = None
    wrapping: tuple[str, str] = ("", "")

    def without(self, text: str) -> str | None:
        """The text without the blocks; None if there is none in it."""
        kept: list[str] = []
        end = 0
        for match in _BLOCK.finditer(text, 0, _end_of_blocks(text)):
            mark = f"{match[1]}-{match[2]}"
            sent = self.sent.get(mark) or SentBlock(match[0] if self.trust and _is_whole(match) else "")
            if sent.text == match[0]:
                opening, closing = self.wrapping
                before = text[end : match.start()].removesuffix(opening)
                kept.append(self._parted(before, sent.gap))
                end = match.end() + (len(closing) if text.startswith(closing, match.end()) else 0)
        return "".join((*kept, text[end:])) if end else None

    def without_in_line(self, line: bytes, update: Fields) -> bytes:
        """The line of an update with the user's words, without the blocks; empty if nothing else was in it."""
        content = update.get("content")
        try:
            if isinstance(content, list):  # a whole message, in version 2
                kept: list[object] = []
                for part in content:
                    remaining = self.without(text_of(part, "text"))
                    if remaining != "":
                        kept.append(part if remaining is None else {**part, "text": remaining})
                if kept == content:
                    return line
                return replace_value(line, _PATH, kept) if kept else b""
            remaining = self.without(text_of(content, "text"))
            if remaining is None:
                return line
            return replace_value(line, (*_PATH, "text"), remaining) if remaining else b""
        except Unspliceable:
            return line

    def _parted(self, before: str, gap: str) -> str:
        """The text before a block, without what the agent joined the two with."""
        if self.joiner and before.endswith(self.joiner):
            return before.removesuffix(self.joiner)
        bare = before.rstrip()
        return bare + gap if before.startswith(gap, len(bare)) else bare


def blocks_in(update: Fields) -> dict[str, str]:
    """The blocks that match their own checksums in an update with the user's words, by mark."""
    content = update.get("content")
    texts = [text_of(part, "text") for part in (content if isinstance(content, list) else [content])]
    found = (match for text in texts for match in _BLOCK.finditer(text, 0, _end_of_blocks(text)))
    return {f"{match[1]}-{match[2]}": match[0] for match in found if _is_whole(match)}


def _is_whole(match: re.Match[str]) -> bool:
    return checksum(match[1], match[3]) == match[2]


def _end_of_blocks(text: str) -> int:
    """The end of the last block. Nothing after it can match, and a search there would take long."""
    at = text.rfind(_END)
    return at + len(_END) if at >= 0 else 0
