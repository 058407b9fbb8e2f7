"""Lowering: plans for a client that knows only the v1 `plan` update, one list without ids, texts or removal (R8, R9).

The protocol asks to fail rather than to lose something on the way down (R28). Lowering loses nothing instead, with
what a v1 client does have: a list and a chat.

- Entries and checkboxes of all plans become the entries of the one list. The list has no headings, so as soon as two
  plans give entries each entry carries its plan's title; otherwise two plans that both say "Run the tests" would look
  like one plan with a twin. A single plan needs no title and keeps its wording.
- The checkboxes of a plan file count like others, where `read` gives its text: as of the last time that the agent sent
  the plan. The file itself is for an editor, so its address goes out as a message, and not its text.
- Prose never becomes an entry. Clients draw an entry as one line with a checkbox, and a page of text in such a line
  hides the list below it. A chat message is where people read prose, so a plan's text goes out as message chunks. A
  growing text sends only its new end, under the same message id, and clients append it; a rewritten text starts a new
  message, because there is no way to take back a message.
- While no plan gives entries, titles stand in the list: otherwise a client that shows plans would show none.
"""

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.dialects import V1
from planwire.acp.write import fitted, update_fields
from planwire.model import markdown
from planwire.model.file_texts import ReadFile, no_files, with_text
from planwire.model.kinds import drafts_of, entries_of, is_blank, is_prose, prose_of, text_of
from planwire.model.plan import MEDIUM, Entry, Fields, ItemsPlan, Plan, PlanId
from planwire.model.statuses import DEFAULT_STATUS
from planwire.model.titles import numbered, plan_title

__all__ = ["Fallback"]


class _SaidText(Struct, frozen=True):
    """The text of a plan that the client has, and the number of the message that holds it: 1, 2, 3 …"""

    text: str = ""
    message: int = 0


class Fallback:
    """One session's plans as a v1 client sees them. Each method returns the updates to send, in order.

    `read` gives the texts of plan files that may be read.
    """

    def __init__(self, read: ReadFile = no_files) -> None:
        self._read = read
        self._plans: dict[PlanId, Plan] = {}
        self._names: dict[PlanId, str] = {}  # also of plans that are gone: the others keep their numbers
        self._told: dict[PlanId, _SaidText] = {}
        self._shown: list[Entry] = []

    def put(self, plan: Plan) -> list[Fields]:
        """Add a plan, or replace the one with its id."""
        listed = self._plans[plan.id] = with_text(plan, self._read)
        self._names[plan.id] = plan_title(plan, prose_of(listed))
        updates = self._say_what_is_new(plan)
        if _steps(listed) or self.entries() != self._shown:
            updates.append(self._list(plan))
        return updates

    def know(self, plan_id: PlanId, text: str) -> None:
        """Note that the client already shows a plan's text elsewhere, so that no message repeats it."""
        told = self._told.get(plan_id, _SaidText())
        self._told[plan_id] = _SaidText(markdown.unmarked(text), told.message)

    def remove(self, plan_id: PlanId) -> list[Fields]:
        """Remove a plan: the list shows the plans that remain."""
        self._plans.pop(plan_id, None)
        return [] if self.entries() == self._shown else [self._list()]

    def retell(self) -> None:
        """Start over for a client that loads this session again: every text goes out once more."""
        self._told = {plan_id: _SaidText(message=told.message) for plan_id, told in self._told.items()}
        self._shown = []

    def entries(self) -> list[Entry]:
        """The one list: the steps of all plans, or their titles if no plan has steps."""
        giving = {plan_id: steps for plan_id, plan in self._plans.items() if (steps := _steps(plan))}
        if len(giving) == 1:
            return [fitted(entry, V1) for steps in giving.values() for entry in steps]
        titles = numbered(self._names)
        if giving:
            return [_titled(fitted(entry, V1), titles[plan_id]) for plan_id, steps in giving.items() for entry in steps]
        shown = (titles[plan_id] for plan_id, plan in self._plans.items() if not is_blank(plan))
        return [Entry(title, MEDIUM, DEFAULT_STATUS) for title in shown]

    def shows(self, plan: Plan) -> bool:
        """Whether the client's list is exactly the entries of this plan."""
        return self._shown == [*_steps(plan)]

    def _list(self, plan: Plan | None = None) -> Fields:
        self._shown = self.entries()
        entries = tuple(self._shown)
        if plan is not None and entries_of(plan) is not None and len(self._plans) == 1:
            return update_fields(replace(plan, id=None, entries=entries), V1)
        return update_fields(ItemsPlan(None, entries), V1)

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
    entries = entries_of(plan)
    if entries is not None:
        return entries
    return tuple(Entry(draft.content, draft.priority, draft.status) for draft in drafts_of(plan))


def _titled(entry: Entry, title: str) -> Entry:
    return Entry(f"{title}: {entry.content}", entry.priority, entry.status, entry.meta, entry.extra)
