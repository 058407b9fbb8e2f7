"""The reach to a session is that of all who hold it, and of nobody else."""

from planwire.journal import Journal, Terms, open_journal
from planwire.session.reach import NOBODY, Reach, session_reach


def test_the_reach_to_a_session_is_that_of_all_who_hold_it() -> None:
    with open_journal("memory:") as journal:
        assert session_reach(journal, "s") == NOBODY
        journal.lease("other", Terms("relay", is_working=True, can=("steer",)))
        assert session_reach(journal, "s") == NOBODY
        first = journal.lease("s", Terms("relay", can=("answer", "tell")))
        journal.lease("s", Terms("relay", is_working=True, can=("stop",)))
        assert session_reach(journal, "s") == Reach(frozenset(("answer", "tell", "stop")), is_working=True)
        first.release()
        assert session_reach(journal, "s") == Reach(frozenset(("stop",)), is_working=True)


def test_a_journal_that_does_not_tell_reaches_nobody() -> None:
    journal: Journal = open_journal("memory:")
    journal.lease("s", Terms("relay", can=("tell",)))
    journal.close()
    assert session_reach(journal, "s") == NOBODY
