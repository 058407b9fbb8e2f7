"""Priorities in the words of models and people. On the wire they are open: any string is kept as it came."""

from typing import Final

from planwire.model.plan import PRIORITIES
from planwire.model.statuses import folded_word

#: Further words for each priority of the protocol, in its order.
_SYNONYMS: Final = dict(
    zip(
        PRIORITIES,
        (
            ("highest", "critical", "urgent", "important", "must", "must have", "blocker", "p0", "p1"),
            ("mid", "med", "middle", "moderate", "normal", "default", "regular", "should", "p2"),
            ("lowest", "minor", "trivial", "optional", "nice to have", "could", "p3", "p4"),
        ),
        strict=True,
    )
)
_FOLDED: Final = {folded_word(spelling): word for word, synonyms in _SYNONYMS.items() for spelling in (word, *synonyms)}


def folded_priority(word: str) -> str | None:
    """The protocol's word for a priority as models and people name it; None for any other word."""
    return _FOLDED.get(folded_word(word))
