"""Moves of a step among those beside it, for any plan."""

from itertools import takewhile

from hypothesis import assume, given
from hypothesis import strategies as st

from planwire.errors import NothingChanges
from planwire.model.events import PlanSet, Recorded
from planwire.model.plan import MarkdownPlan
from planwire.model.records import SessionState
from planwire.model.steps import Step
from planwire.steering.acts import decide
from planwire.steering.wanted import Wanted
from tests.deciding import fold


def with_steps(depths: list[int]) -> SessionState:
    deepest, lines = 0, []
    for number, depth in enumerate(depths):
        deepest = min(depth, deepest + 1) if number else 0
        lines.append(f"{'  ' * deepest}- [ ] step {number}\n")
    return fold(SessionState("s"), Recorded("s", 1, 0, "agent", PlanSet(MarkdownPlan("p", "".join(lines)))))


def moved(state: SessionState, step: str, by: int | None = None, before: str | None = None) -> SessionState:
    for event in decide(state, "p", Wanted("move", step, by=by, before=before), lambda _: None).events:
        state = fold(state, Recorded("s", state.seq + 1, 0, "user", event))
    return state


def steps(state: SessionState) -> tuple[Step, ...]:
    return state.plans["p"].state.steps


@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.data())
def test_a_step_that_is_moved_down_and_up_again_is_where_it_was(depths: list[int], data: st.DataObject) -> None:
    state = with_steps(depths)
    step = data.draw(st.sampled_from([each.id for each in steps(state)]))
    try:
        down = moved(state, step, 1)
    except NothingChanges:
        assume(False)
    assert steps(down) != steps(state)
    assert steps(moved(down, step, -1)) == steps(state)


@given(st.lists(st.integers(0, 2), min_size=2, max_size=8), st.data())
def test_a_step_that_is_moved_before_another_one_stands_right_above_it_in_its_list(
    depths: list[int], data: st.DataObject
) -> None:
    state = with_steps(depths)
    ids = [each.id for each in steps(state)]
    step, other = data.draw(st.lists(st.sampled_from(ids), min_size=2, max_size=2, unique=True))
    family = [step, *_nested(steps(state), step)]
    assume(other not in family)
    try:
        after = steps(moved(state, step, before=other))
    except NothingChanges:
        after = steps(state)
    place = [each.id for each in after].index(other)
    assert [each.id for each in after[place - len(family) : place]] == family
    assert after[place - len(family)].depth == after[place].depth


def _nested(all_steps: tuple[Step, ...], step: str) -> list[str]:
    place = next(at for at, each in enumerate(all_steps) if each.id == step)
    depth = all_steps[place].depth
    return [each.id for each in takewhile(lambda each: each.depth > depth, all_steps[place + 1 :])]
