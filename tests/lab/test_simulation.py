"""Schedules in simulated time: no thread, no socket and no clock, and all that happens comes from the seed.

Journals over one store whose answers get lost, the delivery of what waited for a server, and the relay's policy between
a client, an agent and people.
"""

import json
import os
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final, TypeVar

import pytest

from planwire.errors import EngineAway, JournalError, PlanwireError
from planwire.journal import Once, Stamped, open_journal
from planwire.journal.away.delivery import AwayFolder, WaitingAppend
from planwire.journal.codec import encode
from planwire.journal.journal import StoreJournal
from planwire.journal.memory import MemoryStore
from planwire.journal.store import Append, Appended
from planwire.journal.verifying import verify
from planwire.model.events import Gap, TurnEnded
from planwire.relay.actions import HoldBack
from tests.agents.driving import JournalledTalk
from tests.lab.checker import broken, kept_in
from tests.lab.client import SHARED, Writer, reap, settings_after
from tests.lab.history import Ended, Heard, Line, text_of, token_of
from tests.wire import entry, line, plan, removed, text

_R = TypeVar("_R")
SCHEDULES = [60, pytest.param(2_000, marks=[pytest.mark.lab, pytest.mark.timeout(400)])]


class Killed(BaseException):
    """The process that made the call is gone."""


class World:
    """One server, the journals of several processes, and a clock that only this moves."""

    def __init__(self, draw: Random, trouble: float) -> None:
        self.draw = draw
        self.trouble = trouble
        self.server = MemoryStore()
        self.now = 0.0
        self.history: list[Line] = []
        self.busy: set[str] = set()
        self.others: Callable[[], None] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def is_set(self) -> bool:
        return False

    def wait(self, timeout: float) -> object:
        self.now += timeout
        return False

    def chance(self, likely: float) -> bool:
        return self.draw.random() < likely * self.trouble


class FarStore:
    """The server's store as a process reaches it: before and after each call others may act, the connection may break,
    and the process may be killed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._holders: set[str] = set()

    def append(self, appends: Sequence[Append]) -> Sequence[Appended | Exception]:
        return self._through(lambda: self._world.server.append(appends))

    def alive(self, holder: str, seconds: float | None = None) -> bool:
        if seconds:
            self._holders.add(holder)
        return self._through(lambda: self._world.server.alive(holder, seconds))

    def tail(self, after: int | None) -> Generator[Any, None, None]:
        return self._world.server.tail(after)

    def end_process(self) -> None:
        for holder in self._holders:
            self._world.server.alive(holder, 0)

    def close(self) -> None:
        """The server stays."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._world.server, name)
        if not callable(found):
            return found
        return lambda *given, **named: self._through(lambda: found(*given, **named))

    def _through(self, call: Callable[[], _R]) -> _R:
        world = self._world
        world.sleep(world.draw.random())
        if world.chance(0.3):
            world.others()
        for is_done in (False, True):
            if is_done:
                found = call()
            if world.chance(0.06):
                raise EngineAway("the server did not answer")
            if world.chance(0.01):
                raise Killed
        return found


def clocked(world: World, patch: pytest.MonkeyPatch) -> None:
    """Let what waits in a journal go by the clock of the world."""
    for name in ("appends.sleep", "appends.monotonic", "away.delivery.monotonic"):
        patch.setattr(f"planwire.journal.{name}", getattr(world, name.rpartition(".")[2]))
    patch.setattr("planwire.journal.appends.random", world.draw.random)


def raced(draw: Random) -> list[str]:
    """What is wrong after some writers raced."""
    world = World(draw, draw.choice([0.0, 0.5, 1.0, 2.0]))
    names = [f"writer{number}" for number in range(draw.randint(1, 4))]
    stores: dict[str, FarStore] = {}
    writers: dict[str, Writer] = {}

    def opened(name: str) -> StoreJournal:
        stores[name] = FarStore(world)
        return StoreJournal(stores[name])

    def act(name: str) -> None:
        """Another call of a writer, which is started anew if it was killed."""
        world.busy.add(name)
        try:
            if name not in writers:
                settings = settings_after(world.history, name, str(draw.random()), is_away=False)
                writers[name] = Writer(settings, lambda: opened(name), world.history.append, world)
                writers[name].begin()
            writers[name].one_call()
        except Killed:
            writers.pop(name)
            stores.pop(name).end_process()
            world.history.append(Ended(name, -9))
        finally:
            world.busy.discard(name)

    def others() -> None:
        if free := [each for each in names if each not in world.busy]:
            act(draw.choice(free))

    with pytest.MonkeyPatch.context() as patch:
        clocked(world, patch)
        world.others = others
        for _ in range(draw.randint(5, 40)):
            others()
        world.trouble, world.others = 0.0, lambda: None
        for name in names:
            act(name)
            writers[name].end()
        journal = StoreJournal(world.server)
        reap(journal)
        for found in journal.follow(0, timeout=0):
            recorded = found.recorded
            world.history.append(
                Heard("follower", found.position, recorded.session, recorded.seq, token_of(recorded.event))
            )
        return [*map(str, verify(journal).troubles), *broken(world.history, kept_in(journal))]


def delivered(draw: Random, folder: Path) -> list[str]:
    """What is wrong after appends waited that drainers delivered which were cut off and killed."""
    world = World(draw, draw.choice([0.0, 1.0, 3.0]))
    waiting: list[tuple[str, str]] = []
    server = StoreJournal(world.server)
    with pytest.MonkeyPatch.context() as patch:
        clocked(world, patch)
        patch.setattr(os, "fsync", lambda _: None)
        drainers = [AwayFolder(folder), AwayFolder(folder)]
        for number in range(draw.randint(1, 12)):
            session, token = draw.choice(SHARED), f"waiting.{number}"
            event = Stamped(draw.randrange(1_000), "agent", TurnEnded(text_of(token)))
            base = server.last_seq(session)
            is_lost = draw.random() < 0.3
            if is_lost and draw.random() < 0.5:
                server.append(session, [event])  # its answer was lost
            rows = tuple((row.at, row.by, row.text) for row in encode(session, [event]))
            assert draw.choice(drainers).put(WaitingAppend(session, base, rows, Once("sim", number), is_lost))
            waiting.append((session, token))
            if draw.random() < 0.3:
                _drained(world, drainers, draw)
            if draw.random() < 0.3:
                server.append(draw.choice(SHARED), [Stamped(1, "agent", TurnEnded(text_of(f"other.{number}")))])
        world.trouble = 0.0
        while any(not each.is_empty() for each in drainers):
            _drained(world, drainers, draw)
    kept = {session: [token_of(each.event) for each in server.read(session)] for session in SHARED}
    wrong = [str(each) for each in verify(server).troubles]
    for session in SHARED:
        mine = [token for token in kept[session] if token.startswith("waiting")]
        if sorted(mine) != sorted(token for name, token in waiting if name == session):
            wrong.append(f"waited: {waiting}, delivered: {kept}")
        if any(isinstance(each.event, Gap) for each in server.read(session)):
            wrong.append(f"a gap, though nothing was lost: {kept}")
    return wrong


def _drained(world: World, drainers: list[AwayFolder], draw: Random) -> None:
    """One drainer delivers for a while. Killed, it leaves its lock and what it was at to the next one."""
    place = draw.randrange(len(drainers))
    try:
        drainers[place].deliver(StoreJournal(FarStore(world)), world.now + draw.choice([1.0, 5.0, 1_000.0]))
    except JournalError:
        pass
    except Killed:
        drainers[place] = AwayFolder(drainers[place].folder)


def relayed(draw: Random) -> list[str]:
    """What is wrong after a client, an agent and people talked past each other."""
    said: list[str] = []
    wrong: list[str] = []
    is_on, prompts, others = False, 0, 0
    holds: list[HoldBack] = []
    with open_journal("memory:") as journal:
        talk = JournalledTalk(journal)
        talk.agent(plan(entry("Read"), entry("Write")))
        talk.look()
        for number in range(draw.randint(5, 40)):
            talk.lags = draw.random() < 0.3
            before = len(talk.actions)
            match draw.choice(["prompt", "end", "plan", "words", "comment", "look", "lines", "change", "other"]):
                case "prompt" if not is_on:
                    prompts, is_on = prompts + 1, True
                    talk.prompt(f"prompt {number}")
                case "end" if is_on:
                    talk.end_turn()
                    is_on = False
                case "plan":
                    talk.agent(plan(*(entry(f"step {draw.randrange(5)}") for _ in range(draw.randint(0, 4)))))
                case "change":
                    talk.agent(draw.choice([text("notes", f"# {number}"), removed("notes")]))
                case "words":
                    sent = line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}})
                    if talk.agent(sent)[-1:] != [sent]:
                        wrong.append(f"changed or held back: {sent!r}")
                case "other":
                    others += 1
                    sent = json.dumps({"jsonrpc": "2.0", "method": "_odd", "params": {"n": others}}).encode()
                    if draw.choice([talk.agent, talk.client])(sent) != [sent]:
                        wrong.append(f"changed or held back: {sent!r}")
                case "comment":
                    talk.catch_up()
                    try:
                        talk.say("comment", text=f"remark-{number}.")
                        said.append(f"remark-{number}.")
                    except PlanwireError:
                        pass  # there is no plan at the moment
                case "look":
                    talk.look()
                case "lines":
                    talk.for_agent()
                    talk.for_client()
            holds += [each for each in talk.actions[before:] if isinstance(each, HoldBack)]
            if holds and draw.random() < 0.5:
                talk.policy.overdue(holds.pop(draw.randrange(len(holds))))
        talk.lags = False
        if is_on:
            talk.end_turn()
        talk.look()
        heard = []
        for _ in range(2):
            heard.append(talk.told())
            talk.look()
        to_agent = "".join(repr(each) for each in talk.actions if type(each).__name__ == "ToAgent")
        wrong += [f"told {to_agent.count(each)} times: {each}" for each in said if to_agent.count(each) != 1]
        wrong += [f"told again: {heard[1]}"] if heard[1] else []
        wrong += [str(each) for each in verify(journal).troubles]
        talk.events()
    return wrong


SIMULATIONS: Final = ("raced", "delivered", "relayed")


@pytest.mark.parametrize("count", SCHEDULES)
@pytest.mark.parametrize("simulation", SIMULATIONS)
def test_every_schedule_keeps_all_promises(simulation: str, count: int, draw: Random, tmp_path: Path) -> None:
    begun = monotonic()
    for number in range(count):
        seed = f"{draw.random()}"
        schedule = Random(seed)
        try:
            match simulation:
                case "raced":
                    wrong = raced(schedule)
                case "delivered":
                    wrong = delivered(schedule, tmp_path / str(number))
                case _:
                    wrong = relayed(schedule)
        except BaseException as error:
            error.add_note(f"in schedule {number} of this seed: Random({seed!r})")
            raise
        assert wrong == [], f"in schedule {number} of this seed: Random({seed!r})"
    print(f"{count / (monotonic() - begun):.0f} schedules a second")
