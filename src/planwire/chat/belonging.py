"""The steps that a message belongs to: those in progress when it came, or none.

A compaction lets go of what belongs to finished steps first. The changes that say when a step was in progress may be
gone by then. So each message keeps its steps, and whether it is pinned, in its envelope, which no provider gets:
`{"extra": {"planwire": {"steps": ["main#s2"], "pinned": true}}}`. In another program's stream, the steps are taken from
the plans and changes that are still there.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from planwire.chat.messages import OWN, EventMessage, PlanMessage, Stored
from planwire.chat.render import message_steps
from planwire.chat.roles import PLAN_DELTA, SUMMARIZATION_MARKER
from planwire.model.identity import track
from planwire.model.plan import MAIN, Fields, MarkdownPlan, PlanId
from planwire.model.readers import LEAD, plans_of
from planwire.model.records import PlanRecord, SessionState
from planwire.model.statuses import DEFAULT_STATUS
from planwire.model.steps import Step

_M = TypeVar("_M", bound=Stored)


class Belonging(Struct, frozen=True):
    """The steps of each message of a stream, and those that are still open at its end."""

    steps: tuple[tuple[str, ...], ...]
    open: frozenset[str]


def open_steps(state: SessionState, reader: str = LEAD) -> frozenset[str]:
    """The open steps of a reader's living plans. A step that is gone counts as finished."""
    records = plans_of(state, reader).items()
    return frozenset(_name(key, step.id) for key, record in records for step in record.state.steps if step.is_open)


class CurrentSteps:
    """The steps in progress in the plans of one reader. They are looked up again only after plans have changed, since
    most events of a session are messages."""

    def __init__(self, reader: str = LEAD) -> None:
        self._reader = reader
        self._plans: dict[PlanId, PlanRecord] | None = None
        self._steps: tuple[str, ...] = ()

    def of(self, state: SessionState) -> tuple[str, ...]:
        if state.plans is not self._plans:
            self._plans = state.plans
            mine = plans_of(state, self._reader).items()
            found = (_name(key, step.id) for key, record in mine for step in record.state.steps if step.is_current)
            self._steps = tuple(found)
        return self._steps


def with_steps(message: _M, steps: tuple[str, ...]) -> _M:
    """A message with the steps that it belongs to, unless it already has some."""
    return _with(message, "steps", list(steps)) if steps and _steps_in(message) is None else message


def with_pin(message: _M, pinned: bool) -> _M:
    """A message, pinned or unpinned."""
    return message if is_pinned(message) == pinned else _with(message, "pinned", pinned or None)


def is_pinned(message: Stored) -> bool:
    return _envelope(message).get("pinned") is True


def belonging(messages: Sequence[Stored], without: Container[int] = ()) -> Belonging:
    """The steps of each message: those that it keeps itself, or else those in progress in the plans before it.
    `without` are the indexes of past plans, which are not in order."""
    walk = _Walk()
    found: list[tuple[str, ...]] = []
    for index, message in enumerate(messages):
        if index not in without:
            walk.take(message)
        kept = _steps_in(message)
        found.append(walk.current() if kept is None else kept)
    return Belonging(tuple(found), frozenset(walk.open))


class _Walk:
    """The steps that are open and in progress at each point of a stream."""

    def __init__(self) -> None:
        self.open: dict[str, None] = {}
        self._in_progress: dict[str, None] = {}
        self._plans: dict[str, set[str]] = {}
        self._current: tuple[str, ...] | None = ()

    def current(self) -> tuple[str, ...]:
        if self._current is None:
            self._current = tuple(self._in_progress)
        return self._current

    def take(self, message: Stored) -> None:
        if isinstance(message, PlanMessage):
            self._drop(message.plan_id)
            for step in message_steps(message) or track(MarkdownPlan(None, message.content)).steps:
                self._put(message.plan_id, step)
        elif isinstance(message, EventMessage) and message.subkind == PLAN_DELTA:
            if message.payload.get("removed") is True:
                self._drop(message.plan_id)
            changes = message.payload.get("changes")
            for change in changes if isinstance(changes, list) else ():
                self._change(message.plan_id, change)

    def _change(self, plan_id: str, change: Any) -> None:
        match change:
            case {"do": "status", "step": str(step), "status": str(status)}:
                self._put(plan_id, Step(step, "", status))
            case {"do": "add", "id": str(step)}:
                self._put(plan_id, Step(step, "", str(change.get("status", DEFAULT_STATUS))))
            case {"do": "remove", "step": str(step)}:
                self._put(plan_id, None, _name(plan_id, step))

    def _put(self, plan_id: str, step: Step | None, name: str = "") -> None:
        name = _name(plan_id, step.id) if step else name
        self._plans.setdefault(plan_id, set()).add(name)
        for names, is_in in ((self.open, step and step.is_open), (self._in_progress, step and step.is_current)):
            if is_in:
                names[name] = None
            else:
                names.pop(name, None)
        self._current = None

    def _drop(self, plan_id: str) -> None:
        for name in self._plans.pop(plan_id, ()):
            self.open.pop(name, None)
            self._in_progress.pop(name, None)
        self._current = None


def _name(plan_id: PlanId, step: str) -> str:
    return f"{plan_id or MAIN}#{step}"


def _envelope(message: Stored) -> Fields:
    own = message.extra.get(OWN) if message.extra else None
    return own if isinstance(own, dict) else {}


def _steps_in(message: Stored) -> tuple[str, ...] | None:
    """The steps that a message keeps; a summary keeps those of the messages that it replaces."""
    steps = _envelope(message).get("steps") if message.extra else None
    if isinstance(message, EventMessage) and message.subkind == SUMMARIZATION_MARKER:
        steps = message.payload.get("steps", [])
    return _texts(steps) if isinstance(steps, list) else None


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(each for each in values if isinstance(each, str))


def _with(message: _M, key: str, value: Any) -> _M:
    own = {**_envelope(message), key: value}
    own = {name: each for name, each in own.items() if each is not None}
    extra = {**(message.extra or {}), OWN: own}
    return replace(message, extra={name: each for name, each in extra.items() if each != {}} or None)
