"""A timeline: any moment of any past, however long it is."""

import pytest

from planwire.journal import Stamped, open_journal
from planwire.model.events import MessageAdded, PlanSet
from planwire.model.plan import Entry, ItemsPlan
from planwire.readmodel import timeline
from planwire.readmodel.timeline import Timeline
from tests import deciding

MOMENTS = 300


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeline that keeps the words of few moments."""
    monkeypatch.setattr(timeline, "MOST_MOMENTS", 20)


@pytest.mark.usefixtures("short")
def test_moments_whose_words_are_not_kept_can_be_reached_as_well() -> None:
    with open_journal("memory:") as journal:
        for number in range(1, MOMENTS + 1):
            plan = PlanSet(ItemsPlan("main", (Entry(f"step {number}", "medium", "pending"),)))
            deciding.write(journal, "s1", *(Stamped(number, "agent", event) for event in (plan, MessageAdded({}))))
        past = Timeline("s1")
        past.catch_up(journal)
        assert len(past.moments) <= 20
        assert past.left_out == MOMENTS - len(past.moments)
        assert list(past.numbers) == [*range(1, 2 * MOMENTS, 2)]
        for place in (0, 1, 150, past.left_out - 1, past.left_out, MOMENTS - 1):
            seq = 2 * place + 1
            assert past.index(seq) == past.index(seq + 1) == place
            moment = past.entry(journal, place)
            assert moment is not None
            assert moment.seq == seq
            then = past.shown(journal, moment)
            assert then.cards()[0].rows[0].text == f"step {place + 1}"
            assert (then.glance.first_at, then.glance.last_at) == (1, place + 1)
        assert [each.at for each in past.entries(journal, 0, MOMENTS)] == [*range(1, MOMENTS + 1)]
        assert past.entries(journal, 270, MOMENTS)[-20:] == past.entries(journal, 280, MOMENTS)
        assert past.entry(journal, -1) is None
        assert past.shown(journal, None).cards() == ()


def test_a_wrong_clock_stretches_no_chart() -> None:
    with open_journal("memory:") as journal:
        for number, at in enumerate((1_000, 4_133_980_800_000, 2_000), 1):
            plan = PlanSet(ItemsPlan("main", tuple(Entry(f"step {each}", None, "pending") for each in range(number))))
            deciding.write(journal, "s1", Stamped(at, "agent", plan))
        past = Timeline("s1")
        past.catch_up(journal)
        assert [each.at for each in past.points] == [1_000, 1_000, 2_000]
