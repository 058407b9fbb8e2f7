"""A warning before other programs are set up to start a planwire in a project's environment, which may be deleted."""

import re
import sys
from pathlib import Path
from typing import Final

#: Environments that are kept for one command: those of pipx and uv.
_KEPT: Final = re.compile(r"/pipx/venvs/|/uv/tools/")


def warn_of_venv(who: str, program: Path) -> None:
    """Warn if the program that `who` will start is in an environment that may be a project's."""
    folder = program.parent.parent
    if (folder / "pyvenv.cfg").exists() and not _KEPT.search(folder.as_posix()):
        print(
            f"{who} will start {program}, and can't once {folder} is gone. If that is a project's environment, install "
            "planwire apart from it (uv tool install, or pipx install), and set it up from there.",
            file=sys.stderr,
        )
