"""What a history says about a journal that was kept under faults: every broken promise, in words.

An acknowledged append is there, once, whole, unchanged, with the numbers that were acknowledged, and behind what its
writer had acknowledged before. A refused one is not there. One whose outcome nobody knows is there whole, once, or not
at all. Nothing is there that nobody wrote. Numbers have no gaps, an append that expected a number follows that one,
followers hear what the journal holds, and each lease that lapsed is ended once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from signal import SIGKILL

from planwire.journal import Journal
from planwire.journal.waiting import is_waiting
from tests.lab.client import SHARED, over
from tests.lab.history import APPENDS, FORGET, Call, Done, Ended, Heard, Line, token_of

__all__ = ["broken", "kept_in"]

#: Seconds after which no call may still wait, whatever happens to its server.
BOUND = 45.0


def kept_in(journal: Journal) -> dict[str, list[tuple[int, str]]]:
    """The numbers and tokens of the events of each session."""
    found = {}
    for each in journal.sessions():
        found[each.id] = [(recorded.seq, token_of(recorded.event)) for recorded in journal.read(each.id)]
    return found


def broken(history: Sequence[Line], kept: dict[str, list[tuple[int, str]]]) -> list[str]:
    """The promises that were broken."""
    found = [*_appends(history, kept), *_numbers(kept), *_followers(history, kept), *_leases(history, kept)]
    return [*found, *_slow_or_crashed(history)]


class _Asked:
    """An append as its client made it, with all attempts at it."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.outcomes: list[Done] = []
        self.attempts = 1

    @property
    def acknowledged(self) -> Done | None:
        return next((each for each in self.outcomes if each.outcome == "ok"), None)

    @property
    def is_refused(self) -> bool:
        return len(self.outcomes) == self.attempts and all(each.outcome == "refused" for each in self.outcomes)


def _asked(history: Iterable[Line]) -> dict[tuple[str, int], _Asked]:
    asked: dict[tuple[str, int], _Asked] = {}
    for each in history:
        if isinstance(each, Call) and each.kind in (*APPENDS, FORGET):
            if (each.client, each.n) in asked:
                asked[each.client, each.n].attempts += 1
            else:
                asked[each.client, each.n] = _Asked(each)
        elif isinstance(each, Done) and (each.client, each.n) in asked:
            asked[each.client, each.n].outcomes.append(each)
    return asked


def _appends(history: Sequence[Line], kept: dict[str, list[tuple[int, str]]]) -> Iterator[str]:
    asked = _asked(history)
    places: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for session, events in kept.items():
        for seq, token in events:
            places[token].append((session, seq))
    known = {token for each in asked.values() for token in each.call.tokens}
    for token in places:
        if token not in known and not token.startswith("over:"):
            yield f"nobody wrote {token}, at {places[token]}"
    forgets = [each for each in asked.values() if each.call.kind == FORGET]
    forgotten = {each.call.session: each.call.n for each in forgets if each.acknowledged}
    may_be_gone = {each.call.session: each.call.n for each in forgets if not each.is_refused}
    for each in asked.values():
        if each.call.kind in APPENDS:
            there = [places.get(token, []) for token in each.call.tokens]
            yield from _append(each, there, each.call.n < may_be_gone.get(each.call.session, 0))
            if any(there) and each.acknowledged and each.call.n < forgotten.get(each.call.session, 0):
                yield f"forgotten, and there: {each.call}: {there}"
    yield from _order(asked, places)


def _append(asked: _Asked, places: list[list[tuple[str, int]]], may_be_gone: bool) -> Iterator[str]:
    call, done = asked.call, asked.acknowledged
    there = [len(each) for each in places]
    if max(there) > 1:
        yield f"doubled: {call}: {places}"
    elif 0 < sum(there) < len(there):
        yield f"only a part is there: {call}: {places}"
    elif asked.is_refused and any(there):
        yield f"refused, and there: {call}: {places}: {asked.outcomes}"
    elif done is not None and not all(there) and not may_be_gone:
        yield f"lost: {call}: {done}"
    elif all(there):
        found = [seq for [(_, seq)] in places]
        if any(session != call.session for [(session, _)] in places):
            yield f"in another session: {call}: {places}"
        if found != [*range(found[0], found[0] + len(found))]:
            yield f"others came in between: {call}: {places}"
        if done is not None and not any(map(is_waiting, done.seqs)) and [*done.seqs] != found and not may_be_gone:
            yield f"other numbers than were acknowledged: {call}: {found}: {done}"
        if call.expected is not None and done and not is_waiting(done.seqs[0]) and found[0] != call.expected + 1:
            yield f"it expected another number: {call}: {found}"


def _order(asked: dict[tuple[str, int], _Asked], places: dict[str, list[tuple[str, int]]]) -> Iterator[str]:
    """What a writer had acknowledged one after the other stands in that order."""
    last: dict[tuple[str, str], tuple[int, Call]] = {}
    for each in asked.values():
        found = places.get(each.call.tokens[0], []) if each.call.tokens else []
        if each.acknowledged is None or len(found) != 1 or each.call.session not in SHARED:
            continue
        writer, seq = (each.call.client, each.call.session), found[0][1]
        if writer in last and last[writer][0] > seq:
            yield f"out of order: {each.call} at {seq}, {last[writer][1]} at {last[writer][0]}"
        last[writer] = seq, each.call


def _numbers(kept: dict[str, list[tuple[int, str]]]) -> Iterator[str]:
    for session, events in kept.items():
        if [seq for seq, _ in events] != [*range(1, len(events) + 1)]:
            yield f"numbers are missing in {session}: {[seq for seq, _ in events]}"


def _followers(history: Iterable[Line], kept: dict[str, list[tuple[int, str]]]) -> Iterator[str]:
    heard: defaultdict[str, list[Heard]] = defaultdict(list)
    for each in history:
        if isinstance(each, Heard):
            heard[each.client].append(each)
    for client, lines in heard.items():
        for one, other in pairwise(lines):
            if other.position <= one.position:
                yield f"{client} heard {other} after {one}"
        for session in SHARED:
            found = [(each.seq, each.token) for each in lines if each.session == session]
            if found != (expected := kept.get(session, [])):
                wrong = next((pair for pair in zip(found, expected, strict=False) if pair[0] != pair[1]), None)
                yield f"{client} heard {len(found)} of {len(expected)} events of {session}; first difference: {wrong}"


def _leases(history: Sequence[Line], kept: dict[str, list[tuple[int, str]]]) -> Iterator[str]:
    """A lease that was released is never ended, nor is one whose holder lives. One of a holder that was killed is."""
    taken: dict[str, Call] = {}
    live: defaultdict[str, set[str]] = defaultdict(set)
    released: set[str] = set()
    must, may = set[str](), set[str]()
    calls: dict[tuple[str, int], Call] = {}
    for each in history:
        match each:
            case Call():
                calls[each.client, each.n] = each
                if each.kind == "lease":
                    taken[each.tokens[0]] = each
                if each.kind in ("lease", "release", "close"):
                    may.update(each.tokens)
                    live[each.client] -= set(each.tokens)
            case Done(outcome="ok") if (call := calls.get((each.client, each.n))) is not None:
                if call.kind == "lease" and not call.is_away:
                    live[each.client].update(call.tokens)
                    may -= set(call.tokens)
                if call.kind == "release" and not call.is_away:
                    released.update(call.tokens)
            case Ended():
                must |= live.pop(each.client, set())
    ended = Counter(token for events in kept.values() for _, token in events if token.startswith("over:"))
    names = {over(each): each for each in taken}
    for token, count in ended.items():
        if count > 1:
            yield f"a lease was ended {count} times: {token}"
        if token not in names:
            yield f"a lease that nobody took was ended: {token}"
        elif names[token] in released:
            yield f"a lease was ended after its release: {token}"
        elif names[token] not in must | may:
            yield f"a lease was ended while its holder lived: {token}"
    for name in must:
        if over(name) not in ended:
            yield f"the lease of a process that was killed was never ended: {taken[name]}"


def _slow_or_crashed(history: Iterable[Line]) -> Iterator[str]:
    for each in history:
        if isinstance(each, Done) and each.seconds > BOUND:
            yield f"a call took {each.seconds:.1f} s: {each}"
        if isinstance(each, Ended) and each.code not in (0, -SIGKILL):
            yield f"a client failed: {each}"
