"""Size limits of plans and changes: refuse what is too large, or keep its beginning and say so.

Limits are in UTF-8 bytes. A plan's limit applies to its state: no change may make it larger than that, however small
the change. A change and its note have one limit together. With `TRUNCATE`, texts keep as much of their beginning as
fits, the longest being cut first, with a marker that tells the model how much is missing.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from planwire.errors import ToolError
from planwire.model.changes import apply_changes
from planwire.model.events import PlanChanged
from planwire.model.plan import BODY_CAP, DELTA_CAP, Entry, ItemsPlan, MarkdownPlan, Plan
from planwire.model.sizes import plan_bytes
from planwire.model.step_changes import AddStep, RewordStep, StepChange
from planwire.model.steps import PlanState

TRUNCATE: Final = "truncate"
#: The two ways to deal with a plan or a note that is too large.
OVERSIZE: Final = ("error", TRUNCATE)

_BLOCK: Final = "\n\n[truncated: {kept:,} of {size:,} bytes kept]"
_INLINE: Final = " [truncated: {kept:,} of {size:,} bytes kept]"
#: The fewest bytes of a text that are worth keeping, its marker included.
_LEAST: Final = 128
#: The most bytes of a note for which the texts of steps are cut.
_NOTE_SHARE: Final = DELTA_CAP // 4
_SHORTER: Final = "make it shorter; nothing was changed"
_SEVERAL: Final = "make it in several calls; nothing was changed"
_GROWN: Final = "remove steps that are finished, or give a shorter plan with set_plan; nothing was changed"


class Cut(NamedTuple):
    """The bytes kept of the texts that were cut, and their original size."""

    kept: int
    size: int


_Texts: TypeAlias = tuple[str, ...]


def check_size(size: int, cap: int, what: str, hint: str = _SHORTER) -> None:
    """Raise `ToolError` if something has more bytes than allowed."""
    if size > cap:
        problem = f"{what} has {size:,} bytes, {size - cap:,} more than the {cap:,} that are allowed"
        raise ToolError("too_large", problem, hint, {"bytes": size, "cap": cap})


def check_plan(plan: Plan, before: Plan | None = None) -> None:
    """Raise `ToolError` if a plan is larger than allowed. A plan that already was, because it came over the wire or
    from a person, may shrink in several changes."""
    size = plan_bytes(plan)
    if before is None:
        check_size(size, BODY_CAP, "the plan")
    elif size > plan_bytes(before):
        check_size(size, BODY_CAP, "the plan after this change", _GROWN)


def fitting_text(plan: MarkdownPlan, oversize: str) -> tuple[MarkdownPlan, Cut | None]:
    """A plan of text, cut to its beginning if it is too long and may be cut."""
    if oversize == TRUNCATE and (
        cut := _cut((plan.content,), lambda texts: len(texts[0].encode()) <= BODY_CAP, _BLOCK)
    ):
        return replace(plan, content=cut[0][0]), cut[1]
    check_plan(plan)
    return plan, None


def fitting_entries(plan: ItemsPlan, oversize: str) -> tuple[ItemsPlan, Cut | None]:
    """A plan of entries, with the longest texts cut if it is too large and may be cut."""

    def with_texts(texts: _Texts) -> ItemsPlan:
        entries = zip(plan.entries, texts, strict=True)
        return replace(plan, entries=tuple(Entry(text, each.priority, each.status) for each, text in entries))

    texts = tuple(each.content for each in plan.entries)
    if oversize == TRUNCATE and (
        cut := _cut(texts, lambda shorter: plan_bytes(with_texts(shorter)) <= BODY_CAP, _INLINE)
    ):
        return with_texts(cut[0]), cut[1]
    check_plan(plan)
    return plan, None


def fitting_change(state: PlanState, change: PlanChanged, oversize: str) -> tuple[PlanChanged, Cut | None]:
    """A change to a plan, with its note and the texts of steps cut if it is too large and may be cut."""
    note, changes, cuts = change.note or "", change.changes, []
    if oversize == TRUNCATE:
        most = DELTA_CAP - min(len(note.encode()), _NOTE_SHARE)
        if cut := _cut(_texts(changes), lambda texts: _fits(state, _with_texts(changes, texts), most), _INLINE):
            changes = _with_texts(changes, cut[0])
            cuts.append(cut[1])
        room = DELTA_CAP - _bytes(changes)
        if room >= _LEAST and (cut := _cut((note,), lambda texts: len(texts[0].encode()) <= room, _BLOCK)):
            note = cut[0][0]
            cuts.append(cut[1])
    check_size(len(note.encode()), DELTA_CAP, "the note")
    what = "the change of steps with its note" if note and changes else "the change of steps"
    check_size(_bytes(changes) + len(note.encode()), DELTA_CAP, what, _SEVERAL)
    if changes:
        check_plan(apply_changes(state, changes).plan, state.plan)
    cut_ones = Cut(sum(each.kept for each in cuts), sum(each.size for each in cuts)) if cuts else None
    return replace(change, note=note or None, changes=changes), cut_ones


def _fits(state: PlanState, changes: tuple[StepChange, ...], most: int) -> bool:
    if _bytes(changes) > most:
        return False
    return not changes or plan_bytes(apply_changes(state, changes).plan) <= max(BODY_CAP, plan_bytes(state.plan))


def _bytes(changes: tuple[StepChange, ...]) -> int:
    return len(msgspec.json.encode(changes)) if changes else 0


def _texts(changes: tuple[StepChange, ...]) -> _Texts:
    return tuple(each.content for each in changes if isinstance(each, AddStep | RewordStep))


def _with_texts(changes: tuple[StepChange, ...], texts: _Texts) -> tuple[StepChange, ...]:
    rest = iter(texts)
    return tuple(
        replace(each, content=next(rest)) if isinstance(each, AddStep | RewordStep) else each for each in changes
    )


def _cut(texts: _Texts, fits: Callable[[_Texts], bool], marker: str) -> tuple[_Texts, Cut] | None:
    """The texts cut to the greatest common length at which all fit. None if nothing has to be cut, or if too little
    would be left."""
    if not texts or fits(texts):
        return None
    lengths = range(_LEAST, max(len(each.encode()) for each in texts) + 1)
    found = bisect_left(lengths, True, key=lambda length: not fits(_shortened(texts, length, marker)[0]))
    while found > 0:  # a marker with one digit less can make a longer text shorter, so fitting is not quite monotonic
        found -= 1
        shorter = _shortened(texts, lengths[found], marker)
        if fits(shorter[0]):
            return shorter
    return None


def _shortened(texts: _Texts, length: int, marker: str) -> tuple[_Texts, Cut]:
    pieces = [_head(each, length, marker) for each in texts]
    cuts = [cut for _, cut in pieces if cut]
    return tuple(text for text, _ in pieces), Cut(sum(each.kept for each in cuts), sum(each.size for each in cuts))


def _head(text: str, length: int, marker: str) -> tuple[str, Cut | None]:
    """A text in at most `length` bytes: whole, or its beginning and a marker."""
    encoded = text.encode()
    size = len(encoded)
    if size <= length:
        return text, None
    room = length - len(marker.format(kept=length, size=size))
    head = encoded[:room].decode("utf-8", "ignore")
    kept = len(head.encode())
    return head + marker.format(kept=kept, size=size), Cut(kept, size)
