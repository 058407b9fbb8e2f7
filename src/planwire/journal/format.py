"""Format 1, the first: its number, and the sentences that refuse journals of any other.

Every engine, export, note and backup has this number under a mark of its own. Development versions had other marks
(`OLD_…` beside each new one), and their events lacked what a writer decides today: so they can't be carried over, and
they refuse today's journals as nothing of theirs. Whoever changes how something is stored raises the number here.
"""

from typing import Final

from planwire.errors import NewerJournal, NotAJournal

FORMAT: Final = 1


def development(what: str, what_to_do: str) -> NotAJournal:
    """The refusal of a journal from before format 1."""
    return NotAJournal(
        f"{what} is from a development version of planwire, and can't be carried over to this one: {what_to_do}. "
        "Nothing was changed"
    )


def newer(what: str, found: int) -> NewerJournal:
    """The refusal of a journal that a newer planwire wrote."""
    return NewerJournal(
        f"{what} has format {found}, and this planwire knows format {FORMAT}: upgrade planwire, or name another "
        "journal. Nothing was changed"
    )
