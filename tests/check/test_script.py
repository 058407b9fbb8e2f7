"""`planwire check --script`: agents on a scripted model, with scripts of their own and the one that is built in."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planwire.check.observing import TOOLS
from planwire.check.offers import COMPACT, FORK, LOAD, PLAN_MODE, PROMPT, RESUME
from planwire.check.plan_tools import list_call, proposal_call
from planwire.check.play import Play, Script, WrittenStep, read_script
from planwire.check.script import ModelRequest
from planwire.cli.scripted_home import furnish
from planwire.errors import InputError
from planwire.own_process import own_command

MODELLED = Path(__file__).parents[1] / "agents" / "modelled.py"


def offered(text: str = "", **tools: Any) -> ModelRequest:
    return ModelRequest("/v1/messages", "anthropic", {"system": text}, {}, tools)


def tasks(key: str, **fields: Any) -> dict[str, Any]:
    """The schema of a tool with a list of tasks."""
    task = {"type": "object", "properties": fields, "required": list(fields)}
    return {"type": "object", "properties": {key: {"type": "array", "items": task}}, "required": [key]}


TEXT = {"type": "string"}
WRITE = {"action": {"type": "string", "enum": ["read", "write"]}}


@pytest.mark.parametrize(
    ("name", "schema", "first"),
    [
        ("TodoWrite", tasks("todos", content=TEXT, activeForm=TEXT, status=TEXT), {"activeForm": "Collect five names"}),
        ("update_plan", tasks("plan", step=TEXT, status=TEXT), {"step": "Collect five names"}),
        ("write_todos", tasks("todos", description=TEXT, status=TEXT), {"description": "Collect five names"}),
        ("SetTodoList", tasks("todos", title=TEXT, status={"enum": ["pending", "done"]}), {"status": "done"}),
        ("todo", tasks("todos", id={"type": "integer"}, content=TEXT, status=TEXT), {"id": 1}),
        (
            "todowrite",
            tasks("todos", content=TEXT, priority=TEXT, status=TEXT, id=TEXT),
            {"priority": "high", "id": "1"},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_list_is_written_in_the_words_of_the_agents_own_tool(
    name: str, schema: dict[str, Any], first: dict[str, Any]
) -> None:
    made = list_call(ModelRequest("/v1/messages", "anthropic", {}, {}, {"read_file": {}, name: schema}), 1)
    assert made is not None
    (written,) = made.arguments.values()
    assert (made.name, len(written)) == (name, 3)
    assert first.items() <= written[0].items()
    assert set(written[0]) == set(schema["properties"][next(iter(made.arguments))]["items"]["properties"])


def test_a_tool_with_several_acts_is_told_to_write() -> None:
    schema = tasks("todos", content=TEXT, status=TEXT)
    schema["properties"] |= WRITE
    made = list_call(offered(todo=schema), -1)
    assert made is not None
    assert made.arguments["action"] == "write"


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ({"type": "integer"}, [1, 2, 3]),
        ({"type": ["integer", "null"]}, [1, 2, 3]),
        ({"type": ["null", "string"]}, ["high", "medium", "low"]),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, [1, 2, 3]),
    ],
    ids=str,
)
def test_a_priority_is_of_the_type_that_the_tool_takes(field: dict[str, Any], values: list[Any]) -> None:
    made = list_call(offered(todo=tasks("todos", content=TEXT, status=TEXT, priority=field)), 0)
    assert made is not None
    assert [task["priority"] for task in made.arguments["todos"]] == values


def test_a_field_of_several_types_gets_a_value_of_the_first_but_null() -> None:
    made = list_call(offered(todo=tasks("todos", content=TEXT, status=TEXT, rank={"type": ["null", "integer"]})), 0)
    assert made is not None
    assert [task["rank"] for task in made.arguments["todos"]] == [1, 2, 3]


def test_the_arguments_are_found_beside_alternatives_and_behind_references() -> None:
    schema = tasks("todos", content=TEXT, status=TEXT)
    schema["properties"] |= {"merge": {"type": "boolean"}, "note": TEXT, "extra": TEXT}
    alternatives = [{"required": ["merge"]}, {"required": ["note"]}]
    refers = {"$ref": "#/$defs/Args", "$defs": {"Args": {**schema, "required": ["todos", "merge"]}}}
    for whole in ({**schema, "anyOf": alternatives}, {**schema, "oneOf": alternatives}, refers):
        made = list_call(offered(todo=whole), 0)
        assert made is not None
        assert (set(made.arguments), made.arguments["merge"]) == ({"todos", "merge"}, False)


def test_a_tool_that_is_only_named_is_called_as_it_is_known() -> None:
    assert list_call(offered("Deferred: TodoWrite, WebFetch", Bash={}), 0) is not None
    assert list_call(offered("Nothing of the kind", Bash={}), 0) is None
    assert list_call(offered(exit_plan_mode={}, planet={"properties": {"name": TEXT}}), 0) is None
    made = proposal_call(offered("ExitPlanMode"), "# P")
    assert made is not None
    assert (made.name, made.arguments) == ("ExitPlanMode", {"plan": "# P"})


def test_a_play_has_a_part_for_everything_that_is_driven() -> None:
    play = Play({"prompt": (WrittenStep("One."), WrittenStep(call="f", arguments={"a": 1}, usage=9))})
    assert play(offered()).text == "One."
    called = play(offered())
    assert ([call.name for call in called.calls], called.usage.input) == (["f"], 9)
    assert play(offered()).text == "Done."
    play.begin("load")
    assert play(offered()).text == "Done."
    play.begin(PLAN_MODE)
    assert play(offered()).text.startswith("<proposed_plan>")


def run(*options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [*own_command(), "check", *options, "--", sys.executable, str(MODELLED)]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=env)


def test_an_agent_needs_no_key_and_does_not_see_the_users() -> None:
    result = run("--script", "default", "--json", SECRET="sesame", OPENAI_API_KEY="sesame")
    verdict = json.loads(result.stdout)
    assert (verdict["findings"], verdict["updates"]) == ([], 5)
    said, home, secret = result.stderr.strip().rsplit(" ", 2)
    assert (said, secret) == ("Her name is Mia.", "None")
    assert home not in ("", os.environ["HOME"])
    assert not Path(home).exists()


def test_a_script_of_ones_own_says_what_the_model_says(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    steps = [{"plan": 0}, {"plan": 1}, {"say": "Enough."}]
    file.write_text(json.dumps({"parts": {"prompt": steps}, "environment": {"SECRET": "{project}"}}))
    result = run("--script", str(file), "--cwd", str(tmp_path), "--json")
    assert [each["code"] for each in json.loads(result.stdout)["findings"]] == ["unfinished-business"]
    assert (result.stderr.split()[0], result.stderr.split()[-1]) == ("Enough.", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a script"),
        ('{"parts": {"prompt": [{"sya": "x"}]}}', "unknown field `sya`"),
        ('{"parts": {"plan-mode": []}}', "unknown part 'plan-mode': a script's parts are prompt, load"),
        (None, "can't be read"),
    ],
)
def test_a_script_that_is_none_is_explained(text: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    if text is not None:
        file.write_text(text)
    result = run("--script", str(file))
    assert (result.returncode, said in result.stderr, "Traceback" in result.stderr) == (2, True, False)


def test_a_script_may_have_each_part_that_is_driven() -> None:
    parts: dict[str, Any] = {part: [{"say": part}] for part in (PROMPT, LOAD, RESUME, FORK, PLAN_MODE, TOOLS, COMPACT)}
    script = read_script(json.dumps({"parts": parts}).encode(), "s")
    play = Play(script.parts)
    for part in parts:
        play.begin(part)
        assert play(offered()).text == part


def test_files_stay_in_the_agents_home(tmp_path: Path) -> None:
    changes = furnish(tmp_path, "/project", "http://model", Script(files={"a/b.toml": 'url = "{model}/v1"'}))
    assert (tmp_path / "a" / "b.toml").read_text() == 'url = "http://model/v1"'
    assert changes["HOME"] == str(tmp_path)
    with pytest.raises(InputError, match="outside of the agent's home"):
        furnish(tmp_path, "/project", "http://model", Script(files={"../escaped": ""}))
