"""An act on a plan of a while ago, while other writers are faster."""

from collections.abc import Sequence

import pytest

from planwire.journal import Once, Stamped, open_journal, state_at
from planwire.model.events import PlanChanged, PlanSet, Recorded
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.records import SessionState
from planwire.model.step_changes import SetStatus
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests import deciding


def test_the_plan_that_the_person_saw_is_read_once_however_often_others_are_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reading it takes as long as the history is. An agent that writes all the time would win every race."""
    plan = ItemsPlan("main", (Entry("a", "medium", "pending"), Entry("b", "medium", "pending")))
    ticked = [Stamped(0, "agent", PlanChanged("main", changes=(SetStatus("s1", "completed"),)))]
    recalled: list[int] = []

    def counted(*arguments: object) -> SessionState:
        recalled.append(len(beaten))
        return state_at(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("planwire.session.steering.state_at", counted)
    with open_journal("memory:") as journal:
        deciding.write(journal, "s", Stamped(0, "agent", PlanSet(plan)), *ticked)
        really_append, beaten = journal.append, list[int]()

        def append(
            session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
        ) -> tuple[Recorded, ...]:
            if len(beaten) < 5:
                beaten.append(1)
                really_append("s", ticked)
            return really_append(session, events, expected_seq, once)

        monkeypatch.setattr(journal, "append", append)
        done = steer(journal, "s", "main", Wanted("reword", "s2", seen=1, text="c"))
        assert done.state.plans["main"].state.steps[1].content == "c"
    assert len(beaten) == 5
    assert recalled == [0]
