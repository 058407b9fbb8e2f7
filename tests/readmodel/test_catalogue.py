"""The catalogue says what folding each session says, whatever happens to the journal, its file, or the process."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from planwire.cli import main
from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.journal.catalogue_file import CatalogueError, CatalogueFile, catalogue_path
from planwire.journal.thoughts import keep_all, think
from planwire.model.event_words import WHY, Word, words_of
from planwire.model.events import COMMENT, Event, PlanSet, Recorded, Remarked, SessionOpened, TurnEnded
from planwire.model.fold import fold, fold_all
from planwire.model.plan import MarkdownPlan
from planwire.model.records import SessionState
from planwire.readmodel import catching_up
from planwire.readmodel.catalogue import CatalogueEntry, catalogued, entry_of
from planwire.readmodel.catching_up import VERSION
from tests.event_strategies import events
from tests.journal.test_contract import ENGINES
from tests.journal.test_damage import change
from tests.journals import items

SESSIONS = ("a", "b", "c")


@st.composite
def told(draw: st.DrawFn) -> list[Event]:
    """Events of any kind. (All strategies in the name of this one would be too long to print.)"""
    return draw(st.lists(events, min_size=1, max_size=4))


class Killed(BaseException):
    """The process ends here."""


def folded(journal: Journal) -> dict[str, CatalogueEntry]:
    """What the catalogue has to say."""
    found = {}
    for known in journal.sessions():
        recorded = list(journal.read(known.id))
        found[known.id] = entry_of(fold_all(known.id, recorded), recorded[0].at, recorded[-1].at)
    return found


def listed(journal: Journal) -> dict[str, CatalogueEntry]:
    return {each.glance.id: each for each in catalogued(journal)}


def kept_words(journal: Journal, session: str) -> list[Word]:
    """The words of a session in the catalogue, which is made anew if it turns out to be damaged."""
    for _ in range(2):
        with CatalogueFile(catalogue_path(journal), VERSION) as file:
            try:
                return file.words(session)
            except CatalogueError as error:
                file.recover(error)
        listed(journal)
    raise AssertionError("the new catalogue is damaged, too")


def words_said(journal: Journal, session: str) -> set[Word]:
    """The words of a session, each where it was first."""
    found: dict[tuple[object, ...], Word] = {}
    for word in (word for recorded in journal.read(session) for word in words_of(recorded)):
        found.setdefault(word[:-1], word)
    return {*found.values()}


def files_of(path: Path) -> list[Path]:
    return [each for each in path.parent.iterdir() if ".catalogue" in each.name]


class Machine(RuleBasedStateMachine):
    """Anything happens to a journal in a file, and to its catalogue."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = Path(self.folder.name) / "journal.db"
        self.catalogue = Path(f"{self.path}.catalogue")
        self.clock = count(1_000, 1_000)
        self.journal = open_journal(self.path)
        self.backup: Path | None = None
        self.older: bytes | None = None

    @rule(session=st.sampled_from(SESSIONS), said=told())
    def append(self, session: str, said: list[Event]) -> None:
        self.journal.append(session, [Stamped(next(self.clock), "agent", each) for each in said])

    @rule(session=st.sampled_from(SESSIONS), said=told())
    def append_in_another_process(self, session: str, said: list[Event]) -> None:
        with open_journal(self.path) as other:
            other.append(session, [Stamped(next(self.clock), "user", each) for each in said])
            listed(other)

    @rule(session=st.sampled_from(SESSIONS))
    def forget(self, session: str) -> None:
        self.journal.forget(session)

    @rule(session=st.sampled_from(SESSIONS))
    def begin_anew(self, session: str) -> None:
        """With as many events as before."""
        last = self.journal.last_seq(session)
        self.journal.forget(session)
        self.journal.append(session, [Stamped(next(self.clock), "agent", PlanSet(items("p", "pending")))] * last)

    @rule()
    def back_up(self) -> None:
        self.journal.close()
        self.backup = Path(self.folder.name) / "backup"
        shutil.copy(self.path, self.backup)
        self.journal = open_journal(self.path)

    @precondition(lambda self: self.backup is not None)
    @rule()
    def restore(self) -> None:
        assert self.backup is not None
        self.journal.close()
        shutil.copy(self.backup, self.path)
        self.journal = open_journal(self.path)

    @rule()
    def look(self) -> None:
        assert listed(self.journal) == folded(self.journal)
        for session in self.journal.last_positions():
            assert {*kept_words(self.journal, session)} == words_said(self.journal, session)

    @rule(calls=st.integers(0, 3), name=st.sampled_from(("put", "remove", "scrub")))
    def be_killed_while_it_catches_up(self, calls: int, name: str) -> None:
        whole: Callable[..., object] = getattr(CatalogueFile, name)
        left = iter(range(calls))

        def cut(*arguments: object, **named: object) -> object:
            if next(left, None) is None:
                raise Killed
            return whole(*arguments, **named)

        with suppress(Killed), patch.object(CatalogueFile, name, cut), patch.object(catching_up, "TURN", 0):
            listed(self.journal)

    @rule(place=st.integers(0, 200_000), how=st.sampled_from(("flip", "zero", "cut", "double")))
    def damage(self, place: int, how: str) -> None:
        if not self.catalogue.exists():
            return
        found = bytearray(self.catalogue.read_bytes())
        place %= max(len(found), 1)
        if how == "flip" and found:
            found[place] ^= 1 << place % 8
        elif how == "zero":
            found[place : place + 4_096] = bytes(len(found[place : place + 4_096]))
        elif how == "cut":
            del found[place:]
        else:
            found *= 2
        self.catalogue.write_bytes(found)

    @rule()
    def copy_the_catalogue(self) -> None:
        if self.catalogue.exists():
            self.older = self.catalogue.read_bytes()

    @precondition(lambda self: self.older is not None)
    @rule()
    def put_an_older_copy_in_its_place(self) -> None:
        assert self.older is not None
        self.catalogue.write_bytes(self.older)

    @rule(version=st.sampled_from((0, VERSION - 1)))
    def be_of_an_older_version(self, version: int) -> None:
        if self.catalogue.exists():
            with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(self.catalogue)) as connection:
                connection.execute(f"PRAGMA user_version = {version}")

    @rule()
    def throw_it_away(self) -> None:
        for each in files_of(self.path):
            each.unlink()

    def teardown(self) -> None:
        self.look()
        self.journal.close()
        self.folder.cleanup()


def test_the_catalogue_says_what_folding_says_whatever_happens() -> None:
    run_state_machine_as_test(Machine, settings=settings(max_examples=25, stateful_step_count=25, deadline=None))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with open_journal(path) as opened:
        for number in range(20):
            write(opened, f"session-{number}", number * 1_000)
        yield opened


def write(journal: Journal, session: str, at: int = 0, said: str = "Much to do") -> None:
    opened = SessionOpened("agent", "editor", "/project", said)
    journal.append(session, [Stamped(at, "relay", opened), Stamped(at, "agent", PlanSet(items("main", "pending")))])


def test_only_sessions_with_new_events_are_folded_again(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    listed(journal)
    seen: list[str] = []

    def noted(state: SessionState, recorded: Recorded) -> SessionState:
        seen.append(recorded.session)
        return fold(state, recorded)

    monkeypatch.setattr(catching_up, "fold", noted)
    assert len(listed(journal)) == 20
    assert seen == []
    journal.append("session-3", [Stamped(99_000, "agent", TurnEnded("end_turn"))])
    assert listed(journal) == folded(journal)
    assert seen == ["session-3"]


def test_only_its_owner_can_read_it(journal: Journal, path: Path) -> None:
    listed(journal)
    assert {each.stat().st_mode & 0o777 for each in files_of(path)} == {0o600}


def test_what_is_forgotten_leaves_no_trace(journal: Journal, path: Path) -> None:
    secret = "xylophone"
    text = MarkdownPlan("text", "\n".join(f"- [ ] {secret} {number}" for number in range(400)))
    write(journal, secret, 0, secret)
    journal.append(secret, [Stamped(1, "agent", PlanSet(text, secret))])
    journal.append(secret, [Stamped(2, "ann", Remarked("main", COMMENT, f"{secret}!"))])
    listed(journal)
    assert any(secret.encode() in each.read_bytes() for each in files_of(path))
    journal.forget(secret)
    assert secret not in listed(journal)
    assert not any(secret.encode() in each.read_bytes() for each in files_of(path))


def test_the_command_that_forgets_leaves_no_trace_in_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_journal(path) as journal:
        for name in ("xylophone", "other"):
            write(journal, name, 0, name)
        listed(journal)
    assert main(["forget", "xylophone", "--yes", "--journal", str(path)]) == 0
    capsys.readouterr()
    found = b"".join(each.read_bytes() for each in files_of(path))
    assert b"other" in found
    assert b"xylophone" not in found


def test_traces_that_another_process_kept_are_removed_later(journal: Journal, path: Path) -> None:
    write(journal, "xylophone", 0, "xylophone")
    listed(journal)
    journal.forget("xylophone")
    with closing(sqlite3.connect(f"{path}.catalogue", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM words").fetchone()
        assert "xylophone" not in listed(journal)
    listed(journal)
    assert not any(b"xylophone" in each.read_bytes() for each in files_of(path))


def test_thoughts_are_not_copied(journal: Journal, path: Path) -> None:
    thought = think("I wonder about the xylophone")
    keep_all(journal, "session-1", [thought])
    journal.append("session-1", [Stamped(9, "agent", PlanSet(items("main", "pending"), why=thought.digest))])
    listed(journal)
    assert [each.text for each in kept_words(journal, "session-1") if each.kind == WHY] == [thought.digest]
    assert not any(b"xylophone" in each.read_bytes() for each in files_of(path))


def test_a_version_that_only_ticks_steps_brings_no_new_words(journal: Journal) -> None:
    for box in (" ", "x"):
        text = MarkdownPlan("text", f"# Title\n\n1. [{box}] Read it\n- [{box}] Mend it\n")
        journal.append("text", [Stamped(1, "agent", PlanSet(text))])
    listed(journal)
    assert [(each.text, each.seq) for each in kept_words(journal, "text")] == [
        ("# Title", 1),
        ("Mend it", 1),
        ("Read it", 1),
    ]


def test_a_session_that_can_not_be_read_hides_no_other_one_and_is_read_once_it_can(
    journal: Journal, path: Path
) -> None:
    change(path, "UPDATE events SET event = replace(event, 'plan_set', 'plan_') WHERE session = 4")
    for _ in range(2):
        found = listed(journal)
        assert len(found) == 20
        assert "event 2 of session 'session-3'" in found["session-3"].trouble
    change(path, "UPDATE events SET event = replace(event, 'plan_', 'plan_set') WHERE session = 4 AND seq = 2")
    assert listed(journal) == folded(journal)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_follows_every_engine(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with ENGINES[engine](tmp_path) as journal:
        for name in ("one", "two", "three"):
            write(journal, name)
        assert listed(journal) == folded(journal)
        journal.append("two", [Stamped(9_000, "agent", TurnEnded("end_turn"))])
        journal.forget("one", "three")
        write(journal, "three", 8_000)
        assert listed(journal) == folded(journal)


def test_a_time_that_no_clock_here_can_believe_does_not_put_a_session_first(journal: Journal) -> None:
    journal.append("session-2", [Stamped(2**60, "agent", TurnEnded("end_turn"))])
    found = [each.glance for each in catalogued(journal)]
    assert [each.id for each in found][-3:] == ["session-2", "session-1", "session-0"]
    assert found[-3].last_at == 2_000


# -- without a file of its own


def test_a_folder_in_its_place_is_left_alone(journal: Journal, path: Path) -> None:
    Path(f"{path}.catalogue").mkdir()
    assert listed(journal) == folded(journal)


def test_none_is_made_in_the_folder_of_another_user(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They could neither use it nor make one of their own."""
    monkeypatch.setattr(os, "geteuid", lambda: path.parent.stat().st_uid + 1)
    assert listed(journal) == folded(journal)
    assert files_of(path) == []


def test_a_link_in_its_place_is_not_followed(journal: Journal, path: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    Path(f"{path}.catalogue").symlink_to(tmp_path / "precious")
    assert listed(journal) == folded(journal)
    assert (tmp_path / "precious").read_text() == "mine"


def test_the_file_of_a_newer_planwire_is_left_alone(journal: Journal, path: Path) -> None:
    listed(journal)
    with closing(sqlite3.connect(f"{path}.catalogue")) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    write(journal, "new")
    assert listed(journal) == folded(journal)
    with closing(sqlite3.connect(f"{path}.catalogue")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)
        assert connection.execute("SELECT * FROM sessions WHERE id = 'new'").fetchall() == []


def test_a_full_disk_costs_no_answer(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    listed(journal)
    write(journal, "new")
    whole, failures = CatalogueFile.put, count()

    def full(writer: CatalogueFile, *arguments: object, **named: object) -> None:
        if next(failures) == 0:
            with writer._using():
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error
        whole(writer, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(CatalogueFile, "put", full)
    assert listed(journal) == folded(journal)
    assert next(failures) == 2  # only what is new is folded, too


def test_a_process_that_holds_the_lock_holds_up_nobody_for_long(journal: Journal, path: Path) -> None:
    listed(journal)
    write(journal, "new")
    with closing(sqlite3.connect(f"{path}.catalogue", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = monotonic()
        assert listed(journal) == folded(journal)
        assert monotonic() - begun < 10


def test_a_journal_in_memory_needs_no_file() -> None:
    with open_journal("memory:") as journal:
        write(journal, "one")
        assert listed(journal) == folded(journal)


# -- while it is made


def test_the_latest_sessions_come_first_if_there_is_little_time(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catching_up, "TURN", 0.001)
    found = [each.glance.id for each in catalogued(journal, within=0.01)]
    assert found == [f"session-{19 - number}" for number in range(len(found))]
    assert len(listed(journal)) == 20


def test_a_person_hears_how_far_it_is(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catching_up, "MANY", 10)
    monkeypatch.setattr(catching_up, "TURN", 0.0)
    heard: list[tuple[int, int]] = []
    list(catalogued(journal, lambda *numbers: heard.append(numbers)))
    assert heard[-1] == (20, 20)
    heard.clear()
    list(catalogued(journal, lambda *numbers: heard.append(numbers)))
    assert heard == []


def test_processes_that_make_it_at_once_all_get_the_same(journal: Journal, path: Path) -> None:
    for number in range(300):
        write(journal, f"more-{number}", number)
    script = (
        "import sys; from planwire.journal import open_journal; from planwire.readmodel.catalogue import catalogued;"
        "print(sorted(each.glance.id for each in catalogued(open_journal(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", script, str(path)]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) for _ in range(3)]
    expected = f"{sorted(folded(journal))}\n".encode()
    assert [each.communicate(timeout=60)[0] for each in others] == [expected] * 3
    assert listed(journal) == folded(journal)


def test_a_row_has_the_plans_and_the_open_question_of_a_session(journal: Journal) -> None:
    state = load_state(journal, "session-2")
    entry = listed(journal)["session-2"]
    assert entry == entry_of(state, 2_000, 2_000)
    assert [(each.id, each.title, each.done, each.total) for each in entry.plans] == [("main", "Plan", 0, 1)]
    assert entry.has_work_left
