"""Links that open a file in an editor on this machine. Editors register addresses of their own for that."""

from typing import Final
from urllib.parse import quote

__all__ = ["EDITORS", "editor_link"]

#: What an editor's links begin with; the path follows, in a form that can't leave its place.
EDITORS: Final = {
    "vscode": "vscode://file",
    "vscodium": "vscodium://file",
    "cursor": "cursor://file",
    "windsurf": "windsurf://file",
    "zed": "zed://file",
    "idea": "idea://open?file=",
    "sublime": "subl://open?url=file://",
}


def editor_link(editor: str | None, path: str) -> str | None:
    """The link that opens a file; None if there is no editor to open it."""
    if editor is None:
        return None
    safe = "" if "?" in EDITORS[editor] else "/"
    return EDITORS[editor] + quote(path, safe=safe)
