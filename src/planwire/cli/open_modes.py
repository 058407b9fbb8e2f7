"""A warning if every user of this machine can read the journal."""

import shlex
import sys

from planwire.errors import PlanwireError
from planwire.journal.sqlite.modes import files_open_to_all
from planwire.readmodel.plain_text import one_line


def warn_of_open_modes(url: str | None) -> None:
    """Print one line on standard error, with the command that fixes it. The modes stay: they may be intended."""
    try:
        files = files_open_to_all(url)
    except (PlanwireError, OSError):  # the command itself reports it
        return
    if files:
        names = " ".join(shlex.quote(str(file)) for file in files)
        print(
            one_line(f"planwire: every user of this machine can read your plans: chmod o-rwx {names}"), file=sys.stderr
        )
