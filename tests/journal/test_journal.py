"""The journal over any store: what it does when others write, forget or lose events at the same time."""

from collections.abc import Callable, Sequence

import pytest

from planwire.errors import Conflict, EngineAway, JournalUnavailable
from planwire.journal import Once, Snapshot, Terms, leases
from planwire.journal.journal import StoreJournal
from planwire.journal.memory import MemoryStore
from planwire.journal.store import Append, Appended
from tests.journal.test_contract import said, words


class Crowded(MemoryStore):
    """A store in which something else happens before an append is written."""

    def __init__(self) -> None:
        super().__init__()
        self.before_next: Callable[[], object] | None = None
        self.batches: list[int] = []

    def append(self, appends: Sequence[Append]) -> list[Appended | Exception]:
        before, self.before_next = self.before_next, None
        if before is not None:
            before()
        self.batches.append(len(appends))
        return super().append(appends)


@pytest.fixture
def store() -> Crowded:
    return Crowded()


@pytest.fixture
def journal(store: Crowded) -> StoreJournal:
    return StoreJournal(store)


def test_an_append_that_expects_no_number_goes_behind_whoever_came_first(journal: StoreJournal, store: Crowded) -> None:
    other = StoreJournal(store)
    journal.append("s", said("one"))
    store.before_next = lambda: other.append("s", said("between"))
    assert [each.seq for each in journal.append("s", said("two"))] == [3]
    assert words(journal.read("s")) == ["one", "between", "two"]


def test_an_append_that_expects_a_number_is_refused_if_somebody_came_first(
    journal: StoreJournal, store: Crowded
) -> None:
    journal.append("s", said("one"))
    store.before_next = lambda: StoreJournal(store).append("s", said("between"))
    with pytest.raises(Conflict, match="is at event 2, not 1"):
        journal.append("s", said("two"), 1)


def test_an_append_after_a_forget_by_another_begins_the_session_anew(journal: StoreJournal, store: Crowded) -> None:
    journal.append("s", said("one", "two"))
    store.before_next = lambda: StoreJournal(store).forget("s")
    assert [each.seq for each in journal.append("s", said("anew"))] == [1]


def test_a_writer_that_knows_events_which_the_store_lost_says_so_once(journal: StoreJournal, store: Crowded) -> None:
    journal.append("s", said("one"))
    end = store.ends("s")
    journal.append("s", said("lost"))
    lost, store._last = store._sessions["s"], 1
    del lost.rows[1:], store._tail[1:]
    lost.position = 1
    assert store.ends("s") == end
    with pytest.raises(JournalUnavailable, match="has lost its last events"):
        journal.append("s", said("two"))
    assert [each.seq for each in journal.append("s", said("two"))] == [2]


def test_an_append_with_a_key_is_repeated_once_if_its_answer_is_lost(journal: StoreJournal, store: Crowded) -> None:
    def lose() -> None:
        raise EngineAway("no answer")

    store.before_next = lose
    assert words(journal.append("s", said("one"), once=Once("k", 1))) == ["one"]
    store.before_next = lose
    with pytest.raises(EngineAway):
        journal.append("s", said("two"))
    assert words(journal.read("s")) == ["one"]


def test_a_snapshot_that_meets_a_forget_leaves_nothing_behind(journal: StoreJournal, store: Crowded) -> None:
    put = store.put

    def put_after_forgetting(*given: object) -> bool:
        store.put = put  # type: ignore[method-assign]
        StoreJournal(store).forget("s")
        return put(*given)  # type: ignore[arg-type]

    journal.append("s", said("one"))
    store.put = put_after_forgetting  # type: ignore[method-assign, assignment]
    journal.keep_snapshot("s", 1, b"secret")
    assert store.get("snapshot") == []
    journal.append("s", said("anew"))
    assert journal.snapshot("s") is None
    journal.keep_snapshot("s", 1, b"its own")
    assert journal.snapshot("s") == Snapshot(1, b"its own")


def test_a_holder_writes_a_lease_again_that_others_ended_unless_its_session_was_forgotten(
    journal: StoreJournal, store: Crowded
) -> None:
    for session in "st":
        journal.append(session, said("one"))
        journal.lease(session, Terms("relay"))
    for each in store.get(leases.LEASE):
        store.put(leases.LEASE, each.session, each.name, None)
    journal.forget("t")
    journal._leases.renew()
    assert [(each.session, each.terms) for each in journal.leases()] == [("s", Terms("relay"))]


def test_no_session_that_comes_once_is_remembered_for_ever(journal: StoreJournal) -> None:
    for number in range(1_500):
        journal.append(f"s{number}", said("one"))
    assert len(journal._appends._known) <= 1_000
