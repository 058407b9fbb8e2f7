"""One session's plans as heard on the wire: put, extended, removed and retold, within a limit.

Board, translator, relay and checker all listen to connections and need the same four rules:

- Each update replaces the plan with its id, whole (R4, R12, R17).
- A piece of text is appended to the plan with its id, as JetBrains AIR streams plans. If that plan has no text yet,
  the piece begins one.
- Between `session/load` (or a `session/resume` that asks for a replay) and its response an agent retells its history
  (R37, R39). History is not news: only the end of the replay counts, plans that it does not mention stay, and a replay
  whose request fails is discarded.
- A session has at most `MAX_PLANS` plans, live or retold. An agent that invents an id for each update would otherwise
  fill the memory of every listener.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.messages import Body, Extension, Removal
from planwire.model.kinds import prose_of
from planwire.model.plan import Fields, MarkdownPlan, Plan, PlanId
from planwire.model.sameness import is_same

#: The most plans of one session at a time. Real sessions have a handful; the limit only stops runaway agents.
MAX_PLANS: Final = 1_000


class Heard(Struct, frozen=True):
    """One plan after an update, and `before` it; `plan` is None after a removal.

    `siblings` are the fields next to the plan on its line.
    """

    id: PlanId
    plan: Plan | None
    before: Plan | None = None
    siblings: Fields | None = None

    @property
    def is_news(self) -> bool:
        return not is_same(self.plan, self.before)


class TooMany(Struct, frozen=True):
    """A plan beyond `MAX_PLANS`, which goes unrecorded."""

    id: PlanId


class HeardPlans:
    """One session's plans."""

    def __init__(self) -> None:
        self._plans: dict[PlanId, Plan] = {}
        self._retold: dict[PlanId, Heard] | None = None

    @property
    def plans(self) -> Mapping[PlanId, Plan]:
        """The live plans, in order of first appearance."""
        return MappingProxyType(self._plans)

    @property
    def retold(self) -> Mapping[PlanId, Heard]:
        """The plans of the replay in progress, as far as it got."""
        return MappingProxyType(self._retold or {})

    @property
    def is_retold(self) -> bool:
        """Whether a replay is in progress, so that updates are history."""
        return self._retold is not None

    def hear(self, body: Body, siblings: Fields | None = None) -> Heard | TooMany | None:
        """Take in an update. Returns None if nothing changes for now: the update is unusable, or part of a replay."""
        if body is None:
            return None
        if self._retold is None:
            return self._take(_heard(body, self._plans.get(body.id), siblings))
        known = self._retold.get(body.id)
        if known is None and len(self._retold) >= MAX_PLANS:
            return TooMany(body.id)
        self._retold[body.id] = _heard(body, known.plan if known else None, siblings)
        return None

    def begin_retelling(self) -> None:
        """Treat updates as history from here on."""
        self._retold = {}

    def end_retelling(self, *, failed: bool = False) -> list[Heard | TooMany]:
        """End the replay, if there is one: adopt its last word on each plan, or nothing if it failed."""
        retold, self._retold = self._retold or {}, None
        if failed:
            return []
        return [self._take(replace(heard, before=self._plans.get(heard.id))) for heard in retold.values()]

    def _take(self, heard: Heard) -> Heard | TooMany:
        if heard.plan is None:
            self._plans.pop(heard.id, None)
        elif heard.before is None and len(self._plans) >= MAX_PLANS:
            return TooMany(heard.id)
        else:
            self._plans[heard.id] = heard.plan
        return heard


def _heard(body: Plan | Extension | Removal, before: Plan | None, siblings: Fields | None) -> Heard:
    if isinstance(body, Removal):
        return Heard(body.id, None, before)
    plan = _extended(body, before) if isinstance(body, Extension) else body
    return Heard(body.id, plan, before, siblings)


def _extended(extension: Extension, before: Plan | None) -> Plan:
    text = prose_of(before)
    if before is None or text is None:
        return MarkdownPlan(extension.id, extension.text)
    return replace(before, content=text + extension.text)
