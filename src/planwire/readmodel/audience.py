"""The readers of a face: one person, or a team. All words that differ between the two are here.

A personal face addresses its reader as *you*: they run the agents and may do everything. If the reader goes by a name,
words without a name are another person's, say from a copy of a journal. A team's board shows the same page to people of
every role, whoever runs the agent, so each word on it must be true for all of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct


class Audience(Struct, frozen=True):
    """The words for a kind of readers: for a person without a name, for a session that waits for a decision, and for
    when there is none. `waiting` is for readers who may not decide; a single reader always may."""

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
    """A context in which this process shows things to several people."""
    with _shown_to(_SEVERAL):
        yield


@contextmanager
def shown_to_named() -> Iterator[None]:
    """A context in which this process shows things to a person who goes by a name."""
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
