"""Pages of stored events, and the appends that they become: none is lost, whatever is missing between them."""

from planwire.journal.protocol import Once, StoredEvent
from planwire.journal.stored_pages import KeySpan, StoredPage, by_keys

ONE, TWO = KeySpan(1, 4, Once("one", 1)), KeySpan(4, 6, Once("two", 1))


def page(*numbers: int, keys: tuple[KeySpan, ...] = ()) -> StoredPage:
    return StoredPage([StoredEvent(seq, 1, "agent", b"{}", None) for seq in numbers], list(keys))


def appends(*pages: StoredPage) -> list[tuple[list[int], str | None]]:
    return [([each.seq for each in one.events], one.once.source if one.once else None) for one in by_keys(pages)]


def test_what_was_written_with_one_key_comes_together_though_a_page_ends_within() -> None:
    found = appends(page(1, 2, 3, keys=(ONE,)), page(4, 5, keys=(ONE, TWO)), page(6, 7, keys=(TWO,)))
    assert found == [([1], None), ([2, 3, 4], "one"), ([5, 6], "two"), ([7], None)]


def test_events_whose_append_was_cut_off_are_there_without_their_key() -> None:
    assert appends(page(1, 2, 3, keys=(ONE,))) == [([1], None), ([2, 3], None)]


def test_a_hole_at_the_end_of_one_append_mixes_it_with_no_other() -> None:
    assert appends(page(2, 3, 5, 6, keys=(ONE, TWO))) == [([2, 3], "one"), ([5, 6], "two")]
