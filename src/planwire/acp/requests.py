"""Requests that wait for their answers, by side and id.

Both sides of a connection count their requests from 0, so an id alone names nothing.
"""

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

#: The most requests kept. Beyond that the oldest is dropped: after 10,000 newer ones its answer will not come.
MAX_UNANSWERED: Final = 10_000

_T = TypeVar("_T")


class Requests(Generic[_T]):
    """The unanswered requests of one connection, the oldest first."""

    def __init__(self, most: int = MAX_UNANSWERED) -> None:
        self._most = most
        self._waiting: dict[tuple[str, object], _T] = {}

    def ask(self, asker: str, request_id: object, remembered: _T) -> None:
        """Note a request, with the value to hand back when its answer comes."""
        self._waiting.pop((asker, request_id), None)
        while len(self._waiting) >= self._most:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[asker, request_id] = remembered

    def answer(self, asker: str, request_id: object) -> _T | None:
        """Take out the value noted with a request; None if there is no such request."""
        return self._waiting.pop((asker, request_id), None)

    def get(self, asker: str, request_id: object) -> _T | None:
        """The value noted with a request; None if there is no such request."""
        return self._waiting.get((asker, request_id))

    def is_asked(self, asker: str, request_id: object) -> bool:
        return (asker, request_id) in self._waiting

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __iter__(self) -> Iterator[_T]:
        return iter(self._waiting.values())
