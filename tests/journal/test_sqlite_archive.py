"""Journals that can be read and not written: on a read-only file system, in a folder of somebody else's."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from planwire.errors import JournalUnavailable
from planwire.journal import Journal, StoredAppend, Terms, Thought, load_state, open_journal
from planwire.journal.sqlite.archive import ArchivedJournal
from planwire.journal.verifying import verify
from planwire.model.events import SessionOpened
from planwire.own_process import own_command
from tests.journal.test_contract import PATIENCE, heard, said, words
from tests.journal.test_damage import change
from tests.journal.test_sqlite import NOBODY, as_somebody_without_rights, program
from tests.journals import add


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """A folder and its files that nobody may write, for somebody who is not root."""
    for each in folder.iterdir():
        each.chmod(0o444)
    folder.chmod(0o555)
    try:
        with as_somebody_without_rights():
            yield
    finally:
        folder.chmod(0o755)


def with_rights_again(folder: Path) -> None:
    os.seteuid(os.getuid())
    for each in (folder, *folder.iterdir()):
        each.chmod(0o700)


@pytest.fixture
def place() -> Iterator[Path]:
    """The path of a journal in a folder that anybody can enter, unlike those of pytest."""
    with TemporaryDirectory() as name:
        yield Path(name) / "journal.db"


@contextmanager
def mounted_read_only(folder: Path) -> Iterator[None]:
    mount = ["mount", "-o", "bind,ro", str(folder), str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("to mount a file system takes rights that this user does not have")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


READ_ONLY = [without_rights, mounted_read_only]


def left_by_a_crash(path: Path, *, memory: bool) -> None:
    """A journal whose last event is only in its log, with or without the shared memory of who wrote it."""
    crashed = path.with_name("live.db")
    with open_journal(crashed) as journal:
        journal.append("s", said("one"))
        change(crashed, "PRAGMA wal_checkpoint(TRUNCATE)")
        journal.append("s", said("two"))
        for ending in ("", "-wal", "-shm") if memory else ("", "-wal"):
            shutil.copy(f"{crashed}{ending}", f"{path}{ending}")
    crashed.unlink()


@pytest.mark.parametrize("read_only", READ_ONLY)
def test_it_can_be_read_and_says_that_it_can_not_be_written(place: Path, read_only: Callable[..., object]) -> None:
    with open_journal(place) as journal:
        journal.append("s", said("one", "two"))
        journal.thoughts.keep("s", Thought("d", "salt", "why"))
        journal.lease("s", Terms("relay"))
        left = journal.leases()
    assert left
    with read_only(place.parent), open_journal(place) as archive:  # type: ignore[attr-defined]
        assert isinstance(archive, ArchivedJournal)
        assert words(archive.read("s")) == ["one", "two"]
        assert [each.recorded.seq for each in heard(archive)] == [1, 2]
        assert load_state(archive, "s").seq == 2
        assert archive.thoughts.find("s", ["d"])["d"].text == "why"
        assert verify(archive).troubles == []
        assert archive.facts().facts["access"] == "read-only"
        for write in writes(archive):
            with pytest.raises(JournalUnavailable, match=r"is read-only, and nothing was written"):
                write()
    assert {each.name for each in place.parent.iterdir()} == {"journal.db", "journal.db.thoughts"}


def writes(journal: Journal) -> list[Callable[[], object]]:
    return [
        lambda: journal.append("s", said("three")),
        lambda: journal.store("t", [StoredAppend(())]),
        lambda: journal.forget("s"),
        lambda: journal.lease("s"),
    ]


@pytest.mark.parametrize("memory", [False, True], ids=["log alone", "log and shared memory"])
@pytest.mark.parametrize("read_only", READ_ONLY)
def test_what_is_only_in_the_log_is_read_too(place: Path, read_only: Callable[..., object], memory: bool) -> None:
    left_by_a_crash(place, memory=memory)
    with read_only(place.parent), open_journal(place) as archive:  # type: ignore[attr-defined]
        assert words(archive.read("s")) == ["one", "two"]


def test_a_log_that_its_last_writer_removes_while_it_is_read_leaves_nothing_out(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_by_a_crash(place, memory=False)
    copy = shutil.copyfile

    def copy_late(source: Path, target: Path) -> None:
        if Path(source) == place and Path(f"{place}-wal").exists():
            with_rights_again(place.parent)
            change(place, "PRAGMA wal_checkpoint(TRUNCATE)")
        copy(source, target)

    monkeypatch.setattr(shutil, "copyfile", copy_late)
    with without_rights(place.parent), open_journal(place) as archive:
        assert words(archive.read("s")) == ["one", "two"]


def test_a_reader_without_rights_sees_which_thoughts_were_forgotten_meanwhile(place: Path) -> None:
    with open_journal(place) as journal:
        journal.append("s", said("one"))
        journal.thoughts.keep("s", Thought("d", "salt", "why"))
    with without_rights(place.parent), open_journal(place) as archive:
        glance = archive.thoughts.glance()
        assert set(archive.thoughts.find("s", ["d"])) == {"d"}
        assert archive.thoughts.glance() == glance
        with_rights_again(place.parent)
        with open_journal(place) as journal:
            journal.thoughts.forget("s")
        for each in (*place.parent.iterdir(), place.parent):
            each.chmod(0o555)
        if os.getuid() == 0:
            os.seteuid(NOBODY)
        assert archive.thoughts.glance() != glance
        assert archive.thoughts.find("s", ["d"]) == {}


def test_a_reader_without_rights_sees_what_another_process_writes_meanwhile(place: Path) -> None:
    code = """
import os
os.umask(0o022)
for ending in ("", "-wal", "-shm"):
    os.chmod(sys.argv[1] + ending, 0o644)
os.chmod(os.path.dirname(sys.argv[1]), 0o755)
for line in sys.stdin:
    journal.append("s", said(line.strip()))
    print("done", flush=True)
"""
    with program(code, place) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None

        def write(word: str) -> None:
            assert writer.stdin is not None
            assert writer.stdout is not None
            writer.stdin.write(f"{word}\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == "done\n"

        write("one")
        with as_somebody_without_rights(), open_journal(place) as archive:
            following = archive.follow(0, timeout=PATIENCE)
            assert words([next(following).recorded]) == ["one"]
            write("two")
            assert words([next(following).recorded]) == ["two"]


@pytest.mark.parametrize("command", ["sessions", "show", "log", "export", "journal verify", "journal info"])
def test_commands_that_look_work_on_a_read_only_file_system(place: Path, command: str) -> None:
    add(place, "a-session", "agent", SessionOpened("an agent", cwd=str(place.parent)))
    hooks = Path(f"{place}-hooks")
    hooks.mkdir()
    (hooks / "spool.jsonl").write_text("what a hook said\n")
    with mounted_read_only(place.parent):
        result = subprocess.run(
            [*own_command(), *command.split(), "--journal", str(place)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=place.parent,
        )
    assert (result.returncode, result.stderr) == (0, "")
