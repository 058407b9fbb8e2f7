"""Plans for a client that knows only the v1 `plan` update: one list, no ids, no texts, no removal (R8, R9).

Nothing is lost on the way down. Entries and checkboxes become the entries of one list. A text that is more than a
checklist is said as an agent's message; while nothing else gives entries, its title stands in the list.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.dialects import MAIN, V1
from planwire.acp.write import fitted, update_fields
from planwire.model import markdown
from planwire.model.kinds import drafts_of, is_prose, prose_of, text_of, title_of
from planwire.model.plan import MEDIUM, Entry, Fields, ItemsPlan, Plan, PlanId
from planwire.model.statuses import PENDING

__all__ = ["OWN", "Fallback"]


#: What the plan without an id is called, which is the agent's own, beside one that is really called `main`.
OWN: Final = "agent"


class _SaidText(Struct, frozen=True):
    """What a plan's text was when it was last said, and in which message: 1, 2, 3 …"""

    text: str = ""
    message: int = 0


class Fallback:
    """One session's plans as a v1 client sees them. Each method returns the updates to send, in order."""

    def __init__(self) -> None:
        self._plans: dict[PlanId, Plan] = {}
        self._told: dict[PlanId, _SaidText] = {}
        self._shown: list[Entry] = []

    def put(self, plan: Plan) -> list[Fields]:
        """A plan is new, or replaces the one with its id."""
        self._plans[plan.id] = plan
        updates = self._say_what_is_new(plan)
        if _steps(plan) or self.entries() != self._shown:
            updates.append(self._list(plan))
        return updates

    def know(self, plan_id: PlanId, text: str) -> None:
        """The client was shown a plan's text elsewhere: nobody has to say it again."""
        told = self._told.get(plan_id, _SaidText())
        self._told[plan_id] = _SaidText(markdown.unmarked(text), told.message)

    def remove(self, plan_id: PlanId) -> list[Fields]:
        """A plan is gone: the list shows those that remain."""
        self._plans.pop(plan_id, None)
        return [] if self.entries() == self._shown else [self._list()]

    def retell(self) -> None:
        """The client starts over with this session: texts have to be said again."""
        self._told = {plan_id: _SaidText(message=told.message) for plan_id, told in self._told.items()}
        self._shown = []

    def entries(self) -> list[Entry]:
        """The one list: steps of all plans, or else the titles of what has none."""
        giving = {plan_id: steps for plan_id, plan in self._plans.items() if (steps := _steps(plan))}
        if not giving:
            return [Entry(title, MEDIUM, PENDING) for plan in self._plans.values() if (title := title_of(plan))]
        if len(giving) == 1:
            return [fitted(entry, V1) for steps in giving.values() for entry in steps]
        own = OWN if MAIN in giving else MAIN
        names = {plan_id: own if plan_id is None else plan_id for plan_id in giving}
        return [_named(fitted(entry, V1), names[plan_id]) for plan_id, steps in giving.items() for entry in steps]

    def shows(self, plan: Plan) -> bool:
        """Whether the list is exactly the entries of this plan."""
        return self._shown == [*_steps(plan)]

    def _list(self, plan: Plan | None = None) -> Fields:
        self._shown = self.entries()
        merged = ItemsPlan(None, tuple(self._shown))
        if isinstance(plan, ItemsPlan) and len(self._plans) == 1:
            merged = replace(merged, meta=plan.meta, extra=plan.extra)
        return update_fields(merged, V1)

    def _say_what_is_new(self, plan: Plan) -> list[Fields]:
        told = self._told.get(plan.id, _SaidText())
        text = text_of(plan)
        if not text or not (told.text or is_prose(plan)):
            return []
        settled = text if prose_of(plan) is None else markdown.unmarked(text)
        if told.text and settled.startswith(told.text):
            new, told = text[len(told.text) :], _SaidText(settled, told.message)
        else:
            new, told = text, _SaidText(settled, told.message + 1)
        self._told[plan.id] = told
        if not new:
            return []
        return [
            {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": new},
                "messageId": _message_id(plan.id, told.message),
            }
        ]


def _message_id(plan_id: PlanId, number: int) -> str:
    return f"planwire:{number}" if plan_id is None else f"planwire:{plan_id}:{number}"


def _steps(plan: Plan) -> tuple[Entry, ...]:
    if isinstance(plan, ItemsPlan):
        return plan.entries
    return tuple(Entry(draft.content, draft.priority, draft.status) for draft in drafts_of(plan))


def _named(entry: Entry, name: str) -> Entry:
    return Entry(f"{name}: {entry.content}", entry.priority, entry.status, entry.meta, entry.extra)
