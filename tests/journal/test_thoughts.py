"""What agents thought, beside the journal: kept, found, bounded, forgotten; and never in it."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from threading import Barrier
from time import time

import pytest

from planwire import ItemsPlan
from planwire.errors import JournalError
from planwire.journal import Journal, Stamped, Thought, load_state, open_journal
from planwire.journal.backup import back_up
from planwire.journal.sqlite import drafts
from planwire.journal.thoughts import SESSION_CAP, THOUGHT_CAP, carry_over, is_genuine, keep_all, kept_why, think
from planwire.journal.user_files import thoughts_path
from planwire.model.events import PlanSet

SECRET = "the old parser is slow"


def beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.thoughts")


def traces(path: Path) -> bytes:
    """All that is on the disk of a journal and of what lies beside it."""
    return b"".join(each.read_bytes() for each in path.parent.iterdir() if each.is_file())


def texts(journal: Journal, *digests: str, session: str = "s") -> list[str]:
    found = journal.thoughts.find(session, digests)
    return [found[digest].text for digest in digests if digest in found]


def test_a_thought_is_found_by_its_digest(journal: Journal) -> None:
    digest = kept_why(journal, "s", f"  {SECRET}\n")
    assert texts(journal, digest) == [SECRET]
    assert texts(journal, "0" * 64) == []
    assert journal.sessions() == []


def test_nothing_to_say_is_no_thought(journal: Journal) -> None:
    assert kept_why(journal, "s", " \n") == ""


def test_the_same_words_twice_have_digests_that_nobody_can_guess(journal: Journal) -> None:
    assert kept_why(journal, "s", SECRET) != kept_why(journal, "s", SECRET)


def test_a_thought_that_is_kept_twice_is_there_once_and_the_newest(journal: Journal) -> None:
    first, *others = (think(f"{n:04}" * (THOUGHT_CAP // 4)) for n in range(SESSION_CAP // THOUGHT_CAP))
    assert keep_all(journal, "s", (first, *others, first, think("one more")))
    assert texts(journal, others[0].digest, first.digest) == [first.text]


def test_of_a_long_thought_the_end_is_kept_in_whole_letters(journal: Journal) -> None:
    [text] = texts(journal, kept_why(journal, "s", "ä" * 5_000 + "so: a new parser"))
    assert text.startswith("…ä")
    assert text.endswith("so: a new parser")
    assert THOUGHT_CAP - 4 < len(text.encode()) <= THOUGHT_CAP


def test_the_oldest_thoughts_of_a_session_go_when_there_are_too_many(journal: Journal) -> None:
    other = kept_why(journal, "other", SECRET)
    count = SESSION_CAP // THOUGHT_CAP + 2
    digests = [kept_why(journal, "s", f"{n:03}" + "x" * (THOUGHT_CAP - 3)) for n in range(count)]
    kept = journal.thoughts.find("s", digests)
    assert list(kept) == digests[2:]
    assert texts(journal, other, session="other") == [SECRET]


def test_a_session_has_no_more_than_a_thousand_thoughts_however_short(journal: Journal) -> None:
    digests = [kept_why(journal, "s", f"{n}") for n in range(1_100)]
    assert list(journal.thoughts.find("s", digests)) == digests[-1_024:]


def test_forgetting_a_session_takes_its_thoughts_along(journal: Journal) -> None:
    why, other = kept_why(journal, "s", SECRET), kept_why(journal, "other", "stays")
    journal.append("s", [Stamped(1, "agent", PlanSet(ItemsPlan("p", ()), why=why))])
    journal.forget("s")
    assert texts(journal, why) == []
    assert texts(journal, other, session="other") == ["stays"]


def test_forgetting_thoughts_changes_no_event_and_shows_at_a_glance(journal: Journal) -> None:
    why = kept_why(journal, "s", SECRET)
    journal.append("s", [Stamped(1, "agent", PlanSet(ItemsPlan("p", ()), why=why))])
    before, glance = list(journal.read("s")), journal.thoughts.glance()
    journal.thoughts.forget("s")
    assert journal.thoughts.glance() != glance
    assert list(journal.read("s")) == before
    assert load_state(journal, "s").plans["p"].why == why
    assert texts(journal, why) == []


def test_all_thoughts_can_be_forgotten_also_of_sessions_without_events(journal: Journal) -> None:
    kept = {session: kept_why(journal, session, SECRET) for session in ("a", "b")}
    journal.thoughts.forget_all()
    assert [texts(journal, why, session=session) for session, why in kept.items()] == [[], []]


def test_a_thought_from_elsewhere_is_held_against_its_digest() -> None:
    thought = think(SECRET)
    assert is_genuine(thought)
    assert thought.digest == sha256(f"{thought.salt} {SECRET}".encode()).hexdigest()
    assert not is_genuine(Thought(thought.digest, thought.salt, "another text"))
    long = "x" * (THOUGHT_CAP + 1)
    assert not is_genuine(Thought(thought.digest, thought.salt, long))


def test_a_session_that_takes_over_events_needs_nothing_of_the_one_that_it_has_them_from(journal: Journal) -> None:
    why = kept_why(journal, "s", SECRET)
    events = journal.append("s", [Stamped(1, "agent", PlanSet(ItemsPlan("p", ()), why=why))])
    assert texts(journal, why, session="fork") == []
    carry_over(journal, "s", "fork", events)
    journal.forget("s")
    assert texts(journal, why, session="fork") == [SECRET]


# In a file


def test_thoughts_lie_in_a_private_file_of_their_own(path: Path) -> None:
    with open_journal(path) as journal:
        assert texts(journal, "0" * 64) == []
        assert not beside(path).exists()
        why = kept_why(journal, "s", SECRET)
        journal.append("s", [Stamped(1, "agent", PlanSet(ItemsPlan("p", ()), why=why))])
        modes = {stat.S_IMODE(each.stat().st_mode) for each in path.parent.glob("*.thoughts*")}
    assert modes == {0o600}
    assert SECRET.encode() in beside(path).read_bytes()
    assert SECRET.encode() not in path.read_bytes()
    with open_journal(path) as journal:
        assert texts(journal, why) == [SECRET]


@pytest.mark.parametrize("how", ["session", "thoughts", "all"])
def test_no_trace_of_a_forgotten_thought_is_left_on_the_disk(path: Path, how: str) -> None:
    with open_journal(path) as journal, open_journal(path) as reader:
        for n in range(200):
            why = kept_why(journal, f"s{n % 2}", f"{SECRET} {n} " * 40)
        assert texts(reader, why, session="s1")
        assert SECRET.encode() in traces(path)
        if how == "session":
            journal.forget("s0", "s1")
        elif how == "thoughts":
            journal.thoughts.forget("s0", "s1")
        else:
            journal.thoughts.forget_all()
        assert SECRET.encode() not in traces(path)
        assert texts(reader, why, session="s1") == []


def test_the_drafts_of_killed_processes_are_swept_also_beside_a_file_that_is_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_journal(path) as journal:
        why = kept_why(journal, "s", SECRET)
        left = [path.with_name(f".{name}.thoughts.0123abcd") for name in ("journal.db", "copy.db")]
        for draft in left:
            draft.touch()
        monkeypatch.setattr(drafts, "time", lambda: time() + 90)
        back_up(journal, path.with_name("copy.db"), thoughts=True)
    with open_journal(path) as journal:
        assert texts(journal, why) == [SECRET]
    assert [draft for draft in left if draft.exists()] == []


def test_a_file_that_a_person_deletes_is_gone_for_all_who_have_it_open(path: Path) -> None:
    with open_journal(path) as writer, open_journal(path) as reader:
        why = kept_why(writer, "s", SECRET)
        assert texts(reader, why) == [SECRET]
        for each in path.parent.glob("*.thoughts*"):
            each.unlink()
        assert texts(reader, why) == []
        assert texts(reader, kept_why(writer, "s", "the next one")) == ["the next one"]


@pytest.mark.parametrize("attempt", range(20))
def test_many_writers_keep_their_thoughts_at_once_from_the_first_on(path: Path, attempt: int) -> None:
    def keep(name: str) -> list[str]:
        with open_journal(path) as journal:
            together.wait(30)
            return [kept_why(journal, name, f"{name} {n}") for n in range(5)]

    together = Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        digests = [digest for kept in pool.map(keep, "abcd") for digest in kept]
    with open_journal(path) as journal:
        assert sum(len(journal.thoughts.find(name, digests)) for name in "abcd") == 20
    assert [*path.parent.glob(".*")] == []


@pytest.mark.parametrize("content", [b"no database", b""], ids=["damaged", "a folder"])
def test_a_file_that_can_not_be_used_costs_the_why_and_nothing_else(path: Path, content: bytes) -> None:
    if content:
        beside(path).write_bytes(content * 100)
    else:
        beside(path).mkdir()
    with open_journal(path) as journal:
        assert kept_why(journal, "s", SECRET) == ""
        with pytest.raises(JournalError, match="thoughts"):
            journal.thoughts.find("s", ["0" * 64])


def test_the_file_of_another_program_is_left_alone(path: Path) -> None:
    with sqlite3.connect(beside(path)) as other:
        other.execute("CREATE TABLE theirs (word TEXT)")
    before = beside(path).read_bytes()
    with open_journal(path) as journal:
        assert kept_why(journal, "s", SECRET) == ""
    assert beside(path).read_bytes() == before


def test_a_process_that_dies_between_a_thought_and_its_event_leaves_a_text_that_no_event_knows(path: Path) -> None:
    program = f"""
import os, signal, sys
from planwire.journal import open_journal
from planwire.journal.thoughts import kept_why
with open_journal(sys.argv[1]) as journal:
    print(kept_why(journal, "s", {SECRET!r}), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    with open_journal(path) as journal:
        assert journal.sessions() == []
        assert texts(journal, done.stdout.strip()) == [SECRET]
        journal.thoughts.forget("s")
    assert SECRET.encode() not in traces(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_thoughts_can_be_kept_after_a_fork(path: Path) -> None:
    with open_journal(path) as journal:
        kept_why(journal, "s", SECRET)
        child = os.fork()
        if not child:
            os._exit(0 if kept_why(journal, "s", "in the child") else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert texts(journal, kept_why(journal, "s", "in the parent")) == ["in the parent"]


def test_the_thoughts_of_a_journal_elsewhere_have_a_file_here_that_does_not_tell_its_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    one, other = (thoughts_path(f"postgresql://me:secret@host/{name}") for name in ("one", "other"))
    assert one != other
    assert one.is_relative_to(tmp_path)
    assert "secret" not in str(one)
