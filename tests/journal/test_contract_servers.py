"""What every journal on a server does when that is killed, stopped, restored or cut off: each test runs on all of
them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic

import pytest

from planwire.errors import EngineAway, JournalUnavailable
from planwire.journal import Journal, Once, follower, follower_of
from planwire.journal.engines import open_engine
from planwire.journal.verifying import verify
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.own import ENGINES_WITH_SERVERS, OwnServer, own_server
from tests.waiting import until

LOST = "has lost its last events: a backup was restored"


@pytest.fixture(params=ENGINES_WITH_SERVERS)
def own(request: pytest.FixtureRequest) -> Iterator[OwnServer]:
    with own_server(request.param) as made:
        yield made


def written(journal: Journal, *texts: str, once: Once | None = None) -> bool:
    """Append, unless the server is away."""
    with suppress(EngineAway):
        return bool(journal.append("s", said(*texts), once=once))
    return False


def written_or_heard(journal: Journal, text: str, heard: list[str]) -> bool:
    """The same; what else is wrong is heard."""
    try:
        return written(journal, text, once=Once("k", 2))
    except JournalUnavailable as error:
        heard.append(str(error))
        return False


def test_a_server_that_is_killed_in_mid_append_loses_no_acknowledged_append_and_doubles_none(own: OwnServer) -> None:
    with open_engine(own.url) as journal, open_engine(own.url) as other, ThreadPoolExecutor(2) as pool:
        done: list[int] = []

        def write() -> None:
            for n in range(300):
                until(lambda n=n: written(journal, str(n), once=Once("spool", n)), PATIENCE)  # type: ignore[misc]
                done.append(n)

        seen: list[str] = []
        unsubscribe = follower_of(other).subscribe(lambda followed: seen.extend(words([followed.recorded])))
        writing = pool.submit(write)
        for share in (60, 150):
            until(lambda share=share: len(done) > share)  # type: ignore[misc]
            own.server.kill()
            own.server.start()
        writing.result(PATIENCE)
        expected = list(map(str, range(300)))
        assert words(journal.read("s")) == expected
        until(lambda: len(seen) >= 300)
        assert seen[-300:] == expected[-300:]
        assert verify(journal).troubles == []
        unsubscribe()


def test_a_server_that_is_down_is_away_soon_and_later_back(own: OwnServer) -> None:
    with open_engine(own.url) as journal:
        journal.append("s", said("one"))
        own.server.stop()
        begun = monotonic()
        for ask in (
            lambda: journal.append("s", said("two")),
            lambda: journal.last_seq("s"),
            journal.sessions,
            lambda: list(journal.follow(0, timeout=0)),
        ):
            with pytest.raises(EngineAway, match="is away"):
                ask()
        assert monotonic() - begun < PATIENCE
        own.server.start()
        until(lambda: written(journal, "two", once=Once("k", 1)))
        assert words(journal.read("s")) == ["one", "two"]


def test_a_follower_goes_on_after_cuts_and_misses_nothing(own: OwnServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "RETRY", 0.02)
    with open_engine(own.url) as journal, open_engine(own.url) as writer:
        seen: list[str] = []
        unsubscribe = follower_of(journal).subscribe(lambda followed: seen.extend(words([followed.recorded])))
        for number in map(str, range(4)):
            until(lambda number=number: written(writer, number, once=Once("k", int(number))))  # type: ignore[misc]
            until(lambda number=number: seen[-1:] == [number])  # type: ignore[misc]
            own.network.cut()
        unsubscribe()
        assert seen == list(map(str, range(4)))


def test_a_journal_that_ends_before_what_a_follower_had_is_said_and_followed_from_its_end(
    own: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "RETRY", 0.02)
    with open_engine(own.url) as journal:
        journal.append("s", said("one"))
        own.server.keep()
        seen: list[str] = []
        troubles: list[str] = []
        unsubscribe = follower_of(journal).subscribe(
            lambda followed: seen.extend(words([followed.recorded])), trouble=lambda each: troubles.append(str(each))
        )
        until(lambda: written(journal, "lost", once=Once("k", 1)))
        until(lambda: written(journal, "lost as well", once=Once("k", 2)))
        until(lambda: len(seen) == 2)
        own.server.lose_the_rest()
        until(lambda: troubles[-1:] == ["None"] and any(LOST in each for each in troubles), PATIENCE)
        with open_engine(own.url) as other:
            other.append("s", said("two"))
        until(lambda: seen[2:] == ["two"], PATIENCE)
        with open_engine(own.url) as other:
            assert words(other.read("s")) == ["one", "two"]
            assert verify(other).troubles == []
        unsubscribe()


def test_a_writer_that_knows_what_its_server_lost_says_so_or_builds_on_what_is_there(own: OwnServer) -> None:
    with open_engine(own.url) as journal:
        journal.append("s", said("one"))
        own.server.keep()
        until(lambda: written(journal, "lost", once=Once("k", 1)))
        own.server.lose_the_rest()
        heard: list[str] = []
        until(lambda: written_or_heard(journal, "two", heard))
        assert heard == [] or LOST in heard[0]
        assert words(journal.read("s")) == ["one", "two"]
        assert verify(journal).troubles == []
