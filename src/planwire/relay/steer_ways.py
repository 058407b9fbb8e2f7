"""Ways into a running turn: the requests for it that agents announce when they are initialised, in one table.

The protocol has none yet. Agents that can be steered announce requests of their own, and agents that keep a prompt
until the running turn has ended announce that.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.dialects import DIALECTS
from planwire.model.plan import Fields

#: What became of words for a running turn: the agent has them, it has no running turn, or it does not take them.
Outcome: TypeAlias = Literal["injected", "idle", "refused"]

_CAPABILITIES: Final = tuple(dict.fromkeys(row.agent_capabilities for row in DIALECTS.values()))


class SteerWay(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A request that puts words into the running turn of a session, and how to read its answer.

    - `says`: the member of the result that tells what became of the words. `taken` are its values if the agent has
      them, for this turn or another, and `idle` those if no turn runs. Any other value is a refusal.
    - `idle_codes`: the codes of errors that mean the same as `idle`.
    - `meta`: what goes with the words, so that an idle agent leaves them to the relay.
    """

    method: str
    says: str
    taken: frozenset[str | None]
    idle: frozenset[str] = frozenset()
    idle_codes: frozenset[int] = frozenset()
    meta: Fields | None = None

    def params(self, session_id: str, prompt_blocks: Sequence[Fields]) -> Fields:
        """The `params` of the request."""
        asked: Fields = {"sessionId": session_id, "prompt": list(prompt_blocks)}
        return asked if self.meta is None else {**asked, "_meta": self.meta}

    def outcome(self, result: Any, is_error: bool) -> Outcome:
        """What the answer says: its `result`, or its `error`. An unknown answer is a refusal."""
        if is_error:
            code = _at(result, ("code",))
            return "idle" if isinstance(code, int) and code in self.idle_codes else "refused"
        word = _at(result, (self.says,))
        if not isinstance(word, str | None):
            return "refused"
        return "injected" if word in self.taken else "idle" if word in self.idle else "refused"


#: claude-agent-acp, codex-acp and agents that follow them. Without `meta`, or where it isn't understood, an idle agent
#: starts a turn that belongs to no request.
_STEERING: Final = SteerWay(
    "_session/steering",
    says="outcome",
    taken=frozenset(("injected", "startedNewTurn")),
    idle=frozenset(("promptRequired",)),
    meta={"steering": {"idleBehavior": "promptRequired"}},
)
#: Reasonix keeps the words for its next turn if this one ended meanwhile. Sessions without a file refuse them then.
_REASONIX: Final = SteerWay(
    "_reasonix.io/session/steer",
    says="disposition",
    taken=frozenset(("steer_accepted", "queued_followup", None)),
    idle_codes=frozenset((-32600,)),
)
#: Where in the result of `initialize` an agent announces a way: by `true`, or by the name of the method.
_WAYS: Final[tuple[tuple[tuple[str, ...], SteerWay], ...]] = (
    (("_meta", "steering", "supported"), _STEERING),
    *(((key, "_meta", "reasonix.io", "sessionSteer", "method"), _REASONIX) for key in _CAPABILITIES),
)


def announced_steering(initialized: Any) -> SteerWay | None:
    """The way into a running turn that an agent announces in its result of `initialize`, which may be anything."""
    return next((way for path, row in _WAYS if (way := _announced(_at(initialized, path), row))), None)


def announces_queueing(initialized: Any) -> bool:
    """Whether an agent says there that a prompt in a running turn waits for the turn to end."""
    return any(_queues(_at(initialized, (key, "_meta"))) for key in _CAPABILITIES)


def _announced(value: Any, row: SteerWay) -> SteerWay | None:
    """The way that a value announces. Methods outside the protocol begin with an underscore (R33)."""
    if value is True:
        return row
    return replace(row, method=value) if isinstance(value, str) and value.startswith("_") else None


def _queues(meta: Any) -> bool:
    """Whether the `_meta` of an agent's capabilities announces queueing, under any agent's name."""
    named = meta.values() if isinstance(meta, dict) else ()
    return any(_at(each, ("promptQueueing",)) is True for each in named)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of members; None if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
