"""Drafts of new journals: hidden files beside the place of a journal, which take its name once they are whole.

A process that is killed leaves its draft behind. The next process that opens the journal removes it, if no process can
still be working on it: it is older than any draft in use, and no process has a lock on it. (If that is wrong after all,
the draft's maker fails to give it its name, and nothing is lost.) A draft that is the journal itself, because its maker
was killed after the hard link, is only a second name, and is removed at once.
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Final, Self

try:
    import fcntl
except ImportError:  # as on Windows, where a file in use can't be deleted
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True

_PRIVATE_FILE: Final = 0o600
#: Seconds after which a draft is abandoned. Making a journal takes a few hundredths of one.
_OLD: Final = 60.0
#: What SQLite may leave beside a draft.
_ENDINGS: Final = ("", "-journal", "-wal", "-shm")
#: The drafts of this process, whose locks must not be looked at: that would drop them.
_ours: Final[set[Path]] = set()


class JournalDraft:
    """A new empty file that only its owner can read, until it takes a journal's name or `with` ends."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self.path = journal.with_name(f".{journal.name}.{os.urandom(4).hex()}")

    def __enter__(self) -> Self:
        _ours.add(self.path)
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE_FILE))
        return self

    def __exit__(self, *_: object) -> None:
        _remove(self.path)
        _ours.discard(self.path)

    def take_name(self) -> bool:
        """Give the draft the journal's name, unless a file has it. Says whether it did."""
        try:
            self._journal.hardlink_to(self.path)  # a second name: unlike a rename, it replaces no file
        except OSError:  # another process was faster, or the file system has no hard links
            if os.path.lexists(self._journal):
                return False
            self.path.rename(self._journal)
        return True


def sweep_drafts(journal: Path) -> None:
    """Remove the drafts that killed processes left beside a journal."""
    draft = re.compile(rf"\.{re.escape(journal.name)}\.[0-9a-f]{{8}}")
    with suppress(OSError):
        for name in os.listdir(journal.parent):  # noqa: PTH208  (names are all it takes)
            if name.startswith(".") and draft.fullmatch(name):
                path = journal.with_name(name)
                with suppress(OSError):
                    is_named = journal.exists() and path.samefile(journal)
                    if path not in _ours and (is_named or _is_abandoned(path)):
                        _remove(path)


def _remove(draft: Path) -> None:
    for ending in _ENDINGS:
        Path(f"{draft}{ending}").unlink(missing_ok=True)


def _is_abandoned(draft: Path) -> bool:
    found = draft.stat(follow_symlinks=False)
    if time() - max(found.st_mtime, found.st_ctime) < _OLD:
        return False
    if not _HAS_LOCKS:
        return True
    handle = os.open(draft, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)
