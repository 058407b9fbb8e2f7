"""URLs with secrets: nobody sees them in output, command lines or settings, and hooks find their journal without."""

import json
import os
import socket
import stat
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.cli import _parsed, main
from planwire.cli.board_process import board_process
from planwire.cli.journal_secrets import hide_at_once, hide_secret, take_hidden, with_journal
from planwire.errors import NoJournal, UnknownJournal
from planwire.journal import Journal, KnownSession, engines, open_journal
from planwire.journal.engines import Engine, unrevealing_url
from planwire.journal.hook_folders import hooks_path, journal_of_hooks, make_hooks_path
from planwire.journal.memory import MemoryJournal
from planwire.journal.postgres.server import JournalServer
from planwire.journal.shown_urls import has_secret, shown_url
from planwire.journal.user_files import VARIABLE, away_path
from planwire.own_process import own_command
from tests.waiting import until

SECRET = "s3cret"
PG = f"postgresql://ann:{SECRET}@db.example/plans"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A server's journal; the list has the URLs by which it was opened."""
    opened: list[str] = []
    journal = MemoryJournal()
    monkeypatch.setattr(journal, "close", lambda: None)

    def open_it(rest: str, _create: bool) -> Journal:
        opened.append(f"postgresql:{rest}")
        return journal

    row = Engine("postgresql://HOST/DATABASE", open_it, lambda rest: f"postgresql:{rest}", remote=True)
    monkeypatch.setitem(engines._ENGINES, "postgresql", row)
    return opened


# What people see


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (PG, "postgresql://ann:***@db.example/plans"),
        ("postgresql://ann@db.example/plans", "postgresql://ann@db.example/plans"),
        ("postgresql://db.example:5432/plans?sslmode=require", "postgresql://db.example:5432/plans?sslmode=require"),
        (f"postgresql://h/d?user=ann&password={SECRET}&x=1", "postgresql://h/d?user=ann&password=***&x=***"),
        (f"postgresql://h/d?pasword={SECRET}&options=-c%20a={SECRET}", "postgresql://h/d?pasword=***&options=***"),
        (f"postgresql://h/d?password=a&{SECRET}&x=1", "postgresql://h/d?password=***&x=***"),
        (f"postgresql://ann:{SECRET}@h1:1,h2:2/d", "postgresql://ann:***@h1:1,h2:2/d"),
        (f"nats://{SECRET}@host", "nats://***@host"),
        (f"nats://{SECRET}@h1,{SECRET}@h2:4222/X", "nats://***@h2:4222/X"),
        (f"nats://ann:{SECRET}@host/X?creds=/a/b&replicas=3", "nats://ann:***@host/X?creds=***&replicas=3"),
        (f"tls://host/x#{SECRET}", "tls://host/x#***"),
        (f"postgresql:/ann:{SECRET}@h/d", "postgresql:/ann:***@h/d"),
        (f"host=h password={SECRET} dbname=d", "host=h password=*** dbname=d"),
        (f"//ann:{SECRET}@h/d", "//ann:***@h/d"),
        (f"sqlite://ann:{SECRET}@h/d", "sqlite://ann:***@h/d"),
        (f"a:{SECRET}@h/d", "a:***@h/d"),
        (f"sqlite:a:{SECRET}@h/d", "sqlite:a:***@h/d"),
        (f" postgresql://ann:{SECRET}@h/d", " postgresql://ann:***@h/d"),
        (f"host=h password='my {SECRET}' dbname=d", "host=h password=*** dbname=d"),
        ("C:/Users/ann@work/plans.db", "C:/Users/ann@work/plans.db"),
        (r"C:\Users\ann@work\plans.db", r"C:\Users\ann@work\plans.db"),
        ("sqlite:ann@work.db", "sqlite:ann@work.db"),
        ("/home/ann@work/plans.db", "/home/ann@work/plans.db"),
        ("sqlite:/a@b#c.db", "sqlite:/a@b#c.db"),
        ("memory:", "memory:"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert shown_url(url) == shown
    assert shown_url(shown) == shown
    assert has_secret(url) == (SECRET in url and "#" not in url)


secrets = st.text(min_size=1, max_size=12).map(lambda text: f"{text}{SECRET}{text}")
#: Where a secret can stand in a URL, however little of it is encoded. Behind a # or an & another part begins.
places = st.sampled_from(
    [
        "postgresql://ann:{}@host/db",
        "postgres://:{}@host:5432/db?sslmode=require",
        "postgresql://ann:{}@h1,bo:{}@h2:1/db",
        "nats://{}@host",
        "nats://{}@h1:4222,{}@h2:4222,{}@h3",
        "tls://ann:{}@[::1]:4222/NAME?replicas=3",
        "nats://ann:{}@h1,h2/NAME?token={}",
        "other+tls://{}@host/x",
        "postgresql:ann:{}@host",
    ]
)
settings = st.sampled_from(
    [
        "postgresql://host/db?password={}&sslmode=require",
        "postgresql://host/db?sslpassword={}",
        "nats://host?seed={}&replicas=1",
        "nats://host?x=1&auth_token={}",
        "x://host?API_KEY={}",
    ]
)


@given(places, secrets)
def test_no_secret_before_a_host_survives(place: str, secret: str) -> None:
    assert SECRET not in shown_url(place.replace("{}", secret).replace("?token=" + secret, ""))
    assert has_secret(place.replace("{}", secret))


@given(settings, secrets)
def test_no_secret_in_a_setting_survives(place: str, secret: str) -> None:
    if not any(each in "&@" or each.isspace() for each in secret):
        assert SECRET not in shown_url(place.replace("{}", secret))


@pytest.mark.parametrize(
    "url",
    [
        f"my:{SECRET}@x",
        f"//ann:{SECRET}@h/x",
        f"sqlite://ann:{SECRET}@h/x",
        f"ftp://ann:{SECRET}@h/x",
        f"memory://ann:{SECRET}@h?password={SECRET}",
    ],
)
def test_an_error_about_a_url_has_none_of_its_secrets(url: str) -> None:
    with pytest.raises(UnknownJournal) as caught:
        open_journal(url)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:SEK@RET@127.0.0.1:1/d",
        "postgresql://ann:SEK/RET@127.0.0.1:1/d",
        "nats://ann:SEK@RET@127.0.0.1:1/X",
        "nats://ann:SEK/RET@127.0.0.1:1/X",
    ],
)
def test_a_password_that_was_not_encoded_is_refused_and_no_part_of_it_shown(url: str) -> None:
    with pytest.raises(UnknownJournal, match="as %25, %40") as caught:
        open_journal(url)
    assert "SEK" not in str(caught.value)
    assert "RET" not in str(caught.value)


@pytest.mark.parametrize("url", ["a:{}@h/d", " nats://ann:{}@h/d", "nats ://ann:{}@h/d", "nats//ann:{}@h/d"])
def test_an_error_about_a_path_that_was_meant_as_a_url_has_none_of_its_secrets(url: str) -> None:
    with pytest.raises(NoJournal) as caught:
        open_journal(url.format(SECRET))
    assert SECRET not in str(caught.value)


# Files that hold a URL


def test_a_file_can_hold_the_url(tmp_path: Path) -> None:
    (tmp_path / "url").write_text(f"sqlite:{tmp_path}/j.db\n")
    with open_journal(f"@{tmp_path}/url") as journal:
        assert journal.sessions() == list[KnownSession]()
    assert (tmp_path / "j.db").exists()
    assert hooks_path("@~/url") == Path(f"{tmp_path}/j.db-hooks")


@pytest.mark.parametrize("text", [None, b"", b"@other", b"\xff"])
def test_a_file_without_a_url_is_refused(tmp_path: Path, text: bytes | None) -> None:
    if text is not None:
        (tmp_path / "url").write_bytes(text)
    with pytest.raises(UnknownJournal, match="URL of a journal"):
        open_journal(f"@{tmp_path}/url")


def test_a_file_with_more_than_a_url_is_refused_and_nothing_of_it_shown(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("# the team's journal\npostgresql://ann:SEKRET@h/d\n")
    with pytest.raises(UnknownJournal, match="leave one line in it") as caught:
        open_journal(f"@{tmp_path / 'url'}")
    assert "SEKRET" not in str(caught.value)


def test_a_file_in_the_home_of_nobody_is_refused() -> None:
    for use in (open_journal, unrevealing_url):
        with pytest.raises(UnknownJournal, match="there is no home folder"):
            use("@~nosuchuser/url")


def test_a_url_with_a_secret_goes_into_a_private_file(served: list[str]) -> None:
    named = unrevealing_url(PG)
    path = Path(named.removeprefix("@"))
    assert SECRET not in named
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    open_journal(named).close()
    assert served == [PG]
    assert unrevealing_url(named) == named
    assert unrevealing_url("postgresql://ann@h/d") == "postgresql://ann@h/d"


# Hooks


@pytest.mark.usefixtures("served")
def test_the_hooks_of_a_server_s_journal_have_a_private_folder_that_leads_back_to_it(home: Path) -> None:
    folder = make_hooks_path(PG)
    assert folder is not None
    assert folder == hooks_path(PG)
    assert folder.is_relative_to(home / "data/planwire/hooks")
    assert SECRET not in str(folder)
    assert journal_of_hooks(folder) == PG
    assert {stat.S_IMODE(each.stat().st_mode) for each in (folder, folder / "journal-url")} == {0o700, 0o600}
    another = PG.replace(SECRET, "changed")
    assert make_hooks_path(another) == folder, "a new password is no new journal"
    assert journal_of_hooks(folder) == another
    assert hooks_path("postgresql://ann@db.example/other") != folder
    assert hooks_path("memory:") is None
    with pytest.raises(UnknownJournal, match="planwire setup"):
        journal_of_hooks(home / "nowhere")


def test_another_account_s_journal_has_another_folder() -> None:
    urls = [
        f"nats://h/P?{account}" for account in ("creds=/a.creds", "creds=b.creds", "nkey=/a.nk", "context=team", "")
    ]
    urls += ["nats://ann:one@h/P", "nats://bob:one@h/P"]
    assert len({away_path(url) for url in urls}) == len(urls)
    assert away_path("nats://ann:two@h/P") == away_path("nats://ann:one@h/P"), "a new password is no new journal"
    assert away_path("nats://one@h/P") == away_path("nats://two@h/P"), "nor is a new token"
    assert away_path("postgresql://ann@h/d?password=1") == away_path("postgresql://ann@h/d?password=2")


def test_what_a_hook_says_reaches_the_journal_of_a_server(
    served: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from planwire.hooks.drained import folder_of_hooks, open_drained, open_journal_of
    from planwire.journal.spool_append import append, encode_note

    monkeypatch.delenv("PLANWIRE_AGENT", raising=False)
    folder = folder_of_hooks(PG)
    assert folder is not None
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": "/work", "prompt": "Port it"}
    note = {"at": "1", "role": "record", "agent": "claude-code", "ancestors": "", "variables": ""}
    assert append(str(folder), encode_note(note), json.dumps(prompt).encode())
    with open_drained(PG) as journal:
        assert [each.id for each in journal.sessions()] == ["s1"]
    with open_journal_of(folder) as journal:
        assert [each.id for each in journal.sessions()] == ["s1"]
    assert served == [PG, PG]
    monkeypatch.setenv(VARIABLE, PG)
    main(["doctor"])
    assert SECRET not in capsys.readouterr().out


# Command lines and settings


def test_a_secret_on_a_command_line_is_warned_of_once_and_not_repeated(
    served: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["sessions", "--journal", PG, "--ids"]) == 0
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert "PLANWIRE_JOURNAL" in said.err
    assert SECRET not in said.err + said.out
    monkeypatch.setenv(VARIABLE, PG)
    assert main(["sessions", "--ids"]) == 0
    assert main(["sessions", "--ids", "--journal", "postgresql://ann@h/d"]) == 0
    assert capsys.readouterr().err == ""
    assert len(served) == 3


def test_a_secret_in_what_is_copied_is_warned_of_too(
    served: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["journal", "copy", PG, str(tmp_path / "copy.db")]) == 0
    said = capsys.readouterr()
    assert "see the secret in FROM postgresql://" in said.err
    assert SECRET not in said.err + said.out
    assert served


@pytest.mark.usefixtures("served")
def test_settings_for_editors_name_a_private_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    words = ["setup", "zed", "--journal", PG]
    assert main([*words, "--", "my-agent"]) == 0
    assert main([*words, "--write", "--yes", "--file", str(file), "--", "my-agent"]) == 0
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err + file.read_text()
    assert "a file that only you can read" in said.err
    named = unrevealing_url(PG)
    assert named in said.out
    assert named in file.read_text()


def test_a_board_in_a_process_of_its_own_has_no_journal_on_its_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    popen = subprocess.Popen

    def noted(words: list[str], **options: object) -> object:
        started.append(words)
        return popen([sys.executable, "-c", "print('at http://x/')"], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", noted)
    with board_process(str(tmp_path / "j.db"), lambda _: None) as told:
        told.join(10)
    assert str(tmp_path / "j.db") not in started[0]
    assert with_journal("x")[VARIABLE] == "x"
    assert VARIABLE not in with_journal(None)
    assert with_journal(None) == dict(os.environ)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="there is no list of processes to look at here")
@pytest.mark.parametrize(
    "option", [["--journal", PG], [f"--journal={PG}"], [f"--jour={PG}"], ["--journal", "other.db", "--journal", PG]]
)
def test_a_relay_that_was_given_a_secret_does_not_show_it_for_as_long_as_it_runs(option: list[str]) -> None:
    agent = [sys.executable, "-c", "import os; input(); print('s3cret' in str(os.environ))"]
    command = [*own_command(), "relay", *option, "--", *agent]
    shown = "\0".join(["planwire", "relay", "--", *agent, ""]).encode()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as relay:
        until(lambda: Path(f"/proc/{relay.pid}/cmdline").read_bytes().endswith(shown))
        said, warned = relay.communicate(b"\n", 30)
    assert said == b"False\n"
    assert SECRET.encode() not in warned


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="there is no list of processes to look at here")
def test_a_copy_shows_no_secret_for_as_long_as_it_runs(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"nats://ann:{SECRET}@127.0.0.1:{silent.getsockname()[1]}/X"
        command = [*own_command(), "journal", "copy", url, str(tmp_path / "copy.db"), "--json"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as copy:
            silent.settimeout(30)
            silent.accept()[0].close()
            shown = Path(f"/proc/{copy.pid}/cmdline").read_bytes()
            copy.kill()
    assert SECRET.encode() not in shown
    assert shown.endswith(f"{shown_url(url)}\0{tmp_path / 'copy.db'}\0--json\0".encode())


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (
            f"journal copy {PG} {PG}2",
            "journal copy postgresql://ann:***@db.example/plans postgresql://ann:***@db.example/plans2",
        ),
        (f"journal copy --json plans.db {PG}", "journal copy --json plans.db postgresql://ann:***@db.example/plans"),
        (f"journal backup x.db --journal {PG} --force", "journal backup x.db --force"),
        (f"journal restore --journal={PG} x.db", "journal restore x.db"),
        (f"journal verify --journal {PG}", "journal verify"),
        (f"log s1 --journal {PG}", "log s1"),
        (f"import --from codex --journal {PG}", "import --from codex"),
    ],
)
def test_every_command_that_may_last_finds_its_secrets_off_the_command_line(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = command.split()
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda _, words, environment: started.append((words, environment)))
    monkeypatch.setattr(sys, "orig_argv", ["python", "planwire", *words])
    hide_secret(_parsed(words), words[0])
    [(line, environment)] = started
    assert line == ["python", "planwire", *shown.split()]
    monkeypatch.setattr(os, "environ", environment)
    arguments = _parsed(line[2:])
    assert take_hidden(arguments)
    assert vars(arguments) == vars(_parsed(words))
    assert not {PG, f"{PG}2"} & {*environment.values()}


def test_who_starts_over_with_a_hidden_secret_keeps_its_agent_and_its_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = ["my-agent", "--journal", PG, "--db", PG]
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda _, words, environment: started.append((words, environment)))
    monkeypatch.setattr(sys, "orig_argv", ["python", "planwire", "relay", "--journal", "x.db", f"--j={PG}", *agent])
    hide_secret(Namespace(journal=PG, agent=agent), "relay")
    [(words, environment)] = started
    assert words == ["python", "planwire", "relay", *agent]
    assert environment.get(VARIABLE) is None
    monkeypatch.setattr(os, "environ", environment)
    arguments = Namespace(journal=None)
    assert take_hidden(arguments)
    assert arguments.journal == PG
    assert PG not in environment.values()
    assert not take_hidden(arguments)


# What a secret may stand in


SEED = "SU" + 8 * "AB3DEF7"


def test_a_seed_in_the_place_of_its_file_is_refused_and_not_shown() -> None:
    for name in ("nkey", "creds"):
        with pytest.raises(UnknownJournal, match="put it into a file") as caught:
            open_journal(f"nats://127.0.0.1:1/X?{name}={SEED}")
        assert SEED not in str(caught.value)


def test_what_a_server_says_about_its_options_shows_no_value() -> None:
    server = JournalServer(f"postgresql://h/d?options=-c%20work_mem%3D{SECRET}%20-c%20jit%3Don")
    said = server.said(
        psycopg.OperationalError(f'FATAL: invalid value for parameter "work_mem": "{SECRET}", on and on')
    )
    assert said == 'FATAL: invalid value for parameter "work_mem": "***", on and on'


def test_a_file_with_a_secret_that_everybody_can_read_is_named(
    served: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "url"
    path.write_text(PG)
    path.chmod(0o644)
    word = f"planwire: every user of this machine can read the secret of your journal: chmod o-rwx {path}\n"
    assert main(["sessions", "--ids", "--journal", f"@{path}"]) == 0
    assert capsys.readouterr().err == word
    monkeypatch.setenv(VARIABLE, f"@{path}")
    assert main(["sessions", "--ids"]) == 0
    assert capsys.readouterr().err == word
    path.chmod(0o640)
    assert main(["sessions", "--ids"]) == 0
    path.chmod(0o644)
    path.write_text("postgresql://ann@db.example/plans")
    assert main(["sessions", "--ids"]) == 0
    assert capsys.readouterr().err == ""
    assert len(served) == 4


@pytest.mark.parametrize("command", [["show"], ["relay", "--", "cat"], ["board"]])
@pytest.mark.parametrize("option", [["--journal", PG], [f"--j={PG}"], ["--journal", "x.db", "--journal", PG]])
def test_a_secret_is_off_the_command_line_before_the_command_is_even_imported(
    command: list[str], option: list[str]
) -> None:
    words = [command[0], *option, *command[1:]]
    watch = "import os, sys; os.execve = lambda _, words, env: (print(words, [*sys.modules], flush=True), os._exit(7))"
    program = f"{watch}; from planwire.cli import main; main()"
    ended = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 7, ended.stderr
    assert SECRET not in ended.stdout
    assert f"'planwire.cli.{command[0]}'" not in ended.stdout
    assert "msgspec" not in ended.stdout


def test_a_command_without_a_journal_still_refuses_one() -> None:
    ended = subprocess.run([*own_command(), "tools", "--journal", PG], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.partition("\n")[0]) == (2, "planwire: this command takes no --journal")


def test_where_an_agents_words_may_begin_anywhere_they_stay_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(os, "execve", lambda *given: started.append(given))
    hide_at_once(["relay", "my-agent", "--journal", PG])
    hide_at_once(["relay", "--", "my-agent", "--journal", PG])
    hide_at_once(["show", "--journal", PG, "--journal", "x.db"])
    assert started == []
