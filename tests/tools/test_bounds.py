"""Caps that bind the state: no sequence of accepted calls makes a plan too large, or an answer too long to pass on."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.errors import ToolError
from planwire.model.events import ACP, PlanChanged, PlanSet, Remarked
from planwire.model.plan import BODY_CAP, DELTA_CAP, REMARK_CAP, Plan
from planwire.model.sizes import plan_bytes
from planwire.model.unheard import news
from planwire.tools.answers import Answer, answer_call, said
from planwire.tools.call import prepare_call
from planwire.tools.pages import ANSWER_CHARACTERS
from tests.tools.test_call import Model, refusal

FILE = "file:///plan.md"


def stored_bytes(plan: Plan) -> int:
    if isinstance(plan, ItemsPlan):
        return len(msgspec.json.encode(plan.entries))
    return len(plan.content.encode()) if isinstance(plan, MarkdownPlan) else 0


def pages(model: Model, read: Callable[[str], str | None] = lambda _: None, **arguments: Any) -> list[Answer]:
    """Every page of get_plan, each with all that people said, as if none of it had been told."""
    found: list[Answer] = []
    while not found or found[-1].get("page", 1) < found[-1].get("pages", 1):
        call = prepare_call(model.state, "get_plan", {**arguments, "page": len(found) + 1}, read=read)
        answer = Answer(answer_call(call, model.state, model.state, read))
        answer |= said(news(model.state, since=0), "tool-1", answer)
        found.append(answer)
    return found


def test_a_change_that_makes_a_plan_too_large_is_refused_with_what_to_do() -> None:
    model = Model()
    model.call("set_plan", entries=["x" * 900] * 100)
    model.call("update_plan", add=["y" * 1000] * 2)
    error = refusal(model, "update_plan", add=["y" * 1000] * 2)
    assert (error["code"], error["cap"]) == ("too_large", BODY_CAP)
    assert error["message"].startswith("the plan after this change has")
    assert "remove steps that are finished, or give a shorter plan" in error["hint"]
    assert stored_bytes(model.state.plans["main"].state.plan) <= BODY_CAP
    model.call("update_plan", remove=["s1", "s2", "s3"], add=["y" * 1000] * 2)


@pytest.mark.parametrize("text", ["- [ ] a\n", None])
def test_a_plan_of_the_largest_size_can_still_be_worked_on(text: str | None) -> None:
    model = Model()
    if text is None:
        size = plan_bytes(ItemsPlan("main", (Entry("", "low", "pending"),) * 1000))
        texts = ["x"] * 1000
        texts[0] += "x" * (BODY_CAP - size - 1000)
        model.call("set_plan", entries=[{"content": each, "priority": "low"} for each in texts])
    else:
        model.call("set_plan", content=text + "x" * (BODY_CAP - len(text)))
    plan = model.state.plans["main"].state.plan
    assert plan_bytes(plan) == BODY_CAP
    steps = [step[0] for step in model.steps()][:200]
    model.call("update_plan", steps=dict.fromkeys(steps, "in_progress"))
    model.call("update_plan", note="x" * DELTA_CAP)
    assert stored_bytes(model.state.plans["main"].state.plan) <= BODY_CAP
    assert refusal(model, "update_plan", add="one more")["code"] == "too_large"


def test_a_plan_that_came_too_large_over_the_wire_may_become_smaller() -> None:
    model = Model()
    model.happen(PlanSet(ItemsPlan("main", (Entry("x" * 1000, "high", "pending"),) * 200), via=ACP), "agent")
    model.call("update_plan", remove=["s1"], reword={"s2": "short"})
    assert refusal(model, "update_plan", add="more")["code"] == "too_large"


def test_a_plan_of_one_page_says_nothing_of_pages() -> None:
    model = Model()
    model.call("set_plan", entries=["a"])
    assert model.call("get_plan") == model.call("get_plan", page=1)
    assert "page" not in model.call("get_plan")


@pytest.mark.parametrize("letter", ["x", '"', "\n", "\x01", "😀"])
@pytest.mark.parametrize("is_text", [False, True])
def test_the_pages_of_a_long_plan_have_all_of_it_and_none_is_too_long(letter: str, is_text: bool) -> None:
    model = Model()
    text = letter * (BODY_CAP // 2 // len(msgspec.json.encode(letter).decode()[1:-1].encode()))
    if is_text:
        model.call("set_plan", content=f"# Plan\n- [ ] a\n\n{text}", summary=f"s{letter * 1000}")
    else:
        model.call("set_plan", entries=[f"a{text}", "b"])
    for number in range(100):
        model.happen(Remarked("main", "comment", f"{number}{letter * (REMARK_CAP // 8)}", 1))
    model.call("update_plan", note=f"n{letter * (DELTA_CAP // 8)}")
    found = pages(model)
    assert all(len(str(page)) <= ANSWER_CHARACTERS for page in found)
    assert [each["id"] for page in found for each in page.get("remarks", ())] == [f"r{n}" for n in range(1, 101)]
    assert [each["text"] for page in found for each in page["plan"].get("notes", ())] == [
        model.state.plans["main"].notes[0].text
    ]
    steps = [step for page in found for step in page["plan"].get("steps", ())]
    whole = "".join(page["plan"].get("content", "") for page in found)
    plan = model.state.plans["main"].state.plan
    if isinstance(plan, MarkdownPlan):
        assert whole == plan.content
    else:
        assert "".join(step["content"] for step in steps) == f"a{text}b"
    for number, page in enumerate(found[:-1], start=1):
        assert (page["page"], page["pages"]) == (number, len(found))
        assert page["more"] == f"call get_plan with page: {number + 1}"


def test_a_step_that_is_too_long_for_a_page_comes_in_parts() -> None:
    model = Model()
    model.happen(PlanSet(ItemsPlan("main", (Entry("x" * 250_000, "high", "pending"),)), via=ACP), "agent")
    found = pages(model)
    steps = [step for page in found for step in page["plan"].get("steps", ())]
    assert len(found) > 1
    assert {step["id"] for step in steps} == {"s1"}
    assert "".join(step["content"] for step in steps) == "x" * 250_000
    assert steps[0]["part"] == f"1 of {len(steps)}"


letters = st.sampled_from(["x", "ü", '"', "\n", "\x01", "😀"])
sizes = st.sampled_from([1, 80, 3_000, DELTA_CAP // 2, DELTA_CAP, BODY_CAP // 2, BODY_CAP])


@st.composite
def long_texts(draw: st.DrawFn, cap: int = BODY_CAP) -> str:
    letter = draw(letters)
    return "t" + letter * (min(draw(sizes), cap - 1) // len(letter.encode()))


calls = st.one_of(
    st.tuples(
        st.just("set_plan"),
        st.fixed_dictionaries(
            {"entries": st.lists(long_texts(), min_size=1, max_size=4).map(lambda each: each * 5)},
            optional={"summary": long_texts(DELTA_CAP)},
        ),
    ),
    st.tuples(
        st.just("set_plan"),
        st.fixed_dictionaries({"content": long_texts().map(lambda text: f"- [ ] a\n- [ ] b\n{text}")}),
    ),
    st.tuples(
        st.just("update_plan"),
        st.fixed_dictionaries(
            {"add": st.lists(long_texts(DELTA_CAP), max_size=3)}, optional={"note": long_texts(DELTA_CAP)}
        ),
    ),
    st.tuples(st.just("update_plan"), st.fixed_dictionaries({"steps": st.just({"s1": "in_progress", "s2": "done"})})),
    st.tuples(st.just("update_plan"), st.fixed_dictionaries({"reword": st.fixed_dictionaries({"s1": long_texts()})})),
    st.tuples(st.just("remark"), long_texts(REMARK_CAP)),
    st.tuples(st.just("edit"), long_texts(DELTA_CAP)),
    st.tuples(st.just("file"), long_texts()),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(calls, min_size=1, max_size=10), st.integers(1, 30))
def test_no_accepted_calls_make_a_plan_or_an_answer_too_large(made: list[tuple[str, Any]], often: int) -> None:
    model = Model()
    in_file = "- [ ] none"
    model.happen(PlanSet(FilePlan("f", FILE), via=ACP), "agent")
    model.happen(PlanSet(ItemsPlan("main", ())), "agent")
    for what, value in made:
        if what == "remark":
            for _ in range(often):
                model.happen(Remarked("main", "comment", value, 1), f"person {often}")
        elif what == "edit":
            model.happen(PlanChanged("main", value), "an" * 200)
        elif what == "file":
            in_file = f"- [x] c\n{value}"
        else:
            with suppress(ToolError):
                model.call(what, **value)
        assert stored_bytes(model.state.plans["main"].state.plan) <= BODY_CAP
    for arguments in ({}, {"detail": "brief"}, {"plan_id": "f"}, {"notes": True}):
        for page in pages(model, {FILE: in_file}.get, **arguments):
            assert len(str(page)) <= ANSWER_CHARACTERS
    error = refusal(model, "update_plan", note="n", expected_revision=77)
    assert len(msgspec.json.encode(error)) <= ANSWER_CHARACTERS


def test_notes_that_the_state_no_longer_holds_are_announced_and_shown_newest_first() -> None:
    model = Model()
    model.call("set_plan", entries=["a"])
    notes = []
    for number in range(40):
        model.call("update_plan", note=f"{number} {'x' * 7_000}")
        notes.append(model.state.plans["main"].notes[-1])
    plan = model.call("get_plan")["plan"]
    assert len(plan["notes"]) == 2
    assert plan["older_notes"] == "38 more: get_plan with notes: true shows all"
    call = prepare_call(model.state, "get_plan", {"notes": True})
    first = answer_call(call, model.state, model.state, notes=lambda _: notes)
    assert (first["noted"], first["pages"], first["notes"][0]["text"][:3]) == (40, 3, "39 ")
    last = prepare_call(model.state, "get_plan", {"notes": "all", "page": 3})
    assert answer_call(last, model.state, model.state, notes=lambda _: notes)["notes"][-1]["text"][:2] == "0 "
