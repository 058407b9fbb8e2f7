"""What an agent is to be told: what people said since it last heard from them, or everything that still holds.

Both are items: JSON objects that say who said what about which plan. A tool's answer holds them as they are; a block
for the context is made from them (`chat.render`).

    {"said": "comment", "id": "r3", "by": "user", "plan_id": "main", "step": "s2", "text": "never touch vendor/"}
"""

from collections.abc import Container, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from planwire.model.authors import by_fields, name_of
from planwire.model.events import APPROVED, COMMENT, DISMISSED, SELECTION, SUGGESTION
from planwire.model.kinds import text_of
from planwire.model.passages import anchored, occurrences, reading_of
from planwire.model.plan import Fields, PlanId
from planwire.model.readers import LEAD, heard_by, is_for
from planwire.model.records import AGENT, PLANWIRE, PlanRecord, Remark, Review, SessionState
from planwire.model.remarks import PLAN_ENDED
from planwire.model.seen import changed_since
from planwire.model.step_changes import AddStep, RewordStep

#: Authors whose words the agent knows: itself, its client, and the relay.
CLIENT: Final = "client"
RELAY: Final = "relay"
_KNOWN: Final = frozenset((AGENT, CLIENT, RELAY))

#: Bytes of remarks told in full, in a retelling and in news. The rest are told as ids.
RETOLD_BYTES: Final = 16 * 1024
NEWS_BYTES: Final = 64 * 1024
#: Said of a passage whose place in the plan's text is lost.
GONE_QUOTE: Final = "no longer in the plan's text, which reads differently now"


#: What an approval means for a reader who hears of it when texts or steps are others.
_OUTDATED: Final = "approved as the plan read at that revision; texts or steps changed since: ask again"
#: What a change of a step means for one who hears of it when the step reads differently.
_REWORDED: Final = "made before the step was reworded: if it asks for anything, ask"
#: What a remark means for its reader once steps read differently from what its author saw.
_MEANING: Final = {
    COMMENT: "said of the step when it read as quoted",
    SELECTION: "run only the steps named; do neither a stale one nor any that was not chosen, and ask",
    SUGGESTION: "asked for when the step read otherwise: do not make it, and ask",
}


class Words(Struct, frozen=True):
    """What an agent is to be told: `items` in full, and `besides`, the ids of further open remarks. `remarks` are the
    ids of all remarks among them that the agent has not been told yet, `stale` the steps, by remark, of which it is
    told that they read differently now; everything else is of events after `since` up to `upto`."""

    items: tuple[Fields, ...] = ()
    besides: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    stale: dict[str, tuple[str, ...]] = {}
    since: int = 0
    upto: int = 0

    def __bool__(self) -> bool:
        return bool(self.items or self.besides)


def news(
    state: SessionState,
    *,
    since: int | None = None,
    without: Container[str] = (),
    edits: bool = True,
    most: int = NEWS_BYTES,
    reader: str = LEAD,
) -> Words:
    """What people said, and changed in plans of the tools, since a reader last heard of it, or since an event.

    `without` are remarks already on their way; `most` bytes of remarks are told in full. `edits` is False for a reader
    that sees the changes of a plan themselves.
    """
    told = heard_by(state, reader).told if since is None else since
    remarks: list[Remark] = []
    others: list[tuple[int, Fields]] = []
    for record in _heard_of(state, reader):
        remarks += [each for each in _untold(record, reader) if each.id not in without]
        others += _verdicts(record, told)
        others += _closings(record, told)
        if edits:
            others += _edits(record, told)
    return _words(state, remarks, others, most, told, reader)


def standing(
    state: SessionState,
    seen: Container[str] = (),
    most: int = RETOLD_BYTES,
    without: Container[str] = (),
    reader: str = LEAD,
) -> Words:
    """Everything that holds: each open remark, and the last verdict on each living plan. The reader sees the remarks
    `seen` elsewhere: only their ends are told. `most` bytes of remarks are told in full; `without` are left out."""
    remarks: list[Remark] = []
    others: list[tuple[int, Fields]] = []
    for record in _heard_of(state, reader):
        remarks += [each for each in record.open_remarks if each.id not in seen and each.id not in without]
        others += [(seq, item) for seq, item in _closings(record, 0) if item["id"] in seen]
        if record.is_living and record.review and not record.review.is_stale and record.review.verdict != DISMISSED:
            others.append((record.review.seq, _verdict(record.state.plan.id, record.review)))
    return _words(state, remarks, others, most, heard_by(state, reader).told, reader)


def _heard_of(state: SessionState, reader: str) -> list[PlanRecord]:
    """The plans whose remarks a reader hears."""
    return [record for record in state.plans.values() if is_for(state, record, reader)]


def has_word(state: SessionState, plan_id: PlanId, since: int) -> bool:
    """Whether people said something about a plan that the agent has not heard, or that came after the event `since`:
    several calls may wait for the same word."""
    record = state.plans.get(plan_id)
    if record is None:
        return False
    review = record.review
    heard = heard_by(state, record.reader).told
    if review and review.by != AGENT and review.seq > min(heard, since) and not review.is_known:
        return True
    return any(each.told is None or each.seq > since for each in record.open_remarks if name_of(each.by) not in _KNOWN)


def _untold(record: PlanRecord, reader: str) -> list[Remark]:
    return [
        each for each in record.open_remarks if not _is_told(each, record, reader) and name_of(each.by) not in _KNOWN
    ]


def _is_told(remark: Remark, record: PlanRecord, reader: str) -> bool:
    """Whether a reader needs no telling of a remark. What the lead was told while a child had nothing to do, the child
    is told once it goes on. A choice or a change that was asked for is told again whenever other ones of its steps read
    differently than it was told."""
    told = remark.told
    if told is None or (reader != LEAD and told.reader == AGENT):
        return False
    known = {step for step in told.stale if step not in remark.done}
    return remark.kind not in (SELECTION, SUGGESTION) or known == {each.step for each in changed_since(remark, record)}


def _words(
    state: SessionState, remarks: list[Remark], others: list[tuple[int, Fields]], most: int, since: int, reader: str
) -> Words:
    """Remarks and other items as words, in the order of their events. `most` bytes of remarks are in full, those kept
    in force first, then the newest; of the rest only the ids."""
    full: list[tuple[int, Fields]] = []
    besides: list[Remark] = []
    size = 0
    for each in sorted(remarks, key=lambda each: (not each.kept, -each.seq)):
        size += len(msgspec.json.encode(item := remark_item(each, state.plans[each.plan_id])))
        if size <= most or not full:
            full.append((each.seq, item))
        else:
            besides.append(each)
    items = [item for _, item in sorted([*full, *others], key=lambda each: each[0])]
    return Words(
        items=tuple(items),
        besides=tuple(each.id for each in sorted(besides, key=lambda each: each.seq)),
        remarks=tuple(each.id for each in remarks if not _is_told(each, state.plans[each.plan_id], reader)),
        stale={item["id"]: tuple(each["step"] for each in item["stale"]) for item in items if item.get("stale")},
        since=since,
        upto=state.seq,
    )


def remark_item(remark: Remark, record: PlanRecord) -> Fields:
    """A remark as it is told. Where steps read differently from what its author saw, it says so: a comment quotes what
    it was said of, and of chosen steps and of steps to change, those are apart under `stale`."""
    changed = changed_since(remark, record)
    stale = {each.step for each in changed}
    details: Fields = {
        "id": remark.id,
        "step": remark.step,
        **({"quote": changed[0].was} if changed and remark.kind == COMMENT else _quote(remark, record)),
        "steps": [step for step in remark.steps if step not in stale] or None,
        "stale": [msgspec.to_builtins(each) for each in changed if remark.kind != COMMENT] or None,
        "changes": [*msgspec.to_builtins(remark.changes)] or None,
        "text": remark.text or None,
        "in_force": remark.kept or None,
        "said_before": "perhaps" if remark.offered and not remark.told else None,
        "means": _MEANING.get(remark.kind) if changed else None,
    }
    return _item(remark.kind, remark.by, remark.plan_id, details)


def _quote(remark: Remark, record: PlanRecord) -> Fields:
    """The passage that a remark is about: whether it is still there, and if its words are there more than once, which
    of them it is."""
    passage = remark.passage
    if passage is None:
        return {}
    text = reading_of(record.state.plan)
    if text is None:
        return {"quote": passage.text}
    if (place := anchored(text, passage)) is None:
        return {"quote": passage.text, "quote_is": GONE_QUOTE}
    among = occurrences(text, text[slice(*place)])
    which = f"{among.index(place[0]) + 1} of {len(among)}" if len(among) > 1 else None
    return {"quote": passage.text, "occurrence": which}


def _verdict(plan_id: PlanId, review: Review) -> Fields:
    means = _OUTDATED if review.is_stale and review.verdict == APPROVED else None
    words = {"verdict": review.verdict, "revision": review.revision, "answer": review.answer, "means": means}
    return _item("verdict", review.by, plan_id, words)


def _verdicts(record: PlanRecord, told: int) -> Iterator[tuple[int, Fields]]:
    """The last verdict, if the agent has not heard it. It replaces earlier ones. A verdict that answers the agent's
    open question is on its way already."""
    review = record.review
    if review is not None and review == record.decision:
        return
    if review is None or review.verdict == DISMISSED or name_of(review.by) in _KNOWN:
        return
    if review.seq > told and not review.is_known:
        yield review.seq, _verdict(record.state.plan.id, review)


def _closings(record: PlanRecord, told: int) -> Iterator[tuple[int, Fields]]:
    """The ends of remarks that the agent was told, where a person ended them. The agent knows what it did itself."""
    for remark in record.remarks:
        end = remark.closed
        if end and remark.told and end.seq > told and name_of(end.by) not in _KNOWN and end.how != PLAN_ENDED:
            words = {"id": remark.id, "how": end.how, "text": end.text or None}
            yield end.seq, _item("closed", end.by, remark.plan_id, words)


def _edits(record: PlanRecord, told: int) -> Iterator[tuple[int, Fields]]:
    """Other people's changes to a plan of the tools since its last version. For an agent's plan, the edited text that a
    person approved, if the agent never got it as its answer."""
    plan_id, review = record.state.plan.id, record.review
    if record.owner != PLANWIRE:
        is_lost = review is not None and not review.is_known and review != record.decision
        if review and is_lost and review.revision == record.base > told and name_of(record.by) not in _KNOWN:
            yield (
                record.base,
                _item("set", record.by, plan_id, {"revision": record.base, "text": text_of(record.state.plan)}),
            )
        return
    if record.removed:
        if record.revision > told and name_of(record.removed_by) not in _KNOWN:
            yield record.revision, _item("removed", record.removed_by, plan_id, {})
        return
    reworded: set[str] = set()
    for each in reversed(record.deltas if record.edited > told else ()):
        if each.seq <= told:
            return
        if name_of(each.by) not in _KNOWN:
            is_outdated = any(not isinstance(change, AddStep) and change.step in reworded for change in each.changes)
            changes = [*msgspec.to_builtins(each.changes)] or None
            words = {"changes": changes, "text": each.note, "means": _REWORDED if is_outdated else None}
            yield each.seq, _item("edit", each.by, plan_id, words)
        reworded |= {change.step for change in each.changes if isinstance(change, RewordStep)}
    if record.base > told and name_of(record.by) not in _KNOWN:
        yield record.base, _item("set", record.by, plan_id, {"revision": record.base})


def _item(said: str, by: str, plan_id: PlanId, details: dict[str, Any]) -> Fields:
    known = {key: value for key, value in details.items() if value is not None}
    return {"said": said, **by_fields(by), "plan_id": plan_id, **known}
