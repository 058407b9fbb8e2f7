"""What stands over an agent's plan."""

from planwire.model.events import ACP, SUGGESTION, Event, PlanSet, Recorded, Remarked
from planwire.model.identity import track
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.step_changes import AddStep, StepChange
from planwire.readmodel.annotations import annotations
from planwire.steering.plan_text import changes_in
from tests.deciding import fold_all

PLAN = ItemsPlan("main", (Entry("read", "medium", "completed"), Entry("write", "medium", "pending")))


def suggests(*changes: StepChange) -> Remarked:
    return Remarked("main", SUGGESTION, changes=changes)


def test_suggested_steps_stand_in_the_order_that_they_would_have_in_the_list() -> None:
    text = "[ ] first\n[x] read {s1}\n[ ] A\n[ ] B\n[ ] write {s2}\n[ ] last\n"
    events: tuple[tuple[str, Event], ...] = (
        ("agent", PlanSet(PLAN, via=ACP)),
        ("user", suggests(*changes_in(text, track(PLAN)))),
        ("ana", suggests(AddStep("end 1"), AddStep("end 2"))),
        ("ana", suggests(AddStep("before A", "s1"))),
    )
    state = fold_all("s", [Recorded("s", seq, 0, by, event) for seq, (by, event) in enumerate(events, start=1)])
    places: dict[str | None, list[str]] = {}
    for after, suggested in annotations(state.plans["main"]).added:
        places.setdefault(after, []).append(suggested.text)
    assert places == {"": ["first"], "s1": ["before A", "A", "B"], "s2": ["last"], None: ["end 1", "end 2"]}
