"""Random programs against every engine, under random faults; one checker judges what was said."""

import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import monotonic

import msgspec
import pytest

from planwire.errors import JournalError, JournalUnavailable
from planwire.journal import Journal, open_journal
from planwire.journal.engines import open_engine
from planwire.journal.verifying import verify
from planwire.journal.waiting import waiting_of
from tests.lab.checker import broken, kept_in
from tests.lab.client import SHARED, Settings, reap, write
from tests.lab.clients import LAST, Clients
from tests.lab.history import Heard, Line, token_of
from tests.lab.nemesis import PLACES, Place, faults
from tests.waiting import until

#: How many faults there are, one after the other.
FAULTS = [4, pytest.param(40, marks=[pytest.mark.lab, pytest.mark.timeout(400)])]
#: A fault lasts until the clients have said so much more, or for so many seconds.
LINES, SECONDS = (0, 5, 40, 200), (0.2, 1.0, 3.0)
#: The part of a processor that a process may use that has nothing to do.
IDLE = 0.2
START = 2.0


@pytest.mark.parametrize("count", FAULTS)
@pytest.mark.parametrize("engine", PLACES)
def test_nothing_that_was_acknowledged_is_lost_doubled_reordered_or_changed(
    engine: str, count: int, draw: Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with PLACES[engine](tmp_path) as place:
        clients = Clients(place.url, str(draw.random()), tmp_path)
        try:
            done = _endure(place, clients, draw, count)
            _judge(place, clients, tmp_path)
        except BaseException:
            (tmp_path / "history").write_bytes(b"\n".join(map(msgspec.json.encode, clients.history)))
            errors = {each.name: each.read_text()[-2_000:] for each in tmp_path.glob("*.err")}
            print(f"the history is in {tmp_path / 'history'}", errors)
            raise
        finally:
            clients.close()
    assert done


def _endure(place: Place, clients: Clients, draw: Random, count: int) -> list[str]:
    """Have clients work under faults, one after the other and sometimes two at once, and heal everything."""
    with open_engine(place.quiet_url):  # it is there
        pass
    for number in range(3):
        clients.add(f"writer{number}", "writer", is_away=place.remote and number == 2)
    clients.add("follower0", "follower", is_away=False)
    clients.add("idler", "idler", is_away=place.remote)
    until(lambda: clients.count() > 20, LAST)
    begun, busy = monotonic(), clients.busy("idler")
    done: list[str] = []
    ends: dict[str, Callable[[], object]] = {}
    for _ in range(count):
        if draw.random() < 0.75:
            _heal(ends)
        possible = {name: fault for name, fault in faults(place, clients).items() if name.split()[0] not in ends}
        if not possible:
            _heal(ends)
            continue
        name = draw.choice(sorted(possible))
        ends[name.split()[0]] = possible[name](draw)
        done.append(name)
        enough, seconds = clients.count() + draw.choice(LINES), draw.choice(SECONDS)
        _wait(lambda enough=enough: clients.count() >= enough, seconds)  # type: ignore[misc]
    _heal(ends)
    worked = clients.busy("idler") - busy
    assert worked < START + IDLE * (monotonic() - begun), f"a process with nothing to do was busy for {worked:.1f} s"
    return done


def _judge(place: Place, clients: Clients, folder: Path) -> None:
    """Everything is healed: now all ends within its bound, and what is there is what was promised."""
    clients.end(followers=False)
    until(lambda: _is_delivered(place), LAST)
    with open_engine(place.quiet_url) as journal:
        until(lambda: _reaped(journal), LAST)
        clients.hear_up_to(journal.last_position(), SHARED)
        clients.end(followers=True)
        assert verify(journal).troubles == []
        assert broken(clients.history, kept_in(journal)) == []


def _is_delivered(place: Place) -> bool:
    """Whether nothing waits on this machine for the server, after a look that delivers it."""
    with open_journal(place.url) as journal:
        try:
            journal.sessions()
        except JournalUnavailable:
            return False
        return not waiting_of(journal).count


def _reaped(journal: Journal) -> bool:
    try:
        reap(journal)
    except JournalError:
        return False
    return all(each.is_held for each in journal.leases() if each.session == "leased")


def _wait(condition: Callable[[], bool], seconds: float) -> None:
    """Until a condition holds, but no longer."""
    end = monotonic() + seconds
    until(lambda: condition() or monotonic() > end, seconds + LAST)


def _heal(ends: dict[str, Callable[[], object]]) -> None:
    for each in ends.values():
        each()
    ends.clear()


def _nothing() -> None:
    """Nothing is to be healed."""


class _Open:
    """A journal that others use, too: whoever closes it only lets go."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def __getattr__(self, name: str) -> object:
        return _nothing if name == "close" else getattr(self._journal, name)


@pytest.mark.parametrize("lines", [300, pytest.param(8_000, marks=pytest.mark.lab)])
def test_threads_that_share_a_journal_in_memory_keep_all_promises(lines: int, draw: Random) -> None:
    history: list[Line] = []
    stop = threading.Event()
    with open_journal("memory:") as journal:
        opened, seed = lambda: _Open(journal), str(draw.random())
        threads = [
            threading.Thread(target=write, args=(Settings(f"writer{each}", seed), opened, history.append, stop))
            for each in range(4)
        ]
        for each in threads:
            each.start()
        until(lambda: len(history) > lines, LAST)
        stop.set()
        for each in threads:
            each.join(LAST)
        for found in journal.follow(0, timeout=0):
            recorded = found.recorded
            history.append(Heard("f", found.position, recorded.session, recorded.seq, token_of(recorded.event)))
        assert verify(journal).troubles == []
        assert broken(history, kept_in(journal)) == []
