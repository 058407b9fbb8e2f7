"""Why no engine can use a journal: it is not there, it is closed, it lost events, or another process opened it."""

from typing import Final

from planwire.errors import JournalUnavailable, NewerJournal, NoJournal, NotAJournal

#: What is wrong with a journal whatever is to be written to it. So a record that met one of these is not at fault, and
#: waits until the journal can be used again.
UNUSABLE: Final = (JournalUnavailable, NewerJournal, NoJournal, NotAJournal)


def absent(where: object) -> NoJournal:
    return NoJournal(
        f"there is no journal at {where}. Run an agent behind planwire first (planwire relay -- AGENT), or name "
        "another journal with --journal or PLANWIRE_JOURNAL"
    )


def closed(where: object = "") -> JournalUnavailable:
    return JournalUnavailable(f"{f'the journal {where}'.rstrip()} is closed: open it again")


def went_back(where: object) -> JournalUnavailable:
    """For a journal that ends before an event that a follower had from it."""
    return JournalUnavailable(
        f"the journal {where} has lost its last events: a backup was restored, or its server came back without them"
    )


def forked(where: object) -> JournalUnavailable:
    """For a journal that crossed a fork: two processes on one connection would take each other's answers."""
    return JournalUnavailable(f"the journal {where} was opened before this process was forked off: open it again here")
