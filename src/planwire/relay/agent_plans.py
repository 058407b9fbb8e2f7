"""The plans that an agent reports in one session, and what the journal should hear of them.

Most lines of a busy agent repeat its list. `fast_lists` passes these on unread, so this class keeps the newest one as
bytes and reads it only when the plan is needed.
"""

from collections.abc import Iterable, Iterator, Mapping

from planwire.acp.heard_plans import MAX_PLANS, Heard, HeardPlans, TooMany
from planwire.acp.messages import Body
from planwire.model.plan import ItemsPlan, Plan, PlanId
from planwire.relay.envelope import list_on


class AgentPlans:
    """One session's plans as the agent tells them.

    `is_plain`: so far the only plan is the list without an id. `current`: the plans set in this turn. `mentioned`:
    those that the agent has sent or removed since it was attached. `removed`: those that it dismissed.
    """

    def __init__(self) -> None:
        self.is_plain = True
        self.current: set[PlanId] = set()
        self.mentioned: set[PlanId] = set()
        self.removed: set[PlanId] = set()
        self._heard = HeardPlans()
        self._is_full = False
        self._newest_list = b""  # the last line that took the fast path
        self._unread: bytes | None = None  # the same, until its content is needed
        self._unread_id: PlanId = None
        self._untranslated: bytes | None = None  # the same, until the translator has seen it

    @property
    def plans(self) -> Mapping[PlanId, Plan]:
        """The plans that the agent set and did not remove."""
        self._read_newest()
        return self._heard.plans

    @property
    def is_retold(self) -> bool:
        """Whether the agent is retelling its history."""
        return self._heard.is_retold

    def hear_list(self, line: bytes, plan_id: PlanId = None) -> bool:
        """Take in a line that holds only a list. False if it repeats the one before."""
        if line == self._newest_list:
            return False
        if plan_id != self._unread_id:
            self._read_newest()
        self._newest_list, self._unread, self._unread_id = line, line, plan_id
        if plan_id is None:
            self._untranslated = line
        else:
            self.current.add(plan_id)
        self.mentioned.add(plan_id)
        self.removed.discard(plan_id)
        return True

    def know_list(self, line: bytes) -> None:
        """Note a line that holds only a list and was fully read: the same line again is no news."""
        if not self.is_retold:
            self._newest_list = line

    def take_untranslated(self) -> bytes | None:
        """The newest list, if the translator has not seen it. Other plans come next, so repeats count again."""
        line, self._untranslated, self._newest_list = self._untranslated, None, b""
        return line

    def hear(self, body: Body) -> Iterator[Heard | TooMany]:
        """What an update changes in the plans. During a replay nothing changes until it ends."""
        self._read_newest()
        heard = self._heard.hear(body)
        if body is not None:
            self.is_plain = self.is_plain and body.id is None and isinstance(body, ItemsPlan)
        return self._take(() if heard is None else (heard,))

    def begin_retelling(self) -> None:
        self._read_newest()
        self._heard.begin_retelling()

    def end_retelling(self, *, failed: bool = False) -> Iterator[Heard | TooMany]:
        """End a replay. Returns what it changed in the plans."""
        return self._take(self._heard.end_retelling(failed=failed))

    def _read_newest(self) -> None:
        if self._unread is not None:
            line, self._unread = self._unread, None
            self._heard.hear(list_on(line))

    def _take(self, outcomes: Iterable[Heard | TooMany]) -> Iterator[Heard | TooMany]:
        """Pass on what matters: one plan too many is news once, and so is each removal."""
        for outcome in outcomes:
            if isinstance(outcome, TooMany):
                if not self._is_full:
                    self._is_full = True
                    yield outcome
                continue
            self.mentioned.add(outcome.id)
            if outcome.plan is not None:
                self.current.add(outcome.id)
                self.removed.discard(outcome.id)
                yield outcome
            elif outcome.id not in self.removed and len(self.removed) < MAX_PLANS:
                self.removed.add(outcome.id)
                yield outcome
