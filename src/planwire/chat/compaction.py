"""Compaction: which messages the model keeps, by the classes in `roles`.

| class | inside the kept tail | before it |
|---|---|---|
| Never | stays, byte for byte | stays, byte for byte |
| DropOnAge | stays | goes; the newest mode_switch stays |
| KeepRecentN | the newest N of a source and subkind stay, a marker counts the rest | the same |
| PreserveWindow | stays | goes |
| PreserveAnchor | stays | stays while there is room; `what_goes` says what goes first |
| FromState | made again, at the end | made again, at the end |

Past plans go. A plan that grew too large together with its changes is retold in one message. Calls stay with their
results, and calls that wait for results always stay. The journal keeps everything: a compaction names the messages that
it left out, and loses none.

It is a generator that yields messages to summarise and is sent their summary, so that it never waits: where summaries
come from, and on which thread or loop, is up to its driver.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from planwire.chat.compacted_chat import CompactedChat, Counter, FromState
from planwire.chat.formats import Format
from planwire.chat.markers import retired_marker
from planwire.chat.messages import Stored
from planwire.chat.roles import KEPT_RECENT
from planwire.chat.token_guess import about_tokens
from planwire.model.plan import Fields

__all__ = [
    "TAIL",
    "Compacting",
    "Compaction",
    "Counter",
    "FromState",
    "Summarise",
    "about_tokens",
    "compact",
    "compacting",
    "driven",
]

#: Writes a text that stands for messages, as their provider gets them.
Summarise: TypeAlias = Callable[[Sequence[Fields]], str]
#: A compaction that asks for summaries.
Compacting: TypeAlias = Generator[Sequence[Fields], str, "Compaction"]

TAIL: Final = 8


class Compaction(Struct, frozen=True):
    """The result of a compaction.

    `messages` are the stream from here on, `written` the new ones among them. `retired` are past plans, `left_out` the
    ids of everything that is gone. `over_by` is by how much the rest, which may not go, exceeds the budget.
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
        """The stream for a file, with the past plans, marked as past: a file has no journal that keeps them."""
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
    rebase: bool = False,
) -> Compaction:
    """Compact a stream to `budget` tokens if possible; None only applies the classes.

    The last `tail` of the messages that stay are not touched. Without `summarise` the same stream always gives the same
    result. `rebase` retells every plan that has changed since it was told.
    """
    work = compacting(
        messages,
        form,
        budget=budget,
        tail=tail,
        count=count,
        summarised=summarise is not None,
        recent=recent,
        state=state,
        rebase=rebase,
    )
    return driven(work, summarise)


def driven(work: Compacting, summarise: Summarise | None) -> Compaction:
    """The result of a compaction whose summaries a function writes."""
    try:
        asked = next(work)
        while True:
            assert summarise is not None, "a compaction asks for summaries only if it has `summarise`"
            asked = work.send(summarise(asked))
    except StopIteration as end:
        made: Compaction = end.value
        return made


def compacting(
    messages: Sequence[Stored],
    form: Format,
    *,
    budget: int | None = None,
    tail: int = TAIL,
    count: Counter = about_tokens,
    summarised: bool = False,
    recent: int = KEPT_RECENT,
    state: FromState | None = None,
    rebase: bool = False,
) -> Compacting:
    """A compaction as a generator: it yields messages to summarise and is sent their summary, if it is `summarised`."""
    work = CompactedChat(messages, form, count)
    work.drop_retired()
    before = work.total
    work.retire_past_plans(state.ended if state else ())
    if state is not None:
        work.tell_anew(state, everything=rebase)
        work.leave_room(state)
    work.keep_recent(recent)
    work.find_tail(max(0, tail))
    work.drop_by_age()
    if budget is not None:
        yield from work.make_room(budget, state, summarised=summarised)
    if state is not None:
        work.make_anew(state, budget)
    return _result(work, before, budget)


def _result(work: CompactedChat, before: int, budget: int | None) -> Compaction:
    return Compaction(
        work.shown(),
        tuple(each for index in sorted(work.written) for each in work.written[index]),
        tuple(work.messages[index] for index in sorted(work.retired)),
        tuple(work.messages[index].id for index in sorted(work.gone)),
        before,
        work.total,
        max(0, work.total - budget) if budget is not None else 0,
    )
