"""Who gets into a journal on NATS, and by what: passwords, tokens, keys, credentials, certificates, contexts."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from planwire.cli import main
from planwire.errors import EngineAway, JournalUnavailable, PlanwireError, UnknownJournal
from planwire.journal.engines import open_engine
from planwire.journal.jetstream import client as jetstream_client
from planwire.journal.jetstream import stream as jetstream_stream
from planwire.journal.jetstream.journal import JetStreamJournal
from planwire.journal.jetstream.settings import read_settings
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.nats import PASSWORD, NatsServer, fresh_name, server, shared
from tests.servers.nats_logins import certificates, key_pair, operator
from tests.waiting import until


class Login(NamedTuple):
    """A way to log in: what the server is told, what the URL says before and behind the name, what a context says
    instead, and what nobody else may see."""

    settings: str
    users: str
    before: str
    behind: str
    context: dict[str, str]
    secrets: tuple[str, ...]


def password(folder: Path) -> Login:
    users = "authorization { users: [ { user: ann, password: pa55-word } ] }"
    return Login("", users, "ann:pa55-word@", "", {"user": "ann", "password": "pa55-word"}, ("pa55-word",))


def token(folder: Path) -> Login:
    users = "authorization { token: t0ken-word }"
    return Login("", users, "t0ken-word@", "", {"token": "t0ken-word"}, ("t0ken-word",))


def nkey(folder: Path) -> Login:
    pair, path = key_pair(), folder / "ann.nk"
    path.write_bytes(pair.seed + b"\n")
    users = f"authorization {{ users: [ {{ nkey: {pair.public_key.decode()} }} ] }}"
    return Login("", users, "", f"?nkey={path}", {"nkey": str(path)}, (pair.seed.decode(),))


def credentials(folder: Path) -> Login:
    users, path = operator(folder), folder / "ann.creds"
    lines = path.read_text().splitlines()
    return Login("", users, "", f"?creds={path}", {"creds": str(path)}, (lines[1], lines[5]))


def certificate(folder: Path) -> Login:
    certificates(folder)
    files = {name: str(folder / file) for name, file in (("ca", "ca.pem"), ("cert", "ann.pem"), ("key", "ann.key"))}
    settings = (
        f'tls {{ cert_file: "{folder}/server.pem", key_file: "{folder}/server.key", ca_file: "{folder}/ca.pem", '
        "verify_and_map: true }"
    )
    users = 'authorization { users: [ { user: "CN=ann" } ] }'
    behind = "?" + "&".join(f"tls_{name}={path}" for name, path in files.items())
    return Login(settings, users, "", behind, files, ((folder / "ann.key").read_text().splitlines()[1],))


LOGINS: list[Callable[[Path], Login]] = [password, token, nkey, credentials, certificate]


@contextmanager
def running(login: Login) -> Iterator[NatsServer]:
    with server(login.settings, login.users) as started:
        yield started


def write_context(folder: Path, name: str, **values: str) -> Path:
    path = folder / "nats" / "context" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(values))
    return path


@pytest.mark.parametrize("kind", LOGINS, ids=lambda kind: kind.__name__)
def test_a_login_gets_in_by_the_url_and_by_a_context_and_shows_no_secret(
    kind: Callable[[Path], Login], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    login = kind(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with running(login) as started:
        write_context(tmp_path, "team", url=f"nats://127.0.0.1:{started.port}", description="a team", **login.context)
        own, stranger = started.url("X", login.behind, login.before), started.url("X", login="")
        shown = []
        for url in (own, "nats:///X?context=team"):
            with open_engine(url) as journal:
                journal.append("s", said("one"))
                shown += [str(journal.facts()), repr(read_settings(url))]
        assert words(open_engine(own).read("s")) == ["one", "one"]
        with pytest.raises(EngineAway) as refused:
            open_engine(stranger)
        started.stop()
        with pytest.raises(EngineAway) as away:
            open_engine(own)
    printed = capfd.readouterr()
    assert printed == ("", "")
    shown += [str(refused.value), str(away.value)]
    assert not [secret for secret in login.secrets for text in shown if secret in text]


def wrong_password(folder: Path, login: Login) -> str:
    return "ann:wr0ng-word@"


def another_key(folder: Path, login: Login) -> str:
    (folder / "ann.nk").write_bytes(key_pair().seed)
    return ""


def another_seed(folder: Path, login: Login) -> str:
    path = folder / "ann.creds"
    path.write_text(path.read_text().replace(login.secrets[1], key_pair().seed.decode()))
    return ""


def another_name(folder: Path, login: Login) -> str:
    for end in ("pem", "key"):
        (folder / f"ann.{end}").write_bytes((folder / f"server.{end}").read_bytes())
    return ""


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [(password, wrong_password), (nkey, another_key), (credentials, another_seed), (certificate, another_name)],
    ids=lambda each: each.__name__,
)
def test_a_wrong_login_is_refused_soon(
    kind: Callable[[Path], Login], spoil: Callable[[Path, Login], str], tmp_path: Path
) -> None:
    login = kind(tmp_path)
    with running(login) as started:
        before = spoil(tmp_path, login)
        with pytest.raises(
            EngineAway, match="refuses this login: correct the user, the password, the token or"
        ) as error:
            open_engine(started.url("X", login.behind, before))
    assert "wr0ng-word" not in str(error.value)


@pytest.mark.parametrize(("name", "content"), [("creds", "a-s3cret-line"), ("nkey", "SUa-s3cret-line"), ("nkey", None)])
def test_a_file_that_is_no_login_is_named_and_not_shown(name: str, content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "login"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UnknownJournal, match=rf"{path}.*[Ll]ook at {name}") as error:
        open_engine(shared().url("X", f"?{name}={path}", login=""))
    assert "s3cret-line" not in str(error.value)


def test_what_the_url_says_goes_before_what_the_context_says(tmp_path: Path) -> None:
    path = write_context(tmp_path, "team", url="nats://nowhere.invalid", user="bob", password="of another")
    name = fresh_name()
    with open_engine(shared().url(name, f"?context={path}")) as journal:
        assert words(journal.append("s", said("one"))) == ["one"]


def test_no_secret_is_printed_by_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    url = shared().url(fresh_name())
    open_engine(url).close()
    for given in (url, url.replace(PASSWORD, "wr0ng-word"), url + "?oops=1", url.replace("nats:", "tls:")):
        main(["journal", "info", "--journal", given])
        printed = "".join(capsys.readouterr())
        assert f"127.0.0.1:{shared().port}" in printed
        assert PASSWORD not in printed
        assert "wr0ng-word" not in printed


# What a login may do

READER = """authorization { users: [
  { user: planwire, password: s3cret-word }
  { user: reader, password: r, permissions: {
      publish: ["$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.>", "$JS.API.CONSUMER.*.>",
                "$JS.FC.>"]
      subscribe: "_INBOX.>" } }
  { user: writer, password: w, permissions: {
      publish: ["W.>", "$KV.>", "$JS.API.>", "$JS.FC.>"], subscribe: "_INBOX.>" } }
  { user: slow, password: s, permissions: { publish: { deny: "$JS.FC.>" }, subscribe: "_INBOX.>" } }
  { user: nobody, password: n, permissions: { publish: { deny: ">" }, subscribe: "_INBOX.>" } }
  { user: deaf, password: d, permissions: { publish: ">", subscribe: "other" } }
  { user: own, password: o, permissions: { publish: ">", subscribe: "_OWN.>" } }
] }"""


@pytest.fixture(scope="module")
def guarded() -> Iterator[NatsServer]:
    with server(users=READER) as started:
        yield started


def test_a_login_that_may_only_read_reads_and_is_told_at_once_what_it_may_not_do(guarded: NatsServer) -> None:
    with open_engine(guarded.url("R")) as journal, JetStreamJournal(guarded.url("R", login="reader:r@")) as reader:
        journal.append("s", said("one"))
        assert words(reader.read("s")) == ["one"]
        assert words([each.recorded for each in reader.follow(0, timeout=0)]) == ["one"]
        assert [each.id for each in reader.sessions()] == ["s"]
        reader.keep_snapshot("s", 1, b"x")
        assert reader.snapshot("s") is None
        for ask in (
            lambda: reader.append("s", said("two")),
            lambda: reader.append("s", said("x" * 3_000_000)),
            lambda: reader.forget("s"),
            lambda: reader.lease("s"),
        ):
            with pytest.raises(JournalUnavailable, match=r"this login may not publish to .* on the NATS server") as no:
                ask()
            assert not isinstance(no.value, EngineAway)
        assert words(journal.append("s", said("two"))) == ["two"]
        assert words(reader.read("s")) == ["one", "two"]


def test_a_login_with_the_documented_permissions_can_do_everything(guarded: NatsServer) -> None:
    with open_engine(guarded.url("W", login="writer:w@")) as journal:
        large = os.urandom(1_000_000).hex()
        journal.append("s", said("one", large))
        assert words([each.recorded for each in journal.follow(0, timeout=0)]) == ["one", large]
        journal.keep_snapshot("s", 1, b"x")
        journal.lease("s")
        assert journal.snapshot("s") is not None
        assert [each.is_held for each in journal.leases()] == [True]
        journal.forget("s")
        assert (journal.sessions(), journal.leases()) == ([], [])


def test_a_follower_that_may_not_ask_for_more_is_told_so(guarded: NatsServer) -> None:
    with open_engine(guarded.url("F")) as journal, open_engine(guarded.url("F", login="slow:s@")) as slow:
        for _ in range(80):
            journal.append("s", said(os.urandom(25_000).hex()))
        with pytest.raises(JournalUnavailable, match=r"may not publish to \$JS\.FC\.>"):
            list(slow.follow(0, timeout=PATIENCE))


@pytest.mark.parametrize(
    ("login", "problem"),
    [
        ("nobody:n@", r"may not publish to \$JS\.API\.STREAM\.INFO"),
        ("deaf:d@", r"may not subscribe to _INBOX\.> .* gets no answers"),
    ],
)
def test_a_login_that_may_do_nothing_is_told_so_at_once(guarded: NatsServer, login: str, problem: str) -> None:
    with pytest.raises(PlanwireError, match=problem):
        open_engine(guarded.url("R", login=login))


def test_a_login_that_is_made_deaf_and_may_hear_again_goes_on_without_a_trace_on_the_screen(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(jetstream_stream, "LOOK_AGAIN", 0.02)
    monkeypatch.setattr(jetstream_client, "LISTEN_AGAIN", 0.1)
    user = '{ user: planwire, password: s3cret-word, permissions: { publish: ">", subscribe: ">" } }'
    with server(users=f"authorization {{ users: [ {user} ] }}") as own, JetStreamJournal(own.url()) as journal:
        configuration, inbox = own.folder / "server.conf", journal._connection._inbox

        def permit(old: str, new: str) -> None:
            written = configuration.read_text().replace(f'subscribe: "{old}"', f'subscribe: "{new}"')
            configuration.write_text(written)
            assert own.process is not None
            own.process.send_signal(signal.SIGHUP)

        def is_deaf() -> bool:
            try:
                journal.append("s", said("one"))
            except JournalUnavailable as error:
                return "so it gets no answers" in str(error)
            return False

        journal.append("s", said("one"))
        permit(">", "other")
        until(is_deaf)
        refusals = inbox.refusals
        until(lambda: inbox.refusals > refusals + 1)  # it tries again, and is deaf all the time
        assert is_deaf()
        permit("other", ">")
        until(lambda: not is_deaf())
        assert words(journal.append("s", said("last"))) == ["last"]
    assert caplog.text == ""


def test_a_context_may_name_where_answers_are_heard(guarded: NatsServer, tmp_path: Path) -> None:
    path = write_context(tmp_path, "own", user="own", password="o", inbox_prefix="_OWN")
    with open_engine(guarded.url("O", f"?context={path}", login="")) as journal:
        journal.append("s", said("one"))
        assert words([each.recorded for each in journal.follow(0, timeout=0)]) == ["one"]
