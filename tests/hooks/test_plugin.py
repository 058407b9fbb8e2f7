"""The plugin's files: one table of hooks, said in the words of each agent."""

import json
import re
import shlex
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from planwire.hooks.hook_table import HOOKS, REVIEWS, SHARED, hooks_of
from planwire.hooks.plugin import NAME, Parts, hook_commands, plugin_files
from planwire.hooks.review_terms import terms_of

HOOKS_FILE = {**dict.fromkeys(SHARED, f"{NAME}/hooks/hooks.json"), "gemini": "hooks/hooks.json"}


def parts(opencode_file: str = "const COMMANDS = __COMMANDS__;\n") -> Parts:
    return Parts(
        "1.2.3", lambda role: f"hook {role}", ["python", "-m", NAME, "mcp"], "Plan.", "Plan well.", opencode_file
    )


def files(agent: str, *, review: bool = False) -> dict[str, str]:
    return plugin_files(agent, parts(), review=review)


def hooks(agent: str, *, review: bool = False) -> list[tuple[str, str, str, int]]:
    """Each hook of a file: its event, what it matches, its role and its timeout."""
    events: dict[str, Any] = json.loads(files(agent, review=review)[HOOKS_FILE[agent]])["hooks"]
    return [
        (event, group.get("matcher", ""), hook["command"].removeprefix("hook "), hook["timeout"])
        for event, groups in events.items()
        for group in groups
        for hook in group["hooks"]
    ]


def roles(agent: str, event: str, tool: str, *, review: bool = False) -> list[str]:
    """What happens at an event, by role, if matchers are whole names, as agents take them."""
    return [
        role
        for name, matcher, role, _ in hooks(agent, review=review)
        if name == event and (not matcher or re.fullmatch(matcher, tool))
    ]


def test_four_agents_install_one_folder_but_for_the_hooks_that_some_of_them_have() -> None:
    codex, *others = (files(agent) for agent in ("codex", "copilot", "qwen", "claude-code"))
    for other in others:
        assert {name for name in other if other[name] != codex.get(name)} == {HOOKS_FILE["claude-code"]}
    own, failed = ("PermissionRequest", ".*planwire.*_plan", "call", 5), ("StopFailure", "", "record", 5)
    assert {agent: set(hooks(agent)) - set(hooks("codex")) for agent in SHARED} == {
        "claude-code": {("PostToolUse", "Write|Edit", "record", 5), ("PostToolUseFailure", "", "news", 10), failed},
        "codex": set(),
        "copilot": {own, ("PreCompact", "", "record", 5)},
        "qwen": {own, ("PermissionRequest", "exit_plan_mode", "record", 5), failed},
    }


@pytest.mark.parametrize("agent", HOOKS_FILE)
def test_no_hook_is_registered_for_an_event_that_nobody_reads(agent: str) -> None:
    reader = import_module(f"planwire.hooks.{agent.replace('-', '_')}")
    for review in (False, True):
        assert {event for event, *_ in hooks(agent, review=review)} <= set(reader._EVENTS)


def test_a_proposal_is_recorded_before_a_person_is_asked_about_it() -> None:
    for agent in ("claude-code", "codex", "copilot"):
        assert roles(agent, "PreToolUse", "exit_plan_mode") == ["record"]
    assert roles("qwen", "PreToolUse", "exit_plan_mode") == []
    assert roles("qwen", "PermissionRequest", "exit_plan_mode") == ["record"]
    assert roles("qwen", "PermissionRequest", "exit_plan_mode", review=True) == ["ask"]


def test_nothing_asks_about_a_plan_before_the_hook_that_holds_it_back() -> None:
    assert roles("claude-code", "PreToolUse", "ExitPlanMode", review=True) == []
    assert roles("claude-code", "PermissionRequest", "ExitPlanMode", review=True) == ["ask"]
    assert roles("copilot", "PreToolUse", "exit_plan_mode", review=True) == ["ask"]


def test_a_draft_is_told_from_other_files_by_its_path() -> None:
    groups = json.loads(files("claude-code")[HOOKS_FILE["claude-code"]])["hooks"]["PostToolUse"]
    [draft] = [each for each in groups if each.get("matcher") == "Write|Edit"]
    assert [each["if"] for each in draft["hooks"]] == ["Write(**/plans/*.md)", "Edit(**/plans/*.md)"]


def test_the_hooks_of_gemini_have_its_names_and_its_milliseconds() -> None:
    assert hooks("gemini") == [
        ("SessionStart", "", "tell", 10_000),
        ("BeforeAgent", "", "tell", 10_000),
        ("BeforeTool", ".*planwire.*_plan", "call", 5_000),
        ("BeforeTool", "exit_plan_mode", "record", 5_000),
        ("AfterTool", "write_todos|tracker_.*|exit_plan_mode", "record", 5_000),
        ("AfterTool", "", "news", 10_000),
        ("AfterAgent", "", "record", 5_000),
        ("PreCompress", "manual", "record", 5_000),
        ("SessionEnd", "", "record", 3_000),
    ]


@pytest.mark.parametrize(
    ("agent", "tool"),
    [
        *(("claude-code", tool) for tool in ("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "ExitPlanMode")),
        *(("codex", tool) for tool in ("update_plan", "create_goal", "update_goal")),
        *(("qwen", tool) for tool in ("todo_write", "exit_plan_mode")),
        *(("copilot", tool) for tool in ("sql", "exit_plan_mode")),
        *(("gemini", tool) for tool in ("write_todos", "tracker_create_task", "tracker_list_tasks", "exit_plan_mode")),
    ],
)
def test_a_plan_tool_is_recorded_and_no_other_tool_is(agent: str, tool: str) -> None:
    after = "AfterTool" if agent == "gemini" else "PostToolUse"
    assert roles(agent, after, tool) == ["record", "news"]
    for other in ("Bash", "Read", "mysql", "run_shell_command"):
        assert roles(agent, after, other) == ["news"]


@pytest.mark.parametrize(
    ("agent", "tool"),
    [
        ("claude-code", "mcp__plugin_planwire_planwire__set_plan"),
        ("codex", "mcp__planwire__update_plan"),
        ("copilot", "planwire-get_plan"),
        ("qwen", "mcp__planwire__remove_plan"),
        ("gemini", "mcp_planwire_set_plan"),
    ],
)
def test_a_call_of_the_plan_tools_is_bound_to_its_session(agent: str, tool: str) -> None:
    before = "BeforeTool" if agent == "gemini" else "PreToolUse"
    assert roles(agent, before, tool) == ["call"]
    assert roles(agent, before, "update_plan") == []


@pytest.mark.parametrize("agent", HOOKS_FILE)
@pytest.mark.parametrize("review", [False, True])
def test_no_hook_replaces_an_agents_work_or_comes_with_each_piece_of_output(agent: str, review: bool) -> None:
    events = {event for event, *_ in hooks(agent, review=review)}
    assert not events & {"WorktreeCreate", "MessageDisplay", "PostToolBatch", "AfterModel", "BeforeModel"}


@pytest.mark.parametrize(
    ("agent", "event", "tool"),
    [
        ("claude-code", "PermissionRequest", "ExitPlanMode"),
        ("codex", "Stop", ""),
        ("copilot", "PreToolUse", "exit_plan_mode"),
        ("qwen", "PermissionRequest", "exit_plan_mode"),
        ("gemini", "BeforeTool", "exit_plan_mode"),
    ],
)
def test_a_review_asks_in_place_of_recording(agent: str, event: str, tool: str) -> None:
    assert "ask" not in {role for *_, role, _ in hooks(agent)}
    assert roles(agent, event, tool, review=True) == ["ask"]


@pytest.mark.parametrize("agent", REVIEWS)
def test_the_hook_gives_up_before_its_agent_does(agent: str) -> None:
    assert REVIEWS[agent].seconds > terms_of(agent).wait_seconds
    assert terms_of("qwen").wait_seconds < 60  # it gives no hook more


def test_every_agent_with_a_review_has_the_other_hooks_as_well() -> None:
    for agent in REVIEWS:
        assert {each.role for each in hooks_of(agent, review=True)} == {"tell", "call", "record", "news", "ask"}
    assert {each.role for each in HOOKS} == {"tell", "call", "record", "news"}


def test_the_manifests_name_the_version_and_the_server() -> None:
    shared = files("codex")
    assert json.loads(shared[f"{NAME}/.claude-plugin/plugin.json"])["version"] == "1.2.3"
    [listed] = json.loads(shared[".claude-plugin/marketplace.json"])["plugins"]
    assert (listed["name"], listed["source"]) == (NAME, f"./{NAME}")
    server = {"command": "python", "args": ["-m", NAME, "mcp"], "trust": True}
    assert json.loads(shared[f"{NAME}/.mcp.json"]) == {"mcpServers": {NAME: server}}
    extension = json.loads(files("gemini")["gemini-extension.json"])
    assert extension["mcpServers"] == {NAME: server}
    assert files("gemini")[extension["contextFileName"]] == "# Plans\n\nPlan.\n"


def test_a_skill_says_when_to_plan() -> None:
    text = files("claude-code")[f"{NAME}/skills/plan/SKILL.md"]
    assert re.fullmatch(r"---\nname: plan\ndescription: [^\n:]+\n---\n\nPlan well\.\n", text)


def test_opencodes_file_has_a_command_for_each_role() -> None:
    commands = {role: f"hook {role}" for role in ("tell", "record", "news", "call")}
    for review, more in ((False, {}), (True, {"ask": "hook ask"})):
        text = files("opencode", review=review)[f"{NAME}.js"]
        assert json.loads(text.removeprefix("const COMMANDS = ").removesuffix(";\n")) == {**commands, **more}


def test_the_commands_can_be_read_back() -> None:
    assert set(hook_commands(files("gemini")["hooks/hooks.json"])) == {
        f"hook {role}" for role in ("tell", "record", "news", "call")
    }


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node here to read the file")
def test_node_reads_opencodes_file(tmp_path: Path) -> None:
    awkward = shlex.join(["/a b/py'thon", "-S", '"x"', "`$HOME`", "\\n"])
    source = Path(str(hooks_of.__code__.co_filename)).with_name("opencode_plugin.js").read_text()
    made = plugin_files("opencode", parts(source)._replace(hook=lambda role: f"{awkward} {role}"))
    (tmp_path / "planwire.mjs").write_text(made[f"{NAME}.js"])
    subprocess.run(["node", "--check", tmp_path / "planwire.mjs"], check=True)


def test_claude_code_is_not_asked_for_the_event_whose_hook_it_shows_on_the_screen() -> None:
    assert not any(each.event == "PreCompact" for each in hooks_of("claude-code"))
