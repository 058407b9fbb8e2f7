"""Journals with all that hooks said drained into them: for every command that looks or steers.

The check costs a listing of one folder or two. Only if something waits there is anything else imported.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planwire.errors import JournalError
from planwire.journal import Journal, open_journal
from planwire.journal.hook_folders import hooks_path, journal_of_hooks, make_hooks_path
from planwire.journal.spool import Spool


def folder_of_hooks(url: str | None) -> Path | None:
    """The folder where the records of hooks wait for a journal; None for a journal that no hook can reach."""
    return make_hooks_path(url)


@contextmanager
def open_drained(url: str | None, *, create: bool = False) -> Iterator[Journal]:
    """Open a journal, and drain what hooks left for it before it is used. A journal that does not exist is created if
    hooks have something for it."""
    folder = hooks_path(url)
    waits = folder is not None and _may_hold_something(folder)
    with open_journal(url, create=create or waits) as journal:
        if folder is not None:
            drain_into(journal, folder)
        yield journal


def open_journal_of(folder: Path, patience: float | None = None) -> Journal:
    """Open the journal that a folder of hooks belongs to, with `patience` seconds for its server."""
    return open_journal(journal_of_hooks(folder), patience=patience)


@contextmanager
def open_followed(url: str | None, *, create: bool = False) -> Iterator[Journal]:
    """Open a journal, and drain what hooks leave for it for as long as it is used."""
    from planwire.hooks.drain_thread import DrainThread  # noqa: PLC0415  (no other command needs it)

    with open_drained(url, create=create) as journal, DrainThread(journal, hooks_path(url)):
        yield journal


def drain_into(journal: Journal, folder: Path) -> None:
    """Drain what hooks left, unless another process does that, or nothing is there. A failure here must not stop a
    person who only looks."""
    if not _may_hold_something(folder):
        return
    from planwire.hooks.draining import HookDrainer  # noqa: PLC0415  (mostly there is nothing to drain)

    drainer = HookDrainer(journal, folder)
    with suppress(JournalError, OSError), drainer.lock as is_held:
        if is_held:
            drainer.drain()


def tell_hooks(journal: Journal, url: str | None, session: str) -> None:
    """Show the hooks of a session's agent that a person said something. Another process may drain meanwhile."""
    folder = hooks_path(url)
    if folder is None or not folder.is_dir():
        return
    from planwire.hooks.draining import HookDrainer  # noqa: PLC0415  (most agents have no hooks)

    with suppress(JournalError, OSError):
        HookDrainer(journal, folder).mark_news((session,))


def _may_hold_something(folder: Path) -> bool:
    """Whether there is a record or an answer in a folder of hooks, beside what is always there."""
    try:
        return not Spool(folder).is_empty() or bool(os.listdir(folder / "answers"))  # noqa: PTH208
    except OSError:
        return False
