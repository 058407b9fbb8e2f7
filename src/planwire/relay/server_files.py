"""MCP servers that people gave an agent in its own files: whether there are any, and one that is called planwire.

These files have formats of the agent's own, and here a doubt is enough. So their text is searched for names of servers.
What a repository has in such a place and can't be read whole (a pipe, a link out of the folder, a very large file) may
name any: the agent may read it otherwise. In the home, where a person puts links, the beginning of a file is enough.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
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
    has_any, has_same = (any(text is None or names.search(text) for text in texts) for names in (_ANY, _SAME))
    return has_any, has_same


def _texts(files: tuple[str, ...], folder: str | None) -> Iterator[bytes | None]:
    """The text of each file; None for what a repository has in its place and can't be read whole."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  (it may be unknown)
    above = [] if folder is None else [Path(folder), *Path(folder).parents]
    for base in dict.fromkeys((*above, home)):
        for name in files:
            with suppress(OSError, RuntimeError, ValueError):  # there is none; a client may name any folder
                path = (base / name).resolve(strict=True)
                if not path.is_dir():
                    is_inside = base == home or path.is_relative_to(base.resolve())
                    yield _text(path, is_whole=base != home) if is_inside else None


def _text(path: Path, *, is_whole: bool) -> bytes | None:
    if not path.is_file():  # a pipe would be waited for
        return None
    with path.open("rb") as file:
        text = file.read(_MOST_BYTES + 1)
    return None if is_whole and len(text) > _MOST_BYTES else text
