"""How many forks lie between this process and the first: what opened a journal before a fork must not use it after.

The number of the process would tell as well. But to ask the system for it is a call for each append, which costs a few
microseconds right after a wait, when the processor's caches are cold.
"""

import os

__all__ = ["forks"]

_forks = 0


def forks() -> int:
    """A number that differs between a process and those that are forked off it."""
    return _forks


def _count() -> None:
    global _forks  # noqa: PLW0603
    _forks += 1


if hasattr(os, "register_at_fork"):  # where it is missing nobody forks
    os.register_at_fork(after_in_child=_count)
