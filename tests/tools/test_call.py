"""The plan tools: what a model may ask, and what it is told."""

from typing import Any

import msgspec
import pytest

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.errors import InputError, ToolError
from planwire.model.events import (
    ACP,
    APPROVED,
    Event,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    Remarked,
    StepRef,
)
from planwire.model.plan import BODY_CAP, DELTA_CAP, REMARK_CAP
from planwire.model.records import SessionState
from planwire.model.step_changes import AddStep, RewordStep, SetStatus
from planwire.tools.answers import answer_call, failure
from planwire.tools.call import prepare_call
from planwire.tools.schemas import FORMATS, tool_schemas
from tests.deciding import fold_all


class Model:
    """Calls tools on a session of its own, as a session would let it."""

    def __init__(self) -> None:
        self.state = SessionState("s")

    def happen(self, event: Event, by: str = "user") -> None:
        seq = self.state.seq + 1
        self.state = fold_all("s", [Recorded("s", seq, seq, by, event)], self.state)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        before = self.state
        call = prepare_call(before, tool, arguments)
        for event in call.events:
            self.happen(event, "agent")
        return answer_call(call, before, self.state)

    def steps(self, plan_id: str = "main") -> list[tuple[str, str, str]]:
        return [(step.id, step.content, step.status) for step in self.state.plans[plan_id].state.steps]


def refusal(model: Model, tool: str, **arguments: Any) -> dict[str, Any]:
    before = model.state
    with pytest.raises(ToolError) as refused:
        model.call(tool, **arguments)
    assert model.state is before, "nothing is changed by a call that is refused"
    error: dict[str, Any] = failure(refused.value)["error"]
    assert error["hint"]
    return error


@pytest.fixture
def model() -> Model:
    model = Model()
    model.call("set_plan", entries=["Read", {"content": "Write", "priority": "high"}, "Test"])
    return model


def test_a_plan_of_entries_is_made_and_every_step_gets_an_id() -> None:
    model = Model()
    answer = model.call("set_plan", entries=["Read", {"content": "Write", "status": "in_progress"}], summary="why")
    assert answer == {"plan_id": "main", "version": 1, "revision": 1, "new_steps": ["s1", "s2"]}
    assert model.state.plans["main"].state.plan == ItemsPlan(
        "main", (Entry("Read", "medium", "pending"), Entry("Write", "medium", "in_progress"))
    )
    assert model.state.plans["main"].summary == "why"


def test_a_plan_may_be_a_text_whose_checkboxes_are_its_steps() -> None:
    model = Model()
    assert model.call("set_plan", content="# Plan\n- [ ] a\n", plan_id="doc")["new_steps"] == ["s1"]
    assert model.state.plans["doc"].state.plan == MarkdownPlan("doc", "# Plan\n- [ ] a\n")


def test_setting_a_plan_again_replaces_it_and_steps_keep_their_ids(model: Model) -> None:
    model.call("update_plan", note="TOML")
    answer = model.call("set_plan", entries=["Write", "Ship"])
    assert answer == {
        "plan_id": "main",
        "version": 2,
        "revision": 3,
        "new_steps": ["s4"],
        "kept_steps": ["s2"],
        "retired": [{"id": "s1", "content": "Read"}, {"id": "s3", "content": "Test"}],
        "notes_kept": 1,
    }
    assert model.call("get_plan")["plan"]["notes"] == [{"by": "agent", "text": "TOML"}]


def test_a_plan_for_another_task_takes_over_no_step(model: Model) -> None:
    model.call("set_plan", entries=["A1 fix login", "A2 test login"], plan_id="other")
    answer = model.call("set_plan", entries=["B1 write docs", "B2 publish"], plan_id="other")
    assert (answer["new_steps"], "kept_steps" in answer) == (["s3", "s4"], False)
    assert [step["id"] for step in answer["retired"]] == ["s1", "s2"]


def test_of_many_steps_that_are_gone_the_first_are_named() -> None:
    model = Model()
    model.call("set_plan", entries=[f"{'word ' * 30}{number}" for number in range(300)])
    answer = model.call("set_plan", content="# Other")
    assert (len(answer["retired"]), answer["retired_besides"]) == (50, 250)
    assert len(answer["retired"][0]["content"]) <= 80


def test_setting_the_same_plan_again_adds_nothing(model: Model) -> None:
    answer = model.call("set_plan", entries=["Read", {"content": "Write", "priority": "high"}, "Test"])
    assert (answer["unchanged"], answer["revision"], model.state.seq) == (True, 1, 1)


def test_the_same_plan_can_be_set_again_for_another_step(model: Model) -> None:
    model.call("set_plan", entries=["Search"], plan_id="research")
    model.call("set_plan", entries=["Search"], plan_id="research", parent="s2")
    assert model.state.plans["research"].parent == StepRef("main", "s2")
    for same in ({"parent": "s2"}, {}):
        assert model.call("set_plan", entries=["Search"], plan_id="research", **same)["unchanged"]
    error = refusal(model, "set_plan", entries=["Search"], plan_id="research", parent="nonsense")
    assert error["code"] == "unknown_step"


def test_a_change_of_what_is_already_so_adds_nothing(model: Model) -> None:
    model.call("update_plan", steps={"s1": "completed"})
    for same in ({"s1": "completed"}, {"s1": "done"}, {"s2": "pending", "s3": "todo"}):
        answer = model.call("update_plan", steps=same, expected_revision=2)
        assert (answer["unchanged"], answer["revision"], model.state.seq) == (True, 2, 2)
    answer = model.call("update_plan", steps={"s1": "completed", "s2": "in_progress"})
    assert ("unchanged" in answer, answer["revision"]) == (False, 3)
    assert model.state.plans["main"].deltas[-1].changes == (SetStatus("s2", "in_progress"),)


@pytest.mark.parametrize(
    ("word", "box"),
    [("done", "x"), ("completed", "x"), ("doing", "~"), ("in-progress", "~"), ("todo", " "), ("canceled", "-")],
)
def test_a_known_word_for_a_status_is_understood_wherever_a_model_says_it(word: str, box: str) -> None:
    model = Model()
    model.call("set_plan", content="- [ ] a\n- [x] z\n")
    model.call("update_plan", add=[{"content": "b", "after": "s1", "status": word}])
    model.call("update_plan", steps={"s1": word, "s2": word})
    plan = model.state.plans["main"].state.plan
    assert isinstance(plan, MarkdownPlan)
    assert plan.content == f"- [{box}] a\n- [{box}] b\n- [{box}] z\n"
    model.call("set_plan", plan_id="list", entries=[{"content": "a", "status": word}])
    model.call("update_plan", plan_id="list", add=[{"content": "b", "status": word}])
    rows = [step.known for step in model.state.plans["list"].state.steps]
    assert [row.box if row else None for row in rows] == [box, box]


def test_a_change_is_told_as_a_change(model: Model) -> None:
    answer = model.call(
        "update_plan",
        steps={"s1": "completed", "s2": "in_progress"},
        add=["Lint", {"content": "Fix", "after": "s2", "priority": "low"}],
        reword={"s3": "Test it"},
        note="the parser is hand-written",
    )
    assert answer == {"plan_id": "main", "version": 1, "revision": 2, "new_steps": ["s5", "s4"]}
    assert model.steps() == [
        ("s1", "Read", "completed"),
        ("s2", "Write", "in_progress"),
        ("s5", "Fix", "pending"),
        ("s3", "Test it", "pending"),
        ("s4", "Lint", "pending"),
    ]
    assert [delta.note for delta in model.state.plans["main"].deltas] == ["the parser is hand-written"]


def test_a_note_alone_is_a_change(model: Model) -> None:
    assert model.call("update_plan", note="blocked by review")["revision"] == 2


def test_a_blank_note_is_none(model: Model) -> None:
    model.call("update_plan", steps={"s1": "completed"}, note=" \n")
    model.call("update_plan", note=" learned \n")
    assert [delta.note for delta in model.state.plans["main"].deltas] == [None, "learned"]


def test_steps_can_be_removed(model: Model) -> None:
    model.call("update_plan", remove=["s1", "s3"])
    assert [step[0] for step in model.steps()] == ["s2"]


def test_reading_gives_the_merged_plan_and_what_people_said(model: Model) -> None:
    model.call("update_plan", steps={"s1": "completed"}, note="n")
    model.happen(PlanChanged("main", None, (SetStatus("s2", "in_progress"),)))
    model.happen(Remarked("main", "comment", "good", 3, "s1", kept=True))
    model.happen(Remarked("main", "selection", "", 3, steps=("s2",)))
    model.happen(PlanReviewed("main", 3, APPROVED, via="planwire"))
    answer = model.call("get_plan")
    plan = answer["plan"]
    assert plan["progress"] == "1 of 3 done"
    assert plan["steps"][1] == {"id": "s2", "content": "Write", "status": "in_progress", "priority": "high"}
    assert (plan["by"], plan["version"], plan["revision"], plan["deltas"]) == ("agent", 1, 3, 2)
    assert plan["notes"] == [{"by": "agent", "text": "n"}]
    assert plan["verdict"] == {"by": "user", "verdict": APPROVED, "revision": 3, "stale": False}
    common = {"by": "user", "plan_id": "main"}
    assert answer["remarks"] == [
        {"said": "comment", **common, "id": "r1", "step": "s1", "text": "good", "in_force": True},
        {"said": "selection", **common, "id": "r2", "steps": ["s2"]},
        {"said": "verdict", **common, "verdict": APPROVED, "revision": 3},
    ]


def test_a_step_that_another_wrote_is_theirs(model: Model) -> None:
    model.happen(PlanChanged("main", None, (RewordStep("s1", "Read it all"),)), "ann")
    first, second, _ = model.call("get_plan")["plan"]["steps"]
    assert (first["content"], first["by"]) == ("Read it all", "ann")
    assert "by" not in second


def test_reading_in_brief_gives_the_current_and_the_next_steps() -> None:
    model = Model()
    model.call("set_plan", entries=[f"step {number}" for number in range(20)])
    model.call("update_plan", steps={"s1": "completed", "s2": "in_progress"})
    plan = model.call("get_plan", detail="brief")["plan"]
    assert [step["id"] for step in plan["steps"]] == ["s2", "s3", "s4", "s5"]
    assert "notes" not in plan
    model.happen(PlanChanged("main", None, (SetStatus("s3", "blocked"), SetStatus("s4", "cancelled"))))
    plan = model.call("get_plan", detail="brief")["plan"]
    assert [(step["id"], step["status"]) for step in plan["steps"]][:3] == [
        ("s2", "in_progress"),
        ("s3", "blocked"),
        ("s5", "pending"),
    ]


def test_reading_a_plan_that_is_not_there_gives_none(model: Model) -> None:
    assert model.call("get_plan", plan_id="other") == {"plan": None, "other_plans": ["main"]}
    model.happen(PlanRemoved("main"))
    assert model.call("get_plan") == {"plan": None}


def test_a_stale_revision_is_refused_with_the_current_state(model: Model) -> None:
    model.happen(PlanChanged("main", "from a person"))
    for tool, arguments in (("update_plan", {"steps": {"s1": "completed"}}), ("set_plan", {"entries": ["x"]})):
        error = refusal(model, tool, **arguments, expected_revision=1)
        assert error["code"] == "stale_revision"
        assert error["current"]["revision"] == 2
    assert model.call("update_plan", steps={"s1": "completed"}, expected_revision=2)["revision"] == 3


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("set_plan", {}, "invalid_arguments"),
        ("set_plan", {"entries": [], "content": "x"}, "invalid_arguments"),
        ("set_plan", {"content": " \n"}, "invalid_arguments"),
        ("set_plan", {"entries": [""]}, "invalid_arguments"),
        ("set_plan", {"entries": [{"priority": "high"}]}, "invalid_arguments"),
        ("set_plan", {"entries": [{"content": "a", "id": 1}]}, "invalid_arguments"),
        ("set_plan", {"entries": "a"}, "invalid_arguments"),
        ("set_plan", {"contents": "a"}, "invalid_arguments"),
        ("update_plan", {}, "nothing_to_change"),
        ("update_plan", {"note": "  "}, "nothing_to_change"),
        ("update_plan", {"steps": {"s9": "completed"}}, "unknown_step"),
        ("update_plan", {"steps": ["s1"]}, "invalid_arguments"),
        ("update_plan", {"note": "x", "plan_id": "other"}, "no_plan"),
        ("update_plan", {"add": [{"content": "x", "after": "s9"}]}, "unknown_step"),
        ("update_plan", {"reword": {"s1": " "}}, "invalid_arguments"),
        ("update_plan", {"steps": {"s1": ""}}, "invalid_arguments"),
        ("set_plan", {"content": "x", "summary": "ü" * DELTA_CAP}, "too_large"),
        ("set_plan", {"content": "x", "plan_id": "x" * (DELTA_CAP + 1)}, "too_large"),
        ("get_plan", {"detail": "everything"}, "invalid_arguments"),
        ("get_plan", {"plan": "main"}, "invalid_arguments"),
        ("make_plan", {}, "unknown_tool"),
    ],
)
def test_what_can_not_be_done_is_refused_with_a_code_and_a_hint(
    model: Model, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert refusal(model, tool, **arguments)["code"] == code


def test_one_bad_change_undoes_the_whole_call(model: Model) -> None:
    refusal(model, "update_plan", steps={"s1": "completed", "s9": "completed"})
    assert model.steps()[0] == ("s1", "Read", "pending")


def test_a_plan_over_the_cap_is_refused_and_says_by_how_much() -> None:
    error = refusal(Model(), "set_plan", content="ü" * BODY_CAP)
    assert (error["code"], error["bytes"], error["cap"]) == ("too_large", 2 * BODY_CAP, BODY_CAP)
    assert f"{BODY_CAP:,} more than" in error["message"]
    assert refusal(Model(), "set_plan", entries=["x" * 100] * 1000)["code"] == "too_large"


def test_a_change_over_the_cap_is_refused(model: Model) -> None:
    error = refusal(model, "update_plan", note="x" * (DELTA_CAP + 1))
    assert (error["code"], error["bytes"]) == ("too_large", DELTA_CAP + 1)
    assert refusal(model, "update_plan", add=["x" * 1000] * 20)["code"] == "too_large"


@pytest.mark.parametrize("letter", ["x", '"', "\n", "ü"])
def test_a_note_just_within_the_cap_is_taken_whatever_its_letters_cost_in_json(model: Model, letter: str) -> None:
    note = f"n{letter * ((DELTA_CAP - 2) // len(letter.encode()))}n"
    assert len(note.encode()) == DELTA_CAP
    model.call("update_plan", note=note)
    assert model.state.plans["main"].notes[-1].text == note


def test_a_note_and_the_changes_that_come_with_it_have_one_cap_together(model: Model) -> None:
    arguments = {"note": "n" * DELTA_CAP, "add": ["y" * (DELTA_CAP - 100)]}
    with pytest.raises(ToolError, match="the change of steps with its note has 32,") as refused:
        model.call("update_plan", **arguments)
    assert (refused.value.code, refused.value.hint) == ("too_large", "make it in several calls; nothing was changed")
    [event] = prepare_call(model.state, "update_plan", arguments, oversize="truncate").events
    assert isinstance(event, PlanChanged)
    assert DELTA_CAP - 40 < delta_bytes(event) <= DELTA_CAP
    assert "bytes kept]" in (event.note or "")


def delta_bytes(event: PlanChanged) -> int:
    return len((event.note or "").encode()) + len(msgspec.json.encode(event.changes))


def test_a_plan_just_within_the_cap_is_taken() -> None:
    assert Model().call("set_plan", content="x" * BODY_CAP)["revision"] == 1


def test_an_oversize_plan_can_be_cut_and_the_model_is_told() -> None:
    state = SessionState("s")
    call = prepare_call(state, "set_plan", {"content": "ü" * BODY_CAP}, oversize="truncate")
    [event] = call.events
    assert isinstance(event, PlanSet)
    assert isinstance(event.plan, MarkdownPlan)
    assert len(event.plan.content.encode()) <= BODY_CAP
    after = fold_all("s", [Recorded("s", 1, 1, "agent", event)])
    truncated = answer_call(call, state, after)["truncated"]
    assert truncated["original_bytes"] == 2 * BODY_CAP
    assert f"{truncated['kept_bytes']:,} of {2 * BODY_CAP:,} bytes kept" in event.plan.content


@pytest.mark.parametrize("letter", ["x", "ü", "\n", '"', "\x01"])
def test_an_oversize_note_can_be_cut_and_the_steps_are_changed_all_the_same(model: Model, letter: str) -> None:
    note = f"n{letter * DELTA_CAP}n"
    arguments = {"note": note, "steps": {"s1": "completed"}}
    call = prepare_call(model.state, "update_plan", arguments, oversize="truncate")
    [event] = call.events
    assert isinstance(event, PlanChanged)
    assert DELTA_CAP - 20 < delta_bytes(event) <= DELTA_CAP
    before = model.state
    model.happen(event, "agent")
    truncated = answer_call(call, before, model.state)["truncated"]
    kept, size = truncated["kept_bytes"], truncated["original_bytes"]
    assert 0 < kept < size == len(note.encode())
    assert event.note == f"{note.encode()[:kept].decode()}\n\n[truncated: {kept:,} of {size:,} bytes kept]"
    assert model.steps()[0][2] == "completed"


def test_texts_of_steps_that_are_too_long_can_be_cut_the_longest_first(model: Model) -> None:
    arguments = {"note": "why", "add": ["x" * DELTA_CAP, "short"], "reword": {"s1": "y" * DELTA_CAP}}
    call = prepare_call(model.state, "update_plan", arguments, oversize="truncate")
    [event] = call.events
    assert isinstance(event, PlanChanged)
    reword, long, short = event.changes
    assert isinstance(reword, RewordStep)
    assert isinstance(long, AddStep)
    assert short == AddStep("short")
    assert DELTA_CAP - 20 < delta_bytes(event) <= DELTA_CAP
    assert long.content.startswith("xxx")
    assert f"of {DELTA_CAP:,} bytes kept]" in long.content
    assert abs(len(long.content) - len(reword.content)) < 5
    assert call.cut is not None
    assert call.cut.size == 2 * DELTA_CAP


def test_entries_of_a_plan_that_is_too_large_can_be_cut_and_many_short_ones_can_not() -> None:
    call = prepare_call(SessionState("s"), "set_plan", {"entries": ["x" * BODY_CAP, "a"]}, oversize="truncate")
    [event] = call.events
    assert isinstance(event, PlanSet)
    assert isinstance(event.plan, ItemsPlan)
    assert BODY_CAP - 200 < len(msgspec.json.encode(event.plan.entries)) <= BODY_CAP
    assert event.plan.entries[1].content == "a"
    with pytest.raises(ToolError, match="more than the") as refused:
        prepare_call(SessionState("s"), "set_plan", {"entries": ["word"] * 5_000}, oversize="truncate")
    assert refused.value.code == "too_large"


def test_a_wrong_argument_is_answered_with_all_that_there_are(model: Model) -> None:
    for name in ("entries", "content", "path", "summary", "plan_id", "expected_revision"):
        assert name in refusal(model, "set_plan", text="x")["hint"]


def test_errors_that_are_not_the_models_are_told_too() -> None:
    assert failure(InputError("the disk is full"))["error"]["message"] == "the disk is full"


@pytest.mark.parametrize("form", FORMATS)
def test_tools_come_in_every_form(form: str) -> None:
    schemas = tool_schemas(form)
    names = [schema.get("name") or schema["function"]["name"] for schema in schemas]
    assert names == ["set_plan", "update_plan", "get_plan", "remove_plan"]


def test_an_unknown_form_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ToolError, match="no format 'x'") as refused:
        tool_schemas("x")
    assert "anthropic" in refused.value.hint


def test_what_the_tools_cost_in_every_request_is_bounded() -> None:
    assert sum(len(str(schema)) for schema in tool_schemas("anthropic")) < 5_000


def test_the_steps_of_a_plan_file_are_its_checkboxes_and_only_the_file_changes_them() -> None:
    model = Model()
    model.happen(PlanSet(FilePlan("f", "file:///p.md"), via=ACP), "agent")
    call = prepare_call(model.state, "get_plan", {"plan_id": "f"})
    unread = answer_call(call, model.state, model.state)["plan"]
    assert (unread["uri"], unread["steps"], unread["progress"]) == ("file:///p.md", [], "0 of 0 done")
    read = answer_call(call, model.state, model.state, {"file:///p.md": "- [x] a\n- [ ] b\n"}.get)["plan"]
    assert read["progress"] == "1 of 2 done"
    assert [step["content"] for step in read["steps"]] == ["a", "b"]
    assert (read["uri"], read["content"]) == ("file:///p.md", "- [x] a\n- [ ] b\n")
    error = refusal(model, "update_plan", plan_id="f", steps={"s2": "completed"})
    assert (error["code"], "file:///p.md" in error["message"]) == ("refused", True)
    assert "change the file itself" in error["hint"]
    assert model.call("update_plan", plan_id="f", note="half of it")["plan_id"] == "f"


def test_what_people_suggest_for_an_agents_plan_is_among_the_remarks() -> None:
    model = Model()
    model.happen(PlanSet(ItemsPlan("main", (Entry("a", "medium", "pending"),)), via=ACP), "agent")
    model.happen(Remarked("main", "suggestion", "please", 1, changes=(SetStatus("s1", "completed"),)))
    changes = [{"do": "status", "step": "s1", "status": "completed"}]
    suggestion = {"said": "suggestion", "by": "user", "plan_id": "main", "id": "r1"}
    assert model.call("get_plan")["remarks"] == [{**suggestion, "changes": changes, "text": "please"}]


# Answers to remarks


def test_an_answer_to_a_remark_is_recorded_and_ends_a_comment_on_a_step(model: Model) -> None:
    model.happen(Remarked("main", "comment", "why?", 1, "s1"))
    model.happen(Remarked("main", "comment", "never touch vendor/", 1))
    answer = model.call("update_plan", answers={"r1": " it was slow ", "r2": "understood"}, note="n")
    assert (answer["answered"], answer["revision"]) == (["r1", "r2"], model.state.seq)
    one, two = model.state.plans["main"].remarks
    assert [each.text for each in (*one.answers, *two.answers)] == ["it was slow", "understood"]
    assert (one.is_open, two.is_open) == (False, True)


def test_an_answer_alone_changes_no_plan_and_needs_none_of_its_name(model: Model) -> None:
    model.happen(Remarked("main", "comment", "why?", 1))
    before = model.state.plans["main"].revision
    assert model.call("update_plan", answers={"r1": "because"})["revision"] == before
    assert model.call("update_plan", plan_id="other", answers={"r1": "really"}) == {"answered": ["r1"]}
    assert [each.text for each in model.state.plans["main"].remarks[0].answers] == ["because", "really"]


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        ({"r9": "x"}, "unknown_remark", "there is no remark 'r9'"),
        ({"s1": "x"}, "unknown_remark", "there is no remark 's1'"),
        ({"r1": "  "}, "invalid_arguments", "nothing is given for r1"),
        ({"r1": "x" * (REMARK_CAP + 1)}, "too_large", "the answer to r1"),
        (["r1"], "invalid_arguments", "answers"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused(model: Model, answers: Any, code: str, words: str) -> None:
    model.happen(Remarked("main", "comment", "why?", 1))
    error = refusal(model, "update_plan", answers=answers, note="n")
    assert error["code"] == code
    assert words in error["message"]
    if code == "unknown_remark":
        assert error["hint"] == "the open ones are: r1"
