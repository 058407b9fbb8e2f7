"""Lowering: plans for a client that knows only the v1 `plan` update, one list without ids, texts or removal (R8, R9).

The protocol says to fail rather than lose something on the way down (R28). Lowering loses nothing instead: it uses what
a v1 client does have, a list and a chat.

- Entries and checkboxes of all plans become the entries of the one list. The list has no headings, so as soon as two
  plans give entries each entry carries its plan's title; otherwise two plans that both say "Run the tests" would look
  like one plan with a twin. A single plan needs no title and keeps its wording.
- A plan that works for a step of another one does not count as a second plan: its entries follow that step, each with
  the path to it. Once none of them is open they go, and the step stays.
- The checkboxes of a plan file count like others if `read` gives its text; `look_again` finds what changed in it.
  People open the file in their editor, so its address goes out as a message, not its text.
- Prose never becomes an entry, not even its title: clients draw an entry as one line with a checkbox, and that one
  would never be ticked. Prose goes to the chat (`spoken_texts`).
- The items of a numbered list have no status: they stay in their text.
- A text that streams in gives the checkboxes of its complete lines: half a line is no step. Its last line counts once
  the text is whole (`complete`).
- A proposal gives entries while it lives (`follow`). An agent that clears a list is done with it and with the texts
  that the list was made from: their checkboxes come back when the agent changes the text.
"""

from collections.abc import Iterator, Mapping, Set
from itertools import zip_longest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.dialects import V1
from planwire.acp.spoken_texts import SpokenTexts
from planwire.acp.write import fitted, update_fields
from planwire.model.children import DEEPEST
from planwire.model.events import StepRef
from planwire.model.file_texts import ReadFile, address_of, no_files, with_text
from planwire.model.kinds import drafts_of, entries_of, prose_of
from planwire.model.plan import Entry, Fields, ItemsPlan, Plan, PlanId
from planwire.model.statuses import status_of
from planwire.model.titles import numbered, path_words, plan_title


class ListPlace(Struct, frozen=True):
    """A plan's place among others: the ids of its steps, in order, and the step that it works for."""

    steps: tuple[str, ...] = ()
    parent: StepRef | None = None


#: The place of a plan without a parent step and without plans that work for its own steps.
_ALONE: Final = ListPlace()


class Fallback:
    """One session's plans as a v1 client sees them. Each method returns the updates to send, in order.

    `read` gives the texts of plan files that may be read. With `streams`, a text may go on growing: `complete` declares
    it whole, and `close` also separates it from what comes next. Without, every text is whole.
    """

    def __init__(self, read: ReadFile = no_files, *, streams: bool = False) -> None:
        self._read = read
        self._streams = streams
        self._texts = SpokenTexts(streams=streams)
        self._plans: dict[PlanId, Plan] = {}
        self._growing: dict[PlanId, Plan] = {}  # growing texts in full: the list lacks their last line
        self._places: dict[PlanId, ListPlace] = {}
        self._files: dict[PlanId, Plan] = {}
        self._names: dict[PlanId, str] = {}  # also of removed plans, so that the others keep their numbers
        self._shown: list[Entry] = []
        self._silent: set[PlanId] = set()  # plans without entries: they ended, or the agent cleared its list
        self._ended: set[PlanId] = set()

    @property
    def is_open(self) -> bool:
        """Whether a text may still grow, or is not yet separated from what the agent says next."""
        return self._texts.is_open or bool(self._growing)

    def put(self, plan: Plan, place: ListPlace = _ALONE, *, is_whole: bool = False) -> list[Fields]:
        """Add a plan, or replace the one with its id. With `is_whole`, it does not stream in."""
        listed = with_text(plan, self._read)
        former = self._growing.pop(plan.id, self._plans.get(plan.id))
        self._end_growth()
        if self._streams and not is_whole and _may_grow(former, plan):
            self._growing[plan.id] = plan
            listed = _complete_lines(plan)
        if listed != self._plans.get(plan.id):
            self._silent.discard(plan.id)
        self._plans[plan.id] = listed
        if entries_of(plan) == ():
            self._silent.update(each for each, other in self._plans.items() if entries_of(other) is None)
        self._places[plan.id] = place
        self._names[plan.id] = plan_title(plan, prose_of(listed))
        if address_of(plan) is not None:
            self._files[plan.id] = plan
        else:
            self._files.pop(plan.id, None)
        updates = self._texts.say(plan)
        if (_steps(listed) and plan.id not in self._growing) or self.entries() != self._shown:
            updates.append(self._list(plan))
        return updates

    def know(self, plan_id: PlanId, text: str) -> None:
        """Note that the client already shows a plan's text elsewhere, so that no message repeats it."""
        self._texts.know(plan_id, text)

    def remove(self, plan_id: PlanId) -> list[Fields]:
        """Remove a plan: the list shows the plans that remain."""
        for known in (self._plans, self._growing, self._places, self._files):
            known.pop(plan_id, None)
        return self._list_anew()

    def follow(self, plans: Mapping[PlanId, Plan], ended: Set[PlanId]) -> list[Fields]:
        """Bring the list in line with the journal: all plans that ever were, in order of first appearance, and the ids
        of those that have ended. Plans then have the same names everywhere, even after a load, when an agent may retell
        them in another order. Ended plans give no entries; those of a reopened plan come back."""
        before = self.entries()
        titles = {plan_id: plan_title(plan) for plan_id, plan in plans.items()} | self._names
        self._names = {plan_id: titles[plan_id] for plan_id in _merged([*self._names], [*plans])}
        self._silent -= self._ended - ended
        self._silent |= ended
        self._ended = {*ended}
        return [] if self.entries() == before else [self._list()]

    def complete(self) -> list[Fields]:
        """Declare every text whole. Returns the list, if a last line has a step."""
        self._end_growth()
        return self._list_anew()

    def close(self) -> list[Fields]:
        """Separate the last text from what comes next: with a blank line, once."""
        return [*self.complete(), *self._texts.close()]

    def settle(self) -> None:
        """Note that something else now separates the last text from what comes next."""
        self._texts.settle()

    def look_again(self) -> list[Fields]:
        """Read the plan files again. Returns the list, if their checkboxes changed. A file that is gone for a moment,
        while an editor writes it, counts as unchanged."""
        for plan_id, plan in self._files.items():
            found = with_text(plan, self._read)
            if found is not plan and found != self._plans[plan_id]:
                self._plans[plan_id] = found
                self._names[plan_id] = plan_title(plan, prose_of(found))
        return self._list_anew() if self._files else []

    def retell(self) -> None:
        """Start over for a client that loads this session again: every text goes out once more."""
        self._texts.retell()
        self._shown = []

    def entries(self) -> list[Entry]:
        """The one list: the steps of all plans."""
        below = self._below()
        placed = {plan_id for children in below.values() for plan_id in children}
        hidden = placed | self._silent
        top = (plan_id for plan_id in self._names if plan_id in self._plans and plan_id not in hidden)
        giving = {plan_id: entries for plan_id in top if (entries := [*self._branch(plan_id, below)])}
        if len(giving) == 1:
            return [each for entries in giving.values() for each in entries]
        titles = numbered(self._names)
        return [_titled(each, titles[plan_id]) for plan_id, entries in giving.items() for each in entries]

    def shows(self, plan: Plan) -> bool:
        """Whether the client's list is exactly the entries of this plan."""
        return self._shown == [*_steps(plan)]

    def _end_growth(self) -> None:
        self._plans |= self._growing
        self._growing.clear()

    def _below(self) -> dict[StepRef, list[PlanId]]:
        """The plans that work for each step, of those that the client has. Plans in a circle work for none."""
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
        """A plan's entries, each followed by those of the plans that work for it."""
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

    def _list_anew(self) -> list[Fields]:
        return [] if self.entries() == self._shown else [self._list()]


def _merged(heard: list[PlanId], recorded: list[PlanId]) -> list[PlanId]:
    """One order for the plans heard and the plans recorded. A plan that is not recorded yet stays where it is."""
    if set(heard) <= set(recorded):
        return recorded
    known = iter([each for each in recorded if each in heard])
    return [*(next(known) if each in recorded else each for each in heard), *(x for x in recorded if x not in heard)]


def _steps(plan: Plan) -> tuple[Entry, ...]:
    entries = entries_of(plan)
    if entries is not None:
        return entries
    return tuple(Entry(draft.content, draft.priority, draft.status) for draft in drafts_of(plan) if draft.status)


def _may_grow(former: Plan | None, plan: Plan) -> bool:
    """Whether a text ends mid-line, and is new or continues the former one. A text that was rewritten or sent again is
    whole."""
    text, before = prose_of(plan), prose_of(former) or ""
    return text is not None and not text.endswith("\n") and text != before and text.startswith(before)


def _complete_lines(plan: Plan) -> Plan:
    text = prose_of(plan) or ""
    return replace(plan, content=text[: text.rfind("\n") + 1])


def _is_open(entry: Entry) -> bool:
    row = status_of(entry.status)
    return row is None or row.is_open


def _titled(entry: Entry, title: str) -> Entry:
    return Entry(f"{title}: {entry.content}", entry.priority, entry.status, entry.meta, entry.extra)
