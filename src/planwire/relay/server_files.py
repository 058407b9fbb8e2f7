"""Servers that people gave an agent themselves, in the agent's own files: any at all, and one that is called planwire.

These files are the agent's, in formats of its own, and only a doubt is needed here. So their text is searched for names
of servers, and a file that can't be read has none.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from planwire.relay.own_permissions import SERVER

__all__ = ["configured_servers"]

_MOST_BYTES: Final = 4_000_000
_ANY: Final = re.compile(rb'"(?:mcpServers|mcp_servers|mcp)"\s*:\s*\{\s*"|mcp_servers\s*(?:\.|\]\]|:)')
_SAME: Final = re.compile(
    rb'["\']?%b["\']?\s*:|mcp_servers\s*\.\s*["\']?%b\b|name\s*=\s*["\']%b["\']' % ((SERVER.encode(),) * 3),
    re.IGNORECASE,
)


def configured_servers(files: tuple[str, ...], folder: str | None) -> tuple[bool, bool]:
    """Whether these files, in a folder and in the user's home, name any server, and one like planwire's."""
    texts = [*_texts(files, folder)]
    return any(map(_ANY.search, texts)), any(map(_SAME.search, texts))


def _texts(files: tuple[str, ...], folder: str | None) -> Iterator[bytes]:
    for name in files:
        for base in (folder, "~"):
            try:
                if base is not None:
                    with (Path(base).expanduser() / name).open("rb") as file:
                        yield file.read(_MOST_BYTES)
            except (OSError, RuntimeError, ValueError):  # there is none, or no home; a client may name any folder
                continue
