"""Appends with a key: written once, however often and by however many they are repeated, and across every crash."""

import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from planwire.errors import Conflict, JournalUnavailable
from planwire.journal import Journal, Once, open_journal
from planwire.journal.sqlite.journal import SqliteJournal
from tests.journal.test_contract import NO_TEXT, PATIENCE, said, words
from tests.journal.test_sqlite import is_sound, program, traces
from tests.waiting import until

KEY = Once("a page", 1)


# Every engine


def test_a_repeated_append_writes_nothing_and_returns_what_the_first_one_wrote(journal: Journal) -> None:
    journal.append("s", said("before"))
    first = journal.append("s", said("one", "two"), 1, KEY)
    journal.append("s", said("after"))
    assert words(first) == ["one", "two"]
    assert journal.append("s", said("one", "two"), 1, KEY) == first == tuple(journal.read("s", 1, 3))
    assert journal.append("s", said("other", "events", "now"), once=KEY) == first
    assert words(journal.read("s")) == ["before", "one", "two", "after"]


def test_a_repeated_append_never_conflicts_and_one_that_did_was_not_written(journal: Journal) -> None:
    with pytest.raises(Conflict):
        journal.append("s", said("too early"), 7, KEY)
    first = journal.append("s", said("one"), 0, KEY)
    for expected in (0, 1, 7):
        assert journal.append("s", said("one"), expected, KEY) == first
    assert words(journal.read("s")) == ["one"]


def test_another_number_another_source_and_another_session_are_other_appends(journal: Journal) -> None:
    for session in ("s", "t"):
        for source in ("a page", "", "a\0page", "naïve", "😀", "x" * 10_000, "'; DROP TABLE once --"):
            for n in (-(2**63), 0, 1, 2**63 - 1):
                for _ in range(2):
                    [written] = journal.append(session, said(f"{source} {n}"), once=Once(source, n))
                    assert words([written]) == [f"{source} {n}"]
    assert [each.last_seq for each in journal.sessions()] == [28, 28]


def test_an_append_without_events_asks_for_a_key_and_keeps_none(journal: Journal) -> None:
    assert journal.append("s", [], once=KEY) == ()
    assert journal.sessions() == []
    first = journal.append("s", said("one"), once=KEY)
    assert journal.append("s", [], 0, KEY) == first
    assert journal.append("s", [], 1, Once("a page", 2)) == ()
    with pytest.raises(Conflict):
        journal.append("s", [], 0, Once("a page", 2))


def test_keys_go_with_their_session(journal: Journal) -> None:
    for session in ("s", "t"):
        journal.append(session, said("old"), once=KEY)
    journal.forget("s")
    assert journal.append("s", [], once=KEY) == ()
    assert words(journal.append("s", said("new"), 0, KEY)) == ["new"]
    assert words(journal.append("t", said("new"), once=KEY)) == ["old"]


def test_more_events_than_fit_a_page_come_back_whole(journal: Journal) -> None:
    first = journal.append("s", said(*map(str, range(2_500))), once=KEY)
    assert journal.append("s", [], once=KEY) == first


def test_of_threads_that_append_under_one_key_one_writes_and_all_get_its_events(journal: Journal) -> None:
    together = threading.Barrier(6)

    def work(name: int) -> list[tuple[object, ...]]:
        together.wait(PATIENCE)
        return [journal.append("s", said(f"{n} of {name}"), once=Once("a page", n)) for n in range(15)]

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(work, range(6)))
    assert all(result == results[0] for result in results)
    assert [word.split()[0] for word in words(journal.read("s"))] == list(map(str, range(15)))


@pytest.mark.parametrize(("source", "n"), [(NO_TEXT, 1), ("a", 2**63), ("a", -(2**63) - 1), ("a", 1.0), ("a", True)])
def test_a_key_that_can_not_be_stored_is_refused(source: str, n: int) -> None:
    with pytest.raises(ValueError, match=r"can't n(ame the source of|umber) an append"):
        Once(source, n)


def test_a_closed_journal_says_so_to_an_append_with_a_key(journal: Journal) -> None:
    journal.close()
    with pytest.raises(JournalUnavailable, match="closed: open it again"):
        journal.append("s", said("one"), once=KEY)


# In a file


def test_two_appends_with_one_key_in_one_commit_are_written_once(path: Path) -> None:
    with SqliteJournal(path) as journal, ThreadPoolExecutor(2) as pool:
        journal.append("t", said("one"), once=KEY)
        with journal._group.turn:
            appends = [pool.submit(journal.append, "s", said(word), 0, KEY) for word in ("one", "two")]
            until(lambda: len(journal._group._gathering) == 2)
        one, two = (append.result(PATIENCE) for append in appends)
        assert one == two == tuple(journal.read("s"))


def test_of_processes_that_append_under_one_key_one_writes_and_all_get_its_events(path: Path) -> None:
    code = """
from planwire.journal import Once
sys.stdin.readline()
for n in range(40):
    [written] = journal.append("s", said(f"{n} of {sys.argv[2]}"), once=Once("a page", n))
    print(written.seq, written.event.stop_reason)
"""
    with program(code, path, "a") as one, program(code, path, "b") as other:
        for each in (one, other):
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        told = [each.communicate(timeout=PATIENCE)[0].splitlines() for each in (one, other)]
    with open_journal(path) as journal:
        assert told == [[f"{seq} {word}" for seq, word in enumerate(words(journal.read("s")), 1)]] * 2
    assert [line.split()[1] for line in told[0]] == list(map(str, range(40)))


def test_a_writer_that_is_killed_and_repeats_what_it_has_no_answer_to_writes_everything_once(path: Path) -> None:
    """It dies at any moment, also between a commit and its answer. The next one begins with the last answer."""
    code = r"""
import os
from planwire.journal import Once
for n in range(int(sys.argv[2]), 10**9):
    journal.append("s", said(str(n), str(n)), once=Once("a spool", n))
    os.write(1, f"{n}\n".encode())
"""
    answered = 0
    for _ in range(3):
        with program(code, path, answered) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(20)]
            process.send_signal(signal.SIGKILL)
            lines += [line for line in process.stdout if line.endswith("\n")]
        answered = int(lines[-1])
        with open_journal(path) as journal:
            found = words(journal.read("s"))
            assert found == [str(each // 2) for each in range(len(found))]
            assert int(found[-1]) in (answered, answered + 1)
            assert words(journal.append("s", said("anew"), once=Once("a spool", answered))) == [str(answered)] * 2
    assert is_sound(path)


def test_a_key_holds_after_the_journal_was_opened_again(path: Path) -> None:
    with open_journal(path) as journal:
        first = journal.append("s", said("one"), once=KEY)
    with open_journal(path) as journal:
        assert journal.append("s", said("one"), 0, KEY) == first


def test_keys_whose_events_another_program_deleted_are_no_ones_and_go_with_the_next_forget(path: Path) -> None:
    secret = Once("<the name of a page>", 1)
    with open_journal(path) as journal:
        journal.append("s", said("old"), once=secret)
        with closing(sqlite3.connect(path)) as other:
            for statement in ("DELETE FROM events", "DELETE FROM sessions"):
                other.execute(statement)
            other.commit()
    with open_journal(path) as journal:
        assert words(journal.append("s", said("new"), once=secret)) == ["new"]
        journal.forget("s")
        assert traces(path.parent, secret.source) == []


def test_an_append_without_a_key_executes_no_statement_for_keys(path: Path) -> None:
    executed: list[str] = []
    with SqliteJournal(path) as journal:
        journal.append("s", said("one"), once=KEY)
        journal.append("s", said("two"))
        journal._writer.set_trace_callback(executed.append)
        journal.append("s", said("three"))
        journal._writer.set_trace_callback(None)
    assert [statement.split()[0] for statement in executed] == ["BEGIN", "PRAGMA", "INSERT", "COMMIT"]
