"""The folder where the records of hooks wait for a journal, and the journal that such a folder belongs to."""

import os
from pathlib import Path
from typing import Final

from planwire.errors import UnknownJournal
from planwire.journal.engines import FILE_SCHEME, file_of, is_remote, shared_url
from planwire.journal.private_urls import read_url, write_url
from planwire.journal.user_files import default_path, digest

#: Added to the name of a journal's file, this names its folder of hooks.
HOOKS: Final = "-hooks"
#: The file in a folder of hooks that holds the URL of a journal on another machine.
_JOURNAL: Final = "journal-url"


def hooks_path(url: str | None = None) -> Path | None:
    """The folder where the records of hooks wait for a journal: beside its file or, for a journal on another machine,
    among the user's own data. None for a journal that no hook can reach."""
    found = shared_url(url)
    if found is None:
        return None
    if is_remote(found):
        return default_path().parent / "hooks" / digest(found)
    path = file_of(found)
    return Path(f"{os.path.realpath(path)}{HOOKS}") if path else None


def make_hooks_path(url: str | None = None) -> Path | None:
    """The same folder, ready for hooks to use: by the URL in it they find a journal on another machine."""
    folder, found = hooks_path(url), shared_url(url)
    if folder is not None and found is not None and is_remote(found):
        write_url(folder / _JOURNAL, found)
    return folder


def journal_of_hooks(folder: Path) -> str:
    """The URL of the journal that a folder of hooks belongs to: of the file beside it, or the one written in it."""
    if str(folder).endswith(HOOKS):
        return f"{FILE_SCHEME}:{str(folder).removesuffix(HOOKS)}"
    try:
        return read_url(folder / _JOURNAL)
    except (OSError, ValueError):
        raise UnknownJournal(f"{folder} does not say which journal it belongs to: run planwire setup again") from None
