"""MCP servers that people gave an agent in its own files: whether there are any, and one that is called planwire.

These files have formats of the agent's own, and here a doubt is enough. So their text is searched for names of servers,
and a file that can't be read has none.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MOST_BYTES: Final = 4_000_000
_ANY: Final = re.compile(rb'"(?:mcpServers|mcp_servers|mcp)"\s*:\s*\{\s*"|mcp_servers\s*(?:\.|\]\]|:)')
#: A name that begins like planwire's: its rest and the name of a tool may together make the same name.
_NAME: Final = rb"plan[-_. ]?wire[\w.-]*"
_SAME: Final = re.compile(
    rb'(?:^|[\s"\'{,])%b["\']?\s*:|mcp_servers\s*\.\s*["\']?%b|name["\']?\s*[:=]\s*["\']?%b' % ((_NAME,) * 3),
    re.IGNORECASE,
)


def configured_servers(files: tuple[str, ...], folder: str | None) -> tuple[bool, bool]:
    """Whether these files (in a folder, above it and in the user's home) name any server, and whether one like
    planwire's."""
    texts = [*_texts(files, folder)]
    return any(map(_ANY.search, texts)), any(map(_SAME.search, texts))


def _texts(files: tuple[str, ...], folder: str | None) -> Iterator[bytes]:
    bases = ["~"] if folder is None else [folder, *map(str, Path(folder).parents), "~"]
    for name in files:
        for base in bases:
            try:
                path = Path(base).expanduser() / name
                if path.is_file():  # a repository may have a pipe there, which would be waited for
                    with path.open("rb") as file:
                        yield file.read(_MOST_BYTES)
            except (OSError, RuntimeError, ValueError):  # there is none, or no home; a client may name any folder
                continue
