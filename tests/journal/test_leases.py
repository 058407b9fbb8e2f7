"""Leases in SQLite files: lock files that say who is alive, in journals of every age."""

import os
import shutil
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from planwire.errors import JournalUnavailable
from planwire.journal import Terms, open_journal
from planwire.journal.lock_files import LockFile, is_locked, sweep
from tests.journal.test_contract import said
from tests.journal.test_sqlite import program, run
from tests.test_platforms import elsewhere


def lock_files(path: Path) -> list[Path]:
    folder = Path(f"{path}-leases")
    return sorted(folder.iterdir()) if folder.exists() else []


def abandon(path: Path, session: str) -> None:
    """Leave a lease behind as a process does that is killed."""
    run("import os; journal.lease(sys.argv[2]); os._exit(0)", path, session)


def test_a_lock_file_is_private_and_one_for_all_leases_of_an_opened_journal(path: Path) -> None:
    with open_journal(path) as journal:
        assert lock_files(path) == []
        journal.lease("a")
        journal.lease("b")
        [file] = lock_files(path)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        with open_journal(path) as other:
            other.lease("c")
            assert len(lock_files(path)) == 2
    assert not Path(f"{path}-leases").exists()


def test_files_that_killed_processes_left_are_swept_away(path: Path) -> None:
    abandon(path, "a")
    [left] = lock_files(path)
    with open_journal(path) as journal:
        journal.lease("mine")
        [mine] = lock_files(path)
        assert mine != left
        lapsed, held = journal.leases()
        assert (lapsed.session, lapsed.is_held, held.is_held) == ("a", False, True)
        journal.end_lease(lapsed)
        assert [each.session for each in journal.leases()] == ["mine"]


def test_a_lease_whose_lock_file_is_gone_has_lapsed(path: Path) -> None:
    abandon(path, "a")
    shutil.rmtree(f"{path}-leases")
    with open_journal(path) as journal:
        [lapsed] = journal.leases()
        assert not lapsed.is_held
        journal.end_lease(lapsed)
        assert journal.leases() == []


def test_no_child_of_its_holder_keeps_a_lease_alive(path: Path) -> None:
    """One that runs another program, as an agent does, and one that is a mere fork."""
    code = """
import os, subprocess
journal.lease("s")
child = subprocess.Popen(["sleep", "60"])
fork = os.fork()
if not fork:
    print(child.pid, os.getpid(), flush=True)
    sys.stdin.read()
    os._exit(0)
os.wait()
"""
    with program(code, path) as holder, open_journal(path) as journal:
        assert holder.stdout is not None
        child, fork = map(int, holder.stdout.readline().split())
        assert [each.is_held for each in journal.leases()] == [True]
        holder.kill()
        holder.wait()
        try:
            assert [each.is_held for each in journal.leases()] == [False]
        finally:
            os.kill(child, 9)
            os.kill(fork, 9)


def test_the_same_terms_write_nothing(path: Path) -> None:
    with open_journal(path) as journal:
        lease = journal.lease("s", Terms("relay", can=("tell",)))
        before = Path(f"{path}-wal").stat().st_size
        lease.renew(Terms("relay", can=("tell",)))
        assert Path(f"{path}-wal").stat().st_size == before
        lease.renew(Terms("relay"))
        assert Path(f"{path}-wal").stat().st_size > before


def test_who_looks_at_leases_never_makes_them_look_held_to_another(path: Path) -> None:
    abandon(path, "a")
    answers: set[bool] = set()

    def look() -> None:
        with open_journal(path) as journal:
            for _ in range(200):
                answers.update(each.is_held for each in journal.leases())

    threads = [threading.Thread(target=look) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert answers == {False}


def test_a_sweep_and_a_new_lock_file_never_leave_a_holder_without_its_file(tmp_path: Path) -> None:
    stop = threading.Event()

    def sweep_on() -> None:
        while not stop.is_set():
            sweep(tmp_path / "locks")

    sweeper = threading.Thread(target=sweep_on)
    sweeper.start()
    try:
        for _ in range(300):
            file = LockFile(tmp_path / "locks")
            assert is_locked(tmp_path / "locks", file.name)
            file.remove()
            assert not is_locked(tmp_path / "locks", file.name)
    finally:
        stop.set()
        sweeper.join()


@pytest.mark.parametrize("place", ["/absolute", "../beside", "0123456789abcdef"])
def test_a_holder_in_a_journal_is_no_path_of_this_machine(place: str, path: Path) -> None:
    """Whoever wrote the row may have put a pipe there: nobody waits for it, nor takes it for a lock."""
    pipe = path.with_name("absolute") if place == "/absolute" else Path(f"{path}-leases", place)
    with open_journal(path) as journal:
        journal.append("s", said("x"))
        Path(f"{path}-leases").mkdir()
        os.mkfifo(pipe)
        with sqlite3.connect(path) as rows:
            holder = str(pipe) if place == "/absolute" else place
            rows.execute("INSERT INTO leases (name, session, holder, terms) VALUES ('l', 's', ?, '{}')", (holder,))
        rows.close()
        assert [each.is_held for each in journal.leases()] == [False]
        sweep(Path(f"{path}-leases"))


def test_a_lease_that_can_not_be_had_says_why_and_costs_nothing_else(path: Path) -> None:
    Path(f"{path}-leases").write_text("in the way")
    with open_journal(path) as journal:
        with pytest.raises(JournalUnavailable, match="-leases"):
            journal.lease("s")
        journal.append("s", said("one"))
        assert journal.leases() == []


def test_without_kernel_locks_the_number_of_the_process_decides(path: Path) -> None:
    code = f"""
import os
from planwire.journal import open_journal
path = {str(path)!r}
if not os.fork():
    open_journal(path).lease("child")
    os._exit(0)
os.wait()
with open_journal(path) as journal, open_journal(path) as other:
    journal.lease("mine")
    found = other.leases()
    print([(each.session, each.is_held) for each in found])
    for each in found:
        other.end_lease(each)
    print([each.session for each in other.leases()])
print(os.path.exists(path + "-leases"))
"""
    result = elsewhere(code)
    assert (result.stdout, result.stderr) == ("[('child', False), ('mine', True)]\n['mine']\nFalse\n", "")
