"""Acts that are sent again because their answer was lost: never written twice, never lost."""

from itertools import count
from typing import Any

import pytest

from planwire.errors import JournalUnavailable
from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import PlanSet
from planwire.model.plan import Entry, ItemsPlan
from planwire.session.once import MOST
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted

ACTS = (Wanted("tick", "s1"), Wanted("add", text="New"), Wanted("move", "s1", by=1), Wanted("select", steps=("s1",)))


@pytest.fixture
def journal(tmp_path: Any) -> Any:
    with open_journal(str(tmp_path / "plans.db")) as opened:
        plan = ItemsPlan("main", tuple(Entry(f"step {number}", "medium", "pending") for number in (1, 2, 3)))
        opened.append("s", [Stamped(1, "agent", PlanSet(plan))])
        yield opened


@pytest.mark.parametrize("wanted", ACTS, ids=lambda wanted: wanted.act)
def test_an_act_with_a_key_is_written_once_also_for_a_process_that_knows_nothing_of_it(
    journal: Journal, wanted: Wanted
) -> None:
    first = steer(journal, "s", "main", wanted, key="k")
    steer(journal, "s", "main", Wanted("comment", "s2", text="Meanwhile"), key="other")
    assert steer(journal, "s", "main", wanted, key="k") == first
    assert journal.last_seq("s") == 3
    steer(journal, "s", "main", Wanted("tick", "s3"))
    assert journal.last_seq("s") == 4


def test_an_act_that_was_noted_and_not_written_is_written_when_it_comes_again(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_values: Any) -> Any:
        raise JournalUnavailable("the process was killed")

    later = count(10**18, 10**6)
    monkeypatch.setattr("planwire.session.writer.time_ns", lambda: next(later))  # no two acts in one millisecond
    with monkeypatch.context() as until_then:
        until_then.setattr(journal, "append", dies)
        with pytest.raises(JournalUnavailable):
            steer(journal, "s", "main", Wanted("add", text="New"), key="k")
    steer(journal, "s", "main", Wanted("add", text="New"), key="from someone else")
    assert steer(journal, "s", "main", Wanted("add", text="New"), key="k").added == "s5"
    assert journal.last_seq("s") == 3


def test_only_the_newest_notes_are_kept(journal: Journal) -> None:
    for number in range(MOST + 5):
        steer(journal, "s", "main", Wanted("tick", "s1"), key=f"k{number}")
    kept = journal.snapshot("s", "acts")
    assert kept is not None
    assert kept.data.count(b'"k') == MOST
