"""Clients that hear of a session's plans while they change.

A peer is a dialect and a way to send a line. What it hears next depends on the newest state alone: a client that reads
slowly misses states in between and never the last one, and nothing piles up for it.
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

__all__ = ["ClientSync", "KnownPlan", "Peer", "changed_plans"]


class Peer(Struct, frozen=True):
    """A client: its dialect, as `negotiate` found it, and a function that sends it a line (without a line feed). A
    `PlanSession` awaits it, if it is a coroutine function; a `BlockingPlanSession` takes a plain one."""

    dialect: Dialect
    send: Callable[[bytes], Awaitable[None] | None]


class KnownPlan(NamedTuple):
    """A plan that a client knows, and its place among the others: of use where they all become one list."""

    plan: Plan
    place: ListPlace


def changed_plans(
    state: SessionState, known: dict[PlanId, KnownPlan], *, in_list: bool
) -> Iterator[tuple[PlanId, KnownPlan | None]]:
    """Bring a client from the plans that it knows to those that are planwire's, plan by plan; None is a plan that is
    gone. Plans that an agent reports over ACP are its own to send, also one that it took over. `in_list`: the client
    gets them as one list, in which each has its place."""
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
    """What a client knows of one session, and so what it has to hear next. `session` is the client's id of it, `read`
    gives the texts of its plan files."""

    def __init__(self, dialect: Dialect, session: str, read: ReadFile = no_files) -> None:
        self._dialect = dialect
        self._session = session
        self._known: dict[PlanId, KnownPlan] = {}
        self._fallback = Fallback(read)

    def follows_files(self, state: SessionState) -> bool:
        """Whether the client has to hear of the text of a plan file, which changes without an event. One that knows
        plan files reads them itself."""
        return not self._dialect.operations and any(address_of(each.state.plan) for each in state.live().values())

    def next_lines(self, state: SessionState) -> list[bytes]:
        """The lines about the first plan that differs from what the client knows; none, once it knows all."""
        for plan_id, shown in changed_plans(state, self._known, in_list=not self._dialect.operations):
            if self._dialect.operations:
                tag, body = ("plan_update", shown.plan) if shown else ("plan_removed", Removal(plan_id or MAIN))
                return [write(Update(self._session, tag, body), self._dialect)]
            if lowered := self._fallback.put(*shown) if shown else self._fallback.remove(plan_id):
                return [write_update(self._session, fields) for fields in lowered]
        return [write_update(self._session, fields) for fields in self._fallback.look_again()]
