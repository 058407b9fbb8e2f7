"""A chat in the middle of its compaction: the rules of the classes in `roles`, one method each.

`compaction` has the order in which they apply. `what_goes` and `making_room` decide what goes to meet a budget.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Generator, Iterable, Sequence
from itertools import accumulate
from typing import TypeAlias

import msgspec
from msgspec import Struct

from planwire.chat.anthropic_blocks import with_breakpoint
from planwire.chat.belonging import belonging, is_pinned
from planwire.chat.calls import CallRef, still_open
from planwire.chat.formats import Format
from planwire.chat.making_room import Room
from planwire.chat.markers import history_marker, past_plans, plan_messages, retired_ids
from planwire.chat.messages import EventMessage, Hidden, Ordinary, PlanMessage, Stored
from planwire.chat.remark_messages import remarks_of, say_the_same
from planwire.chat.render import LEFT_OUT, block
from planwire.chat.roles import (
    DROP_ON_AGE,
    KEEP_RECENT_N,
    MODE_SWITCH,
    PARENT,
    PRESERVE_ANCHOR,
    PRESERVE_WINDOW,
    class_of,
)
from planwire.chat.stream import sent, units
from planwire.chat.what_goes import in_order, may_ever_go
from planwire.errors import BadStream
from planwire.model.names import free_name
from planwire.model.plan import BODY_CAP, PLANS_CAP, Fields

#: The cost of a message, as its provider gets it, in tokens.
Counter: TypeAlias = Callable[[Fields], int]
#: Makes the message with what people said and still holds, for a chat of the messages that stay; None for nothing.
MakeAnew: TypeAlias = Callable[[Sequence[Stored]], EventMessage | None]
#: Makes one message of a plan and all its changes; None for a plan that the session does not have.
MakePlan: TypeAlias = Callable[[str], PlanMessage | None]


def _no_plan(_plan_id: str) -> None:
    return None


class FromState(Struct, frozen=True):
    """What a session's state adds to a compaction of its chat: the message with `remarks` in place of all earlier ones
    of that session, the plans whose life has `ended`, the steps that are still open (`open_steps`), and `plan`, which
    retells a plan. `has_news`: the agent has not heard all of the remarks. A chat without a state keeps the remarks and
    plans it has."""

    session: str
    remarks: MakeAnew
    has_news: bool = False
    ended: frozenset[str] = frozenset()
    open_steps: frozenset[str] = frozenset()
    plan: MakePlan = _no_plan


class CompactedChat:
    """A compaction in progress: which messages go, and which new messages come before which."""

    def __init__(self, messages: Sequence[Stored], form: Format, count: Counter) -> None:
        self.names = {each.id for each in messages}
        if len(self.names) < len(messages):
            raise BadStream("two messages of the stream have the same `message_id`: give each its own")
        self.messages = messages
        self.form = form
        self.count = count
        self.sent = [_sent(message, form) for message in messages]
        self.cost = [count(each) if each else 0 for each in self.sent]
        self.total = sum(self.cost)
        self.classes = [class_of(message) for message in messages]
        self.units = units(messages, form)
        self.tail = len(messages)
        self.gone: set[int] = set()
        self.outdated: set[int] = set()
        self.retired: set[int] = set()
        self.written: dict[int, list[Hidden]] = defaultdict(list)
        self.earlier: set[int] = set()
        self.room = 0

    def drop_retired(self) -> None:
        """Drop the plans that an earlier compaction retired, and the marker that names them."""
        markers = [(index, ids) for index, each in enumerate(self.messages) if (ids := retired_ids(each)) is not None]
        self.let_go(index for index, _ in markers)
        named = {each for _, ids in markers for each in ids}
        self.outdated = {index for index, each in enumerate(self.messages) if each.id in named}
        self.retire(self.outdated)

    def retire_past_plans(self, ended: Container[str]) -> None:
        self.retire(past_plans(self.messages, ended))

    def tell_anew(self, state: FromState, *, everything: bool) -> None:
        """Retell plans at the end: all, or those that are larger than a plan may be, together with their changes. If
        there are too many to be told, some are told by their title."""
        told: dict[str, list[int]] = defaultdict(list)
        for index in sorted(plan_messages(self.messages) - self.gone):
            message = self.messages[index]
            if isinstance(message, PlanMessage | EventMessage):
                told[message.plan_id].append(index)
        sizes = {plan_id: sum(map(self.size, indexes)) for plan_id, indexes in told.items()}
        too_many = sum(sizes.values()) > PLANS_CAP
        for plan_id, indexes in told.items():
            is_due = (everything or sizes[plan_id] > BODY_CAP) and len(indexes) > 1
            if not (is_due or too_many) or not (plan := state.plan(plan_id)):
                continue
            if is_due or (plan.plan.get(LEFT_OUT) and sizes[plan_id] > len(block(plan).encode())):
                self.retire(indexes)
                self.write(len(self.messages), plan)

    def size(self, index: int) -> int:
        """The bytes of a hidden message as the model reads it."""
        message = self.messages[index]
        return 0 if isinstance(message, Ordinary) else len(block(message).encode())

    def leave_room(self, state: FromState) -> None:
        """Take out what people said, and leave room for everything of it that holds. How much of that must be retold
        depends on the messages that stay."""
        earlier = remarks_of(self.messages, state.session)
        self.earlier = {index for index, each in enumerate(self.messages) if each.id in earlier}
        self.let_go(self.earlier)
        most = state.remarks(())
        self.room = self.price(most) if most else 0
        self.total += self.room

    def make_anew(self, state: FromState, budget: int | None) -> None:
        """Put what people said, as far as it holds, at the end, unless the chat already shows exactly that."""
        self.total -= self.room
        remarks = state.remarks(self.shown())
        earlier = (self.messages[each] for each in self.earlier)
        same = self.total + sum(self.cost[each] for each in self.earlier)
        fits = budget is None or same <= max(budget, self.total + (self.price(remarks) if remarks else 0))
        if fits and self.gone == self.earlier and not state.has_news and say_the_same(earlier, remarks):
            self.gone.clear()
            self.total = same
        elif remarks is not None:
            self.write(len(self.messages), remarks)

    def keep_recent(self, recent: int) -> None:
        """Keep the newest of each source and subkind. One marker replaces the rest; it also counts those that an
        earlier marker replaced."""
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        markers: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index, message in enumerate(self.messages):
            if self.classes[index] == KEEP_RECENT_N and isinstance(message, EventMessage) and not is_pinned(message):
                groups[message.source, message.subkind].append(index)
            match message:
                case EventMessage(subkind="summarization_marker", payload={"summarized_subkind": str(subkind)}):
                    markers[message.source, subkind].append(index)
        for (source, subkind), indexes in sorted(groups.items()):
            dropped = indexes[: max(0, len(indexes) - recent)]
            if dropped:
                counted = sorted([*dropped, *markers[source, subkind]])
                self.let_go(counted)
                self.write(counted[0], history_marker([self.messages[index] for index in counted], source, subkind))

    def find_tail(self, tail: int) -> None:
        """Find the last messages that stay: as many as `tail`, and calls at the end that wait for results, with
        everything that belongs to them."""
        staying = [index for index in range(len(self.messages)) if index not in self.gone]
        first = staying[max(0, len(staying) - tail)] if tail and staying else len(self.messages)
        if self.units and self.is_waiting(self.units[-1]):
            first = min(first, self.units[-1].start)
        self.tail = next((unit.start for unit in self.units if unit.stop > first), len(self.messages))

    def is_waiting(self, unit: range) -> bool:
        """Whether a unit is not complete: results may follow, or the item after a reasoning."""
        calls: dict[tuple[int, int], CallRef] = {}
        holds = False
        for index in unit:
            message = self.messages[index]
            if isinstance(message, Ordinary):
                calls = still_open(calls, self.form.results(message.message))
                calls.update(((index, number), call) for number, call in enumerate(self.form.calls(message.message)))
                holds = self.form.holds_the_next(message.message)
        return bool(calls) or holds

    def drop_by_age(self) -> None:
        switches = (at for at, each in enumerate(self.messages) if getattr(each, "subkind", None) == MODE_SWITCH)
        mode = max(switches, default=-1)
        self.let_go([at for at, each in enumerate(self.messages) if getattr(each, "source", None) == PARENT][:-1])
        for index in range(self.tail):
            kind = self.classes[index]
            is_old = kind == PRESERVE_WINDOW or (kind == DROP_ON_AGE and index != mode)
            if is_old and not is_pinned(self.messages[index]):
                self.let_go([index])

    def make_room(self, budget: int, state: FromState | None, *, summarised: bool) -> Generator[Sequence[Fields], str]:
        """Let go of messages until the rest fits."""
        belongs = belonging(self.messages, self.outdated)
        if state is not None:
            belongs = msgspec.structs.replace(belongs, open=state.open_steps)
        before_tail = (unit for unit in self.units if unit.stop <= self.tail)
        order = in_order(self.messages, before_tail, self.form, belongs, self.may_be_summarised)
        is_plan = (isinstance(each, PlanMessage) and at not in self.gone for at, each in enumerate(self.messages))
        going = sum(len(leaving.indexes) for leaving in order)
        stays = len(self.messages) - len(self.gone) > going or bool(self.written)
        room = Room(self.messages, self.cost, self.price, self.total, [*accumulate(is_plan)], stays=stays)
        asking = room.make(budget, order, summarised=summarised)
        try:
            asked = next(asking)
            while True:
                asked = asking.send((yield [self.sent[index] for index in asked]))
        except StopIteration:
            pass
        for indexes, marker in room.gone():
            self.let_go(indexes)
            if marker:
                self.write(indexes[0], marker)

    def may_be_summarised(self, index: int) -> bool:
        return self.classes[index] == PRESERVE_ANCHOR and index not in self.gone and may_ever_go(self.messages[index])

    def let_go(self, indexes: Iterable[int]) -> None:
        for index in indexes:
            if index not in self.gone:
                self.gone.add(index)
                self.total -= self.cost[index]

    def retire(self, indexes: Iterable[int]) -> None:
        """Let go of past plans and of the changes to them."""
        past = {*indexes}
        self.retired |= past
        self.let_go(past)

    def write(self, index: int, message: Hidden) -> None:
        """Write a message under a unique name: two of one name would be kept or dropped together."""
        name = free_name(message.id, self.names)
        self.names.add(name)
        self.written[index].append(message if name == message.id else msgspec.structs.replace(message, id=name))
        self.total += self.price(message)

    def price(self, message: Hidden) -> int:
        return self.count(_sent(message, self.form))

    def shown(self) -> tuple[Stored, ...]:
        """The stream from here on."""
        shown: list[Stored] = []
        for index, message in enumerate(self.messages):
            shown += self.written.get(index, ())
            if index not in self.gone:
                shown.append(message)
        return (*shown, *self.written.get(len(self.messages), ()))


def _sent(message: Stored, form: Format) -> Fields:
    """A message as the provider gets it at its largest: any plan may be one of the first, which get breakpoints."""
    fields = sent(message, form) or {}
    return with_breakpoint(fields) if fields and form.has_breakpoints and isinstance(message, PlanMessage) else fields
