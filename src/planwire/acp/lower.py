"""Lowering: plans for a client that knows only the v1 `plan` update, one list without ids, texts or removal (R8, R9).

The protocol asks to fail rather than to lose something on the way down (R28). Lowering loses nothing instead, with
what a v1 client does have: a list and a chat.

- Entries and checkboxes of all plans become the entries of the one list. The list has no headings, so as soon as two
  plans give entries each entry carries its plan's title; otherwise two plans that both say "Run the tests" would look
  like one plan with a twin. A single plan needs no title and keeps its wording.
- A plan that works for a step of another one is no second plan: its entries stand behind that step, each with the path
  to it. Once it has nothing left to do they go, and the step stays.
- The checkboxes of a plan file count like others, where `read` gives its text, and `look_again` finds what changed in
  it. The file itself is for an editor, so its address goes out as a message, and not its text.
- Prose never becomes an entry. Clients draw an entry as one line with a checkbox, and a page of text in such a line
  hides the list below it. A chat message is where people read prose, so a plan's text goes out as message chunks. A
  growing text sends only its new end, under the same message id, and clients append it; a rewritten text starts a new
  message, because there is no way to take back a message.
- While no plan gives entries, titles stand in the list: otherwise a client that shows plans would show none.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.dialects import V1
from planwire.acp.write import fitted, update_fields
from planwire.model import markdown
from planwire.model.children import DEEPEST
from planwire.model.events import StepRef
from planwire.model.file_texts import ReadFile, address_of, no_files, with_text
from planwire.model.kinds import drafts_of, entries_of, is_blank, is_prose, prose_of, text_of
from planwire.model.plan import MEDIUM, Entry, Fields, ItemsPlan, Plan, PlanId
from planwire.model.statuses import DEFAULT_STATUS, status_of
from planwire.model.titles import numbered, path_words, plan_title

__all__ = ["Fallback", "ListPlace"]


class _SaidText(Struct, frozen=True):
    """The text of a plan that the client has, and the number of the message that holds it: 1, 2, 3 …"""

    text: str = ""
    message: int = 0


class ListPlace(Struct, frozen=True):
    """The place of a plan among others: the ids of its steps in their order, and the step that it works for."""

    steps: tuple[str, ...] = ()
    parent: StepRef | None = None


#: The place of a plan that works for none, and that no other one works for.
_ALONE: Final = ListPlace()


class Fallback:
    """One session's plans as a v1 client sees them. Each method returns the updates to send, in order.

    `read` gives the texts of plan files that may be read.
    """

    def __init__(self, read: ReadFile = no_files) -> None:
        self._read = read
        self._plans: dict[PlanId, Plan] = {}
        self._places: dict[PlanId, ListPlace] = {}
        self._files: dict[PlanId, Plan] = {}
        self._names: dict[PlanId, str] = {}  # also of plans that are gone: the others keep their numbers
        self._told: dict[PlanId, _SaidText] = {}
        self._shown: list[Entry] = []

    def put(self, plan: Plan, place: ListPlace = _ALONE) -> list[Fields]:
        """Add a plan, or replace the one with its id."""
        listed = self._plans[plan.id] = with_text(plan, self._read)
        self._places[plan.id] = place
        self._names[plan.id] = plan_title(plan, prose_of(listed))
        if address_of(plan) is not None:
            self._files[plan.id] = plan
        else:
            self._files.pop(plan.id, None)
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
        for known in (self._plans, self._places, self._files):
            known.pop(plan_id, None)
        return [] if self.entries() == self._shown else [self._list()]

    def look_again(self) -> list[Fields]:
        """Read the plan files once more: the list, if their checkboxes changed. A file that is gone for a moment, while
        an editor writes it, is as it was."""
        for plan_id, plan in self._files.items():
            found = with_text(plan, self._read)
            if found is not plan and found != self._plans[plan_id]:
                self._plans[plan_id] = found
                self._names[plan_id] = plan_title(plan, prose_of(found))
        return [self._list()] if self._files and self.entries() != self._shown else []

    def retell(self) -> None:
        """Start over for a client that loads this session again: every text goes out once more."""
        self._told = {plan_id: _SaidText(message=told.message) for plan_id, told in self._told.items()}
        self._shown = []

    def entries(self) -> list[Entry]:
        """The one list: the steps of all plans, or their titles if no plan has steps."""
        below = self._below()
        placed = {plan_id for children in below.values() for plan_id in children}
        top = (plan_id for plan_id in self._plans if plan_id not in placed)
        giving = {plan_id: entries for plan_id in top if (entries := [*self._branch(plan_id, below)])}
        if len(giving) == 1:
            return [each for entries in giving.values() for each in entries]
        titles = numbered(self._names)
        if giving:
            return [_titled(each, titles[plan_id]) for plan_id, entries in giving.items() for each in entries]
        shown = (titles[each] for each, plan in self._plans.items() if not is_blank(plan) and not any(_steps(plan)))
        return [Entry(title, MEDIUM, DEFAULT_STATUS) for title in shown]

    def shows(self, plan: Plan) -> bool:
        """Whether the client's list is exactly the entries of this plan."""
        return self._shown == [*_steps(plan)]

    def _below(self) -> dict[StepRef, list[PlanId]]:
        """The plans that work for each step that the client has. Those in a circle work for none."""
        found: dict[StepRef, list[PlanId]] = {}
        for plan_id in self._plans:
            parent = self._parent(plan_id)
            if parent is not None and self._reaches_top(plan_id):
                found.setdefault(parent, []).append(plan_id)
        return found

    def _parent(self, plan_id: PlanId) -> StepRef | None:
        parent = self._places[plan_id].parent
        is_there = parent is not None and parent.plan_id in self._plans
        return parent if is_there and parent and parent.step in self._places[parent.plan_id].steps else None

    def _reaches_top(self, plan_id: PlanId) -> bool:
        for _ in range(DEEPEST):
            parent = self._parent(plan_id)
            if parent is None:
                return True
            plan_id = parent.plan_id
        return False

    def _branch(
        self, plan_id: PlanId, below: dict[StepRef, list[PlanId]], path: tuple[str, ...] = ()
    ) -> Iterator[Entry]:
        """The entries of a plan, and behind each those of the plans that work for it."""
        entries = _steps(self._plans[plan_id])
        is_over = self._places[plan_id].parent is not None and not any(map(_is_open, entries))
        for entry, step in zip_longest(entries, self._places[plan_id].steps[: len(entries)]):
            if not is_over:
                shown = fitted(entry, V1)
                yield replace(shown, content=path_words(*path, shown.content)) if path else shown
            for child in below.get(StepRef(plan_id, step), ()) if below and step else ():
                yield from self._branch(child, below, (*path, entry.content))

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


def _is_open(entry: Entry) -> bool:
    row = status_of(entry.status)
    return row is None or row.is_open


def _titled(entry: Entry, title: str) -> Entry:
    return Entry(f"{title}: {entry.content}", entry.priority, entry.status, entry.meta, entry.extra)
