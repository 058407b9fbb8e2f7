"""Which journal a URL names."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from planwire.errors import JournalUnavailable, UnknownJournal
from planwire.journal import open_journal
from planwire.journal.engines import is_remote, open_engine, shared_url
from planwire.journal.memory import MemoryJournal
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.user_files import VARIABLE, default_path


def path_of(url: str | Path | None) -> Path:
    with open_journal(url) as journal:
        assert isinstance(journal, SqliteJournal)
        return journal.path


def test_a_path_and_a_sqlite_url_name_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    expected = tmp_path / "a b.db"
    urls: list[str | Path] = [
        "a b.db",
        "./a b.db",
        expected,
        str(expected),
        "sqlite:a b.db",
        "SQLITE:a b.db",
        "~/a b.db",
    ]
    urls += [f"sqlite:{expected}", f"sqlite://{expected}", "sqlite:~/a b.db"]
    assert {path_of(url) for url in urls} == {expected}


@pytest.mark.parametrize("name", ["odd?mode=ro#%41.db", "ü.db", "a:b.db", "x", "100%"])
def test_no_character_of_a_path_has_a_meaning_of_its_own(tmp_path: Path, name: str) -> None:
    assert path_of(tmp_path / name) == tmp_path / name
    assert path_of(f"sqlite:{tmp_path / name}") == tmp_path / name
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_memory_is_a_new_journal_each_time() -> None:
    with open_journal("memory:") as one, open_journal("memory:") as other:
        assert isinstance(one, MemoryJournal)
        assert one is not other


@pytest.mark.parametrize("url", ["postgresql:db", "mysql://host/db", "http:x", "memory:x", "my:file"])
def test_an_unknown_url_is_refused_with_those_that_are_known(url: str) -> None:
    with pytest.raises(UnknownJournal, match=r"known are a path, sqlite:PATH, .* memory:, postgresql://HOST/DATABASE"):
        open_journal(url)


@pytest.mark.parametrize(
    "url", ["postgresql://ann:pa55@h/d\udc80", "nats://ann:pa55@h/\udc80", "tls://h/X?creds=\udc80"]
)
def test_the_url_of_a_server_with_bytes_that_are_no_text_is_refused(url: str) -> None:
    for use in (open_journal, open_engine, shared_url, is_remote):
        with pytest.raises(UnknownJournal, match="has bytes that are not UTF-8") as caught:
            use(url)
        assert "pa55" not in str(caught.value)


@pytest.mark.parametrize("value", ["nosuchmodule:ENGINE", "planwire:NO_SUCH_NAME", "planwire:PlanSession"])
def test_an_engine_of_another_package_that_can_not_be_loaded_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    installed = tmp_path / "broken-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(f"[planwire.journals]\nbroken = {value}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnknownJournal, match=value):
        open_journal("broken://u:secret@h/x")


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with engines: one that works, some that fail, and one that would take the place of ours."""
    (tmp_path / "added_engines.py").write_text(
        """
from planwire.journal.engines import Engine
from planwire.journal.memory import MemoryJournal

def fail(rest, *_):
    raise RuntimeError(f"no luck with {rest}")

WORKS = Engine("works://NAME", lambda rest, create: MemoryJournal() if rest[2:] else None, "works:{}".format)
FAILS = Engine("fails://NAME", fail, fail)
AWAY = Engine("away://NAME", fail, "away:{}".format, remote=True, load=lambda: fail("its driver"))
"""
    )
    installed = tmp_path / "added-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    rows = {"works": "WORKS", "fails": "FAILS", "away": "AWAY", "sqlite": "FAILS"}
    lines = [f"{scheme} = added_engines:{name}\n" for scheme, name in rows.items()]
    (installed / "entry_points.txt").write_text("[planwire.journals]\n" + "".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("added_engines", None)


@pytest.mark.usefixtures("added")
def test_another_package_adds_an_engine_and_takes_the_place_of_none(tmp_path: Path) -> None:
    with open_journal("works://x") as journal:
        assert isinstance(journal, MemoryJournal)
    assert shared_url("works://x") == "works://x"
    assert path_of(f"sqlite:{tmp_path / 'journal.db'}") == tmp_path / "journal.db"
    with pytest.raises(UnknownJournal, match=r"known are .*sqlite:PATH.* and works://NAME"):
        open_journal("works://")


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("use", [open_journal, shared_url])
def test_what_the_engine_of_another_package_raises_is_an_error_of_a_journal_and_tells_no_password(
    use: Callable[[str], object],
) -> None:
    with pytest.raises(JournalUnavailable, match=r"engine for fails: .*RuntimeError: no luck with //h/x"):
        use("fails://h/x")
    with pytest.raises(JournalUnavailable, match=r"engine for fails: .*\(RuntimeError\)") as failed:
        use("fails://u:hunter2@h/x")
    assert "hunter2" not in str(failed.value)
    with pytest.raises(JournalUnavailable, match="no luck with its driver"):
        open_journal("away://h/x")


@pytest.mark.parametrize("url", ["", "sqlite:", "sqlite://", "sqlite://host/path", "sqlite:a\0b", "a\0b"])
def test_a_url_without_a_file_is_refused(url: str) -> None:
    with pytest.raises(UnknownJournal, match="names no file"):
        open_journal(url)


@pytest.mark.parametrize("url", ["~no-such-user/x.db", "sqlite:~no-such-user/x.db"])
def test_a_home_that_is_not_there_is_said_so(url: str) -> None:
    for use in (open_journal, shared_url):
        with pytest.raises(UnknownJournal, match="there is no home folder for '~no-such-user"):
            use(url)


def test_the_environment_names_the_journal_if_nobody_else_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "named.db"))
    assert path_of(None) == tmp_path / "named.db"
    assert path_of(tmp_path / "other.db") == tmp_path / "other.db"
    monkeypatch.setenv(VARIABLE, "memory:")
    with open_journal() as journal:
        assert isinstance(journal, MemoryJournal)


def test_the_default_is_in_the_folder_for_the_data_of_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert path_of(None) == default_path() == tmp_path / "data" / "planwire" / "journal.db"
    monkeypatch.setenv("XDG_DATA_HOME", "")
    assert default_path() == tmp_path / ".local" / "share" / "planwire" / "journal.db"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_path() == tmp_path / "Library" / "Application Support" / "planwire" / "journal.db"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert default_path() == tmp_path / "Local" / "planwire" / "journal.db"
