"""Arguments as models really send them: understood where there is one meaning, else refused with a right example."""

import json
from typing import Any

import pytest

from planwire import BlockingPlanSession
from planwire.errors import ToolError
from planwire.model.plan import MarkdownPlan
from planwire.tools.call import prepare_call
from planwire.tools.json_arguments import decoded
from tests.tools.test_call import Model, refusal


@pytest.fixture
def model() -> Model:
    model = Model()
    model.call("set_plan", entries=["Read", {"content": "Write", "priority": "high"}, "Test"])
    return model


def priorities(model: Model) -> list[str]:
    return [step.priority for step in model.state.plans["main"].state.steps]


@pytest.mark.parametrize(
    "steps",
    [
        {"s1": "completed", "s2": "in_progress"},
        {"s1": "Completed", "s2": "wip"},
        {"s1": {"status": "finished"}, "s2": {"status": "In Progress"}},
        [{"id": "s1", "status": "done"}, {"id": "s2", "status": "in-progress"}],
        [{"step": "s1", "status": "done"}, {"step_id": "s2", "status": "started"}],
        [{"s1": "completed"}, {"s2": "in_progress"}],
        [{"id": "s1", "content": "Read", "status": "completed", "priority": "medium"}, {"s2": "doing"}],
        '{"s1": "completed", "s2": "in_progress"}',
        '[{"id": "s1", "status": "completed"}, {"id": "s2", "status": "in_progress"}]',
        ['{"id": "s1", "status": "completed"}', '{"id": "s2", "status": "in_progress"}'],
    ],
)
def test_steps_are_understood_in_every_shape_and_stored_in_the_words_of_the_protocol(model: Model, steps: Any) -> None:
    model.call("update_plan", steps=steps)
    assert [step[2] for step in model.steps()] == ["completed", "in_progress", "pending"]


def test_one_object_instead_of_a_list_is_one_step(model: Model) -> None:
    model.call("update_plan", steps={"id": "s3", "status": "skipped", "content": "Test it", "priority": "minor"})
    assert model.steps()[2] == ("s3", "Test it", "cancelled")
    assert priorities(model) == ["medium", "high", "low"]


@pytest.mark.parametrize(
    "add",
    [
        "Lint",
        ["Lint"],
        {"content": "Lint"},
        [{"content": "Lint"}],
        '["Lint"]',
        '{"content": "Lint"}',
        ['{"content": "Lint"}'],
    ],
)
def test_a_single_step_may_be_added_as_a_text_or_as_an_object(model: Model, add: Any) -> None:
    assert model.call("update_plan", add=add)["new_steps"] == ["s4"]
    assert model.steps()[3] == ("s4", "Lint", "pending")


@pytest.mark.parametrize("remove", ["s2", ["s2"], '["s2"]'])
def test_a_single_step_may_be_removed_without_a_list(model: Model, remove: Any) -> None:
    model.call("update_plan", remove=remove)
    assert [step[0] for step in model.steps()] == ["s1", "s3"]


@pytest.mark.parametrize(
    "reword", [{"s2": "Draw"}, [{"id": "s2", "content": "Draw"}], {"id": "s2", "text": "Draw"}, '{"s2": "Draw"}']
)
def test_new_texts_are_understood_in_every_shape(model: Model, reword: Any) -> None:
    model.call("update_plan", reword=reword)
    assert model.steps()[1][:2] == ("s2", "Draw")


@pytest.mark.parametrize("priority", [{"s1": "urgent", "s2": "Low"}, [{"id": "s1", "priority": "P0"}, {"s2": "minor"}]])
def test_priorities_can_be_set(model: Model, priority: Any) -> None:
    model.call("update_plan", priority=priority)
    assert priorities(model) == ["high", "low", "medium"]


@pytest.mark.parametrize(
    ("move", "order"),
    [
        ({"s3": "s1"}, ["s1", "s3", "s2"]),
        ({"s3": ""}, ["s3", "s1", "s2"]),
        ({"s3": "start"}, ["s3", "s1", "s2"]),
        ({"s1": "end"}, ["s2", "s3", "s1"]),
        ({"s1": "s3", "s2": "s1"}, ["s3", "s1", "s2"]),
        ([{"id": "s3", "after": "s1"}], ["s1", "s3", "s2"]),
        ({"s3": "end", "s1": "s2"}, ["s2", "s1", "s3"]),
    ],
)
@pytest.mark.parametrize("is_text", [False, True])
def test_steps_can_be_moved_behind_others_and_to_either_end(
    model: Model, move: Any, order: list[str], is_text: bool
) -> None:
    if is_text:
        model.call("set_plan", content="# Work\n- [ ] Read\n- [ ] Write\n- [ ] Test\n")
    model.call("update_plan", move=move)
    assert [step[0] for step in model.steps()] == order


def test_a_step_may_be_added_at_the_beginning(model: Model) -> None:
    model.call("update_plan", add=[{"content": "Ask", "after": "start"}])
    assert [step[0] for step in model.steps()] == ["s4", "s1", "s2", "s3"]


@pytest.mark.parametrize(
    "entries",
    [
        '["a", {"content": "b", "status": "WIP", "priority": "critical"}]',
        ['"a"'[1:-1], '{"content": "b", "status": "wip", "priority": "P1"}'],
    ],
)
def test_entries_may_be_json_in_a_text(model: Model, entries: Any) -> None:
    model.call("set_plan", plan_id="other", entries=entries)
    assert [step[1:] for step in model.steps("other")] == [("a", "pending"), ("b", "in_progress")]
    assert model.state.plans["other"].state.steps[1].priority == "high"


def test_synonyms_are_boxes_in_a_text(model: Model) -> None:
    model.call("set_plan", plan_id="doc", content="- [ ] a\n- [ ] b\n")
    model.call("update_plan", plan_id="doc", steps={"s1": "Finished"}, add={"content": "c", "status": "skipped"})
    plan = model.state.plans["doc"].state.plan
    assert isinstance(plan, MarkdownPlan)
    assert plan.content == "- [x] a\n- [ ] b\n- [-] c\n"


@pytest.mark.parametrize("wrapped", [1, 2])
def test_a_whole_argument_object_may_be_wrapped_in_a_text(model: Model, wrapped: int) -> None:
    arguments: Any = {"steps": {"s1": "completed"}, "expected_revision": "1"}
    for _ in range(wrapped + 1):
        arguments = json.dumps(arguments)
    [event] = prepare_call(model.state, "update_plan", decoded(arguments)).events
    assert event.changes[0].status == "completed"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "example"),
    [
        ("update_plan", {"steps": {"s1": "dancing"}}, "unknown_status", {"steps": {"s1": "completed"}}),
        ("update_plan", {"steps": {"s1": "blocked"}}, "unknown_status", {"steps": {"s1": "completed"}}),
        ("update_plan", {"steps": {"s1": True}}, "invalid_arguments", {"steps": {"s1": "completed"}}),
        ("update_plan", {"steps": "s1 is done"}, "invalid_arguments", {"steps": {"s1": "completed"}}),
        ("update_plan", {"steps": [{"status": "done"}]}, "invalid_arguments", {"steps": {"s1": "completed"}}),
        ("update_plan", {"steps": [{"id": 1, "status": "done"}]}, "invalid_arguments", {"steps": {"s1": "completed"}}),
        ("update_plan", {"steps": {"s1": {"done": "yes"}}}, "invalid_arguments", {"steps": {"s1": "completed"}}),
        ("update_plan", {"steps": {"s9": "done"}}, "unknown_step", {"steps": {"s1": "completed"}}),
        ("update_plan", {"priority": {"s1": "purple"}}, "unknown_priority", {"priority": {"s2": "high"}}),
        ("update_plan", {"add": 7}, "invalid_arguments", {"add": [{"content": "Run the tests", "after": "s2"}]}),
        ("update_plan", {"remove": [1]}, "invalid_arguments", {"remove": ["s3"]}),
        ("update_plan", {"reword": ["s1"]}, "invalid_arguments", {"reword": {"s2": "Write the parser by hand"}}),
        ("update_plan", {"answers": "done"}, "invalid_arguments", {"answers": {"r1": "Done, and tested."}}),
        ("update_plan", {}, "nothing_to_change", {"steps": {"s1": "completed"}}),
        ("update_plan", {"note": 3}, "invalid_arguments", {"note": "The config is TOML."}),
        ("get_plan", {"page": "two"}, "invalid_arguments", {"page": 2}),
        ("get_plan", {"page": 2}, "invalid_arguments", {"page": 2}),
        ("get_plan", {"page": 0}, "invalid_arguments", {"page": 2}),
    ],
)
def test_every_refusal_shows_a_right_example(
    model: Model, tool: str, arguments: dict[str, Any], code: str, example: dict[str, Any]
) -> None:
    error = refusal(model, tool, **arguments)
    assert (error["code"], error["example"]) == (code, example)


def test_an_unknown_status_is_answered_with_the_four_words(model: Model) -> None:
    for tool, arguments in (
        ("update_plan", {"steps": {"s1": "banana"}}),
        ("update_plan", {"add": [{"content": "x", "status": "banana"}]}),
        ("set_plan", {"entries": [{"content": "x", "status": "banana"}]}),
    ):
        error = refusal(model, tool, **arguments)
        assert error["code"] == "unknown_status"
        assert error["hint"] == "use one of pending, in_progress, completed, cancelled"
        assert "'banana'" in error["message"]
    error = refusal(model, "set_plan", entries=[{"content": "x", "priority": "purple"}])
    assert (error["code"], error["hint"]) == ("unknown_priority", "use one of high, medium, low")


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({"entries": ["a", "half \ud83d of it"]}, "entries[1]"),
        ('{"entries": ["a", "half \\ud83d of it"]}', "entries[1]"),
        ({"note": "\udc00"}, "note"),
        ({"steps": {"s\ud83d": "done"}}, "a key of steps"),
        ('{"note": "\ud83d"}', "note"),
    ],
)
def test_half_a_character_is_named_as_what_it_is(arguments: Any, where: str) -> None:
    with pytest.raises(ToolError) as refused:
        decoded(arguments)
    assert refused.value.code == "invalid_arguments"
    assert str(refused.value).startswith(f"{where} holds half of a character: \\ud")
    assert "emoji" in refused.value.hint


@pytest.mark.parametrize("arguments", ["{", "nothing", '{"a": NaN}', b"\xff", "[" * 100_000])
def test_what_is_no_json_is_said_to_be_none(arguments: Any) -> None:
    with pytest.raises(ToolError, match="not JSON"):
        decoded(arguments)


# Dismissing a plan


@pytest.mark.parametrize("number", [10**5000, "9" * 5000], ids=["number", "text"])
@pytest.mark.parametrize(
    ("tool", "argument"),
    [("set_plan", "expected_revision"), ("get_plan", "page"), ("update_plan", "steps"), ("remove_plan", "plan_id")],
)
def test_a_number_of_thousands_of_digits_is_refused_like_any_other_wrong_argument(
    number: Any, tool: str, argument: str
) -> None:
    with BlockingPlanSession.open("memory:", "s") as session:
        session.set(["Read"])
        answer = session.call(tool, {argument: number, **({"entries": ["Write"]} if tool == "set_plan" else {})})
        assert answer.is_error
        assert len(str(answer)) < 5000


def test_an_error_does_not_repeat_all_that_was_sent() -> None:
    with BlockingPlanSession.open("memory:", "s") as session:
        session.set(["Read"])
        for tool, arguments in [
            ("update_plan", {"steps": {"s1": "x" * 10**6}}),
            ("set_plan", {"y" * 10**6: 1}),
            ("z" * 10**6, {}),
        ]:
            assert len(str(session.call(tool, arguments))) < 5000


def test_texts_of_a_class_of_their_own_are_texts() -> None:
    class Text(str):
        __slots__ = ()

    with BlockingPlanSession.open("memory:", "s") as session:
        session.call("set_plan", {"entries": [Text("Read")]})
        session.change(add=[{"content": Text("Write")}])
        assert [step.content for step in session.state.plans["main"].state.steps] == ["Read", "Write"]


@pytest.mark.parametrize("words", [{"note": "\ud800"}, {"note": "n", "expected_revision": 10**5000}])
def test_authors_are_told_of_what_no_journal_can_store(words: dict[str, Any]) -> None:
    with BlockingPlanSession.open("memory:", "s") as session:
        session.set(["Read"])
        with pytest.raises(ToolError):
            session.change(**words)


def test_a_plan_can_be_dismissed_and_the_answer_says_what_went(model: Model) -> None:
    model.call("update_plan", steps={"s1": "completed"})
    answer = model.call("remove_plan", reason="the parser exists")
    assert answer == {
        "plan_id": "main",
        "version": 1,
        "revision": 4,
        "removed": {
            "progress": "1 of 3 done",
            "open_steps": [{"id": "s2", "content": "Write"}, {"id": "s3", "content": "Test"}],
        },
    }
    assert model.state.live() == {}
    assert model.state.plans["main"].notes[-1].text == "the parser exists"
    assert model.call("get_plan") == {"plan": None}
    error = refusal(model, "remove_plan")
    assert (error["code"], "there are: none" in error["hint"]) == ("no_plan", True)


def test_a_plan_that_has_moved_on_is_not_dismissed(model: Model) -> None:
    model.call("update_plan", note="n")
    assert refusal(model, "remove_plan", expected_revision=1)["code"] == "stale_revision"


def test_a_plan_that_was_dismissed_can_be_made_again(model: Model) -> None:
    model.call("remove_plan")
    assert model.call("set_plan", entries=["Read", "Rest"])["version"] == 2
