"""Journals copied into others: the same events, links and keys, however often the copy is cut off."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from planwire.errors import DamagedJournal, JournalUnavailable, Refused
from planwire.journal import Journal, Once, StoredAppend, open_journal
from planwire.journal import copying as copying_module
from planwire.journal.backup import back_up
from planwire.journal.copying import CopiedJournal, copy_journal
from planwire.journal.verifying import verify
from tests.journal.test_contract import PATIENCE, said, words
from tests.journal.test_damage import change
from tests.journal.test_stored import stored


def filled(url: str | Path, events: int = 60) -> Journal:
    journal = open_journal(url)
    for number in range(events):
        once = Once("page", number) if number % 2 else None
        journal.append(f"s{number % 3}", said(f"word {number}", "more"), once=once)
    return journal


def same(one: Journal, other: Journal) -> bool:
    sessions = [[each.id for each in journal.sessions()] for journal in (one, other)]
    return sessions[0] == sessions[1] and all(stored(one, each) == stored(other, each) for each in sessions[0])


def test_a_copy_has_the_same_events_links_and_keys_on_every_engine(journal: Journal) -> None:
    with filled("memory:") as source:
        copied = copy_journal(source, journal)
        assert (copied.sessions, copied.events, copied.refused) == (3, 120, {})
        assert same(source, journal)
        assert words(journal.append("s1", said("again"), once=Once("page", 1))) == ["word 1", "more"]
        again = copy_journal(source, journal)
        assert (again.events, again.refused) == (0, {})
    assert verify(journal).troubles == []


def test_a_copy_that_was_cut_off_goes_on_where_it_stopped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying_module, "BATCH_EVENTS", 10)

    def interrupt(now: CopiedJournal) -> None:
        if now.events >= 50:
            raise KeyboardInterrupt

    with filled("memory:") as source, open_journal(path) as target:
        with pytest.raises(KeyboardInterrupt):
            copy_journal(source, target, interrupt)
        assert verify(target).troubles == []
        there = sum(each.last_seq for each in target.sessions())
        assert 50 <= there < 120
        assert copy_journal(source, target).events == 120 - there
        assert same(source, target)


def test_a_backup_of_a_server_goes_on_where_it_stopped_without_what_was_forgotten_since(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying_module, "BATCH_EVENTS", 10)

    def interrupt(progress: str) -> None:
        if progress == "60 events":
            raise KeyboardInterrupt

    with filled("memory:") as source:
        with pytest.raises(KeyboardInterrupt):
            back_up(source, path, interrupt)
        assert not path.exists()
        source.forget("s0")
        source.forget("s1")
        source.append("s1", said("begun anew"))
        said_of_it: list[str] = []
        back_up(source, path, said_of_it.append)
        assert [each.name for each in path.parent.iterdir()] == [path.name]
        with open_journal(path) as backup:
            assert same(source, backup)
    assert said_of_it.count("checking") == 1


def test_a_backup_of_a_server_that_is_interrupted_while_it_is_checked_copies_nothing_again(path: Path) -> None:
    def interrupt(progress: str) -> None:
        if progress == "checking":
            raise KeyboardInterrupt

    with filled("memory:") as source:
        with pytest.raises(KeyboardInterrupt):
            back_up(source, path, interrupt)
        assert [each.name for each in path.parent.iterdir()] == [f".{path.name}.part"]
        heard: list[str] = []
        back_up(source, path, heard.append)
        assert set(heard) == {"0 events", "checking"}
        with open_journal(path) as backup:
            assert same(source, backup)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_of_two_backups_of_a_server_to_one_place_at_once_one_is_refused_and_the_other_whole(path: Path) -> None:
    refused: list[str] = []

    def back_up_again(progress: str) -> None:
        if progress != "checking":
            with pytest.raises(Refused, match="another backup to") as refusal:
                back_up(source, path)
            refused.append(str(refusal.value))

    with filled("memory:") as source:
        back_up(source, path, back_up_again)
        assert refused
        with open_journal(path) as backup:
            assert same(source, backup)
        back_up(source, path, replace=True)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_link_in_the_place_of_a_part_leads_to_no_other_journal(path: Path) -> None:
    mine = path.with_name("mine.db")
    filled(mine, 3).close()
    before = mine.read_bytes()
    path.with_name(f".{path.name}.part").symlink_to(mine)
    with filled("memory:") as source, pytest.raises(Refused, match=r"part is no unfinished backup of yours"):
        back_up(source, path)
    assert mine.read_bytes() == before
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_part_of_another_user_is_not_used(path: Path) -> None:
    part = path.with_name(f".{path.name}.part")
    open_journal(part).close()
    os.chown(part, 65_534, 65_534)
    with filled("memory:") as source, pytest.raises(Refused, match=r"part is no unfinished backup of yours"):
        back_up(source, path)


def test_a_part_that_is_not_sound_is_left_to_no_further_backup(path: Path) -> None:
    def harm(progress: str) -> None:
        if progress == "checking":
            change(path.with_name(f".{path.name}.part"), "UPDATE events SET by = 'user' WHERE seq = 5")

    with filled("memory:") as source:
        with pytest.raises(DamagedJournal, match="would not be a sound journal"):
            back_up(source, path, harm)
        assert not list(path.parent.iterdir())
        back_up(source, path)
        with open_journal(path) as backup:
            assert same(source, backup)


def test_what_comes_in_during_a_copy_is_copied_too(path: Path) -> None:
    with filled("memory:") as source, open_journal(path) as target:
        late = iter(range(3))

        def write(_: CopiedJournal) -> None:
            if (number := next(late, None)) is not None:
                source.append(f"late {number}", said("late"))
                source.append("s0", said("late"))

        assert copy_journal(source, target, write).refused == {}
        assert same(source, target)


def test_what_is_forgotten_during_a_copy_is_not_in_it(path: Path) -> None:
    with filled("memory:") as source, open_journal(path) as target:
        copy_journal(source, target)
        source.append("new", said("secret"))

        def forget(_: CopiedJournal) -> None:
            source.forget("new", "s1")

        copied = copy_journal(source, target, forget)
        assert (copied.sessions, copied.refused) == (2, {})
        assert [each.id for each in target.sessions()] == ["s0", "s1", "s2"]


def test_an_event_that_was_changed_in_the_source_is_not_made_sound_by_a_copy(tmp_path: Path) -> None:
    with open_journal(tmp_path / "source.db") as source:
        for session in ("s", "t"):
            source.append(session, said("one", "two"))
    change(
        tmp_path / "source.db", "UPDATE events SET link = NULL, event = replace(event, 'two', 'EVIL') WHERE session = 1"
    )
    with open_journal(tmp_path / "source.db") as source, open_journal(tmp_path / "target.db") as target:
        copied = copy_journal(source, target)
        assert copied.refused == {
            "s": "event 2 is not as it was written in the source; planwire journal verify says more"
        }
        assert [each.id for each in target.sessions()] == ["t"]


def test_a_session_that_is_there_with_other_events_is_refused_and_the_rest_copied(path: Path) -> None:
    with filled("memory:") as source, open_journal(path) as target:
        target.append("s0", said("mine"))
        target.append("s1", said(*map(str, range(200))))
        copied = copy_journal(source, target)
        assert copied.refused == {
            "s0": "the target has a session of that name with other events",
            "s1": "the target has 200 events of it, and the source only 40",
        }
        assert words(target.read("s0")) == ["mine"]
        assert stored(target, "s2") == stored(source, "s2")


def test_events_that_the_source_lacks_are_named_and_nobody_is_blamed(tmp_path: Path) -> None:
    filled(tmp_path / "from.db").close()
    with open_journal(tmp_path / "from.db") as source, open_journal(tmp_path / "to.db") as target:
        copy_journal(source, target)
        source.append("s1", said("more"))
    change(tmp_path / "from.db", "DELETE FROM events WHERE session = 1 AND seq = 4")
    change(tmp_path / "from.db", "DELETE FROM events WHERE session = 2 AND seq BETWEEN 38 AND 40")
    more = "missing in the source; planwire journal verify says more"
    with open_journal(tmp_path / "from.db") as source:
        with open_journal(tmp_path / "to.db") as target:
            assert copy_journal(source, target).refused["s1"] == f"event 40 is {more}"
        with open_journal(tmp_path / "new.db") as target:
            copied = copy_journal(source, target)
            assert copied.refused == {"s0": f"event 4 is {more}", "s1": f"events 38 to 40 are {more}"}
            assert stored(target, "s2") == stored(source, "s2")


def test_a_backup_of_a_server_that_lacks_events_says_which(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with filled("memory:") as source:
        events = stored(source, "s0")
        holed = [StoredAppend((each,)) for each in events if each.seq != 4]
        whole = source.stored
        monkeypatch.setattr(source, "stored", lambda name, *rest: iter(holed) if name == "s0" else whole(name, *rest))
        with pytest.raises(
            JournalUnavailable, match=r"no new backup: session 's0' .* event 4 is missing in the source"
        ):
            back_up(source, path)
        holed[3:] = []
        with pytest.raises(JournalUnavailable, match=r"events 4 to 40 are missing in the source"):
            back_up(source, path)
    assert not path.exists()


def test_events_without_links_are_compared_by_what_they_say(path: Path) -> None:
    with filled("memory:") as linked, open_journal("memory:") as source, open_journal(path) as target:
        for journal, count in ((source, 40), (target, 20)):
            bare = [type(each)(each.seq, each.at, each.by, each.text, None) for each in stored(linked, "s0")[:count]]
            if journal is target:
                bare[3] = type(bare[3])(4, 1, "somebody else", bare[3].text, None)
            journal.store("s0", [StoredAppend(tuple(bare))])
        assert "other events" in copy_journal(source, target).refused["s0"]


def test_a_copy_that_is_killed_leaves_a_sound_target_and_goes_on(tmp_path: Path) -> None:
    filled(tmp_path / "from.db", 1_000).close()
    code = """
import sys
from planwire.journal import open_journal, copying
copying.BATCH_EVENTS = 10
def heard(now):
    print(now.events, flush=True)
copying.copy_journal(open_journal(sys.argv[1]), open_journal(sys.argv[2]), heard)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "from.db"), str(tmp_path / "to.db")]
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(15):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            assert process.wait(PATIENCE) == -signal.SIGKILL
        with open_journal(tmp_path / "to.db") as target:
            assert verify(target).troubles == []
    with open_journal(tmp_path / "from.db") as source, open_journal(tmp_path / "to.db") as target:
        there = sum(each.last_seq for each in target.sessions())
        assert 0 < there < 2_000
        assert copy_journal(source, target).events == 2_000 - there
        assert same(source, target)
