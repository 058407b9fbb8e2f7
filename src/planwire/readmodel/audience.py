"""Who reads a face: one person, or a team. The words that differ between the two are all here.

A personal face says *you* of its reader, who runs the agents and may do everything. A reader who goes by a name is not
the person without one, whose words came with a copy of a journal, say. A team's board shows one page to
people of every role, whoever runs the agent, so each word on it must be true for all of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

__all__ = ["Audience", "audience", "shown_to_named", "shown_to_several"]


class Audience(Struct, frozen=True):
    """The words for a kind of readers: a person without a name, a session that waits for a person's decision, and that
    there is none. `waiting` is for those who may not decide; one reader always may."""

    unnamed: str
    needs: str
    nothing: str
    waiting: str = ""


_ONE: Final = Audience("you", "Needs you", "Nothing needs you.")
_NAMED: Final = Audience("somebody", _ONE.needs, _ONE.nothing)
_SEVERAL: Final = Audience(
    "somebody", "Needs a decision", "Nothing needs a decision.", "Waiting for somebody who may approve."
)
#: The readers of this process's faces, while each is open.
_open: list[Audience] = []


@contextmanager
def shown_to_several() -> Iterator[None]:
    """Meanwhile what this process shows is for several people."""
    with _shown_to(_SEVERAL):
        yield


@contextmanager
def shown_to_named() -> Iterator[None]:
    """Meanwhile what this process shows is for a person who goes by a name."""
    with _shown_to(_NAMED):
        yield


@contextmanager
def _shown_to(readers: Audience) -> Iterator[None]:
    _open.append(readers)
    try:
        yield
    finally:
        _open.remove(readers)


def audience() -> Audience:
    """The readers of this process."""
    return _SEVERAL if _SEVERAL in _open else _open[-1] if _open else _ONE
