"""The one JSON shape of sessions and plans, and the schema that says so."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it comes without types

from planwire.model.events import (
    ACP,
    CHANGES_REQUESTED,
    COMMENT,
    REQUEST,
    SUGGESTION,
    Choice,
    Event,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    ReviewAsked,
    SessionOpened,
    Told,
)
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, PlanId
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus
from planwire.readmodel.as_json import json_schema, plan_json, session_json
from tests.readmodel.shown_plans import card_of, shown

SCHEMA = Path(__file__).parent.parent.parent / "docs" / "plan.schema.json"
ENTRIES = (Entry("read", "high", "completed"), Entry("write", None, "_odd", {"n": 1}))
LIST = PlanSet(ItemsPlan("p", ENTRIES, meta={"by": "me"}), "why", via=ACP)
CHANGES = (
    SetStatus("s1", "pending"),
    RewordStep("s1", "read all"),
    SetPriority("s2", "low"),
    AddStep("ship"),
    MoveStep("s2", ""),
    RemoveStep("s2"),
)


def by_agent(*events: Event) -> tuple[tuple[str, Event], ...]:
    return tuple(("agent", event) for event in events)


PLANS: dict[str, tuple[PlanId, tuple[tuple[str, Event], ...]]] = {
    "list": ("p", by_agent(LIST)),
    "markdown": ("p", by_agent(PlanSet(MarkdownPlan("p", "# Port\n\n- [x] read\n  - [~] numbers\n")))),
    "agent's own, with suggestions and reviews": (
        "p",
        (
            *by_agent(LIST, PlanChanged("p", "it is TOML")),
            ("ana", Remarked("p", SUGGESTION, "please", changes=CHANGES)),
            ("ana", PlanReviewed("p", 3, CHANGES_REQUESTED)),
            ("ana", Remarked("p", REQUEST, "hm", 3, review=4)),
            ("ana", Remarked("p", COMMENT, "why?", 3, "s1", review=4)),
            ("ana", RemarkClosed("p", "r2", "withdrawn")),
            ("ana", RemarkClosed("p", "r3", "withdrawn")),
            ("client", PlanReviewed("p", 3, "approved", answer="Yes, and go on")),
            ("ana", Remarked("p", "comment", "no vendoring", kept=True)),
            ("relay", Told("prompt", 6, remarks=("r4",))),
            *by_agent(RemarkAnswered("p", "r4", "I won't")),
            ("ana", Remarked("p", "selection", steps=("s2",))),
            *by_agent(ReviewAsked("p", (Choice("yes", "Yes"), Choice("no", "No")))),
        ),
    ),
    "file": ("p", by_agent(PlanSet(FilePlan("p", "file:///p/plan.md")))),
    "custom kind": ("p", by_agent(PlanSet(OtherPlan("p", "_graph", {"nodes": [1, {"a": None}]})))),
    "removed": ("p", by_agent(LIST, PlanRemoved("p"))),
    "without an id": (None, by_agent(PlanSet(ItemsPlan(None, ENTRIES), via=ACP))),
}


def as_json(value: object) -> Any:
    return json.loads(msgspec.json.encode(value))


def assert_valid(value: Any, name: str) -> None:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    closed = {key: {**each, "additionalProperties": False} for key, each in schema["$defs"].items()}
    Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": closed}).validate(value)


def test_the_schema_in_the_documentation_is_the_one_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text()) == json_schema(), "docs/plan.schema.json is out of date: run `make docs`"


@pytest.mark.parametrize("file", [None, "- [x] read\n- [ ] write\n"], ids=["unread", "read"])
@pytest.mark.parametrize("name", PLANS)
def test_every_plan_is_valid_by_the_schema(name: str, file: str | None) -> None:
    plan_id, told = PLANS[name]
    assert_valid(as_json(plan_json(card_of(plan_id, *told, file=file))), "PlanValue")
    session = shown(*told, file=file)
    value = as_json(session_json(session))
    assert [each["id"] for each in value["plans"]] == [plan_id]
    assert_valid(value, "SessionValue")
    glance = as_json(session_json(session.glance))
    assert glance == {key: each for key, each in value.items() if key != "plans"}
    assert_valid(glance, "SessionValue")


def test_the_example_in_the_documentation_is_valid_and_whole() -> None:
    _, _, rest = SCHEMA.with_name("json.md").read_text().partition("```json\n")
    example = json.loads(rest.partition("```")[0])
    assert_valid(example, "PlanValue")
    assert list(example) == list(plan("list"))


def plan(name: str, file: str | None = None) -> Any:
    plan_id, told = PLANS[name]
    return as_json(plan_json(card_of(plan_id, *told, file=file)))


def test_a_plan_says_what_the_agent_wrote_and_what_it_means() -> None:
    value = plan("list")
    assert value["progress"] == {"done": 1, "total": 2, "cancelled": 0}
    plain = {"priority": "medium", "depth": 0, "children": [], "below": None}
    assert value["steps"][1] == {"id": "s2", "content": "write", "status": "_odd", **plain}
    assert (value["title"], value["owner"], value["summary"], value["_meta"]) == ("p", "agent", "why", {"by": "me"})
    assert plan("markdown")["steps"][1]["depth"] == 1
    assert plan("without an id")["title"] == "Plan"


def test_a_plan_has_every_word_of_people() -> None:
    value = plan("agent's own, with suggestions and reviews")
    [suggestion] = value["suggestions"]
    assert (suggestion["id"], suggestion["by"], suggestion["note"]) == ("r1", "ana", "please")
    assert suggestion["told_at"] is None
    assert suggestion["changed"] == []
    assert [change["do"] for change in suggestion["changes"]] == [
        "status",
        "reword",
        "priority",
        "add",
        "move",
        "remove",
    ]
    first, second = value["reviews"]
    assert (first["verdict"], first["stale"]) == (CHANGES_REQUESTED, False)
    assert (second["answer"], second["stale"]) == ("Yes, and go on", False)
    closed = [each for each in value["remarks"] if each["closed"] == "withdrawn"]
    assert [(each["id"], each["text"], each["step"]) for each in closed] == [("r2", "hm", None), ("r3", "why?", "s1")]
    [told, untold] = [each for each in value["remarks"] if each["closed"] is None]
    assert (told["id"], told["kind"], told["kept"], told["told_by"]) == ("r4", "comment", True, "prompt")
    assert [(each["by"], each["text"]) for each in told["answers"]] == [("agent", "I won't")]
    assert (untold["kind"], untold["steps"], untold["told_at"]) == ("selection", ["s2"], None)
    names = [(each["id"], each["name"], each["verdict"]) for each in value["question"].pop("options")]
    assert (value["question"], names) == (
        {"id": "", "at": 14_000, "open": False, "takes_edit": False},
        [("yes", "Yes", "dismissed"), ("no", "No", "dismissed")],
    )


def test_a_plan_file_has_its_address_and_the_steps_of_its_text() -> None:
    unread, read = plan("file"), plan("file", file="# Port\n- [x] read\n")
    assert (unread["kind"], unread["uri"], unread["text"]) == ("file", "file:///p/plan.md", None)
    assert (read["kind"], read["uri"], read["title"]) == ("file", "file:///p/plan.md", "Port")
    assert (read["text"], read["progress"]["done"]) == ("# Port\n- [x] read\n", 1)


def test_a_plan_of_another_kind_says_which_and_has_all_its_fields() -> None:
    value = plan("custom kind")
    assert (value["kind"], value["fields"]) == ("_graph", {"nodes": [1, {"a": None}]})


def test_a_session_says_its_state_and_counts_like_the_plans_in_it() -> None:
    told = by_agent(SessionOpened("agent 1", "zed", "/p", "Port it"), LIST)
    value = as_json(session_json(shown(*told)))
    assert (value["title"], value["agent"], value["state"], value["plan_count"]) == ("Port it", "agent 1", "running", 1)
    assert value["progress"] == value["plans"][0]["progress"]
