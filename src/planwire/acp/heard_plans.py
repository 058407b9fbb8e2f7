"""The plans of one session as they are heard on the wire: put, extended, removed, retold, and never without bound.

Every reader of a connection needs the same four rules, so they stand here once:

- A plan is replaced whole by each update with its id (R4, R12, R17).
- A piece of text goes to the end of the plan that it names (JetBrains AIR streams plans so); one that names no plan of
  prose begins it.
- Between `session/load` (or a `session/resume` that asks for a replay) and its response an agent retells its history
  (R37, R39). That is no news: only what the replay ends with counts, plans that it does not mention stay, and if the
  request fails nothing of it counts.
- A session has at most `MAX_PLANS` plans, on whichever of these routes they come. An agent that invents an id for each
  update would otherwise fill the memory of everyone who listens.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.messages import Body, Extension, Removal
from planwire.model.plan import Fields, MarkdownPlan, Plan, PlanId

__all__ = ["MAX_PLANS", "Heard", "HeardPlans", "TooMany"]

#: Plans that one session can have at a time.
MAX_PLANS: Final = 1_000


class Heard(Struct, frozen=True):
    """What an update makes of a plan: `plan` is None if it is gone, `before` is what it was. `beside` are fields that
    stood beside it on the line."""

    id: PlanId
    plan: Plan | None
    before: Plan | None = None
    beside: Fields | None = None

    @property
    def is_news(self) -> bool:
        return self.plan != self.before


class TooMany(Struct, frozen=True):
    """A plan that is not kept, since there are `MAX_PLANS` already."""

    id: PlanId


class HeardPlans:
    """One session's plans."""

    def __init__(self) -> None:
        self._plans: dict[PlanId, Plan] = {}
        self._retold: dict[PlanId, Heard] | None = None

    @property
    def plans(self) -> Mapping[PlanId, Plan]:
        """The plans that live now, in the order in which they came."""
        return MappingProxyType(self._plans)

    @property
    def retold(self) -> Mapping[PlanId, Heard]:
        """What the replay that is going on has said so far."""
        return MappingProxyType(self._retold or {})

    @property
    def is_retold(self) -> bool:
        """Whether what comes now is history."""
        return self._retold is not None

    def hear(self, body: Body, beside: Fields | None = None) -> Heard | TooMany | None:
        """Take in an update. None: it can't be used, or it is part of a replay, and nothing changes for now."""
        if body is None:
            return None
        if self._retold is None:
            return self._take(_heard(body, self._plans.get(body.id), beside))
        known = self._retold.get(body.id)
        if known is None and len(self._retold) >= MAX_PLANS:
            return TooMany(body.id)
        self._retold[body.id] = _heard(body, known.plan if known else None, beside)
        return None

    def begin_retelling(self) -> None:
        """What comes from here on is history."""
        self._retold = {}

    def end_retelling(self, *, failed: bool = False) -> list[Heard | TooMany]:
        """End a replay, if one is going on: its last word on each plan counts now, unless it failed."""
        retold, self._retold = self._retold, None
        return [] if failed else [self._take(heard) for heard in (retold or {}).values()]

    def _take(self, heard: Heard) -> Heard | TooMany:
        before = self._plans.get(heard.id)
        if heard.plan is None:
            self._plans.pop(heard.id, None)
        elif before is None and len(self._plans) >= MAX_PLANS:
            return TooMany(heard.id)
        else:
            self._plans[heard.id] = heard.plan
        return Heard(heard.id, heard.plan, before, heard.beside)


def _heard(body: Plan | Extension | Removal, before: Plan | None, beside: Fields | None) -> Heard:
    if isinstance(body, Removal):
        return Heard(body.id, None)
    plan = _extended(body, before) if isinstance(body, Extension) else body
    return Heard(body.id, plan, before, beside)


def _extended(extension: Extension, before: Plan | None) -> MarkdownPlan:
    if isinstance(before, MarkdownPlan):
        return replace(before, content=before.content + extension.text)
    return MarkdownPlan(extension.id, extension.text)
