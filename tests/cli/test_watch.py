"""Plans while they change: in a real terminal, in a pipe, and the moments that they are told in."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire.journal import Stamped, open_journal
from planwire.journal.memory import MemoryJournal
from planwire.model.events import ACP, PlanSet, SessionOpened, TurnEnded
from planwire.own_process import own_command
from planwire.readmodel.file_text import no_plan_files
from planwire.readmodel.timeline import news
from tests import deciding
from tests.journals import FIRST, HOSTILE, SECOND, THIRD, add, filled_journal, items
from tests.terminal.test_views import running
from tests.waiting import until


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(tmp_path / "journal.db"))
    return filled_journal(tmp_path / "journal.db", str(folder))


@contextmanager
def watching(*arguments: str) -> Iterator[tuple["subprocess.Popen[bytes]", list[bytes]]]:
    """`planwire watch` into a pipe, and the lines that have come out of it."""
    command = [*own_command(), "watch", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines: list[bytes] = []
        reader = Thread(target=lines.extend, args=(process.stdout,))
        reader.start()
        try:
            yield process, lines
        finally:
            process.kill()
            reader.join()


def keep_adding(path: Path, session: str, seen: list[bytes], words: bytes) -> None:
    """A program that is just starting may miss a change: go on until one was seen."""
    statuses = ["pending", "in_progress"]

    def seen_or_added() -> bool:
        if any(words in line for line in seen):
            return True
        statuses.reverse()
        add(path, session, "agent", PlanSet(items(None, "completed", "completed", statuses[0]), via=ACP))
        return False

    until(seen_or_added)


# -- a real terminal


def test_a_terminal_shows_the_plans_live_and_ctrl_c_leaves_them_there(journal: Path) -> None:
    with running("watch") as terminal:
        terminal.wait_for(b"\x1b[?1049h")
        terminal.wait_for(b"Write a test")
        terminal.wait_for(b"1 / 3")
        add(journal, FIRST, "agent", PlanSet(items(None, "completed", "completed", "in_progress"), via=ACP))
        terminal.wait_for(b"2 / 3")
        terminal.type(b"\x03")
        terminal.wait_for(b"\x1b[?1049l")
        terminal.wait_for(b"\x1b[?25h")
        terminal.wait_for(b"2/3")


def test_a_session_that_begins_in_the_folder_is_taken_up(journal: Path) -> None:
    folder = str(Path.cwd())
    with running("watch") as terminal:
        terminal.wait_for(b"1 / 3")
        add(
            journal,
            "not-here",
            "agent",
            SessionOpened("other", None, "/elsewhere", "Elsewhere"),
            PlanSet(items("p", "pending")),
        )
        add(
            journal,
            "fresh",
            "agent",
            SessionOpened("new agent", None, folder, "A new one"),
            PlanSet(items("main", "pending")),
        )
        terminal.wait_for(b"A new one")
        terminal.wait_for(b"0 / 1")
        assert b"Elsewhere" not in terminal.seen
        terminal.type(b"\x03")
        terminal.wait_for(b"\x1b[?1049l")


@pytest.mark.usefixtures("journal")
def test_a_terminal_is_left_as_it_was_when_the_watcher_is_ended() -> None:
    with running("watch", "--all") as terminal:
        terminal.wait_for(b"Mend the redirect")
        os.kill(os.tcgetpgrp(terminal.descriptor), signal.SIGTERM)
        terminal.wait_for(b"\x1b[?1049l")
        terminal.wait_for(b"\x1b[?25h")


def test_hostile_plans_do_no_harm_to_a_terminal(journal: Path) -> None:
    add(journal, "z", HOSTILE, SessionOpened(HOSTILE, None, None, HOSTILE), PlanSet(items(HOSTILE, HOSTILE)))
    with running("watch", "z") as terminal:
        terminal.wait_for("x�]0;pwned".encode())
        terminal.type(b"\x03")
        terminal.wait_for(b"\x1b[?25h")
        assert b"\x1b]0;" not in terminal.seen
        assert "\x9b".encode() not in terminal.seen


@pytest.mark.usefixtures("journal")
def test_a_terminal_lists_sessions_in_two_lines_each() -> None:
    with running("sessions") as terminal:
        terminal.wait_for(b"Mend the redirect")
        terminal.wait_for(b"Write a test")
        terminal.wait_for(b"stopped")
        terminal.wait_for(b"2 / 2")


def test_forgetting_asks_on_a_terminal(journal: Path) -> None:
    for answer, kept in ((b"n\n", 6), (b"\n", 6), (b"\x04", 6), (b"y\n", 0)):
        with running("forget", THIRD) as terminal:
            terminal.wait_for(b"Delete 1 session for good? [y/N]")
            terminal.type(answer)
            terminal.wait_for(b"nothing was deleted" if kept else b"Deleted 1 session.")
        with open_journal(journal) as left:
            assert left.last_seq(THIRD) == kept


# -- a pipe


def test_without_a_terminal_every_change_is_a_line(journal: Path) -> None:
    with watching(FIRST) as (process, lines):
        keep_adding(journal, FIRST, lines, b"Mend it")
        add(journal, SECOND, "agent", TurnEnded("end_turn"))
        add(journal, FIRST, "agent", TurnEnded("end_turn"))
        until(lambda: any(b"turn ended" in line for line in lines))
        assert b"\x1b" not in b"".join(lines)
        assert not any(SECOND.encode() in line for line in lines)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def test_a_program_gets_an_object_a_change(journal: Path) -> None:
    with watching("--json", "--all") as (process, lines):
        keep_adding(journal, FIRST, lines, b"Mend it")
        add(journal, SECOND, "agent", TurnEnded("end_turn"))
        until(lambda: any(SECOND.encode() in line for line in lines))
        moments = [json.loads(line) for line in lines]
        assert {"session": SECOND, "event": "turn_ended", "by": "agent"}.items() <= moments[-1].items()
        assert moments[0]["words"][0]["kind"] in {"completed", "pending", "in_progress"}
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


# -- moments


def test_news_are_of_the_sessions_that_are_wanted_and_from_now_on(journal: Path) -> None:
    with open_journal(journal) as opened:
        moments = news(opened, lambda state: state.id != SECOND, files=no_plan_files, timeout=0)
        opened.append(THIRD, [Stamped(1, "agent", TurnEnded("end_turn"))])
        opened.append(SECOND, [Stamped(2, "agent", TurnEnded("end_turn"))])
        opened.append(FIRST, [Stamped(3, "agent", TurnEnded("refusal"))])
        assert [(moment.session, moment.seq, moment.words[0].text) for moment in moments] == [
            (THIRD, 7, "turn ended"),
            (FIRST, 9, "turn ended: the model refused"),
        ]


def test_a_session_that_is_forgotten_and_begins_anew_is_followed(journal: Path) -> None:
    with open_journal(journal) as opened:
        moments = news(opened, lambda _: True, files=no_plan_files, timeout=0)
        opened.append(FIRST, [Stamped(1, "agent", TurnEnded("end_turn"))])
        assert next(moments).seq == 9
        opened.forget(FIRST)
        deciding.write(opened, FIRST, Stamped(2, "agent", PlanSet(items("new", "pending"))))
        assert [(moment.seq, moment.words[0].text) for moment in moments] == [(1, "new: 1 step")]


@settings(max_examples=40, deadline=None)
@given(
    before=st.lists(st.sampled_from("ab"), max_size=4),
    after=st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=12),
)
def test_news_leave_nothing_out_and_tell_nothing_twice(before: list[str], after: list[tuple[str, bool]]) -> None:
    journal = MemoryJournal()

    def write(session: str, number: int) -> None:
        statuses = ["completed"] * (number % 4) + ["pending"]
        deciding.write(journal, session, Stamped(number, "agent", PlanSet(items("main", *statuses))))

    for number, session in enumerate(before):
        write(session, number)
    moments = news(journal, lambda _: True, files=no_plan_files, timeout=0)
    seen = []
    for number, (session, look) in enumerate(after):
        write(session, number)
        if look:
            seen.append(next(moments))
    seen += moments
    expected = []
    counts = {session: before.count(session) for session in "abc"}
    for session, _ in after:
        counts[session] += 1
        expected.append((session, counts[session]))
    assert [(moment.session, moment.seq) for moment in seen] == expected
