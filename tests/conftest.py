"""What holds for every test: nothing of the user's own is read or written."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.journal import Journal, open_journal
from planwire.journal.processes import lineage
from planwire.session import known_agents
from tests import strategies  # noqa: F401  (how hypothesis works here: the same examples every time, no deadlines)
from tests.hostile_repository import HostileRepository
from tests.waiting import at_rest

TESTS = Path(__file__).parent
#: The folders whose tests start processes of planwire's.
END_TO_END = {"cli", "demo", "faces", "hooks", "mcp", "relay", "team", "terminal", "web"}

#: Pictures of a screen in a row, each a reaction to the one before. An app that makes more draws for ever.
MOST_DRAWINGS = 20

# Programs that the tests start heed these signals, also where the tests run in the background and ignore them.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)


#: The records that other processes keep, and what they would call this one.
RECORDS = list(known_agents._folders())
THIS_PROCESS = next(lineage())

#: Verdicts are sent at once, on the boards that several tests share too; tests of the delay set their own.
os.environ["PLANWIRE_UNDO_SECONDS"] = "0"


@pytest.fixture(scope="session")
def _hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileRepository:
    return HostileRepository(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(autouse=True)
def _a_journal_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default journal is the test's, in this process and in those that it starts; the records of agents only in
    this one, since no variable chooses their place. What another test's hooks took this process for is forgotten."""
    for folder in RECORDS:
        (folder / THIS_PROCESS).unlink(missing_ok=True)
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(tmp_path / "default.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(known_agents, "_folders", lambda: iter([tmp_path / "agents"]))
    monkeypatch.delenv("PLANWIRE_AGENT", raising=False)


@pytest.fixture(autouse=True)
def _in_a_hostile_repository(
    request: pytest.FixtureRequest, _hostile: HostileRepository, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Everything that starts processes stands in a repository whose files would run if anything took them for code."""
    if request.path.relative_to(TESTS).parts[0] not in END_TO_END:
        yield
        return
    monkeypatch.chdir(_hostile.folder)
    yield
    assert not _hostile.ran(), "code of the working folder ran"


@pytest.fixture
def journal() -> Iterator[Journal]:
    """A journal in memory, where a test needs no other one."""
    with open_journal("memory:") as opened:
        yield opened


@pytest.fixture
def prompt_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pilot that goes on once its app has nothing left to do or to draw.

    Textual's own waits twice a key for 20 ms in which the process is next to idle, and for a second if a thread that
    follows a journal never is.
    """
    from textual._context import active_app

    async def drawn(_at_least: float = 0) -> None:
        await at_rest()
        for _ in range(MOST_DRAWINGS):
            screen = active_app.get().screen
            waiting = screen._layout_required, screen._scroll_required, screen._repaint_required
            if not any((*waiting, screen._recompose_required, screen._dirty_widgets, screen._callbacks)):
                break
            screen._on_timer_update()  # what the screen would do within the next 17 ms
            await at_rest()

    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", drawn)
