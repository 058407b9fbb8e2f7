"""Real servers that fall silent: whoever records does not wait for them, and one process looks for all of them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from planwire.errors import EngineAway
from planwire.hooks import thin_hook
from planwire.journal import open_journal
from planwire.journal.away.delivery import AwayFolder
from planwire.journal.away.outage import AWAY, LATELY, SharedOutage
from planwire.journal.hook_folders import make_hooks_path
from planwire.journal.jetstream import client as jetstream_client
from planwire.journal.jetstream import journal as jetstream_journal
from planwire.journal.postgres import line as postgres_line
from planwire.journal.postgres import server as postgres_server
from planwire.journal.user_files import away_path
from planwire.journal.waiting import MOMENT, is_away
from planwire.model.events import TurnEnded
from planwire.relay.actions import Meet, Record
from planwire.relay.journalled import open_for_recording
from planwire.relay.recorder import Recorder
from tests.journal.test_contract import said, words
from tests.servers import nats
from tests.servers.postgres import postgres
from tests.servers.proxy import Proxy, proxy_to
from tests.waiting import until

ENTRY: Final = Path(thin_hook.__file__).with_name("entry.py")
#: How long engines wait for servers that go away in mid-work.
PATIENCE: Final = (
    (postgres_server, "ANSWER_TIMEOUT"),
    (postgres_line, "PATIENCE"),
    (jetstream_journal, "PATIENCE"),
    (jetstream_client, "AWAY"),
)
SERVERS: Final = {"postgresql": lambda: postgres().fresh_url(local=False), "jetstream": nats.fresh_url}


class SilentServer:
    """A journal on a server behind a network that has fallen silent."""

    def __init__(self, url: str, network: Proxy) -> None:
        self.url = url.replace(f":{urlsplit(url).port}/", f":{network.port}/")
        self.folder = AwayFolder(away_path(self.url))
        self.network = network
        open_journal(self.url).close()  # so that there is one, and all that it takes is imported
        network.fall_silent()
        self._before = network.connections

    @property
    def tried(self) -> int:
        """The connections that anybody tried to make since."""
        return self.network.connections - self._before


@pytest.fixture(params=SERVERS)
def silent(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SilentServer]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    url = SERVERS[request.param]()
    with proxy_to("127.0.0.1", urlsplit(url).port or 0) as network:
        yield SilentServer(url, network)


def test_what_a_relay_records_is_on_the_disk_while_it_still_tries_to_connect(silent: SilentServer) -> None:
    recorder = Recorder(lambda: open_for_recording(silent.url), lambda *_: None)
    recorder.start()
    recorder.put(Meet("s1", True, "agent 1", "/p"), 0)
    recorder.put(Record("s1", TurnEnded("end_turn")), 100)
    recorder.wake()
    until(lambda: [*silent.folder.waiting()], 3)  # a connection is given up later than that
    [waiting] = silent.folder.waiting()
    assert b"end_turn" in waiting.body
    silent.network.recover()
    until(silent.folder.is_empty)
    assert recorder.close(20) is None
    with open_journal(silent.url) as journal:
        [session] = journal.sessions()
        assert words(journal.read(session.id)) == ["end_turn"]


@pytest.mark.parametrize("is_silent", [True, False], ids=["silent", "gone"])
def test_what_a_relay_records_is_soon_on_the_disk_when_the_server_goes_away_in_mid_work(
    silent: SilentServer, monkeypatch: pytest.MonkeyPatch, is_silent: bool
) -> None:
    for module, name in PATIENCE:
        monkeypatch.setattr(module, name, 60.0)
    silent.network.recover()
    with open_for_recording(silent.url) as journal:
        until(lambda: not is_away(journal))
        journal.append("s", said("before"))
        silent.network.fall_silent() if is_silent else silent.network.cut(refuse=True)
        journal.append("s", said("meanwhile"))
        assert [b"meanwhile" in each.body for each in silent.folder.waiting()] == [True]
        silent.network.recover()
        until(silent.folder.is_empty)
        assert words(journal.read("s")) == ["before", "meanwhile"]


def test_one_process_finds_out_and_the_next_goes_ahead_without_a_connection(silent: SilentServer) -> None:
    silent.folder.folder.mkdir(parents=True, exist_ok=True)  # as it is once anybody has looked at a session
    with open_journal(silent.url, patience=MOMENT / 10) as first:
        assert is_away(first)
        most = 2 if silent.url.startswith("nats") else 1  # that looks first whether anybody listens
        until(lambda: silent.tried == most)
        aged(silent.folder.folder, 10)  # it found out a while ago, and still looks
        with open_journal(silent.url) as second:
            assert is_away(second)
            second.append("s", said("one"))
            with pytest.raises(EngineAway, match="why"):
                second.sessions()
        assert silent.tried == most


def test_a_hook_that_tells_does_not_wait_for_a_server_that_somebody_found_silent(silent: SilentServer) -> None:
    folder = make_hooks_path(silent.url)
    assert folder is not None
    SharedOutage(silent.folder.folder).note("it is silent")
    assert thin_hook.is_away(str(folder))
    payload = {"session_id": "abc", "hook_event_name": "UserPromptSubmit", "cwd": "/p", "prompt": "go"}
    hook = subprocess.run(
        [sys.executable, "-S", "-I", ENTRY, "tell", folder, "claude-code"],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=True,
    )
    assert (hook.stdout, hook.stderr) == (b"", b"")
    assert silent.tried == 0
    assert (folder / "spool").exists()


# What processes tell each other


def test_hooks_and_journals_agree_on_how_long_an_outage_is_news() -> None:
    assert thin_hook.LATELY == LATELY


def aged(folder: Path, seconds: float) -> SharedOutage:
    """An outage that somebody saw so long ago."""
    outage = SharedOutage(folder)
    outage.note("why")
    then = (folder / AWAY).stat().st_mtime - seconds
    os.utime(folder / AWAY, (then, then))
    return outage


def test_how_long_to_wait_depends_on_who_waits_and_on_what_others_found(tmp_path: Path) -> None:
    forever = float("inf")
    assert (SharedOutage(tmp_path).patience(None), SharedOutage(tmp_path).patience(0.5)) == (forever, 0.5)
    assert (aged(tmp_path, 0).patience(None), aged(tmp_path, 0).patience(0.5)) == (1.0, 0)
    assert (aged(tmp_path, 10).patience(None), aged(tmp_path, 10).patience(0.5)) == (1.0, 0.5)
    assert (aged(tmp_path, 100).patience(None), aged(tmp_path, 100).patience(0.5)) == (forever, 0.5)


def test_a_command_sees_for_itself_what_is_quick_to_see(tmp_path: Path) -> None:
    outage = SharedOutage(tmp_path)
    outage.note("nothing listens there", 0.01)
    assert (outage.patience(None), outage.patience(0.5)) == (1.0, 0)
    outage.note("it is silent", 4.0)
    assert outage.patience(None) == 0


def test_one_process_looks_at_a_time_and_nobody_waits_for_one_that_is_stuck(tmp_path: Path) -> None:
    first, second = SharedOutage(tmp_path), aged(tmp_path, 10)
    with first.look() as is_first:
        assert is_first
        assert second.patience(None) == 0
        with second.look() as is_second:
            assert not is_second
        stuck = aged(tmp_path, 30)
        assert stuck.patience(None) > 0
        with stuck.look() as is_ours:
            assert is_ours
    with second.look() as is_second:
        assert is_second


def test_a_network_that_is_slow_is_given_more_time_than_a_moment(tmp_path: Path) -> None:
    outage = SharedOutage(tmp_path)
    outage.note_answer(0.1)
    assert not (tmp_path / "slow").exists()
    outage.note_answer(0.8)
    assert outage.patience(0.5) == 1.6
    outage.note_answer(0.7)
    assert outage.patience(0.5) == 1.6
    outage.note_answer(30)
    assert outage.patience(0.5) == 2.0
    outage.note_answer(0.01)
    assert outage.patience(0.5) == 0.5
