"""Removes what agents leave of a plugin in their settings after they uninstalled it.

Some leave an empty object or a disabled name; Codex keeps a person's trust in hooks that are gone. Each function takes
a text and returns a text.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from planwire.cli.jsonc import read_settings
from planwire.cli.settings_edit import remove_member
from planwire.hooks.plugin import NAME

_TABLE: Final = re.compile(r"^\s*\[", re.MULTILINE)
_OUR_TRUST: Final = re.compile(rf'^\s*\[hooks\.state\."{NAME}@{NAME}:')
_BARE: Final = re.compile(r"^\s*\[hooks(?:\.state)?\]\s*\Z")


def without_members(text: str, before: str, ours: Sequence[Sequence[str]]) -> str:
    """JSON without our members, and without the objects around them that are new and empty now."""
    for names in ours:
        for end in range(len(names), 0, -1):
            value, was = _value(text, names[:end]), _value(before, names[:end])
            if value is not None and was is None and (end == len(names) or value == {}):
                text = remove_member(text, names[:end])
    return text


def without_trust(text: str, before: str) -> str:
    """TOML without the tables that say which of our hooks a person trusts."""
    starts = [found.start() for found in _TABLE.finditer(text)]
    tables = [text[:start] for start in starts[:1]] if starts else [text]
    tables += [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    kept = [each for each in tables if not _OUR_TRUST.match(each) and not (_BARE.match(each) and each not in before)]
    left = "".join(kept)
    return before if left.strip() == before.strip() else left


def _value(text: str, names: Sequence[str]) -> Any:
    root = read_settings(text)
    node = root.member(*names) if root else None
    return node.value if node else None
