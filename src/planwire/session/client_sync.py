"""Clients that hear of a session's plans while they change.

A peer is a dialect and a way to send a line. What it hears next depends on the newest state alone: a client that reads
slowly misses states in between and never the last one, and nothing piles up for it.
"""

from collections.abc import Awaitable, Callable, Iterator

from msgspec import Struct

from planwire.acp import Dialect, Update, write
from planwire.acp.lower import Fallback
from planwire.acp.messages import Removal
from planwire.acp.write import write_update
from planwire.model.file_texts import ReadFile, no_files
from planwire.model.plan import MAIN, Plan, PlanId
from planwire.model.records import PLANWIRE, SessionState

__all__ = ["ClientSync", "Peer", "changed_plans"]


class Peer(Struct, frozen=True):
    """A client: its dialect, as `negotiate` found it, and a function that sends it a line (without a line feed). A
    `PlanSession` awaits it, if it is a coroutine function; a `BlockingPlanSession` takes a plain one."""

    dialect: Dialect
    send: Callable[[bytes], Awaitable[None] | None]


def changed_plans(state: SessionState, known: dict[PlanId, Plan]) -> Iterator[tuple[PlanId, Plan | None]]:
    """Bring a client from the plans that it knows to those that are planwire's, plan by plan; None is a plan that is
    gone. Plans that an agent reports over ACP are its own to send, also one that it took over."""
    live = state.live()
    plans = {plan_id: record.state.plan for plan_id, record in live.items() if record.owner == PLANWIRE}
    for plan_id, plan in plans.items():
        if known.get(plan_id) != plan:
            known[plan_id] = plan
            yield plan_id, plan
    for plan_id in [each for each in known if each not in plans]:
        del known[plan_id]
        if plan_id not in live:
            yield plan_id, None


class ClientSync:
    """What a client knows of one session, and so what it has to hear next. `session` is the client's id of it, `read`
    gives the texts of its plan files."""

    def __init__(self, dialect: Dialect, session: str, read: ReadFile = no_files) -> None:
        self._dialect = dialect
        self._session = session
        self._known: dict[PlanId, Plan] = {}
        self._fallback = Fallback(read)

    def next_lines(self, state: SessionState) -> list[bytes]:
        """The lines about the first plan that differs from what the client knows; none, once it knows all."""
        for plan_id, plan in changed_plans(state, self._known):
            if self._dialect.operations:
                kind = "plan_removed" if plan is None else "plan_update"
                return [write(Update(self._session, kind, plan or Removal(plan_id or MAIN)), self._dialect)]
            lowered = self._fallback.remove(plan_id) if plan is None else self._fallback.put(plan)
            if lowered:
                return [write_update(self._session, fields) for fields in lowered]
        return []
