"""How many forks lie between this process and the first: a journal opened before a fork must not be used after it.

The process number would tell as well. But asking the system for it at each append costs a few microseconds right after
a wait, when the processor's caches are cold.
"""

import os

_forks = 0


def forks() -> int:
    """A number that differs between a process and its forks."""
    return _forks


def _count() -> None:
    global _forks  # noqa: PLW0603
    _forks += 1


if hasattr(os, "register_at_fork"):  # systems without it don't fork
    os.register_at_fork(after_in_child=_count)
