"""Warnings if every user of this machine can read the journal, or the file with the secret of its URL."""

import os
import shlex
import stat
import sys
from pathlib import Path

from planwire.errors import PlanwireError
from planwire.journal.private_urls import FILE, resolved
from planwire.journal.shown_urls import has_secret
from planwire.journal.sqlite.modes import files_open_to_all
from planwire.journal.user_files import VARIABLE, expanded
from planwire.readmodel.plain_text import one_line


def warn_of_open_modes(url: str | None) -> None:
    """Print one line on standard error, with the command that fixes it. The modes stay: they may be intended."""
    try:
        _warn("your plans", *files_open_to_all(url))
        given = url or os.environ.get(VARIABLE, "")
        if given.startswith(FILE) and has_secret(resolved(given)):
            path = expanded(given.removeprefix(FILE))
            if os.name == "posix" and path.stat().st_mode & stat.S_IRWXO:
                _warn("the secret of your journal", path)
    except (PlanwireError, OSError):  # the command itself reports it
        return


def _warn(what: str, *files: Path) -> None:
    if files:
        names = " ".join(shlex.quote(str(file)) for file in files)
        print(one_line(f"planwire: every user of this machine can read {what}: chmod o-rwx {names}"), file=sys.stderr)
