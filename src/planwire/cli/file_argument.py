"""Files named on a command line, where people may give a journal's URL by mistake, with a password in it."""

import re
from pathlib import Path
from typing import Final

from planwire.cli.journal_secrets import shown_journal
from planwire.errors import InputError

#: A scheme with slashes after it, or one that a path may follow. Any other colon may be part of a name.
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|sqlite:|memory:", re.IGNORECASE)


def file_argument(name: str, what: str, instead: str = "") -> Path:
    """The path of a file. A URL is refused with its secrets hidden, before anything else prints it."""
    if _URL.match(name):
        raise InputError(
            f"{shown_journal(name)} is the URL of a journal, and {what} is a file: give its path{instead}. A file with "
            "a colon in its name is ./NAME"
        )
    return Path(name)
