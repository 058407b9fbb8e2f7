"""A reminder of the plan for an agent whose context may have lost it: one block of text at the end of a prompt.

It carries a mark, a random word with a checksum of the block, by which `echoes` recognises it.
"""

import re
from typing import Final
from zlib import crc32

from planwire.chat.reminder import ELEMENT

_REMARK: Final = re.compile(r'^<(?:comment|request|selection|suggestion) id="(r[0-9]+)"', re.MULTILINE)
_BESIDES: Final = re.compile(r"^<also-open [^>]*>([r0-9 ]+)</also-open>", re.MULTILINE)


def block(body: str, word: str) -> tuple[str, str]:
    """The mark and the text of a block, given a random word."""
    mark = f"{word}-{checksum(word, body)}"
    return mark, f'<{ELEMENT} mark="{mark}">\n{body}\n</{ELEMENT}>'


def remarks_in(text: str) -> tuple[str, ...]:
    """The ids of the open remarks that a block tells. No text in it can imitate an element."""
    besides = (remark for match in _BESIDES.finditer(text) for remark in match[1].split())
    return (*(match[1] for match in _REMARK.finditer(text)), *besides)


def checksum(word: str, body: str) -> str:
    """The second part of a block's mark."""
    return f"{crc32(f'{word}{body}'.encode('utf-8', 'replace')):08x}"
