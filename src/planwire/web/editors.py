"""Links that open a file in an editor on this machine, with the scheme that the editor registers for it."""

from typing import Final
from urllib.parse import quote

__all__ = ["EDITORS", "editor_link"]

#: The beginning of an editor's links; the quoted path follows.
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
    """The link that opens a file; None without an editor."""
    if editor is None:
        return None
    safe = "" if "?" in EDITORS[editor] else "/"
    return EDITORS[editor] + quote(path, safe=safe)
