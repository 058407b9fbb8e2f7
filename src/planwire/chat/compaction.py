"""Compaction: which messages the model keeps, by the classes in `roles`.

| class | inside the kept tail | before it |
|---|---|---|
| Never | stays, byte for byte | stays, byte for byte |
| DropOnAge | stays | goes; the newest mode_switch stays |
| KeepRecentN | the newest N of a source and subkind stay, a marker counts the rest | the same |
| PreserveWindow | stays | goes |
| PreserveAnchor | stays | stays while there is room; then a summary or a marker stands for the oldest |
| FromState | made anew, at the end | made anew, at the end |

Past plans go. Calls stay with their results. The journal keeps everything: a compaction names the messages that it left
out, and loses none.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Coroutine, Iterable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from planwire.chat.formats import Format
from planwire.chat.markers import history_marker, past_plans, retired_ids, retired_marker, summary_marker
from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, Stored
from planwire.chat.remark_messages import remarks_of, say_the_same
from planwire.chat.roles import (
    DROP_ON_AGE,
    KEEP_RECENT_N,
    KEPT_RECENT,
    MODE_SWITCH,
    PRESERVE_ANCHOR,
    PRESERVE_WINDOW,
    class_of,
)
from planwire.chat.stream import sent, units
from planwire.chat.token_guess import about_tokens
from planwire.errors import BadMessage
from planwire.model.plan import Fields

__all__ = ["Compaction", "Counter", "FromState", "Summarise", "about_tokens", "compact"]

#: The cost of a message, as its provider gets it, in tokens.
Counter: TypeAlias = Callable[[Fields], int]
#: Writes a text that stands for messages, as their provider gets them.
Summarise: TypeAlias = Callable[[Sequence[Fields]], str]

TAIL: Final = 20
#: Roles of the author's instructions, which stay.
_INSTRUCTIONS: Final = ("system", "developer")
#: The assumed cost of a marker, on the high side: dropping one unit too many beats missing the budget.
MARKER_ROOM: Final = 60


#: Makes the message with what people said and still holds, for a chat of the messages that stay; None for nothing.
MakeAnew: TypeAlias = Callable[[Sequence[Stored]], EventMessage | None]


class FromState(Struct, frozen=True):
    """What a session's state adds to a compaction of its chat: the message with `remarks` in the place of all earlier
    ones of that session, and the plans whose life has `ended`. `has_news`: the agent has not heard all of them. A chat
    without a state keeps what it has."""

    session: str
    remarks: MakeAnew
    has_news: bool = False
    ended: frozenset[str] = frozenset()


class Compaction(Struct, frozen=True):
    """The result of a compaction.

    `messages` are the stream from here on, `written` those of them that are new. `retired` are past plans, `left_out`
    the ids of everything that is gone. `over_by` is how far the rest, which may not go, exceeds the budget.
    """

    messages: tuple[Stored, ...]
    written: tuple[Stored, ...] = ()
    retired: tuple[Stored, ...] = ()
    left_out: tuple[str, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    over_by: int = 0

    @property
    def stream(self) -> tuple[Stored, ...]:
        """The stream for a file, where no journal keeps the past plans: with these, marked as past."""
        if not self.retired:
            return self.messages
        return (retired_marker(each.id for each in self.retired), *self.retired, *self.messages)


def compact(
    messages: Sequence[Stored],
    form: Format,
    *,
    budget: int | None = None,
    tail: int = TAIL,
    count: Counter = about_tokens,
    summarise: Summarise | None = None,
    recent: int = KEPT_RECENT,
    state: FromState | None = None,
) -> Compaction:
    """Compact a stream to `budget` tokens if that can be done; None only applies the classes.

    The last `tail` messages stay. Without `summarise` the same stream always gives the same result.
    """
    work = _Work(messages, form, count, tail)
    work.drop_retired()
    before = work.total
    work.retire_past_plans(state.ended if state else ())
    if state is not None:
        work.leave_room(state)
    work.drop_by_age()
    work.keep_recent(recent)
    if budget is not None:
        work.make_room(budget, summarise)
    if state is not None:
        work.make_anew(state)
    return work.result(before, budget)


class _Work:
    """A compaction in progress: which messages go, and which markers stand in front of which."""

    def __init__(self, messages: Sequence[Stored], form: Format, count: Counter, tail: int) -> None:
        self.messages = messages
        self.form = form
        self.count = count
        self.cost = [count(_sent(message, form)) for message in messages]
        self.total = sum(self.cost)
        self.classes = [class_of(message) for message in messages]
        self.units = units(messages, form)
        first = len(messages) - max(0, tail)
        self.tail = next((unit.start for unit in self.units if unit.stop > first), len(messages))
        self.gone: set[int] = set()
        self.retired: set[int] = set()
        self.written: dict[int, list[EventMessage]] = defaultdict(list)
        self.earlier: set[int] = set()
        self.room = 0

    def drop_retired(self) -> None:
        """Drop the plans that an earlier compaction retired, and the marker that names them."""
        markers = [(index, ids) for index, each in enumerate(self.messages) if (ids := retired_ids(each)) is not None]
        self.let_go(index for index, _ in markers)
        named = {each for _, ids in markers for each in ids}
        self.retired = {index for index, each in enumerate(self.messages) if each.id in named}
        self.let_go(self.retired)

    def retire_past_plans(self, ended: Container[str]) -> None:
        self.retired |= past_plans(self.messages, ended)
        self.let_go(self.retired)

    def leave_room(self, state: FromState) -> None:
        """Take out what people said, and leave room for all of it that holds. How much of it a message must hold, only
        those that stay can tell."""
        earlier = remarks_of(self.messages, state.session)
        self.earlier = {index for index, each in enumerate(self.messages) if each.id in earlier}
        self.let_go(self.earlier)
        most = state.remarks(())
        self.room = self.price(most) if most else 0
        self.total += self.room

    def make_anew(self, state: FromState) -> None:
        """Put what people said, as far as it holds, at the end, unless the chat shows just that already."""
        self.total -= self.room
        remarks = state.remarks(self.shown())
        earlier = (self.messages[each] for each in self.earlier)
        if self.gone == self.earlier and not state.has_news and say_the_same(earlier, remarks):
            self.gone.clear()
            self.total += sum(self.cost[each] for each in self.earlier)
        elif remarks is not None:
            self.write(len(self.messages), remarks)

    def drop_by_age(self) -> None:
        switches = (at for at, each in enumerate(self.messages) if getattr(each, "subkind", None) == MODE_SWITCH)
        mode = max(switches, default=-1)
        for index in range(self.tail):
            kind = self.classes[index]
            if kind == PRESERVE_WINDOW or (kind == DROP_ON_AGE and index != mode):
                self.let_go([index])

    def keep_recent(self, recent: int) -> None:
        """Keep the newest of each source and subkind. One marker replaces the others; it also counts those that an
        earlier marker stood for."""
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        markers: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index, message in enumerate(self.messages):
            if self.classes[index] == KEEP_RECENT_N and isinstance(message, EventMessage):
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

    def make_room(self, budget: int, summarise: Summarise | None) -> None:
        """Let go of the oldest until the rest fits: unit by unit, or by whole segments with a summary each. Messages
        that cost no more than their marker stay."""
        for segment in self.segments():
            taken = self.too_much(segment, budget, whole=summarise is not None)
            if taken:
                sources = [self.messages[index] for index in taken]
                text = _summarised(summarise, [_sent(source, self.form) for source in sources]) if summarise else None
                marker = summary_marker(sources, text)
                if self.price(marker) < sum(self.cost[index] for index in taken):
                    self.let_go(taken)
                    self.write(taken[0], marker)

    def too_much(self, segment: Iterable[list[int]], budget: int, *, whole: bool) -> list[int]:
        """The oldest units of a segment that must go for the rest to fit."""
        taken: list[int] = []
        total = self.total
        for unit in segment:
            if total <= budget and not (whole and taken):
                break
            if not taken:
                total += MARKER_ROOM
            taken += unit
            total -= sum(self.cost[index] for index in unit)
        return taken

    def segments(self) -> Iterable[list[list[int]]]:
        """The units that may go, oldest first, in segments. A plan ends a segment, so that a summary of what came
        before it stays before it; a change to a plan does not."""
        segment: list[list[int]] = []
        for unit in self.units:
            if unit.stop > self.tail:
                break
            if isinstance(self.messages[unit.start], PlanMessage) and unit.start not in self.gone:
                yield segment
                segment = []
            elif members := [index for index in unit if self.may_be_summarised(index)]:
                segment.append(members)
        yield segment

    def may_be_summarised(self, index: int) -> bool:
        message = self.messages[index]
        if isinstance(message, Ordinary) and message.message.get("role") in _INSTRUCTIONS:
            return False
        return self.classes[index] == PRESERVE_ANCHOR and index not in self.gone

    def let_go(self, indexes: Iterable[int]) -> None:
        for index in indexes:
            if index not in self.gone:
                self.gone.add(index)
                self.total -= self.cost[index]

    def write(self, index: int, marker: EventMessage) -> None:
        self.written[index].append(marker)
        self.total += self.price(marker)

    def price(self, marker: EventMessage) -> int:
        return self.count(_sent(marker, self.form))

    def shown(self) -> tuple[Stored, ...]:
        """The stream from here on."""
        shown: list[Stored] = []
        for index, message in enumerate(self.messages):
            shown += self.written.get(index, ())
            if index not in self.gone:
                shown.append(message)
        return (*shown, *self.written.get(len(self.messages), ()))

    def result(self, before: int, budget: int | None) -> Compaction:
        return Compaction(
            self.shown(),
            tuple(each for index in sorted(self.written) for each in self.written[index]),
            tuple(self.messages[index] for index in sorted(self.retired)),
            tuple(self.messages[index].id for index in sorted(self.gone)),
            before,
            self.total,
            max(0, self.total - budget) if budget is not None else 0,
        )


def _sent(message: Stored, form: Format) -> Fields:
    return sent(message, form) or {}


def _summarised(summarise: Callable[[Sequence[Fields]], Any], messages: Sequence[Fields]) -> str:
    text = summarise(messages)
    if not isinstance(text, str):
        if isinstance(text, Coroutine):
            text.close()
        raise BadMessage(
            f"`summarise` must return a text, but returned {text!r:.200}: nothing was compacted. (A coroutine function "
            "is for PlanSession.compact.)"
        )
    return text
