"""Acts that come twice, because the answer to the first was lost: written once, and answered as they were."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire import Entry, ItemsPlan
from planwire.errors import NothingChanges
from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import ACP, Event, PlanSet
from planwire.session.steering import ALREADY_DONE, Once, steer
from planwire.steering.wanted import Wanted
from tests import deciding

KEY = Once("a page", 1)
ADD = Wanted("add", None, 1, text="ship")


@pytest.fixture(params=["memory", "sqlite"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    with open_journal("memory:" if request.param == "memory" else tmp_path / "journal.db") as opened:
        yield opened


def write(journal: Journal, *events: Event) -> None:
    deciding.write(journal, "s", *(Stamped(0, "agent", event) for event in events))


def plan(*contents: str, via: str = "tools") -> PlanSet:
    return PlanSet(ItemsPlan("main", tuple(Entry(text, "medium", "pending") for text in contents)), via=via)


@pytest.mark.parametrize("via", ["tools", ACP])
@pytest.mark.parametrize(
    "wanted",
    [
        ADD,
        Wanted("reword", "s1", 1, text="look"),
        Wanted("tick", "s2"),
        Wanted("comment", "s2", 1, text="why?"),
        Wanted("dismiss", None, 1),
        Wanted("suggest", None, 1, plan_text="[x] read {s1}\n"),
    ],
    ids=lambda wanted: wanted.act,
)
def test_an_act_that_comes_twice_is_written_once_and_answered_the_same(
    journal: Journal, wanted: Wanted, via: str
) -> None:
    write(journal, plan("read", "write", via=via))
    first = steer(journal, "s", "main", wanted, once=KEY)
    last = journal.last_seq("s")
    assert steer(journal, "s", "main", wanted, once=KEY) == first
    write(journal, plan("something", "else", via=via))
    assert steer(journal, "s", "main", wanted, once=KEY) == first
    assert journal.last_seq("s") == last + 1


def test_the_same_act_under_another_key_is_another_act(journal: Journal) -> None:
    write(journal, plan("read"))
    steer(journal, "s", "main", ADD, once=KEY)
    assert steer(journal, "s", "main", ADD, once=Once("a page", 2)).added == "s3"


def test_an_act_that_had_nothing_to_write_is_decided_again(journal: Journal) -> None:
    write(journal, plan("read"))
    to_do = Wanted("set_status", "s1", status="pending")
    with pytest.raises(NothingChanges):
        steer(journal, "s", "main", to_do, once=KEY)
    steer(journal, "s", "main", Wanted("tick", "s1"))
    assert steer(journal, "s", "main", to_do, once=KEY).revision == 3


@pytest.mark.parametrize("other", [Wanted("add", text="other words"), Wanted("tick", "s9"), Wanted("tick", "s1", 9)])
def test_another_act_under_a_known_key_is_not_said_to_be_done(journal: Journal, other: Wanted) -> None:
    write(journal, plan("read"))
    first = steer(journal, "s", "main", ADD, once=KEY)
    again = steer(journal, "s", "main", other, once=KEY)
    assert (again.words, again.revision, again.state) == (ALREADY_DONE, first.revision, first.state)
    assert journal.last_seq("s") == 2
