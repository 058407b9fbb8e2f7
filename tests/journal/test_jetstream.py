"""Journals on NATS: what the server refuses, forgets and survives, who gets in, and what nobody gets to read."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from itertools import islice
from pathlib import Path
from time import monotonic

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from planwire.errors import (
    Conflict,
    EngineAway,
    JournalUnavailable,
    NewerJournal,
    NoJournal,
    NotAJournal,
    UnknownJournal,
    UnstorableEvent,
)
from planwire.journal import (
    Once,
    Stamped,
    Terms,
    jetstream_api,
    jetstream_client,
    jetstream_follow,
    jetstream_leases,
    open_journal,
)
from planwire.journal.engines import open_engine, shown_url
from planwire.journal.jetstream import JetStreamJournal
from planwire.journal.jetstream_api import Batch
from planwire.journal.jetstream_client import Unanswered
from planwire.journal.jetstream_messages import StreamMessage
from planwire.journal.jetstream_wire import WireMessage
from planwire.model.events import TurnEnded
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.nats import PASSWORD, NatsServer, cluster, free_port, fresh_name, fresh_url, server, shared
from tests.waiting import until

KEY = Once("a page", 1)


@pytest.fixture
def own() -> Iterator[NatsServer]:
    """A server to stop."""
    with server() as running:
        yield running


@pytest.fixture
def journal() -> Iterator[JetStreamJournal]:
    with JetStreamJournal(fresh_url()) as opened:
        yield opened


def same(journal: JetStreamJournal) -> JetStreamJournal:
    """The same journal, opened again."""
    return JetStreamJournal(shared().url(journal._name))


# Writers who don't know of each other


def test_a_writer_with_old_knowledge_is_refused_if_it_minds_and_goes_on_if_not(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    with same(journal) as other:
        other.append("s", said("two"))
        with pytest.raises(Conflict) as refused:
            journal.append("s", said("late"), 1)
        assert (refused.value.expected, refused.value.current) == (1, 2)
        other.append("s", said("three"))
        assert journal.append("s", said("four"))[0].seq == 4
        assert words(other.read("s")) == ["one", "two", "three", "four"]


def test_a_writer_finds_out_that_its_session_was_forgotten_by_another(journal: JetStreamJournal) -> None:
    journal.append("s", said("old", "old"), once=KEY)
    journal.keep_snapshot("s", 2, b"old")
    with same(journal) as other:
        other.forget("s")
        assert words(journal.append("s", said("new"), once=KEY)) == ["new"]
        assert [each.seq for each in other.read("s")] == [1]
        assert other.snapshot("s") is None


def test_processes_that_race_lose_nothing(journal: JetStreamJournal) -> None:
    code = """
import sys
from planwire.journal import Stamped, open_journal
from planwire.journal.engines import open_engine
from planwire.model.events import TurnEnded
with open_journal(sys.argv[1]) as journal:
    for n in range(100):
        journal.append("s", [Stamped(1, "a", TurnEnded(f"{sys.argv[2]} {n}"))])
"""
    url = shared().url(journal._name)
    racers = [subprocess.Popen([sys.executable, "-c", code, url, name]) for name in "ab"]
    assert [racer.wait(PATIENCE) for racer in racers] == [0, 0]
    found = words(journal.read("s"))
    for name in "ab":
        assert [word for word in found if word[0] == name] == [f"{name} {n}" for n in range(100)]


# Keys and lost answers


def test_a_key_holds_when_the_server_has_long_forgotten_the_ids_of_messages(journal: JetStreamJournal) -> None:
    config = journal._stream.info()["config"]
    journal._api.call(f"STREAM.UPDATE.{journal._name}", **{**config, "duplicate_window": 100_000_000})
    first = journal.append("s", said("one"), once=KEY)
    journal.append("s", said("two"))
    head = b"NATS/1.0\r\nNats-Msg-Id: probe\r\n\r\n"

    def is_forgotten() -> bool:
        """Whether the server takes a second message with the id of one that came after ours."""
        reply = journal._connection.request(f"{journal._name}.events.probe", b"", head)
        return b"duplicate" not in reply.body

    is_forgotten()
    until(is_forgotten)
    with same(journal) as other:
        for each in (journal, other):
            assert each.append("s", said("other"), 7, KEY) == first
        assert words(other.read("s")) == ["one", "two"]


@pytest.mark.parametrize("lost", [1, 2])
def test_an_append_whose_answer_got_lost_is_written_once(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    journal.append("s", said("before"))
    ask, sent = journal._connection.request, []

    def lose(subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
        reply = ask(subject, body, headers, timeout)
        sent.append(headers)
        if len(sent) <= lost:
            raise Unanswered("lost")
        return reply

    monkeypatch.setattr(journal._connection, "request", lose)
    assert journal.append("s", said("one"))[0].seq == 2
    assert len({headers for headers in sent if headers}) == 1  # it is the same message each time
    assert words(journal.read("s")) == ["before", "one"]


def test_an_append_is_found_though_the_server_forgot_its_id(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the id were new to the server: then only the place of the message is taken, by itself."""
    journal.append("s", said("before"))
    ask, sent = journal._connection.request, []

    def lose(subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
        sent.append(subject)
        if len(sent) == 2:
            headers = headers.replace(b"Nats-Msg-Id: ", b"Nats-Msg-Id: another-")
        reply = ask(subject, body, headers, timeout)
        if len(sent) == 1:
            raise Unanswered("lost")
        return reply

    monkeypatch.setattr(journal._connection, "request", lose)
    assert journal.append("s", said("one"))[0].seq == 2
    assert words(journal.read("s")) == ["before", "one"]
    assert journal.append("s", said("two"))[0].seq == 3


def test_a_server_that_is_killed_in_the_middle_loses_no_acknowledged_append_and_doubles_none(own: NatsServer) -> None:
    with open_journal(own.url()) as journal, ThreadPoolExecutor(1) as pool:
        done: list[int] = []

        def work() -> None:
            for n in range(300):
                while len(done) == n:
                    with suppress(EngineAway):
                        journal.append("s", said(str(n)), once=Once("spool", n))
                        done.append(n)

        working = pool.submit(work)
        for share in (60, 150):
            until(lambda share=share: len(done) > share)  # type: ignore[misc]
            own.kill()
            own.start()
        working.result(PATIENCE)
        assert words(journal.read("s")) == list(map(str, range(300)))


def test_a_server_that_is_away_is_said_so_soon_and_works_again_when_it_is_back(own: NatsServer) -> None:
    with open_engine(own.url()) as journal:
        journal.append("s", said("one"))
        own.stop()
        start = monotonic()
        for ask in (lambda: journal.append("s", said("two")), journal.sessions, lambda: list(journal.follow(0))):
            with pytest.raises(EngineAway, match=r"127\.0\.0\.1.* is away .*: start it"):
                ask()
        assert monotonic() - start < 5
        own.start()

        def is_back() -> bool:
            with suppress(EngineAway):
                return bool(journal.append("s", said("two"), once=KEY))
            return False

        until(is_back)
        assert words(journal.read("s")) == ["one", "two"]


# Followers


def test_a_follower_goes_on_across_a_restart_of_the_server(own: NatsServer) -> None:
    with open_journal(own.url()) as journal, open_journal(own.url()) as writer, ThreadPoolExecutor(1) as pool:
        following = journal.follow(0, timeout=PATIENCE)
        seen = pool.submit(lambda: [each.recorded for each in islice(following, 40)])
        for n in range(20):
            writer.append("s", said(str(n)))
        own.restart()
        for n in range(20, 40):
            writer.append("s", said(str(n)))
        assert words(seen.result(PATIENCE)) == list(map(str, range(40)))


def test_a_follower_that_sleeps_while_much_is_written_loses_nothing_and_holds_little(journal: JetStreamJournal) -> None:
    following = journal.follow(0, timeout=PATIENCE)
    journal.append("s", said("first"))
    assert words([next(following).recorded]) == ["first"]
    large = "x" * 50_000
    for n in range(400):
        journal.append("s", said(f"{n} {large}"))
    found = words([each.recorded for each in islice(following, 400)])
    assert [each.split()[0] for each in found] == list(map(str, range(400)))


def test_a_follower_whose_consumer_the_server_lost_makes_another(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream_follow, "HEARTBEAT", 0.1)
    monkeypatch.setattr(jetstream_follow, "SILENCE", 0.5)
    following = journal.follow(0, timeout=PATIENCE)
    journal.append("s", said("one"))
    next(following)
    [name] = journal._api.call(f"CONSUMER.NAMES.{journal._name}", offset=0)["consumers"]
    journal._api.call(f"CONSUMER.DELETE.{journal._name}.{name}")
    journal.append("s", said("two"))
    assert words([next(following).recorded]) == ["two"]


def test_followers_leave_no_consumers_behind(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    list(journal.follow(0, timeout=0))
    journal.append("s", [], once=KEY)
    until(lambda: not journal._stream.info()["state"]["consumer_count"])


def test_events_of_many_sessions_are_followed_in_the_order_of_the_stream(journal: JetStreamJournal) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: [journal.append(f"s{n}", said(str(i))) for i in range(25)], range(4)))
    found = list(journal.follow(0, timeout=0))
    positions = [each.position for each in found]
    assert positions == sorted(positions)
    assert len(found) == 100
    for n in range(4):
        mine = [each.recorded for each in found if each.recorded.session == f"s{n}"]
        assert words(mine) == list(map(str, range(25)))


# Size


def test_an_append_that_is_too_large_for_the_server_is_refused_with_the_limit(journal: JetStreamJournal) -> None:
    with pytest.raises(UnstorableEvent, match=r"takes 1,048,576.*nothing was written.*max_payload"):
        journal.append("s", said(os.urandom(1_500_000).hex()))
    assert journal.last_seq("s") == 0
    journal.append("s", said("x" * 5_000_000))  # which can be compressed
    assert len(words(journal.read("s"))[0]) == 5_000_000


def test_messages_that_many_threads_send_at_once_stay_whole(journal: JetStreamJournal) -> None:
    """Large ones do not fit the socket at once, and small ones must not get in between."""
    client = journal._connection._client
    assert client is not None
    assert client._transport._handle is not None
    client._transport._handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    kept = {n: os.urandom(440_000 if n % 2 else 10).hex() for n in range(8)}

    def work(n: int) -> None:
        for _ in range(5):
            journal.append(f"s{n}", said(kept[n]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, kept))
    for n, word in kept.items():
        assert words(journal.read(f"s{n}")) == [word] * 5
    assert not journal._connection.was_interrupted


def test_a_snapshot_that_is_too_large_is_dropped(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    journal.keep_snapshot("s", 1, os.urandom(1_100_000))
    assert journal.snapshot("s") is None


def test_the_tail_of_a_long_session_is_read_without_the_rest(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(1_500):
        journal.append("s", said(str(n)))
        if n % 10 == 0:
            journal.append("t", said("between"))
    taken: list[int] = []
    near, page = journal._api.near, journal._api.page

    def counted_near(stream: str, subject: str, number: int) -> StreamMessage | None:
        taken.append(1)
        return near(stream, subject, number)

    def counted_page(stream: str, subject: str, number: int, most: int) -> Batch:
        found = page(stream, subject, number, most)
        taken.append(len(found.messages))
        return found

    monkeypatch.setattr(journal._api, "near", counted_near)
    monkeypatch.setattr(journal._api, "page", counted_page)
    for after in (1_499, 1_495, 700, 3):
        taken.clear()
        assert words(journal.read("s", after, after + 3)) == list(map(str, range(after, min(after + 3, 1_500))))
        assert sum(taken) < 150, (after, taken)


def test_what_did_not_change_is_not_asked_for_again(journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(30):
        journal.append(f"s{n}", said("one"))
    assert len(journal.sessions()) == 30
    asked: list[str] = []
    last_of = journal._api.last_of

    def noted(stream: str, subjects: Sequence[str]) -> list[StreamMessage]:
        asked.extend(subjects)
        return last_of(stream, subjects)

    monkeypatch.setattr(journal._api, "last_of", noted)
    journal.sessions()
    journal.append("s3", said("two"))
    assert [each.last_seq for each in journal.sessions()][2:5] == [1, 2, 1]
    assert asked == [f"{journal._name}.events.s3"]


# Leases


def test_a_holder_on_another_machine_lapses_when_the_server_has_not_heard_of_it_for_long(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = journal.lease("s", Terms("relay"))
    with same(journal) as other:
        monkeypatch.setattr(jetstream_leases, "this_machine", lambda: "elsewhere")
        assert [each.is_held for each in other.leases()] == [True]
        journal._leases._alive.purge(journal._leases._holder)  # as the server does after 30 seconds
        [lapsed] = other.leases()
        assert not lapsed.is_held
        other.end_lease(lapsed, said("over"))
        assert other.leases() == [lapsed]  # one who has only just come can't know
        other._connection.was_interrupted = True
        assert [each.is_held for each in other.leases()] == [True]
        other._connection.was_interrupted = False
        other._connection.since -= jetstream_leases.TTL
        other.end_lease(lapsed, said("over"))
        other.end_lease(lapsed, said("over"))
        assert other.leases() == []
        assert words(other.read("s")) == ["over"]
    held.release()


def test_a_lease_that_was_ended_but_not_removed_is_not_ended_twice(
    journal: JetStreamJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        journal.lease("s", Terms("hook", process=f"{process.pid}-never"))
        process.communicate(b"")
    [lapsed] = journal.leases()
    with monkeypatch.context() as crash:
        crash.setattr(journal._leases, "remove", lambda _: None)
        journal.end_lease(lapsed, said("over"), 0)
    journal.end_lease(lapsed, said("over"), 0)
    assert journal.leases() == []
    assert words(journal.read("s")) == ["over"]


def test_holders_say_that_they_are_alive_as_soon_as_the_server_is_back(own: NatsServer) -> None:
    with open_journal(own.url()) as journal, JetStreamJournal(own.url()) as other:
        journal.lease("s")
        [row] = other._leases._leases.rows()
        holder = msgspec.json.decode(row.value)["holder"]
        other._leases._alive.purge(holder)
        own.restart()
        until(lambda: other._leases._alive.get(holder) is not None)


# URLs, logins and secrets


def test_nobody_at_the_address_is_said_soon(tmp_path: Path) -> None:
    start = monotonic()
    with pytest.raises(EngineAway, match="Connection refused"):
        open_engine(f"nats://127.0.0.1:{free_port()}/X")
    assert monotonic() - start < 2


def test_no_error_and_no_fact_holds_a_password_or_a_token(own: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jetstream_client, "AWAY", 0.2)
    with pytest.raises(JournalUnavailable, match="refuses this login") as refused:
        open_engine(own.url(login="planwire:wr0ng-word@"))
    with pytest.raises(JournalUnavailable, match="refuses this login") as also_refused:
        open_engine(own.url(login="t0ken-word@"))
    with open_engine(own.url()) as journal:
        facts = journal.facts()
        own.stop()
        with pytest.raises(EngineAway) as away:
            journal.append("s", said("one"))
    with pytest.raises(EngineAway) as never_there:
        open_engine(own.url())
    with pytest.raises(UnknownJournal) as unknown:
        open_engine(own.url(more="?oops=1"))
    texts = [f"{each.value} {each.value.__cause__}" for each in (refused, also_refused, away, never_there, unknown)]
    for text in (*texts, str(facts)):
        assert not any(secret in text for secret in (PASSWORD, "wr0ng-word", "t0ken-word"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("nats://t0ken@host/X", "nats://***@host/X"),
        ("tls://t0ken@host", "tls://***@host"),
        ("nats://user:pass@host/X?creds=/a/b&replicas=3", "nats://user:***@host/X?creds=***&replicas=3"),
        ("nats://host/X?context=team", "nats://host/X?context=team"),
    ],
)
def test_a_url_is_shown_without_what_is_secret(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ("//h/X?replica=3", r"unknown setting replica: known are context, creds, nkey, replicas, tls_ca"),
        ("//h/X?replicas=many", r"replicas=many is no number of replicas"),
        ("//h/a.b", r"'a\.b' can't be the name of a journal's stream"),
        ("//h:x/a", r"names no host"),
        ("//h/a?context=no-such-context", r"context 'no-such-context' can't be read"),
    ],
)
def test_a_url_that_says_what_nobody_understands_is_refused(rest: str, problem: str) -> None:
    with pytest.raises(UnknownJournal, match=problem):
        open_journal(f"nats:{rest}")


def test_who_only_reads_creates_no_journal() -> None:
    url = fresh_url()
    with pytest.raises(NoJournal, match=r"there is no journal at nats://127\.0\.0\.1"):
        open_journal(url, create=False)
    open_journal(url).close()
    open_journal(url, create=False).close()


def test_a_stream_that_is_not_ours_or_newer_stays_as_it_is(journal: JetStreamJournal) -> None:
    for description, error in (("orders", NotAJournal), ("planwire journal, format 2", NewerJournal)):
        name = fresh_name()
        journal._api.call(f"STREAM.CREATE.{name}", name=name, subjects=[f"{name}.x"], description=description)
        with pytest.raises(error, match=name):
            open_journal(shared().url(name))


def test_a_server_without_jetstream_is_told_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jetstream_api, "OPENING", 0.5)
    with server() as running:
        config = running.folder / "server.conf"
        config.write_text("\n".join(line for line in config.read_text().splitlines() if "jetstream" not in line))
        running.restart()
        with pytest.raises(JournalUnavailable, match=r"JetStream"):
            open_engine(running.url())


def test_a_journal_that_was_deleted_under_its_users_says_so(journal: JetStreamJournal) -> None:
    journal.append("s", said("one"))
    journal._api.call(f"STREAM.DELETE.{journal._name}")
    for ask in (journal.sessions, journal.last_position, lambda: journal.last_seq("s")):
        with pytest.raises(JournalUnavailable, match="the journal was deleted while it was open"):
            ask()


def test_a_context_of_the_nats_command_brings_servers_and_login(
    journal: JetStreamJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append("s", said("one"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    context = {"url": f"nats://127.0.0.1:{shared().port}", "user": "planwire", "password": PASSWORD, "description": "x"}
    path = tmp_path / "nats" / "context" / "team.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(msgspec.json.encode(context))
    for url in (f"nats:///{journal._name}?context=team", f"nats:///{journal._name}?context={path}"):
        with open_journal(url, create=False) as other:
            assert words(other.read("s")) == ["one"]


def test_tls_protects_the_connection_and_an_unknown_server_is_refused(tmp_path: Path) -> None:
    certificates(tmp_path)
    tls = f'tls {{ cert_file: "{tmp_path}/server.pem", key_file: "{tmp_path}/server.key" }}'
    with server(tls) as running:
        url = running.url("X").replace("nats:", "tls:")
        with open_engine(f"{url}?tls_ca={tmp_path}/ca.pem") as journal:
            assert words(journal.append("s", said("one"))) == ["one"]
            assert words([each.recorded for each in journal.follow(0, timeout=0)]) == ["one"]
        with pytest.raises(EngineAway, match=r"(?i)certificate"):
            open_engine(url)
    with pytest.raises(UnknownJournal, match=r"certificates of the journal .* can't be read"):
        open_engine(f"{url}?tls_ca={tmp_path}/none.pem")


def certificates(folder: Path) -> None:
    """An authority of our own, and a certificate for a server on this machine."""
    keys = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("ca", "server")}
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "planwire tests")])
    for name, key in keys.items():
        subject = issuer if name == "ca" else x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(name == "ca", None), critical=True)
        names = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
        made = builder.add_extension(names, critical=False).sign(keys["ca"], hashes.SHA256())
        (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / f"{name}.key").write_bytes(private)


def test_without_nats_py_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["nats"] = None
from planwire.errors import MissingExtra
from planwire.journal import open_journal
try:
    open_journal("nats://host/X")
except MissingExtra as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert said.stdout == "a journal on NATS needs nats-py: pip install 'planwire[nats]'\n"


def test_a_journal_does_not_cross_a_fork(journal: JetStreamJournal) -> None:
    journal._connection.owner = -1
    with pytest.raises(JournalUnavailable, match="forked off: open it again here"):
        journal.append("s", said("one"))
    journal._connection.owner = os.getpid()


def test_the_number_of_replicas_is_told_when_it_is_not_what_the_url_asks_for(journal: JetStreamJournal) -> None:
    with open_journal(shared().url(journal._name, "?replicas=3")) as other:
        facts = other.facts()
    assert facts.facts["replicas"] == f"1 (the URL asks for 3: nats stream edit {journal._name} --replicas 3)"
    assert "sync_interval" in facts.promise


# Replicas


def _appends_while_the_leader_is_killed(appends: int) -> None:
    with cluster() as nodes, open_journal(nodes.url()) as journal, ThreadPoolExecutor(1) as pool:
        assert "2 of 3 replicas" in journal.facts().promise
        done: list[int] = []
        stop = threading.Event()

        def work() -> None:
            while len(done) < appends and not stop.is_set():
                n = len(done)
                with suppress(EngineAway):
                    journal.append("s", [Stamped(n, "agent", TurnEnded(str(n)))], once=Once("spool", n))
                    done.append(n)

        following = journal.follow(0, timeout=120)
        working = pool.submit(work)
        try:
            until(lambda: len(done) > appends // 4, 120)
            first = nodes.leader()
            first.kill()
            until(lambda: len(done) > appends // 2, 120)
            first.start()
            working.result(600)
        finally:
            stop.set()
        expected = list(map(str, range(appends)))
        assert words(journal.read("s")) == expected
        assert words([each.recorded for each in islice(following, appends)]) == expected


def test_three_replicas_lose_nothing_when_their_leader_is_killed() -> None:
    _appends_while_the_leader_is_killed(200)


@pytest.mark.torture
def test_three_replicas_lose_nothing_when_their_leader_is_killed_during_ten_thousand_appends() -> None:
    _appends_while_the_leader_is_killed(10_000)
