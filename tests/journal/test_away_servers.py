"""Real servers behind `open_journal`: a login that they refuse, and users who may only look."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from planwire.errors import EngineAway, JournalUnavailable, LoginRefused
from planwire.journal import Stamped, open_journal
from planwire.journal.away.delivery import AwayFolder
from planwire.journal.engines import open_engine
from planwire.journal.user_files import away_path
from planwire.journal.waiting import refusal_of
from planwire.model.events import COMMENT, ContextCompacted, PlanSet, Remarked, TurnEnded
from planwire.model.names import made_name
from planwire.relay.actions import Meet, Record
from planwire.relay.journalled import open_for_recording
from planwire.relay.recorder import Recorder
from tests.cli.answers import answer
from tests.journal.test_contract import said, words
from tests.journals import items
from tests.servers import nats
from tests.servers.own import ENGINES_WITH_SERVERS, own_server
from tests.servers.postgres import PASSWORD, postgres
from tests.waiting import until

#: By engine, the URL of an empty journal, and the password in it.
SERVERS: Final[dict[str, tuple[Callable[[], str], str]]] = {
    "postgresql": (lambda: postgres().fresh_url(local=False), PASSWORD),
    "jetstream": (nats.fresh_url, nats.PASSWORD),
}


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.mark.parametrize("engine", SERVERS)
def test_what_is_recorded_while_a_login_is_refused_waits_for_the_right_one(engine: str) -> None:
    fresh, password = SERVERS[engine]
    url = fresh()
    with open_journal(url.replace(password, "wr0ng")) as journal:
        with pytest.raises(EngineAway, match=r"refuses this login.*[Cc]orrect the user, the password") as refused:
            journal.sessions()
        assert "wr0ng" not in str(refused.value)
        assert (refusal_of(journal) or "?") in str(refused.value)
        journal.append("s", said("one", "two"))
    folder = away_path(url)
    assert not AwayFolder(folder).is_empty()
    with open_journal(url) as journal:  # others may have another login: nobody told them that the server is away
        assert refusal_of(journal) is None
        assert words(journal.read("s")) == ["one", "two"]
    assert AwayFolder(folder).is_empty()


@pytest.mark.parametrize(
    ("right", "wrong", "word"),
    [
        ("//postgres:", "//nobody:", "authentication failed"),
        (f":{PASSWORD}@", "@", "no password"),
        ("/postgres?", "/nowhere?", "does not exist"),
    ],
)
def test_every_login_that_postgresql_refuses_is_said_to_be_one(right: str, wrong: str, word: str) -> None:
    url = postgres().fresh_url(local=False).replace(right, wrong)
    with pytest.raises(LoginRefused, match=rf"refuses this login: .*{word}.*\. Correct the user"):
        open_engine(url)


@pytest.mark.parametrize("engine", SERVERS)
def test_a_relay_says_once_that_its_login_is_refused_and_doctor_says_it_too(engine: str) -> None:
    fresh, password = SERVERS[engine]
    url = fresh().replace(password, "wr0ng")
    heard: list[str] = []
    recorder = Recorder(lambda: open_for_recording(url), lambda *_: None, say=heard.append)
    recorder.start()
    recorder.put(Meet("s1", True, "agent 1", "/p"), 0)
    recorder.put(Record("s1", TurnEnded("end_turn")), 100)
    recorder.wake()
    until(lambda: heard)
    recorder.put(Record("s1", TurnEnded("end_turn")), 100)
    assert recorder.close(20) is None
    [said] = heard
    assert "refuses this login" in said
    assert "what is recorded waits on this machine" in said
    assert "wr0ng" not in said
    assert "refuses this login" in answer("doctor", "--journal", url).out


DELIVERING = """
import sys
from planwire import journal
from planwire.journal.spool import Segment
done = Segment.done
def _done(self):
    done(self)
    print("done", flush=True)
    sys.stdin.readline()
Segment.done = _done
journal.open_journal(sys.argv[1])
"""


@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_what_names_messages_that_a_killed_drainer_delivered_names_the_same_ones_in_the_end(engine: str) -> None:
    with own_server(engine) as server:
        folder = AwayFolder(away_path(server.url))
        with open_journal(server.url) as journal:
            journal.append("s", said("one"))
            server.network.cut(refuse=True)
            with pytest.raises(EngineAway):
                journal.last_position()
            [_, plan] = journal.append("s", [*said("two"), Stamped(1, "agent", PlanSet(items("main", "pending")))])
            (folder.folder / "count").unlink()
            (folder.folder / "spool").rename(folder.folder / f"sealed-{1:020d}-of-a-drainer")
            journal.append("s", [Stamped(1, "user", Remarked("main", COMMENT, "why?", revision=plan.seq))])
            name = made_name(plan)
            journal.append("s", [Stamped(1, "agent", ContextCompacted((name,), (), "compact", ""))])
        server.network.recover()
        (folder.folder / "away").unlink()
        command = [sys.executable, "-c", DELIVERING, server.url]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as drainer:
            assert drainer.stdout
            assert drainer.stdout.readline() == "done\n"
            drainer.kill()
        assert not folder.is_empty()
        with open_journal(server.url) as journal:
            until(folder.is_empty)
            *_, plan, remark, compacted = journal.read("s")
        assert isinstance(remark.event, Remarked)
        assert remark.event.revision == 1
        assert isinstance(compacted.event, ContextCompacted)
        assert compacted.event.kept == (made_name(plan),)


def test_a_user_who_may_only_look_looks_and_hears_what_to_grant_for_more() -> None:
    url = postgres().fresh_url(local=False)
    schema, reader = url.rpartition("=")[2], f"reader_{os.getpid()}"
    with open_engine(url) as journal:
        journal.append("s", said("one"))
    with postgres().connect() as connection:
        connection.execute(f"CREATE ROLE {reader} LOGIN PASSWORD '{PASSWORD}'".encode())
        theirs = url.replace("//postgres:", f"//{reader}:")
        with pytest.raises(JournalUnavailable, match=rf"GRANT the user USAGE ON SCHEMA {schema}, and SELECT ON ALL"):
            open_journal(theirs)
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {reader}".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}".encode())
    with open_journal(theirs) as journal:
        assert words(journal.read("s")) == ["one"]
        for write in (lambda: journal.append("s", said("two")), lambda: journal.forget("s")):
            with pytest.raises(JournalUnavailable, match=r"denied for table \w+\).*INSERT, UPDATE and DELETE"):
                write()
