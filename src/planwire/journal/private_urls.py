"""URLs in files that only the user can read: what others can see, such as a command line, names the file instead.

Anyone can read a command line, and the settings of editors and agents are copied, synchronised and shown. So a URL with
a password appears there as `@PATH`, and that file holds the URL.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from planwire.errors import UnknownJournal, reason
from planwire.journal.spool_append import make_folder
from planwire.journal.user_files import expanded

#: What comes before the path of a file that holds a URL.
FILE: Final = "@"
_LONGEST: Final = 64 * 1024


def resolved(url: str) -> str:
    """The URL itself, or the one in the file that `@PATH` names."""
    if not url.startswith(FILE):
        return url
    path = expanded(url[len(FILE) :])
    try:
        found = read_url(path)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is not text"
        raise UnknownJournal(f"{path} should hold the URL of a journal, and can't be read: {why}") from None
    if not found or found.startswith(FILE):
        raise UnknownJournal(f"{path} does not hold the URL of a journal: write one into it")
    if len(found.splitlines()) > 1:
        raise UnknownJournal(f"{path} holds more than the URL of a journal: leave one line in it, with nothing else")
    return found


def read_url(path: Path) -> str:
    """The URL in a file."""
    with path.open("rb") as file:
        return file.read(_LONGEST).decode().strip()


def write_url(path: Path, url: str) -> None:
    """Put a URL into a file that only the user can read, in a folder that nobody else can enter."""
    make_folder(str(path.parent))
    with suppress(OSError, ValueError):
        if read_url(path) == url:
            path.chmod(0o600)
            return
    from planwire.journal.spool_append import put  # noqa: PLC0415  (few processes write a URL, and it takes 0.6 ms)

    put(str(path.parent), path.name, f"{url}\n".encode())
