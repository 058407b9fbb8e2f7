"""The table of hooks that planwire registers, from which every agent's plugin, extension or file is generated.

Every hook costs its agent a process, and the agent waits for it. So what is recorded is matched by the names of plan
tools; only `news` runs after every tool, because a person's words should reach the model in the middle of a turn. It
ends at once if no one said anything. An event that replaces the agent's own work (WorktreeCreate), or that comes with
each piece of output (MessageDisplay, PostToolBatch, AfterModel), is never registered.

Claude Code, Codex, Copilot and Qwen take one file with one set of names; where their names of tools differ, a matcher
holds all of them. Gemini has its own names for the same events. opencode has functions in place of events, which are in
planwire's file for it.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from planwire.hooks.review_terms import terms_of

#: The agents that take a plugin in the form of Claude Code's.
SHARED: Final = ("claude-code", "codex", "copilot", "qwen")
GEMINI: Final = "gemini"
OPENCODE: Final = "opencode"

#: What the agents call the tools that keep a list of steps or a goal. Codex's goals count as a plan of one step.
_LISTS: Final = (
    *("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"),
    *("update_plan", "create_goal", "update_goal"),
    *("todo_write", "sql"),
)
_GEMINI_LISTS: Final = ("write_todos", "tracker_.*")
#: What they call the tool with which a model asks for a person's approval of its plan.
_PROPOSALS: Final = ("ExitPlanMode", "exit_plan_mode")
_GEMINI_PROPOSALS: Final = ("exit_plan_mode",)
#: The agents that send the event before a call before they ask the person. Qwen sends it after the person has agreed.
_BEFORE_THEY_ASK: Final = ("claude-code", "codex", "copilot", GEMINI)
#: What Claude Code calls the tools that write files.
_FILES: Final = ("Write", "Edit")
#: planwire's own tools: each agent makes its own name from the server's and the tool's, but all keep both.
_OWN: Final = (".*planwire.*_plan",)

_RECORD_SECONDS: Final = 5
_TELL_SECONDS: Final = 10
#: Seconds that an agent waits longer than a hook that holds a plan back. Qwen ends every hook after a minute.
_MARGIN_SECONDS: Final = 8
#: Codex allows no more for the hook at the end of a session.
_END_SECONDS: Final = 3


class Hook(NamedTuple):
    """A hook: what it does (`role`, see `entry`), and when.

    `event` is Claude Code's name for the event, `gemini` Gemini's, or None if it has no such event; `tools` and
    `gemini_tools` are the names that it is registered for, none meaning all. `seconds` is how long the agent waits.
    `only` names the agents that get it, if not all do, and `paths` the files that the tools must be about.
    """

    role: str
    event: str
    gemini: str | None
    tools: tuple[str, ...] = ()
    gemini_tools: tuple[str, ...] = ()
    seconds: int = _RECORD_SECONDS
    only: tuple[str, ...] = ()
    paths: str = ""


HOOKS: Final = (
    Hook("tell", "SessionStart", "SessionStart", seconds=_TELL_SECONDS),
    Hook("tell", "UserPromptSubmit", "BeforeAgent", seconds=_TELL_SECONDS),
    Hook("call", "PreToolUse", "BeforeTool", _OWN, _OWN),
    # The answer before a call is enough for Claude Code, and Codex takes none; these two ask once more.
    Hook("call", "PermissionRequest", None, _OWN, only=("copilot", "qwen")),
    Hook("record", "PreToolUse", "BeforeTool", _PROPOSALS, _GEMINI_PROPOSALS, only=_BEFORE_THEY_ASK),
    Hook("record", "PermissionRequest", None, ("exit_plan_mode",), only=("qwen",)),
    Hook("record", "PostToolUse", "AfterTool", _LISTS + _PROPOSALS, _GEMINI_LISTS + _GEMINI_PROPOSALS),
    # A plan that is still being drafted is a file among others: only Claude Code can tell them apart by their paths.
    Hook("record", "PostToolUse", None, _FILES, only=("claude-code",), paths="**/plans/*.md"),
    Hook("news", "PostToolUse", "AfterTool", seconds=_TELL_SECONDS),
    # A failed call has a result too, for which Claude Code has another event.
    Hook("news", "PostToolUseFailure", None, seconds=_TELL_SECONDS, only=("claude-code",)),
    Hook("record", "Stop", "AfterAgent"),
    Hook("record", "StopFailure", None, only=("claude-code", "qwen")),
    Hook("record", "SubagentStart", None),
    Hook("record", "SubagentStop", None),
    # These two have no event after a compaction; the others do, and Claude Code shows this hook's command on the
    # screen. Gemini sends it before every request to its model; only a manual one is a compaction.
    Hook("record", "PreCompact", "PreCompress", (), ("manual",), only=("copilot", GEMINI)),
    Hook("record", "SessionEnd", "SessionEnd", seconds=_END_SECONDS),
)


def _waits(agent: str) -> int:
    """How long an agent waits for a person: longer than the hook, which must be the one that gives up. An agent may
    take a hook that it had to end as an approval."""
    return int(terms_of(agent).wait_seconds) + _MARGIN_SECONDS


#: The hook that holds a plan back until a person has decided, by agent.
REVIEWS: Final[Mapping[str, Hook]] = {
    "claude-code": Hook("ask", "PermissionRequest", None, ("ExitPlanMode",), seconds=_waits("claude-code")),
    "codex": Hook("ask", "Stop", None, seconds=_waits("codex")),
    "copilot": Hook("ask", "PreToolUse", None, _PROPOSALS, seconds=_waits("copilot")),
    "qwen": Hook("ask", "PermissionRequest", None, ("exit_plan_mode",), seconds=_waits("qwen")),
    GEMINI: Hook("ask", "PreToolUse", "BeforeTool", _PROPOSALS, _GEMINI_PROPOSALS, _waits(GEMINI)),
}


def hooks_of(agent: str, *, review: bool = False) -> tuple[Hook, ...]:
    """The hooks for an agent. One that asks takes the place of the one that would record the same: a question that only
    the terminal can answer must not come before it."""
    asking = REVIEWS.get(agent) if review else None
    hooks = (each for each in HOOKS if not each.only or agent in each.only)
    if asking is None:
        return tuple(hooks)
    same = {(asking.event, asking.tools), *([("PreToolUse", _PROPOSALS)] if asking.tools else [])}
    return (*(each for each in hooks if (each.event, each.tools) not in same), asking)
