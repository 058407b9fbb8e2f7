"""Where `planwire journal` writes: over an earlier backup or an earlier note, and over nothing else."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from planwire.cli.exit_codes import DONE, NOT_DONE, USAGE
from planwire.errors import Refused
from planwire.journal import Stamped, Terms, Thought, open_journal
from planwire.journal.backup import back_up
from planwire.journal.sqlite.beside import journal_beside
from planwire.model.events import TurnEnded
from tests.cli.answers import Answer, answer
from tests.journal.test_contract import said
from tests.journal.test_copying import filled
from tests.journal.test_sqlite_archive import mounted_read_only

SIDE_FILES = (
    "-wal",
    "-shm",
    "-journal",
    ".thoughts",
    ".thoughts-wal",
    ".thoughts-shm",
    "-leases",
    "-hooks",
    "-WAL",
    "-hooks/spool",
)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "journal.db"
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(path))
    monkeypatch.chdir(tmp_path)
    filled(path, 6).close()
    return path


@pytest.fixture
def in_use(journal: Path) -> Iterator[Path]:
    """A journal with events in its log, and with all that lies beside one."""
    with open_journal(journal) as opened:
        opened.append("s0", said("acknowledged"))
        opened.thoughts.keep("s0", Thought("d", "salt", "why"))
        opened.lease("s0", Terms("relay"))
        Path(f"{journal}-hooks").mkdir()
        yield journal


def refused(*arguments: str | Path) -> Answer:
    """What a command says that must change nothing in this folder."""
    before = files(Path())
    found = answer("journal", *map(str, arguments))
    assert files(Path()) == before
    assert found.code in (NOT_DONE, USAGE), found
    assert not found.out
    assert found.err.startswith("planwire: ")
    assert found.err.count("\n") == 1
    assert "[Errno" not in found.err
    return found


def files(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file() and "-shm" not in each.name}


# What belongs to a journal


def test_everything_that_a_journal_makes_beside_itself_is_known_to_belong_to_it(in_use: Path) -> None:
    found = {each for each in in_use.parent.rglob("*") if each != in_use}
    assert len(found) >= 5
    assert {journal_beside(each) for each in found} == {in_use}
    for name in ("journal.db", "journal.db.before-20260102-030405", "backup.db", "other.db-wal", "note.json"):
        assert journal_beside(in_use.with_name(name)) is None


@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize("ending", SIDE_FILES)
def test_no_command_writes_to_a_file_of_a_journal(ending: str) -> None:
    for command in (
        ["backup", f"journal.db{ending}", "--force"],
        ["backup", f"journal.db{ending}"],
        ["verify", "--note", f"journal.db{ending}"],
        ["restore", "journal.db", "--journal", f"journal.db{ending}", "--force"],
        ["copy", "journal.db", f"journal.db{ending}"],
    ):
        assert "journal.db" in refused(*command).err


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("name", [".journal.db.0123abcd", ".journal.db.0123abcd-wal", ".journal.db.part"])
def test_no_command_writes_to_a_draft_of_a_journal(name: str) -> None:
    Path(name).write_text("half of it")
    for command in (["backup", name, "--force"], ["verify", "--note", name]):
        assert "would be taken for a part of the journal" in refused(*command).err


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("name", [".-wal", "..-wal", "./-wal", ".-hooks/file"])
def test_a_name_that_is_only_the_ending_of_another_is_a_name_like_any(name: str) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    assert answer("journal", "backup", name).code == DONE
    assert journal_beside(Path(name).resolve()) is None


def test_a_link_to_a_file_of_a_journal_leads_nowhere_else(in_use: Path) -> None:
    Path("link").symlink_to(f"{in_use}-wal")
    for command in (["backup", "link", "--force"], ["verify", "--note", "link"]):
        assert "a part of the journal" in refused(*command).err


# Notes


@pytest.mark.usefixtures("journal")
def test_a_note_replaces_a_note_and_nothing_else() -> None:
    Path("text").write_text("mine")
    Path("other.json").write_text('{"ends": {}}')
    Path("empty").touch()
    Path("folder").mkdir()
    os.mkfifo("fifo")
    for name in ("journal.db", "text", "other.json", "empty", "fifo"):
        assert f"{name} is no note of planwire's" in refused("verify", "--note", name).err
    for name in (".", "folder", "/"):
        assert "is a folder: name a file in it" in refused("verify", "--note", name).err
    assert "there is no folder" in refused("verify", "--note", "missing/note.json").err
    for _ in range(2):
        assert answer("journal", "verify", "--note", "note.json").code == DONE
        assert answer("journal", "verify", "--against", "note.json").code == DONE


def test_a_note_is_written_in_one_encoding_everywhere(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_journal(journal) as opened:
        opened.append("Überblick ✓", said("hello"))
    monkeypatch.setattr("locale.getencoding", lambda: "ascii", raising=False)
    assert answer("journal", "verify", "--note", "note.json").code == DONE
    assert "Überblick ✓" in json.loads(Path("note.json").read_bytes())["ends"]


@pytest.mark.usefixtures("journal")
def test_a_place_that_can_t_be_written_is_named_in_words() -> None:
    Path("archive").mkdir()
    with mounted_read_only(Path("archive").absolute()):
        found = refused("verify", "--note", "archive/note.json")
        assert "archive/note.json can't be written: Read-only file system" in found.err
        found = refused("backup", "archive/backup.db")
        assert "the backup" in found.err
        assert "archive/backup.db can't be made (Read-only file system)" in found.err


@pytest.mark.parametrize(
    "command",
    [
        "backup {}",
        "restore {}",
        "restore journal.db --force --journal {}",
        "copy {} new.db",
        "copy journal.db {}",
        "verify --journal {}",
        "verify --note {}",
        "verify --against {}",
    ],
)
@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + "/plans.db"])
@pytest.mark.usefixtures("journal")
def test_a_name_that_the_system_does_not_take_is_told_in_words(command: str, name: str) -> None:
    assert "File name too long" in refused(*command.format(name).split()).err


@pytest.mark.usefixtures("journal")
def test_a_file_whose_name_is_no_text_can_be_a_backup() -> None:
    name = os.fsdecode(b"\xff.db")
    assert json.loads(answer("journal", "backup", name, "--json").out)["backup"] == "?.db"
    assert "?.db exists already" in json.loads(answer("journal", "backup", name, "--json").out)["error"]
    assert Path(name).is_file()


# Backups


@pytest.mark.usefixtures("journal")
def test_force_replaces_a_journal_and_nothing_else() -> None:
    Path("text").write_text("mine")
    Path("empty").touch()
    os.mkfifo("fifo")
    with closing(sqlite3.connect("other.sqlite")) as other:
        other.execute("CREATE TABLE mine (x)")
    for name in ("text", "fifo", "other.sqlite", "empty"):
        assert name in refused("backup", name, "--force").err
    assert Path("fifo").is_fifo()
    for name in ("/", ".", "..", ""):
        assert "is a folder: name a file in it" in refused("backup", name, "--force").err
        assert "is a folder: name a file in it" in refused("backup", name).err


def test_force_replaces_no_other_journal(journal: Path) -> None:
    with open_journal("other.db") as other:
        other.append("s0", [Stamped(1, "agent", TurnEnded("end_turn"))])
    before = Path("other.db").read_bytes()
    assert "has none of this journal's sessions" in refused("backup", "other.db", "--force").err
    assert Path("other.db").read_bytes() == before
    assert answer("journal", "backup", "backup.db").code == DONE
    with open_journal(journal) as opened:
        opened.append("newer", [Stamped(1, "agent", TurnEnded("end_turn"))])
        opened.forget("s0")
    assert answer("journal", "backup", "backup.db", "--force").code == DONE
    content = Path("backup.db").read_bytes()
    Path("backup.db").write_bytes(content[:4096] + bytes(len(content) - 4096))
    assert "is damaged" in refused("backup", "backup.db", "--force").err


def test_force_replaces_no_backup_that_is_ahead_of_its_journal(journal: Path) -> None:
    assert answer("journal", "backup", "monday.db").code == DONE
    with open_journal(journal) as opened:
        opened.append("s0", said("tuesday"))
    assert answer("journal", "backup", "latest.db").code == DONE
    assert answer("journal", "restore", "monday.db", "--force").code == DONE
    found = refused("backup", "latest.db", "--force")
    assert "latest.db has 5 events of session 's0', and this journal only 4" in found.err
    assert answer("journal", "restore", "latest.db", "--force").code == DONE
    with open_journal(journal) as opened:
        opened.forget("s0")
        opened.append("s0", [Stamped(1, "agent", TurnEnded("end_turn"))])
    assert answer("journal", "backup", "latest.db", "--force").code == DONE


@pytest.mark.usefixtures("in_use")
def test_thoughts_beside_a_backup_are_replaced_by_thoughts_only() -> None:
    Path("new.db.thoughts").write_text("mine")
    for options in ([], ["--thoughts"]):
        assert "new.db.thoughts" in refused("backup", "new.db", *options).err
    assert "new.db.thoughts is not" in refused("backup", "new.db", "--thoughts", "--force").err
    assert answer("journal", "backup", "old.db", "--thoughts").code == DONE
    found = refused("backup", "old.db", "--force")
    assert "old.db.thoughts" in found.err
    assert "--thoughts" in found.err
    assert answer("journal", "backup", "old.db", "--force", "--thoughts").code == DONE


@pytest.mark.parametrize("place", [0, 4_096], ids=["no database", "damaged"])
def test_thoughts_that_are_not_sound_are_not_backed_up_as_if_they_were(journal: Path, place: int) -> None:
    with open_journal(journal) as opened:
        for number in range(100):
            opened.thoughts.keep("s0", Thought(str(number), "salt", "why " * 50))
    thoughts = Path("journal.db.thoughts")
    with thoughts.open("r+b") as file:
        file.seek(place)
        file.write(b"no thoughts" * 1_000)
    found = answer("journal", "backup", "new.db", "--thoughts")
    assert (found.code != DONE, found.err.count("\n"), list(Path().glob("*new.db*"))) == (True, 1, [])
    assert "journal.db.thoughts is " in found.err
    assert answer("journal", "backup", "new.db").code == DONE


def test_an_earlier_backup_keeps_its_thoughts_when_the_journal_has_lost_its_own(journal: Path) -> None:
    with open_journal(journal) as opened:
        opened.thoughts.keep("s0", Thought("d", "salt", "why"))
    assert answer("journal", "backup", "old.db", "--thoughts").code == DONE
    Path(f"{journal}.thoughts").unlink()
    assert "the journal has none now" in refused("backup", "old.db", "--force", "--thoughts").err


@pytest.mark.usefixtures("journal")
def test_a_log_without_its_journal_is_not_given_to_a_backup() -> None:
    Path("backup.db-wal").write_bytes(b"x" * 100)
    assert "backup.db-wal" in refused("backup", "backup.db").err


def test_a_backup_that_can_t_have_its_name_leaves_no_thoughts(journal: Path) -> None:
    def appear(progress: str) -> None:
        if progress == "checking":
            Path("backup.db").write_text("somebody else's")

    with open_journal(journal) as opened:
        opened.thoughts.keep("s0", Thought("d", "salt", "why"))
        with pytest.raises(Refused, match="was created in the meantime"):
            back_up(opened, Path("backup.db"), appear, thoughts=True)
    assert Path("backup.db").read_text() == "somebody else's"
    assert not [*Path().glob(".*"), *Path().glob("backup.db.*")]


# Journals kept aside


@pytest.mark.usefixtures("journal")
def test_each_restore_keeps_the_old_journal_under_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.cli.journal_copies.strftime", lambda _: "before-20260102-030405")
    answer("journal", "backup", "backup.db")
    Path("journal.db.before-20260102-030405-3-wal").write_text("mine")
    kept = [json.loads(answer("journal", "restore", "backup.db", "--force", "--json").out)["kept"] for _ in range(3)]
    assert [Path(each).name.removeprefix("journal.db.before-20260102-030405") for each in kept] == ["", "-2", "-4"]
    assert len({Path(each).stat().st_ino for each in kept}) == 3


@pytest.mark.usefixtures("journal")
def test_a_log_whose_journal_is_gone_is_kept_aside_too() -> None:
    Path("lost.db-wal").write_bytes(b"what is left")
    assert answer("journal", "restore", "journal.db", "--journal", "lost.db").code == DONE
    [log] = Path().glob("lost.db.before-*-wal")
    assert log.read_bytes() == b"what is left"
