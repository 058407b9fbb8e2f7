"""Recorded conversations with real agents: the plans that planwire reads from each."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from acp.schema import SessionNotification

from planwire import DIALECTS, V1, Board, Dialect, ItemsPlan, Translator, read
from planwire.cli.recording import RecordedLine, read_recording

FOLDER = Path(__file__).parents[1] / "conversations"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))

#: updates, states, ids of the plans that are left, steps ever seen in the list, reports
OUTCOMES = {
    "claude-agent-acp-0.99.0": (12, 6, [None], 3, 0),
    "claude-agent-acp-0.99.0-exitplan": (2, 1, ["plan-mode"], 2, 0),
    "claude-agent-acp-0.99.0-exitplan-noplancap": (0, 0, [], 0, 0),
    "claude-agent-acp-0.99.0-mixed": (16, 8, ["plan-mode", None], 3, 0),
    "claude-agent-acp-0.99.0-noplancap": (6, 6, [None], 3, 0),
    "claude-agent-acp-0.99.0-tasktools": (28, 10, [None], 3, 0),
    "claude-agent-acp-0.99.0-v2": (12, 6, ["plan"], 3, 0),
    "claude-agent-acp-0.99.0-v2-exitplan": (1, 1, ["plan-mode"], 2, 0),
    "claude-agent-acp-0.99.0-v2-mixed": (8, 8, ["plan-mode", "plan"], 3, 0),
    "claude-agent-acp-0.99.0-v2-tasktools": (17, 10, ["plan"], 3, 0),
    "claude-code-acp-0.16.2": (6, 6, [None], 3, 0),
    "client-acpx-0.19.1": (12, 11, [None, "p2", "p3", "p4"], 5, 4),
    "client-acpx-0.19.1-claude-agent-acp": (6, 6, [None], 3, 0),
    "deepagents-acp-0.0.13": (6, 6, [None], 3, 0),
    "kimi-cli-1.52.0-tombstone": (0, 0, [], 0, 1),
    "mistral-vibe-3.0.3": (24, 9, [None], 3, 0),
    "zed-codex-acp-0.16.0": (6, 6, [None], 3, 0),
}


def recorded(name: str) -> Iterator[RecordedLine]:
    return read_recording(str(FOLDER / f"{name}.jsonl"))


def test_every_conversation_has_an_expected_outcome() -> None:
    assert set(OUTCOMES) == set(NAMES)


@pytest.mark.parametrize("senders", ["given", "inferred"])
@pytest.mark.parametrize("name", NAMES)
def test_the_board_makes_of_it_what_it_is(name: str, senders: str) -> None:
    board = Board()
    reports = 0
    for each in recorded(name):
        reports += len(board.apply(each.line, each.sender if senders == "given" else None).reports)
    board.close()
    updates, states, plans, born, expected_reports = OUTCOMES[name]
    sessions = list(board.sessions.values())
    assert (sum(session.updates for session in sessions), sum(session.states for session in sessions)) == (
        updates,
        states,
    )
    assert [plan_id for session in sessions for plan_id in session.plans] == plans
    seen = [state.memory.born for session in sessions for state in session.plans.values()]
    assert max(seen, default=0) == born, "an entry that is renamed while it is worked on is no new step"
    assert reports == expected_reports


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize("name", NAMES)
def test_translated_it_ends_in_the_same_steps(name: str, dialect: Dialect) -> None:
    """Lines for a client of any dialect lead to the steps that the agent meant."""
    translator = Translator(dialect)
    original, translated = Board(), Board()
    for each in recorded(name):
        original.apply(each.line, each.sender)
        for out in translator.translate(each.line, each.sender):
            translated.apply(out, each.sender)
    original.close()
    translated.close()
    for session_id, session in original.sessions.items():
        steps = [step.content for state in session.plans.values() for step in state.steps if step.status]
        plans = translated.sessions[session_id].plans.values() if session_id in translated.sessions else ()
        assert steps == [step.content for state in plans for step in state.steps if steps and step.status]


@pytest.mark.parametrize("name", NAMES)
def test_lowered_to_v1_the_official_sdk_drops_nothing_of_it(name: str) -> None:
    translator = Translator(V1)
    for each in recorded(name):
        for out in translator.translate(each.line, each.sender):
            for update in read(out).updates:
                assert isinstance(update.body, ItemsPlan)
                notification = SessionNotification.model_validate(json.loads(out)["params"])
                assert len(notification.update.entries) == len(update.body.entries)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "client-acpx-0.19.1"])
def test_an_agents_own_v1_lines_reach_a_v1_client_byte_for_byte(name: str) -> None:
    """R14: whatever proposals there are, a list that the agent clears is cleared. Before its words behind one there is
    a blank line."""
    translator = Translator(V1)
    for each in recorded(name):
        out = translator.translate(each.line, each.sender)
        if each.sender == "agent" and all(update.tag == "plan" for update in read(each.line).updates):
            assert out[-1] == each.line
            assert [json.loads(gap)["params"]["update"]["content"]["text"] for gap in out[:-1]] in ([], ["\n\n"])
