"""`planwire journal`: journals checked, backed up, restored and copied."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from planwire.cli.exit_codes import DAMAGED, DONE, NOT_DONE, NOT_FOUND, USAGE
from planwire.journal import Stamped, StoredAppend, Terms, Thought, open_journal, user_files
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.thoughts import kept_why
from planwire.model.events import PlanSet
from planwire.model.plan import MarkdownPlan
from tests import deciding
from tests.cli.answers import Answer, answer
from tests.journal.test_contract import PATIENCE, said, words
from tests.journal.test_copying import filled, same
from tests.journal.test_damage import change
from tests.journal.test_sqlite import program


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "journal.db"
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(path))
    filled(path).close()
    return path


def journal_command(*arguments: str | Path) -> Answer:
    return answer("journal", *map(str, arguments))


# verify


@pytest.mark.usefixtures("journal")
def test_verify_says_that_nothing_is_wrong() -> None:
    assert journal_command("verify") == (DONE, "Checked 3 sessions with 120 events: nothing is wrong.\n", "")
    assert journal_command("verify", "s1").out == "Checked 1 session with 40 events: nothing is wrong.\n"
    found = json.loads(journal_command("verify", "--json").out)
    assert (found["sound"], found["problems"], len(found["sessions"])) == (True, [], 3)


def test_verify_names_what_is_wrong_and_ends_with_its_own_code(journal: Path) -> None:
    change(journal, "UPDATE events SET event = replace(event, 'word 9', 'word 8') WHERE event LIKE '%word 9%'")
    found = journal_command("verify")
    assert found.code == DAMAGED
    assert found.out.splitlines() == [
        "event 7 of session 's0' was changed or swapped: its link does not fit.",
        "Checked 3 sessions with 120 events: 1 problem found.",
    ]
    as_json = journal_command("verify", "--json")
    assert (as_json.code, json.loads(as_json.out)["problems"][0]["seq"]) == (DAMAGED, 7)
    refused = journal_command("verify", "--note", journal.with_name("note.json"))
    assert (refused.code, refused.out) == (NOT_DONE, "")
    assert "no note was made" in refused.err


def test_what_was_forgotten_is_no_finding_and_a_cut_end_is_one_with_a_note(journal: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.json"
    assert journal_command("verify", "--note", note).code == DONE
    assert answer("forget", "s2", "--yes").code == DONE
    found = journal_command("verify", "--against", note)
    assert (found.code, found.out.splitlines()[0]) == (
        DONE,
        "1 session of the note not there any more, forgotten or lost: s2.",
    )
    change(journal, "DELETE FROM events WHERE session = 1 AND seq = 40")
    assert journal_command("verify", "--against", note).code == DAMAGED
    assert journal_command("verify", "--against", journal).code == USAGE
    assert journal_command("verify", "s1", "--against", note).code == USAGE


def test_a_journal_that_can_not_even_be_read_is_damaged_too(journal: Path) -> None:
    os.truncate(journal, 9_000)
    found = journal_command("verify")
    assert (found.code, "is damaged" in found.out, "Checked 0 sessions" in found.out) == (DAMAGED, True, True)
    assert json.loads(journal_command("verify", "--json").out)["sound"] is False


def test_a_session_that_is_damaged_hides_no_other(journal: Path) -> None:
    change(journal, "DELETE FROM events WHERE session = 2 AND seq = 7")
    found = answer("sessions", "--json")
    assert found.code == NOT_DONE
    assert {each["id"] for each in json.loads(found.out)["sessions"]} == {"s0", "s2"}
    assert found.err.startswith("planwire: ")
    assert "event 7 of session 's1' is missing" in found.err
    change(journal, "DELETE FROM events WHERE session <> 2 AND seq = 7")
    assert answer("sessions").code == NOT_DONE


def test_progress_is_for_terminals(journal: Path) -> None:
    shown = answer("journal", "verify", at_terminal=True).err
    assert "\rChecking: s0, " in shown
    assert shown.endswith("\r")


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize(
    ("command", "work", "left"),
    [
        (["verify"], "journal_verify.verify", "nothing was changed"),
        (["backup", "x.db"], "journal_copies.back_up", "there is no new backup: repeat the command"),
        (["restore", "../journal.db", "--journal", "x.db"], "journal_copies.verify", "nothing was changed"),
        (["copy", "../journal.db", "x.db"], "journal_copies.copy_journal", "the same command goes on from here"),
    ],
)
def test_an_interrupt_says_what_holds_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], work: str, left: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(f"planwire.cli.{work}", interrupt)
    assert journal_command(*command) == (130, "", f"planwire: interrupted; {left}\n")


# backup


def test_a_backup_is_a_private_journal_with_the_same_events(journal: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    done = journal_command("backup", backup)
    assert done.code == DONE
    assert done.out.startswith(
        f"Backed up and checked 3 sessions with 120 events: {backup}. What agents thought is not"
    )
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert {each.name for each in tmp_path.iterdir()} == {"journal.db", "backup.db"}
    with open_journal(journal) as one, open_journal(backup) as other:
        assert same(one, other)
    refused = journal_command("backup", backup)
    assert (refused.code, "exists already" in refused.err) == (NOT_DONE, True)
    assert journal_command("backup", backup, "--force").code == DONE
    assert journal_command("backup", tmp_path / "missing" / "backup.db").code == USAGE


def test_thoughts_are_backed_up_when_asked_for(journal: Path, tmp_path: Path) -> None:
    with open_journal(journal) as opened:
        opened.thoughts.keep("s0", Thought("d", "salt", "why"))
    assert journal_command("backup", tmp_path / "without.db").code == DONE
    assert not (tmp_path / "without.db.thoughts").exists()
    assert "What agents thought is in" in journal_command("backup", tmp_path / "with.db", "--thoughts").out
    with open_journal(tmp_path / "with.db") as backup:
        assert backup.thoughts.find("s0", ["d"])["d"].text == "why"
    assert stat.S_IMODE((tmp_path / "with.db.thoughts").stat().st_mode) == 0o600
    assert journal_command("backup", tmp_path / "with.db", "--force").code == NOT_DONE
    assert journal_command("backup", tmp_path / "with.db", "--force", "--thoughts").code == DONE


def test_thoughts_come_back_with_a_backup_that_has_them(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_journal(journal) as opened:
        why = kept_why(opened, "s0", "The old one is slow.")
        deciding.write(opened, "s0", Stamped(1, "agent", PlanSet(MarkdownPlan("main", "# New"), why=why)))
    assert json.loads(journal_command("backup", "backup.db", "--thoughts", "--json").out)["thoughts"] is True
    with open_journal(journal) as opened:
        opened.thoughts.forget_all()
    assert "with what agents thought" in journal_command("restore", "backup.db", "--force").out
    with open_journal(journal) as opened:
        assert opened.thoughts.find("s0", [why])[why].text == "The old one is slow."


def test_a_backup_never_takes_the_place_of_its_journal_and_no_link_leads_one_astray(
    journal: Path, tmp_path: Path
) -> None:
    (tmp_path / "link.db").symlink_to(journal)
    for target in (journal, tmp_path / "link.db"):
        refused = journal_command("backup", target, "--force")
        assert (refused.code, "is the journal itself" in refused.err) == (NOT_DONE, True)
    assert journal_command("copy", journal, tmp_path / "link.db").code == USAGE
    (tmp_path / "astray.db").symlink_to(tmp_path / "nowhere.db")
    assert journal_command("backup", tmp_path / "astray.db").code == NOT_FOUND
    assert journal_command("restore", journal, "--journal", tmp_path / "astray.db").code == NOT_FOUND
    assert not (tmp_path / "nowhere.db").exists()


def test_a_backup_while_a_writer_writes_holds_all_that_was_acknowledged_before(journal: Path, tmp_path: Path) -> None:
    code = "for number in range(10**9):\n    journal.append('live', said(str(number)))\n    print(number, flush=True)"
    with program(code, journal) as writer:
        assert writer.stdout is not None
        for number in range(5):
            for _ in range(20):
                acknowledged = int(writer.stdout.readline())
            backup = tmp_path / f"backup {number}.db"
            assert journal_command("backup", backup).code == DONE
            with open_journal(backup) as copy:
                found = words(copy.read("live"))
                assert found == list(map(str, range(len(found))))
                assert len(found) > acknowledged


def test_a_backup_that_is_killed_leaves_no_file_of_that_name(journal: Path, tmp_path: Path) -> None:
    code = """
import os, signal, sys
from planwire.cli import main
from planwire.journal import backup
backup.sync_file = lambda _: os.kill(os.getpid(), signal.SIGKILL)
main(["journal", "backup", sys.argv[1]])
"""
    backup = tmp_path / "backup.db"
    killed = subprocess.run([sys.executable, "-P", "-c", code, str(backup)], check=False, timeout=PATIENCE)
    assert killed.returncode == -signal.SIGKILL
    assert not backup.exists()
    [draft] = tmp_path.glob(".backup.db.*")
    os.utime(draft, (0, 0))
    assert journal_command("backup", backup).code == DONE


def test_damage_is_not_backed_up_as_if_it_were_sound(journal: Path, tmp_path: Path) -> None:
    change(journal, "DELETE FROM events WHERE seq = 7")
    refused = journal_command("backup", tmp_path / "backup.db")
    assert (refused.code, "planwire journal verify says what is wrong" in refused.err) == (NOT_DONE, True)
    assert {each.name for each in tmp_path.iterdir()} == {"journal.db"}


# restore


def test_restore_refuses_a_full_journal_and_keeps_the_old_one_aside_when_told_to(journal: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    journal_command("backup", backup)
    with open_journal(journal) as opened:
        opened.append("new", said("later"))
    refused = journal_command("restore", backup)
    assert (refused.code, "has 4 sessions: pass --force" in refused.err) == (NOT_DONE, True)
    done = journal_command("restore", backup, "--force")
    assert done.code == DONE
    [aside] = tmp_path.glob("journal.db.before-*")
    assert str(aside) in done.out
    with open_journal(journal) as restored, open_journal(backup) as original, open_journal(aside) as old:
        assert same(restored, original)
        assert words(old.read("new")) == ["later"]


def test_a_log_that_a_crash_left_never_gets_into_the_restored_journal(journal: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    journal_command("backup", backup)
    code = "journal.append('lost', said(*'x' * 300))\nprint(1, flush=True)\nsys.stdin.read()"
    with program(code, journal) as crashed:
        assert crashed.stdout is not None
        crashed.stdout.readline()
        crashed.kill()
    assert Path(f"{journal}-wal").stat().st_size
    assert journal_command("restore", backup, "--force").code == DONE
    with open_journal(journal) as restored, open_journal(backup) as original:
        assert same(restored, original)
    [aside] = tmp_path.glob("journal.db.before-*[0-9]")
    with open_journal(aside) as old:
        assert old.last_seq("lost") == 300


def test_a_journal_that_another_process_has_open_is_not_replaced(journal: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    journal_command("backup", backup)
    with program("print(1, flush=True)\nsys.stdin.read()", journal) as other:
        assert other.stdout is not None
        other.stdout.readline()
        refused = journal_command("restore", backup, "--force")
    assert (refused.code, "another process has the journal" in refused.err) == (NOT_DONE, True)
    assert {each.name for each in tmp_path.iterdir()} >= {"journal.db", "backup.db"}
    assert not list(tmp_path.glob("*before*"))


def test_a_damaged_journal_is_replaced_with_force_and_a_damaged_backup_not_used(journal: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    journal_command("backup", backup)
    journal.write_bytes(b"")
    assert journal_command("restore", backup).code == NOT_DONE
    assert journal_command("restore", backup, "--force").code == DONE
    with open_journal(journal) as restored:
        assert len(restored.sessions()) == 3
    change(backup, "DELETE FROM events WHERE seq = 7")
    refused = journal_command("restore", backup, "--force")
    assert (refused.code, "is not sound" in refused.err) == (NOT_DONE, True)
    assert journal_command("restore", tmp_path / "missing.db").code == NOT_FOUND
    assert journal_command("restore", journal, "--force").code == USAGE


def test_restore_makes_a_journal_where_there_is_none(journal: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    journal_command("backup", backup)
    assert journal_command("restore", backup, "--journal", tmp_path / "new.db").code == DONE
    with open_journal(tmp_path / "new.db") as new, open_journal(journal) as original:
        assert same(new, original)
        assert new.leases() == []
    astray = journal_command("restore", backup, "--journal", tmp_path / "missing" / "new.db")
    assert (astray.code, "make that folder first" in astray.err) == (NOT_FOUND, True)


def test_restore_makes_the_user_s_own_journal_after_all_is_lost(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLANWIRE_JOURNAL")
    monkeypatch.setattr(user_files, "expanded", lambda name: tmp_path / "home" if name == "~" else Path(name))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert journal_command("restore", journal).code == DONE
    with open_journal() as new, open_journal(journal) as original:
        assert same(new, original)


def test_at_every_moment_of_a_restore_a_journal_has_the_name(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = tmp_path / "backup.db"
    journal_command("backup", backup)

    def fail(*_: object) -> None:
        raise OSError("no more")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        assert journal_command("restore", backup, "--force").code == NOT_DONE
    with open_journal(journal) as old, open_journal(backup) as same_one:
        assert same(old, same_one)


def test_a_backup_holds_no_leases(journal: Path, tmp_path: Path) -> None:
    with open_journal(journal) as opened:
        opened.lease("s0", Terms("relay", is_working=True))
        assert journal_command("backup", tmp_path / "backup.db").code == DONE
    with SqliteJournal(tmp_path / "backup.db") as backup:
        assert backup.leases() == []


# copy and info


def test_copy_says_that_everybody_can_read_a_journal(journal: Path, tmp_path: Path) -> None:
    journal.chmod(0o644)
    assert journal_command("copy", journal, tmp_path / "copy.db").err.endswith(f"chmod o-rwx {journal}\n")
    assert journal_command("copy", tmp_path / "copy.db", journal).err.endswith(f"chmod o-rwx {journal}\n")


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("command", [["backup"], ["restore"], ["verify", "--note"], ["verify", "--against"]])
@pytest.mark.parametrize("url", ["postgresql://me:hunter2@db/plans", "nats://hunter2@plans", "sqlite:plans.db"])
def test_a_url_in_the_place_of_a_file_is_a_mistake_and_its_password_is_not_told(
    command: list[str], url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    refused = journal_command(*command, url)
    assert (refused.code, "is the URL of a journal" in refused.err, "hunter2" in refused.err) == (USAGE, True, False)
    assert not list(Path().iterdir())


def test_copy_says_what_it_copied_and_what_it_refused(journal: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    done = journal_command("copy", journal, target)
    assert done == (DONE, f"Copied to {target} and compared: 3 sessions, 120 new events.\n", "")
    with open_journal(target) as copy:
        copy.append("s0", said("only here"))
    again = journal_command("copy", journal, target)
    assert again.code == NOT_DONE
    assert "Session s0 was not copied: the target has 41 events of it, and the source only 40.\n" in again.out
    assert again.out.endswith("may go, forget it there, and copy again.\n")
    assert json.loads(journal_command("copy", journal, target, "--json").out)["refused"].keys() == {"s0"}
    assert journal_command("copy", journal, f"sqlite:{journal}").code == USAGE
    missing = journal_command("copy", tmp_path / "missing.db", target)
    assert (missing.code, "missing.db: look for a typing error in FROM" in missing.err) == (NOT_FOUND, True)


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:1/x", "nats://127.0.0.1:1/x"])
def test_nothing_is_created_before_the_source_answers(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for command in (["copy", url, "new.db"], ["backup", "new.db", "--journal", url]):
        refused = journal_command(*command)
        assert (refused.code, "is away" in refused.err) == (NOT_DONE, True)
        assert {each.name for each in tmp_path.iterdir()} <= {"data"}


def test_a_copy_that_runs_out_of_room_says_what_stays(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteJournal.store

    def store_until_full(target: SqliteJournal, session: str, appends: Sequence[StoredAppend]) -> None:
        if target.sessions():
            target._writer.execute("PRAGMA max_page_count = 1")
        store(target, session, appends)

    with monkeypatch.context() as patched:
        patched.setattr(SqliteJournal, "store", store_until_full)
        with open_journal(journal) as source:
            source.append("s1", said("x" * 200_000))
        full = journal_command("copy", journal, tmp_path / "copy.db")
    assert full.code == NOT_DONE
    assert "the disk is full, and this was not written: make room and try again. What was copied" in full.err
    assert "before that (40 events) stays: the same command goes on from here" in full.err
    with open_journal(tmp_path / "copy.db") as copy:
        assert [each.id for each in copy.sessions()] == ["s0"]
    assert journal_command("copy", journal, tmp_path / "copy.db").code == DONE


def test_a_journal_in_memory_is_neither_copied_nor_a_copy(journal: Path, tmp_path: Path) -> None:
    for command in ([str(journal), "memory:"], ["memory:", str(tmp_path / "copy.db")]):
        refused = journal_command("copy", *command)
        assert (refused.code, "a journal in memory ends with this command" in refused.err) == (USAGE, True)
    assert not (tmp_path / "copy.db").exists()


def test_info_says_what_keeps_the_journal_and_how_much_is_in_it(journal: Path) -> None:
    shown = journal_command("info")
    assert shown.code == DONE
    rows = dict(line.split(maxsplit=1) for line in shown.out.splitlines())
    assert (rows["engine"], rows["where"], rows["events"]) == ("sqlite", str(journal), "120")
    assert "disk before it is acknowledged" in rows["promise"]
    found = json.loads(journal_command("info", "--json").out)
    assert (found["sessions"], found["events"], found["oldest"]) == (3, 120, 1_000)


def test_a_command_is_needed_and_a_wrong_one_is_a_mistake() -> None:
    assert answer("journal").code == USAGE
    assert answer("journal", "destroy").code == USAGE
    assert answer("journal", "copy", "one").err.startswith("planwire: the following arguments are required: TO\nusage:")


# modes


@pytest.mark.parametrize("ending", ["", ".thoughts"])
def test_a_journal_that_everybody_can_read_gets_a_word_with_what_to_do(journal: Path, ending: str) -> None:
    with open_journal(journal) as opened:
        opened.thoughts.keep("s0", Thought("d", "salt", "why"))
    assert answer("sessions").err == ""
    Path(f"{journal}{ending}").chmod(0o644)
    said_of_it = f"planwire: every user of this machine can read your plans: chmod o-rwx {journal}{ending}\n"
    assert answer("sessions", "--json").err == said_of_it
    Path(f"{journal}{ending}").chmod(0o640)
    assert answer("sessions").err == ""
