"""The sessions of a folder, the latest first."""

import os

from planwire.journal import Journal, KnownSession, load_state

__all__ = ["is_of_folder", "latest_of_folder", "newest_first"]


def newest_first(journal: Journal) -> list[KnownSession]:
    return sorted(journal.sessions(), key=lambda session: session.last_at, reverse=True)


def latest_of_folder(journal: Journal, folder: str) -> KnownSession | None:
    """The session with the latest event among those that were run in the folder."""
    for session in newest_first(journal):
        opened = load_state(journal, session.id).opened
        if opened is not None and is_of_folder(opened.cwd, folder):
            return session
    return None


def is_of_folder(cwd: str | None, folder: str) -> bool:
    """Whether `cwd` is the folder, whatever links lead there."""
    if cwd is None or cwd == folder:
        return cwd is not None
    try:
        return os.path.realpath(cwd) == os.path.realpath(folder)
    except ValueError:  # a client named something that can't be a path
        return False
