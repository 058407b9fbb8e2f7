"""What an agent's hooks say, as values: one `HookCall` for each call of a hook, whatever its shape in the agent.

A reader for each agent (`claude_code`, `codex`, …) turns payloads into these, and `recording` turns these into events.
Nothing of an agent's own dialect goes further than its reader.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from planwire.model.plan import Entry


class Chance(Enum):
    """What an answer to this hook can do, in this agent. Each reader has a table of its events."""

    PASSIVE = "passive"
    """No text of it reaches the model."""
    START = "start"
    """Its text is in the next request. The context is new, resumed, cleared or compacted."""
    PROMPT = "prompt"
    """Its text goes with the person's prompt."""
    TOOL = "tool"
    """Its text goes with the result of a tool call."""
    CALL = "call"
    """Right before a call of planwire's own tools: it can be allowed without a dialog."""
    REVIEW = "review"
    """It can hold a plan back until a person has decided."""


class Started(Struct, frozen=True):
    """A session begins (`startup`) or goes on: `resume`, `clear` (the context is empty, and the id mostly new) or
    `fork`."""

    source: str


class Compacted(Struct, frozen=True):
    """The context was compacted just now. Each agent has one event that says so for sure; its others are ignored."""


class TurnBegan(Struct, frozen=True):
    """A person's prompt. Its text only serves as a title for a session without one: it is never recorded itself."""

    prompt: str = ""


class TurnOver(Struct, frozen=True):
    """The agent stopped working, and why (`model.stop_reasons`)."""

    stop_reason: str


class Ended(Struct, frozen=True):
    """The agent leaves the session. `reason` is its own word for why (`clear`, `prompt_input_exit`, …)."""

    reason: str


class Titled(Struct, frozen=True):
    """The agent has a title for the session."""

    title: str


class ListHeard(Struct, frozen=True):
    """A whole list of steps. A list without entries was cleared."""

    plan_id: str
    entries: tuple[Entry, ...]
    summary: str | None = None


class TaskChanged(Struct, frozen=True):
    """One task of a list that the agent tells piece by piece: made, changed or `gone`. `key` is the agent's own id of
    it; what is None stays as it was. A session has one such list, on which its sub-agents work, too."""

    plan_id: str
    key: str
    content: str | None = None
    status: str | None = None
    gone: bool = False


class Proposed(Struct, frozen=True):
    """A plan that is prose. `path` is the file with its text if the hook does not have it; a reader never opens it. A
    `draft` is still being written, and no one is asked about it yet."""

    plan_id: str
    text: str = ""
    path: str | None = None
    draft: bool = False


class TodosInDatabase(Struct, frozen=True):
    """A list of steps was changed in an agent's own SQLite database, at `path`; `todo_database` reads it. A `~` stands
    for the user's home, which is not in a payload."""

    plan_id: str
    path: str


class PlanInTranscript(Struct, frozen=True):
    """The agent may have proposed a plan, in its transcript `path` and nowhere else. `looking` reads the newest one of
    this turn; mostly there is none."""

    plan_id: str
    path: str
    turn: str | None = None


class Decided(Struct, frozen=True):
    """The agent got its answer about a proposal: approved, or sent back with `words`. `text` is the plan as it was
    approved, which a person may have edited."""

    plan_id: str
    approved: bool
    text: str = ""
    words: str = ""


class ChildBegan(Struct, frozen=True):
    """A sub-agent begins to work."""


class ChildEnded(Struct, frozen=True):
    """A sub-agent is done."""


class OwnCall(Struct, frozen=True):
    """A call of one of planwire's own tools, by its bare name (`set_plan`), with its arguments. The tool server records
    what it changes."""

    tool: str
    arguments: object = None


Happening: TypeAlias = (
    Started
    | Compacted
    | TurnBegan
    | TurnOver
    | Ended
    | Titled
    | ListHeard
    | TaskChanged
    | Proposed
    | PlanInTranscript
    | Decided
    | TodosInDatabase
    | ChildBegan
    | ChildEnded
    | OwnCall
)


class Child(Struct, frozen=True):
    """The sub-agent that a hook is about: the agent's own id for it, and its kind."""

    id: str
    kind: str = ""


class HookCall(Struct, frozen=True):
    """One call of a hook: whose it is, and what happened.

    `agent` is the row in the table of agents, `session` the agent's own id for its session, `event` the agent's own
    name for the event, which answers have to repeat. `call` is its id of the tool call, if it is about one; `turn` is
    that of the turn, where it has one. `child` is the sub-agent that it comes from. `moment` says what an answer can
    do.
    """

    agent: str
    session: str
    event: str
    moment: Chance = Chance.PASSIVE
    what: tuple[Happening, ...] = ()
    folder: str | None = None
    call: str | None = None
    turn: str | None = None
    child: Child | None = None

    def own_plan(self, plan_id: str) -> str:
        """The id of a plan of the caller's: the session's, or the child's. A child has its own plans; the id of its
        list is also its name as a reader."""
        return f"{plan_id}@{self.child.id}" if self.child else plan_id
