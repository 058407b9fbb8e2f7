"""The words in an event, to be catalogued: titles, steps, texts, notes, what people said, and why.

A text is taken line by line, and a line without its checkbox: a version that only ticks a step brings no new words. Of
thoughts there is only the digest, as in the event: their text is beside the journal as long as it is kept, and nowhere
else.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Final, NamedTuple

from planwire.model.event_why import why_in
from planwire.model.events import (
    Event,
    FileSeen,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    SessionOpened,
)
from planwire.model.kinds import entries_of, text_of
from planwire.model.markdown import TASK
from planwire.model.step_changes import AddStep, RewordStep, StepChange

#: The kinds of words: a text is also a summary or a note, a remark also what was said of it or chosen.
TITLE: Final = "title"
STEP: Final = "step"
TEXT: Final = "text"
REMARK: Final = "remark"
WHY: Final = "why"
#: What a line of a list begins with.
_ITEM: Final = re.compile(rf"(?:[-*+]|\d+[.)])\s+(?:{TASK.pattern})?")


class Word(NamedTuple):
    """Words of a session: their kind and plan, their place in it (a step, a remark), and the number of their event."""

    kind: str
    plan: str
    place: str
    text: str
    seq: int


def words_of(recorded: Recorded) -> Iterator[Word]:
    """The words in an event."""
    event = recorded.event
    plan_id = event.plan.id if isinstance(event, PlanSet) else getattr(event, "plan_id", None)
    for kind, place, text in chain(_words(event), [(WHY, "", why_in(event))]):
        if text and not text.isspace():
            yield Word(kind, plan_id or "", place, text, recorded.seq)


def _words(event: Event) -> Iterator[tuple[str, str, str]]:
    match event:
        case SessionOpened(title=title):
            yield TITLE, "", title or ""
        case PlanSet(plan=plan, summary=summary, ids=ids):
            yield TEXT, "", summary or ""
            steps = zip(entries_of(plan) or (), chain(ids, repeat("")), strict=False)
            yield from ((STEP, step, entry.content) for entry, step in steps)
            yield from _lines(text_of(plan))
        case PlanChanged(note=note, changes=changes):
            yield TEXT, "", note or ""
            yield from _changed(changes)
        case FileSeen(text=text):
            yield from _lines(text)
        case Remarked(step=step, text=text, changes=changes):
            yield REMARK, step or "", text
            yield from ((REMARK, place, each) for _, place, each in _changed(changes))
        case RemarkClosed(remark=remark, text=text) | RemarkAnswered(remark=remark, text=text):
            yield REMARK, remark, text
        case PlanReviewed(answer=answer):
            yield REMARK, "", answer or ""
        case _:
            pass


def _changed(changes: Iterable[StepChange]) -> Iterator[tuple[str, str, str]]:
    for each in changes:
        match each:
            case AddStep(id=step, content=text) | RewordStep(step=step, content=text):
                yield STEP, step, text
            case _:
                pass


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    return ((TEXT, "", _ITEM.sub("", line.strip(), count=1)) for line in text.splitlines())
