"""A script in parts, one for each thing that a check drives, and the model's answers from it.

A step is `{"say": …}`, `{"call": …, "arguments": …}`, `{"plan": 1}` (a call of the agent's plan tool, with the first
step done and the second begun), `{"propose": …}` (a plan to approve: a call, or Codex's words for it) or
`{"tool": …, "arguments": …}` (a call of the offered tool whose name contains this).
"""

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from planwire.check.observing import TOOL, TOOLS
from planwire.check.offers import COMPACT, FORK, LOAD, PLAN_MODE, PROMPT, RESUME
from planwire.check.plan_tools import STEPS, list_call, proposal_call
from planwire.check.script import ModelCall, ModelRequest, ModelTurn, Usage, say
from planwire.errors import InputError

#: The name of the script that comes with planwire.
DEFAULT: Final = "default"
PROPOSAL: Final = "# A name for the cat\n\n" + "\n".join(f"{n}. {step}" for n, step in enumerate(STEPS, 1))


class WrittenStep(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer of the model, as a script says it. `usage` is the number of tokens that it says the request had."""

    say: str = ""
    call: str | None = None
    arguments: dict[str, Any] = {}
    plan: int | None = None
    propose: str | None = None
    tool: str | None = None
    usage: int | None = None

    def turn(self, request: ModelRequest) -> ModelTurn:
        """The answer to a request."""
        usage = Usage() if self.usage is None else Usage(input=self.usage)
        text, call = self.say, None
        if self.call is not None:
            call = ModelCall(self.call, self.arguments)
        elif self.tool is not None:
            call = next((ModelCall(name, self.arguments) for name in request.names_of(self.tool)), None)
            text = text if call else text or "There is no such tool."
        elif self.plan is not None:
            call = list_call(request, self.plan)
            text = text if call else text or "There is no plan tool."
        elif self.propose is not None:
            call = proposal_call(request, self.propose)
            text = text if call else f"<proposed_plan>\n{self.propose}\n</proposed_plan>\n"
        return ModelTurn(text, (call,) if call else (), usage)


_LIST: Final = (*(WrittenStep(plan=done) for done in range(-1, len(STEPS) + 1)), WrittenStep("Her name is Mia."))
#: The model's answers in each part, unless a script has others. The first proposal is rejected, the next approved.
PARTS: Final = {
    PROMPT: _LIST,
    PLAN_MODE: (WrittenStep(propose=PROPOSAL), WrittenStep(propose=PROPOSAL), *_LIST),
    TOOLS: (WrittenStep(tool=TOOL),),
    COMPACT: (WrittenStep("<summary>A cat needs a name.</summary>"),),
}
#: Every part that a script may have. Those without answers of their own go on with the part before them.
_KNOWN: Final = (PROMPT, LOAD, RESUME, FORK, PLAN_MODE, TOOLS, COMPACT)


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """A script: the model's `parts`, by the things that are driven; `environment` for the agent and `files` in its
    home, where `{model}`, `{home}` and `{project}` stand for the model's address and two folders."""

    parts: dict[str, tuple[WrittenStep, ...]] = {}
    environment: dict[str, str] = {}
    files: dict[str, str] = {}


class Play:
    """Follows a script: `begin` a part, then each request gets the next step of it."""

    def __init__(self, parts: Mapping[str, tuple[WrittenStep, ...]]) -> None:
        self._parts = {**PARTS, **parts}
        self._steps = deque(self._parts[PROMPT])

    def begin(self, part: str) -> None:
        if part in self._parts:
            self._steps = deque(self._parts[part])

    def __call__(self, request: ModelRequest) -> ModelTurn:
        return self._steps.popleft().turn(request) if self._steps else say("Done.")


def read_script(text: bytes, name: str) -> Script:
    """The script in a file's text. Raises `InputError` with where it is wrong."""
    try:
        script = msgspec.json.decode(text, type=Script)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{name} is not a script: {error}. docs/check.md has an example") from None
    for part in script.parts:
        if part not in _KNOWN:
            raise InputError(f"{name} has an unknown part {part!r}: a script's parts are {', '.join(_KNOWN)}")
    return script
