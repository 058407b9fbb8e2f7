"""Events as they are stored: linked to those before them, and carried from one journal to another without a change."""

import pytest

from planwire.errors import Conflict
from planwire.journal import Journal, Once, StoredAppend, StoredEvent, open_journal
from planwire.journal.chain import NO_LINK, link
from tests.journal.test_contract import said, words


def stored(journal: Journal, session: str, after: int = 0) -> list[StoredEvent]:
    return [each for append in journal.stored(session, after) for each in append.events]


def links(session: str, events: list[StoredEvent]) -> list[bytes]:
    made, before = [], NO_LINK
    for each in events:
        before = link(before, session, each.seq, each.at, each.by, each.text)
        made.append(before)
    return made


def test_each_event_is_linked_to_the_one_before(journal: Journal) -> None:
    journal.append("a", said("one", "two"))
    journal.append("b", said("other"))
    journal.append("a", said("three", by="Zoë"))
    kept = stored(journal, "a")
    assert [each.seq for each in kept] == [1, 2, 3]
    assert [each.link for each in kept] == links("a", kept)
    assert stored(journal, "a", 2) == kept[2:]
    assert stored(journal, "nobody") == []


def test_no_two_events_have_the_same_link(journal: Journal) -> None:
    for session in ("a", "b"):
        for _ in range(3):
            journal.append(session, said("the same"))
    assert len({each.link for session in ("a", "b") for each in stored(journal, session)}) == 6


def test_a_link_tells_apart_what_only_its_fields_tell_apart() -> None:
    assert link(NO_LINK, "ab", 1, 1, "c", b"{}") != link(NO_LINK, "a", 1, 1, "bc", b"{}")
    assert link(NO_LINK, "a", 1, 11, "c", b"{}") != link(NO_LINK, "a", 11, 1, "c", b"{}")


def test_a_copy_has_the_events_the_links_and_the_keys_of_the_original(journal: Journal) -> None:
    with open_journal("memory:") as original:
        original.append("a", said("one"))
        original.append("a", said("two", "three"), once=Once("page", 7))
        original.append("a", said("four"))
        original.append("a", said("five"))
        copied = list(original.stored("a"))
    journal.store("a", copied[:1])
    journal.store("a", copied[1:])
    assert words(journal.read("a")) == ["one", "two", "three", "four", "five"]
    assert stored(journal, "a") == [each for append in copied for each in append.events]
    assert words(journal.append("a", said("again"), once=Once("page", 7))) == ["two", "three"]
    journal.append("a", said("six"))
    kept = stored(journal, "a")
    assert [each.link for each in kept] == links("a", kept)


def test_stored_keeps_what_was_written_with_a_key_together(journal: Journal) -> None:
    journal.append("a", said("one"))
    journal.append("a", said("two", "three"), once=Once("page", -7))
    journal.append("a", said("four"), once=Once("page", 8))
    keyed = [each for each in journal.stored("a") if each.once]
    assert [(each.once, [event.seq for event in each.events]) for each in keyed] == [
        (Once("page", -7), [2, 3]),
        (Once("page", 8), [4]),
    ]


@pytest.mark.parametrize("begin", [1, 3])
def test_events_that_do_not_go_on_where_a_session_ends_are_not_stored(journal: Journal, begin: int) -> None:
    journal.append("a", said("one"))
    event = StoredEvent(begin, 1, "agent", b'{"event":"turn_ended","stop_reason":"two"}', None)
    with pytest.raises(Conflict):
        journal.store("a", [StoredAppend((event,))])
    with pytest.raises(Conflict):
        journal.store("a", [StoredAppend((_at(2),)), StoredAppend((_at(4),))])
    assert words(journal.read("a")) == ["one"]


def _at(seq: int) -> StoredEvent:
    return StoredEvent(seq, 1, "agent", b'{"event":"turn_ended","stop_reason":"x"}', None)


def test_what_is_stored_is_followed_like_any_other_event(journal: Journal) -> None:
    journal.store("a", [StoredAppend((_at(1),))])
    assert [each.recorded.seq for each in journal.follow(0, timeout=0)] == [1]


def test_a_journal_says_where_it_is_and_what_an_acknowledged_append_is_worth(journal: Journal) -> None:
    facts = journal.facts()
    assert facts.engine
    assert facts.where
    assert facts.promise
