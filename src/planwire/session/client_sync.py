"""Clients that are kept up to date with a session's plans.

A peer is a dialect and a way to send a line. What it is sent next depends on the newest state alone: a slow client
misses states in between but never the last one, and nothing piles up for it.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

from msgspec import Struct

from planwire.acp import Dialect, Update, write
from planwire.acp.lower import Fallback, ListPlace
from planwire.acp.messages import Removal
from planwire.acp.write import write_update
from planwire.model.file_texts import ReadFile, address_of, no_files
from planwire.model.plan import MAIN, Plan, PlanId
from planwire.model.records import PLANWIRE, PlanRecord, SessionState


class Peer(Struct, frozen=True):
    """A client: its dialect, as `negotiate` found it, and a function that sends it a line (without a line feed). A
    `PlanSession` awaits a coroutine function; a `BlockingPlanSession` takes a plain one."""

    dialect: Dialect
    send: Callable[[bytes], Awaitable[None] | None]


class KnownPlan(NamedTuple):
    """A plan that a client knows, and its place among the others, for clients that get them all as one list."""

    plan: Plan
    place: ListPlace


def changed_plans(
    state: SessionState, known: dict[PlanId, KnownPlan], *, in_list: bool
) -> Iterator[tuple[PlanId, KnownPlan | None]]:
    """The changes, plan by plan, that bring a client from the plans it knows to planwire's plans; None is a removed
    plan. An agent sends the plans that it reports over ACP itself, also one that it took over. `in_list`: the client
    gets all plans as one list, in which each has its place."""
    live = state.live()
    plans = {plan_id: _shown(record, in_list) for plan_id, record in live.items() if record.owner == PLANWIRE}
    for plan_id, plan in plans.items():
        if known.get(plan_id) != plan:
            known[plan_id] = plan
            yield plan_id, plan
    for plan_id in [each for each in known if each not in plans]:
        del known[plan_id]
        if plan_id not in live:
            yield plan_id, None


def _shown(record: PlanRecord, in_list: bool) -> KnownPlan:
    place = ListPlace(tuple(step.id for step in record.state.steps), record.parent) if in_list else ListPlace()
    return KnownPlan(record.state.plan, place)


class ClientSync:
    """What a client knows of one session, and so what it must be sent next. `session` is the client's id for it, `read`
    returns the texts of its plan files."""

    def __init__(self, dialect: Dialect, session: str, read: ReadFile = no_files) -> None:
        self._dialect = dialect
        self._session = session
        self._known: dict[PlanId, KnownPlan] = {}
        self._fallback = Fallback(read)

    def follows_files(self, state: SessionState) -> bool:
        """Whether the client must be sent the text of a plan file, which changes without an event. A client that knows
        plan files reads them itself."""
        return not self._dialect.operations and any(address_of(each.state.plan) for each in state.live().values())

    def next_lines(self, state: SessionState) -> list[bytes]:
        """The lines about the first plan that differs from what the client knows; empty once it knows all."""
        for plan_id, shown in changed_plans(state, self._known, in_list=not self._dialect.operations):
            if self._dialect.operations:
                tag, body = ("plan_update", shown.plan) if shown else ("plan_removed", Removal(plan_id or MAIN))
                return [write(Update(self._session, tag, body), self._dialect)]
            if lowered := self._fallback.put(*shown) if shown else self._fallback.remove(plan_id):
                return [write_update(self._session, fields) for fields in lowered]
        return [write_update(self._session, fields) for fields in self._fallback.look_again()]
