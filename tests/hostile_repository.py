"""A repository that attacks whoever stands in it: every module that Python or planwire might import, links, a pipe, and
Git's files as nobody writes them."""

import os
import sys
from pathlib import Path

__all__ = ["HostileRepository"]

#: Packages that planwire imports, and hooks of Python's own start.
OTHERS = ("planwire", "msgspec", "markdown_it", "starlette", "uvicorn", "textual", "rich", "mcp", "anyio", "psycopg")
STARTS = ("sitecustomize", "usercustomize", "spool_append", "thin_hook")


class HostileRepository:
    """The repository in a folder of its own. `ran` says which of its modules were executed."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "project"
        self._mark = place / "ran"
        self.folder.mkdir()
        code = f"open({str(self._mark)!r}, 'a').write(__name__ + '\\n')\n"
        for name in (*sys.stdlib_module_names, *STARTS):
            (self.folder / f"{name}.py").write_text(code)
        for name in OTHERS:
            (self.folder / name).mkdir()
            for file in ("__init__", "__main__", "cli", "errors"):
                (self.folder / name / f"{file}.py").write_text(code)
        (self.folder / "pyvenv.cfg").write_text(f"home = {self.folder}\n")
        (self.folder / "planwire.pth").write_text(f"import sys; {code}")
        (self.folder / "secret.md").symlink_to("/etc/passwd")
        (self.folder / "up").symlink_to("/")
        (self.folder / "loop.md").symlink_to("loop.md")
        os.mkfifo(self.folder / "pipe.md")
        git = self.folder / ".git"
        git.mkdir()
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        os.mkfifo(git / "config")
        os.mkfifo(git / "commondir")

    def ran(self) -> str:
        """The modules that were executed since the last time."""
        try:
            found = self._mark.read_text()
        except FileNotFoundError:
            return ""
        self._mark.unlink()
        return found
