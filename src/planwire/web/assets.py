"""The static files, under addresses that browsers may cache for good.

An address changes with the content behind it. A script imports others as `"./other.js"`; the board puts their addresses
in place of these names, so that the address of a script changes with those of its imports.
"""

import re
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

__all__ = ["asset", "asset_address", "asset_kind"]

STATIC: Final = Path(__file__).with_name("static")

_KINDS: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILES: Final = {path.name: _KINDS[path.suffix] for path in STATIC.iterdir() if path.suffix in _KINDS}
_IMPORTED: Final = re.compile(r'"\./([a-z]+\.js)"')


def asset_kind(name: str) -> str | None:
    """The media type of a static file; None if there is no such file."""
    return _FILES.get(name)


@lru_cache(maxsize=64)
def asset(name: str) -> bytes:
    """The content of a static file, with addresses in place of imports."""
    content = (STATIC / name).read_text()
    return _IMPORTED.sub(lambda found: f'"{asset_address(found[1])}"', content).encode()


@lru_cache(maxsize=64)
def asset_address(name: str) -> str:
    """The address of a static file in its present form."""
    return f"/static/{name}?{sha256(asset(name)).hexdigest()[:12]}"
