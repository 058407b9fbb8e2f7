"""Hooks while the journal's server is away: what they say stays in their spool, and no hook waits for an answer."""

from pathlib import Path

from planwire.hooks.drain_thread import DrainThread
from planwire.hooks.drained import drain_into
from planwire.journal.spool_append import is_drained
from planwire.model.events import PlanSet
from tests.hooks.test_draining import LIST, Terminal
from tests.journal.outages import Outage, behind, open_server
from tests.waiting import until


def plans(folder: Path) -> int:
    with open_server(folder) as server:
        return sum(isinstance(each.event, PlanSet) for each in server.read("abc"))


def test_what_hooks_say_is_recorded_in_order_once_the_server_is_back(tmp_path: Path) -> None:
    outage, terminal = Outage(tmp_path), Terminal(tmp_path)
    terminal.journal.close()
    try:
        with behind(tmp_path) as journal, DrainThread(journal, terminal.folder):
            terminal.todo(LIST[:1])
            until(lambda: plans(tmp_path) == 1)
            outage.begin()
            terminal.todo(LIST)
            until(lambda: not is_drained(str(terminal.folder)))
            terminal.todo([*LIST, {"content": "Tell", "status": "pending"}])
            assert not terminal.spool.is_empty()
            outage.end()
            until(lambda: plans(tmp_path) == 3)
            until(terminal.spool.is_empty)
            steps = [len(each.event.plan.entries) for each in journal.read("abc") if isinstance(each.event, PlanSet)]  # type: ignore[union-attr]
        assert steps == [1, 2, 3]
    finally:
        terminal.process.communicate(b"\n")


def test_a_command_that_looks_leaves_what_hooks_said_where_it_is(tmp_path: Path) -> None:
    outage, terminal = Outage(tmp_path), Terminal(tmp_path)
    terminal.journal.close()
    try:
        outage.begin()
        terminal.todo(LIST)
        with behind(tmp_path) as journal:
            drain_into(journal, terminal.folder)
        assert not terminal.spool.is_empty()
        outage.end()
        (tmp_path / "outbox" / "away").unlink()
        with behind(tmp_path) as journal:
            drain_into(journal, terminal.folder)
        assert plans(tmp_path) == 1
    finally:
        terminal.process.communicate(b"\n")
