"""The table of agents in their own terminals: a row names one, recognises its payloads, and speaks its dialect."""

from collections.abc import Callable, Container
from typing import Final, NamedTuple

import msgspec

from planwire.hooks import claude_code, codex, copilot, gemini, opencode, qwen
from planwire.hooks.answers import Answer
from planwire.hooks.happenings import HookCall
from planwire.model.plan import Fields


class HookedAgent(NamedTuple):
    """An agent with hooks. `is_caller` judges a payload and the names of the hook's environment variables: these may
    include another agent's, if one was started in the other's shell, so the payload counts first. `read` is None for a
    payload that means nothing here, `speak` for an answer that the agent can't hear."""

    name: str
    title: str
    is_caller: Callable[[Fields, Container[str]], bool]
    read: Callable[[Fields], HookCall | None]
    speak: Callable[[HookCall, Fields, Answer], Fields | None]


class HookPayload(NamedTuple):
    """A payload that was read: the row that read it, its fields, and what it means."""

    agent: HookedAgent
    fields: Fields
    heard: HookCall

    def spoken(self, answer: Answer) -> bytes:
        """An answer in the form that the caller takes on the hook's standard output; empty if it can't hear it."""
        said = self.agent.speak(self.heard, self.fields, answer)
        return msgspec.json.encode(said) + b"\n" if said is not None else b""


#: In the order in which payloads are tried: those with the surest signs first.
_ROWS: Final = (
    HookedAgent(opencode.NAME, opencode.TITLE, opencode.is_caller, opencode.read, opencode.speak),
    HookedAgent(gemini.NAME, gemini.TITLE, gemini.is_caller, gemini.read, gemini.speak),
    HookedAgent(qwen.NAME, qwen.TITLE, qwen.is_caller, qwen.read, qwen.speak),
    HookedAgent(copilot.NAME, copilot.TITLE, copilot.is_caller, copilot.read, copilot.speak),
    HookedAgent(claude_code.NAME, claude_code.TITLE, claude_code.is_caller, claude_code.read, claude_code.speak),
    HookedAgent(codex.NAME, codex.TITLE, codex.is_caller, codex.read, codex.speak),
)
HOOKED_AGENTS: Final = {row.name: row for row in _ROWS}


def read_hook(body: bytes, agent: str | None = None, environment: Container[str] = ()) -> HookPayload | None:
    """The payload of a hook, read by the row of that name, or by the first that recognises it. None for anything else:
    half a payload, one of a future version, or of an unknown agent."""
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    rows = [HOOKED_AGENTS[agent]] if agent in HOOKED_AGENTS else HOOKED_AGENTS.values()
    row = next((each for each in rows if len(rows) == 1 or each.is_caller(fields, environment)), None)
    heard = row.read(fields) if row else None
    return HookPayload(row, fields, heard) if row and heard else None
