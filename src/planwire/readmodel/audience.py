"""Who reads a face: one person, or a team. The words that differ between the two are all here.

A personal face says *you* of its reader, who runs the agents and may do everything. A team's board shows one page to
people of every role, whoever runs the agent, so each word on it must be true for all of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

__all__ = ["Audience", "audience", "shown_to_several"]


class Audience(Struct, frozen=True):
    """The words for a kind of readers: a person without a name, a session that waits for a person's decision, and that
    there is none. `waiting` is for those who may not decide; one reader always may."""

    unnamed: str
    needs: str
    nothing: str
    waiting: str = ""


_ONE: Final = Audience("you", "Needs you", "Nothing needs you.")
_SEVERAL: Final = Audience(
    "somebody", "Needs a decision", "Nothing needs a decision.", "Waiting for somebody who may approve."
)
#: The faces of this process that several people read, while each is open.
_open: list[object] = []


@contextmanager
def shown_to_several() -> Iterator[None]:
    """Meanwhile what this process shows is for several people."""
    face = object()
    _open.append(face)
    try:
        yield
    finally:
        _open.remove(face)


def audience() -> Audience:
    """The readers of this process."""
    return _SEVERAL if _open else _ONE
