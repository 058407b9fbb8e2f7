"""Answers to what a person who looks at a plan asks: why is it so, and what has changed?

The why is what the agent thought and said right before (see `whys`). The last why stays when a later version has none.
What has changed is shown against the plan before the one that waits for a verdict. Reading the journal for either may
take long, so both cache the latest; but never the thoughts themselves, which a person may have forgotten at any time.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from threading import Lock
from typing import Final, NamedTuple

from msgspec.structs import replace

from planwire.errors import JournalError
from planwire.journal import Journal, state_at
from planwire.model.events import COMMENTED
from planwire.model.plan import PlanId
from planwire.model.records import PlanRecord, SessionState
from planwire.readmodel.card import PlanCard
from planwire.readmodel.cards import card_of
from planwire.readmodel.file_text import titles_of
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.whys import REACH, Why, whys_in

#: Events to look back for the last why of a plan.
LOOK_BACK: Final = 256
#: Entries of a history that get their reasons at a time.
BATCH: Final = 200
#: Reasons and earlier plans to remember.
REASONS: Final = 1_000
EARLIER: Final = 200


class _Known(NamedTuple):
    """The last why of a plan among the events up to `upto`."""

    upto: int
    why: Why | None


class Reasons:
    """The reasons of plans and changes: from the journal, and from the `thoughts` beside it if people may see them.
    Those of the plans seen last are cached."""

    def __init__(self, journal: Journal, *, thoughts: bool = True) -> None:
        self._journal = journal
        self._shows_thoughts = thoughts
        self._known: OrderedDict[tuple[str, PlanId, int], _Known] = OrderedDict()
        self._lock = Lock()

    def of(self, session: SessionState) -> dict[PlanId, str]:
        """What the agent thought and said with each plan of a session, in a current or past state."""
        with self._lock:
            found = {plan_id: self._last(session.id, plan_id, record) for plan_id, record in session.live().items()}
        texts = self._texts(session.id, filter(None, found.values()))
        return {plan_id: texts[why] for plan_id, why in found.items() if why in texts}

    def with_whys(self, entries: Iterable[HistoryEntry]) -> Iterator[HistoryEntry]:
        """The entries of a session's history, in order, each with the agent's why if there is one."""
        rest = iter(entries)
        while some := list(islice(rest, BATCH)):
            numbers = [each.seq for each in some if each.event in ("plan_set", "plan_changed")]
            if numbers:
                session = some[0].session
                texts = self._texts(session, self._whys(session, numbers[0] - 1, numbers[-1]))
                told = {why.seq: text for why, text in texts.items() if why}
                some = [replace(each, why=told[each.seq]) if each.seq in told else each for each in some]
            yield from some

    def glance(self) -> object:
        """A value that changes when thoughts are forgotten, by any process."""
        with suppress(JournalError):
            return self._journal.thoughts.glance()
        return None

    def _whys(self, session: str, after: int, upto: int) -> list[Why]:
        events = self._journal.read(session, max(after - REACH, 0), upto)
        return [each for each in whys_in(events) if each.seq > after]

    def _texts(self, session: str, reasons: Iterable[Why]) -> dict[Why | None, str]:
        """The texts of reasons, without those that were forgotten. If thoughts can't be read, the rest is returned."""
        reasons, thoughts = tuple(reasons), {}
        with suppress(JournalError):
            digests = {each.digest for each in reasons if each.digest} if self._shows_thoughts else ()
            thoughts = self._journal.thoughts.find(session, digests)
        texts = {each: thoughts[each.digest].text if each.digest in thoughts else each.words for each in reasons}
        return {why: text for why, text in texts.items() if text}

    def _last(self, session: str, plan_id: PlanId, record: PlanRecord) -> Why | None:
        """The last why of a plan. The key includes its creation time, since a forgotten session may begin anew under
        its old name."""
        key, upto = (session, plan_id, record.created_at), record.revision
        known = self._known.get(key)
        if known is None or known.upto > upto:
            known = self._look_back(session, plan_id, record)
        if known.upto < upto:
            whys = [each for each in self._whys(session, known.upto, upto) if each.plan_id == plan_id]
            known = _Known(upto, whys[-1] if whys else known.why)
        if key not in self._known or self._known[key].upto <= upto:
            self._known[key] = known
            self._known.move_to_end(key)
            if len(self._known) > REASONS:
                self._known.popitem(last=False)
        return known.why

    def _look_back(self, session: str, plan_id: PlanId, record: PlanRecord) -> _Known:
        """A starting point some events ago: the why that came with this version, or else the last thoughts."""
        after = max(record.revision - LOOK_BACK, 0)
        thought = Why(0, plan_id, record.why, "") if record.why else None
        base = self._whys(session, record.base - 1, record.base) if record.base <= after else []
        return _Known(after, base[0] if base else thought)


class Earlier:
    """The plans before those that wait for a verdict."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._before = lru_cache(EARLIER)(self._look)

    def of(self, session: SessionState) -> dict[PlanId, PlanCard]:
        """For each plan of a session that waits for a verdict, the plan before it. A new plan has none."""
        asked = {plan_id: record for plan_id, record in session.live().items() if record.asked}
        seen = {plan_id: (_seen_last(record), record.created_at) for plan_id, record in asked.items()}
        found = {plan_id: self._before(session.id, plan_id, *key) for plan_id, key in seen.items() if key[0]}
        return {plan_id: before for plan_id, before in found.items() if before}

    def _look(self, session: str, plan_id: PlanId, seq: int, _created_at: int) -> PlanCard | None:
        """The plan after an event. The creation time is only a part of the cache's key, since a forgotten session may
        begin anew under its old name."""
        state = state_at(self._journal, session, seq)
        record = state.live().get(plan_id)
        return card_of(record, titles_of(state, {})[plan_id]) if record else None


def _seen_last(record: PlanRecord) -> int:
    """The event up to which a person knows a plan: the revision of this version with the last verdict, or else the last
    event of the previous version; 0 if there is neither."""
    judged = [review.revision for review in record.reviews if review.verdict != COMMENTED]
    of_this = [revision for revision in judged if record.base <= revision < record.revision]
    if of_this:
        return of_this[-1]
    return record.base - 1 if record.supersedes is not None else 0
