"""A hook that became the full program: nobody else was there to answer it, or it holds a plan until a person decides.

`thin_hook` calls these, in a process of its own that nothing may keep long: whatever is wrong, it ends without a word.
"""

from pathlib import Path
from time import monotonic, sleep
from typing import Final

from planwire.hooks.drained import open_journal_of
from planwire.hooks.draining import HookDrainer

__all__ = ["settle", "tell_now"]

#: Seconds to wait for another process that drains the spool, and between two looks.
_PATIENCE: Final = 0.6
_GLANCE: Final = 0.003


def tell_now(folder: str, answer: str) -> None:
    """Drain the spool, and so answer the hook of this process too, unless somebody does so meanwhile."""
    place = Path(folder)
    until = monotonic() + _PATIENCE
    with open_journal_of(place) as journal:
        drainer = HookDrainer(journal, place)
        while not drainer.lock.acquire():
            if (place / "answers" / answer).exists() or monotonic() > until:
                return
            sleep(_GLANCE)
        try:
            drainer.drain()
        finally:
            drainer.lock.release()


def settle(folder: str) -> None:
    """Record that this hook has told what it was to tell. If another process drains, that one does."""
    place = Path(folder)
    with open_journal_of(place) as journal:
        drainer = HookDrainer(journal, place)
        with drainer.lock as is_held:
            if is_held:
                drainer.settle()
