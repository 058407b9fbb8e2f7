"""`planwire demo`: a real agent behind the real relay, and what is left of it in the journal."""

import subprocess
import sys
from pathlib import Path

from planwire import Board, open_journal
from planwire.demo.client import DemoConversation
from planwire.journal import load_state
from planwire.model.events import ContextCompacted, PlanRemoved, PlanSet, TurnEnded
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan, OtherPlan


def test_the_demo_shows_every_kind_of_plan_and_every_sort_of_change(tmp_path: Path) -> None:
    board = Board()
    lines = list(DemoConversation(50, str(tmp_path / "plans.db"), tmp_path))
    for line in lines:
        assert not board.apply(line.line, line.sender).reports
    (session,) = [each for each in board.sessions.values() if each.updates]
    assert [type(state.plan) for state in session.plans.values()] == [MarkdownPlan, ItemsPlan, FilePlan]
    fix = session.plans["fix"]
    assert (fix.progress.done, fix.progress.total, fix.progress.cancelled) == (6, 6, 1)
    proposal = session.plans["proposal"].plan
    assert isinstance(proposal, MarkdownPlan)
    assert proposal.content.startswith("# Fix the nightly export")
    assert proposal.content.endswith("the importer reads both.\n")

    with open_journal(tmp_path / "plans.db") as journal:
        (known,) = journal.sessions()
        events = [recorded.event for recorded in journal.read(known.id)]
        state = load_state(journal, known.id)
    kinds = {type(event.plan) for event in events if isinstance(event, PlanSet)}
    assert kinds == {ItemsPlan, MarkdownPlan, FilePlan, OtherPlan}
    assert [event.plan_id for event in events if isinstance(event, PlanRemoved)] == ["findings", "risks"]
    assert sum(isinstance(event, ContextCompacted) for event in events) == 1
    assert sum(isinstance(event, TurnEnded) for event in events) == 2
    assert {plan_id: record.state.plan for plan_id, record in state.live().items()} == {
        plan_id: each.plan for plan_id, each in session.plans.items()
    }
    assert any(b"brought my plan back" in line.line for line in lines)


def test_the_demo_agent_ends_with_its_client() -> None:
    agent = subprocess.run(
        [sys.executable, "-m", "planwire.demo.agent"],
        input=b'not JSON\n{"jsonrpc":"2.0","id":1,"method":"session/what"}\n',
        capture_output=True,
        check=True,
        timeout=30,
    )
    assert b"has no method session/what" in agent.stdout
    assert agent.stderr == b""
