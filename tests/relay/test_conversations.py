"""Real traffic through the relay: what each side gets of it, what is kept, and that nobody loses anything."""

import json
from pathlib import Path

import pytest

from planwire.acp.board import Board
from planwire.model.events import PlanRemoved, PlanReviewed, PlanSet, ReviewAsked, SessionOpened, TurnEnded
from planwire.model.plan import ItemsPlan, MarkdownPlan
from tests.agents.driving import Talk
from tests.wire import JSON, both_keys

FOLDER = Path(__file__).parents[1] / "conversations"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
PLAN_OPERATIONS = ("plan_update", "plan_removed")


def conversation(name: str) -> list[tuple[str, bytes]]:
    lines = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]
    return [(each["from"], each["line"].encode()) for each in lines]


def update_in(line: bytes) -> JSON:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    params = value.get("params") if isinstance(value, dict) else None
    update = params.get("update") if isinstance(params, dict) else None
    return update if isinstance(update, dict) else {}


def relayed(name: str, *, bare: bool = False) -> tuple[Talk, list[tuple[str, bytes, list[bytes]]]]:
    """The conversation through a relay: who said what, and what became of it. `bare` takes the client's plan
    capabilities away."""
    talk = Talk(begun=False)
    became = []
    for sender, recorded in conversation(name):
        is_hello = sender == "client" and b'"initialize"' in recorded
        line = recorded.replace(b',"plan":{}', b"") if bare and is_hello else recorded
        became.append((sender, line, talk.client(line) if sender == "client" else talk.agent(line)))
    return talk, became


@pytest.mark.parametrize("name", NAMES)
def test_everything_but_plans_comes_through_byte_for_byte(name: str) -> None:
    """R46: in either direction, for clients with and without plan capabilities. Only `initialize` is added to, and
    before an agent's words behind the text of a plan there is a blank line."""
    for bare in (False, True):
        for sender, line, sent in relayed(name, bare=bare)[1]:
            if sender == "client" and b'"initialize"' in line and b'"protocolVersion":1' in line:
                params = json.loads(sent[0])["params"]
                assert params["clientCapabilities"].items() >= json.loads(line)["params"]["clientCapabilities"].items()
            elif update_in(line).get("sessionUpdate") not in ("plan", *PLAN_OPERATIONS):
                *gaps, last = sent
                assert last == line
                assert [update_in(gap)["content"]["text"] for gap in gaps] in ([], ["\n\n"])


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("client-")])
def test_a_client_that_reads_plans_gets_them_byte_for_byte(name: str) -> None:
    """R11: the agents that were recorded speak what their client asked for. In the draft of version 1 the other
    spelling of a plan's id stands beside theirs."""
    for _, line, sent in relayed(name)[1]:
        if update_in(line).get("sessionUpdate") in PLAN_OPERATIONS and "-v2" not in name:
            assert sent == [both_keys(line)]
        elif b'"initialize"' not in line:
            assert sent == [line]


@pytest.mark.parametrize("name", [name for name in NAMES if "-v2" not in name])
def test_a_person_behind_a_v1_client_loses_nothing(name: str) -> None:
    """R8, R9: what is seen through the relay holds all that is seen without it, and all that the agent planned."""
    talk, became = relayed(name, bare=True)
    direct, through = [], []
    for sender, line, sent in became:
        if sender == "agent":
            direct.append(line)
            through += sent
            assert not any(update_in(each).get("sessionUpdate") in PLAN_OPERATIONS for each in sent)
    seen = shown(through)
    for text in shown([line for line in direct if update_in(line).get("sessionUpdate") not in PLAN_OPERATIONS]):
        assert any(text in each for each in seen)
    for event in talk.plan_events(session_of(name)):
        if isinstance(event, PlanSet) and isinstance(event.plan, MarkdownPlan):
            assert any(event.plan.content in each for each in seen) or event.plan.content in "".join(seen)
        elif isinstance(event, PlanSet) and isinstance(event.plan, ItemsPlan):
            for each in event.plan.entries:
                assert any(each.content in text for text in seen)


def shown(lines: list[bytes]) -> list[str]:
    """The texts that a v1 client shows: entries of lists, and what the agent and its tools say."""
    texts = []
    for line in lines:
        update = update_in(line)
        texts += [entry["content"] for entry in update.get("entries", ()) if isinstance(entry, dict)]
        content = update.get("content")
        for part in content if isinstance(content, list) else [content]:
            match part:
                case {"content": {"text": str(text)}} | {"text": str(text)}:
                    texts.append(text)
    return texts


def session_of(name: str) -> str:
    return next(
        (
            json.loads(line)["params"]["sessionId"]
            for _, line in conversation(name)
            if b'"sessionId"' in line and b'"params"' in line
        ),
        "",
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_ends_where_a_board_ends_and_a_load_adds_nothing(name: str) -> None:
    """R37, R39: replays are recognised. The board is the other reader of the same rules."""
    talk, _ = relayed(name)
    board = Board()
    states = 0
    for sender, line in conversation(name):
        states += bool(board.apply(line, sender))
    session = session_of(name)
    kept: dict[str | None, object] = {}
    events = talk.plan_events(session)
    for event in events:
        if isinstance(event, PlanSet):
            kept[event.plan.id] = event.plan
        elif isinstance(event, PlanRemoved):
            kept.pop(event.plan_id, None)
    expected = {plan_id: state.plan for plan_id, state in board.sessions[session].plans.items()} if states else {}
    if "noplancap" not in name:  # there the plan is known from the question about it alone
        assert kept == expected
        assert len([event for event in events if not isinstance(event, ReviewAsked | PlanReviewed)]) == states


@pytest.mark.parametrize(
    ("name", "reviews"),
    [
        ("claude-agent-acp-0.99.0-exitplan", 1),
        ("claude-agent-acp-0.99.0-mixed", 2),
        ("claude-agent-acp-0.99.0-v2-exitplan", 1),
        ("claude-agent-acp-0.99.0-v2-mixed", 2),
        ("claude-agent-acp-0.99.0", 0),
        ("mistral-vibe-3.0.3", 0),
    ],
)
def test_approvals_of_plans_are_kept(name: str, reviews: int) -> None:
    talk, _ = relayed(name)
    found = [event for event in talk.events(session_of(name)) if isinstance(event, PlanReviewed)]
    assert [(event.plan_id, event.verdict) for event in found] == [("plan-mode", "approved")] * reviews


def test_who_and_where_is_kept() -> None:
    name = "claude-code-acp-0.16.2"
    talk, _ = relayed(name)
    events = talk.events(session_of(name))
    opened = [event for event in events if isinstance(event, SessionOpened)]
    assert opened[0] == SessionOpened("Claude Code 0.16.2", "Peer capture 0.1.0", "/home/user/project")
    assert opened[1].title is not None
    assert [event for event in events if isinstance(event, TurnEnded)] == [TurnEnded("end_turn")]
