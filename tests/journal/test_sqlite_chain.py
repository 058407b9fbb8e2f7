"""The chain of hashes in a SQLite file, and events that are carried as they are."""

from pathlib import Path

from planwire.journal import Once, StoredAppend, StoredEvent, open_journal
from tests.journal.test_contract import said
from tests.journal.test_stored import stored


def test_a_long_append_with_a_key_stays_together_across_pages(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append("s", said("one"))
        journal.append("s", said(*map(str, range(2_500))), once=Once("page", 1))
        journal.append("s", said(*map(str, range(2_500))))
        appends = list(journal.stored("s"))
    keyed = [each for each in appends if each.once]
    assert [len(each.events) for each in keyed] == [2_500]
    assert sum(len(each.events) for each in appends) == 5_001
    assert max(len(each.events) for each in appends if not each.once) <= 1_000


def test_an_event_that_is_no_text_is_carried_as_it_is(path: Path) -> None:
    odd = StoredEvent(1, 1, "agent", b"\xff\x00\xfe", None)
    with open_journal(path) as journal:
        journal.store("s", [StoredAppend((odd,))])
        assert stored(journal, "s") == [odd]
