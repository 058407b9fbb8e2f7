"""What people read while a journal's server is away, and how to show what this machine last knew."""

import time

from msgspec.structs import replace

from planwire.errors import EngineAway
from planwire.journal.protocol import Journal
from planwire.journal.waiting import go_by_last_known, is_away, refusal_of, waiting_of, waiting_words, why_away

__all__ = ["away_words", "go_by_last_known", "is_away", "last_known_words", "without_reason"]


def away_words(journal: Journal) -> str | None:
    """Since when the journal's server has been away, or has refused the login, and what waits for it; None if all is
    well. The reason is left out: commands tell it to the person who runs the server."""
    waiting = replace(waiting_of(journal), why="")
    clock = time.strftime("%H:%M", time.localtime((waiting.since or 0) / 1_000))
    return waiting_words(waiting, f"has {'refused the login' if refusal_of(journal) else 'been away'} since {clock}")


def without_reason(journal: Journal, error: EngineAway) -> str:
    """An error of a journal whose server is away, for people who don't run that server: since when it has been away,
    and what became of their act, but not how the server is reached."""
    away, why, said = away_words(journal), why_away(journal), str(error)
    if away is None or not said.startswith(why):
        return said
    _, _, became = said.removeprefix(why).partition(". ")
    return f"{away}. {became}" if became else away


def last_known_words(journal: Journal) -> str | None:
    """The sentence above what is shown by `go_by_last_known`; None if the server answers, and nothing waits for it."""
    waiting = waiting_of(journal)
    if waiting.since is not None:
        return f"{away_words(journal)}. This is what was last known here."
    waits = waiting_words(waiting)  # with the reason: it answers, but takes no events, or not from this login
    return waits and f"{waits}. What is shown here may lack {'it' if waiting.count == 1 else 'them'}."
