"""OpenAI's strict mode: its rules, as the guide to structured outputs has them, and calls that follow its schemas."""

from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it comes without types

from planwire import BlockingPlanSession, PlanwireError, ProviderFormat, tool_schemas

#: The words of JSON Schema that strict mode knows and the plan tools need. Others, as `allOf` or `default`, it refuses.
WORDS: Final = {"type", "description", "enum", "anyOf", "items", "properties", "required", "additionalProperties"}
TYPES: Final = {"string", "number", "boolean", "integer", "object", "array", "null"}
FORMS: Final[tuple[ProviderFormat, ...]] = ("openai-chat", "openai-responses")
#: The size that a schema may have: object properties, levels of nesting, values of enums, characters of all names.
LIMITS: Final = {"properties": 5_000, "levels": 10, "values": 1_000, "characters": 120_000}


def strict_functions(form: str) -> dict[str, Any]:
    tools = tool_schemas(form, strict=True)
    return {each["name"]: each for each in (tool.get("function", tool) for tool in tools)}


def faults(schema: Any, where: str = "$") -> list[str]:
    """The rules of strict mode that a schema breaks, and where."""
    found = [f"{where}: {word} is not known" for word in schema.keys() - WORDS]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    found += [f"{where}: there is no type {kind}" for kind in kinds if kind not in TYPES]
    if not kinds and "anyOf" not in schema:
        found.append(f"{where}: neither type nor anyOf")
    if "object" in kinds:
        fields = schema.get("properties")
        if schema.get("additionalProperties") is not False or fields is None:
            found.append(f"{where}: an object with open fields")
        if sorted(schema.get("required", ())) != sorted(fields or ()):
            found.append(f"{where}: a field that is not required")
    below = {**schema.get("properties", {}), **dict(enumerate(schema.get("anyOf", ())))}
    below |= {"items": schema["items"]} if "items" in schema else {}
    if "array" in kinds and "items" not in schema:
        found.append(f"{where}: a list of anything")
    return found + [fault for name, each in below.items() for fault in faults(each, f"{where}.{name}")]


def size(schema: Any) -> dict[str, int]:
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    below += [schema["items"]] if "items" in schema else []
    sizes = [size(each) for each in below]
    names = [*schema.get("properties", ()), *schema.get("enum", ())]
    own = {"properties": len(schema.get("properties", ())), "values": len(schema.get("enum", ()))}
    found = {key: count + sum(each[key] for each in sizes) for key, count in own.items()}
    found["characters"] = sum(map(len, names)) + sum(each["characters"] for each in sizes)
    found["levels"] = 1 + max((each["levels"] for each in sizes), default=0)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_strict_tools_keep_to_the_rules_of_strict_mode(form: str) -> None:
    for name, function in strict_functions(form).items():
        schema = function["parameters"]
        assert function["strict"] is True
        assert schema["type"] == "object", "the root is an object, and no anyOf"
        assert "anyOf" not in schema
        assert faults(schema) == [], name
        assert {key: count for key, count in size(schema).items() if count > LIMITS[key]} == {}, name
        assert '{"s3"' not in function["description"], "an example that the schema forbids"


@pytest.mark.parametrize("form", FORMS)
def test_the_usual_tools_break_those_rules_so_the_judge_can_say_no(form: str) -> None:
    tools = [tool.get("function", tool) for tool in tool_schemas(form)]
    assert all(faults(tool["parameters"]) for tool in tools)


def test_strict_tools_have_the_arguments_of_the_others_and_are_described_alike() -> None:
    usual = {tool["name"]: tool for tool in tool_schemas("openai-responses")}
    for name, function in strict_functions("openai-responses").items():
        known = usual[name]["parameters"]["properties"]
        assert list(function["parameters"]["properties"]) == list(known)
        for field, schema in function["parameters"]["properties"].items():
            assert schema["description"] == known[field]["description"]


STRICT_CALLS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("set_plan", {"entries": ["Read", {"content": "Write", "priority": None, "status": None}], "summary": "because"}),
    (
        "update_plan",
        {
            "steps": [{"id": "s1", "status": "completed"}, {"id": "s2", "status": "in_progress"}],
            "add": ["Test", {"content": "Look", "after": "s1", "priority": "low", "status": None}],
            "reword": [{"id": "s2", "content": "Write it down"}],
            "priority": [{"id": "s2", "priority": "high"}],
            "move": [{"id": "s2", "after": "start"}],
        },
    ),
    ("update_plan", {"remove": ["s4"], "note": "TOML"}),
    ("get_plan", {"detail": "brief"}),
    ("remove_plan", {"reason": "done"}),
]


def test_calls_in_the_shape_of_strict_mode_do_what_they_say() -> None:
    """Strict mode makes a model name every argument, with null for those that it has no use for."""
    functions = strict_functions("openai-chat")
    with BlockingPlanSession.open("memory:", "s") as plans:
        for name, given in STRICT_CALLS:
            schema = functions[name]["parameters"]
            arguments = {**dict.fromkeys(schema["properties"]), **given}
            Draft202012Validator(schema).validate(arguments)
            answer = plans.call(name, arguments)
            assert "error" not in answer, answer
            if name == "update_plan" and "steps" in given:
                steps = plans.state.plans["main"].state.steps
                assert [(each.content, each.status, each.priority) for each in steps] == [
                    ("Write it down", "in_progress", "high"),
                    ("Read", "completed", "medium"),
                    ("Look", "pending", "low"),
                    ("Test", "pending", "medium"),
                ]
        assert not plans.state.live()


def test_remarks_are_answered_in_the_shape_of_strict_mode() -> None:
    schema = strict_functions("openai-chat")["update_plan"]["parameters"]["properties"]["answers"]
    Draft202012Validator(schema).validate([{"id": "r1", "answer": "Done."}])
    with BlockingPlanSession.open("memory:", "s") as plans:
        plans.set(["Read"])
        answer = plans.call("update_plan", {"answers": [{"id": "r1", "answer": "Done."}]})
        assert answer["error"]["code"] == "unknown_remark", "it was read, and there is none"


@pytest.mark.parametrize("form", ["anthropic", "gemini", "mcp"])
def test_other_formats_have_no_strict_mode_and_say_which_do(form: str) -> None:
    with pytest.raises(PlanwireError, match=f"the tools of {form} have no strict mode"):
        tool_schemas(form, strict=True)


def test_a_session_gives_strict_tools_too() -> None:
    with BlockingPlanSession.open("memory:", "s", format="openai-responses") as plans:
        assert plans.tools(strict=True) == tool_schemas("openai-responses", strict=True)
        assert plans.tools() == tool_schemas("openai-responses")
