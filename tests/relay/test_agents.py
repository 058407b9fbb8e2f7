"""What agents say in `initialize` about words for a running turn, and what they answer to them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.relay.agents import ways_of
from planwire.relay.steer_ways import SteerWay

CLAUDE = {
    "protocolVersion": 1,
    "agentCapabilities": {"_meta": {"claudeCode": {"promptQueueing": True}, "authStatus": {}}, "loadSession": True},
    "agentInfo": {"name": "@agentclientprotocol/claude-agent-acp", "version": "0.99.0"},
    "_meta": {"steering": {"supported": True}},
}
CLAUDE_V2 = {"protocolVersion": 2, "capabilities": {"_meta": {"claudeCode": {"promptQueueing": True}}}}
CODEX = {"protocolVersion": 1, "agentCapabilities": {"_meta": {}}, "_meta": {"steering": {"supported": True}}}
QODER = {"agentCapabilities": {"_meta": {"qoder": {"promptQueueing": True}}}}
REASONIX = {"agentCapabilities": {"_meta": {"reasonix.io": {"sessionSteer": {"method": "_reasonix.io/session/steer"}}}}}
WORDS = [{"type": "text", "text": "Smaller steps, please."}]


def way(initialized: Any) -> SteerWay:
    steer = ways_of("my-agent", initialized).steer
    assert steer is not None
    return steer


@pytest.mark.parametrize(
    ("initialized", "method", "queues"),
    [
        (CLAUDE, "_session/steering", True),
        (CLAUDE_V2, None, True),
        (CODEX, "_session/steering", False),
        (QODER, None, True),
        (REASONIX, "_reasonix.io/session/steer", False),
        ({"protocolVersion": 1, "agentCapabilities": {}}, None, False),
    ],
    ids=["claude", "claude, version 2", "codex", "qoder", "reasonix", "an agent that says nothing"],
)
def test_an_agent_is_steered_in_the_way_that_it_announces(initialized: Any, method: str | None, queues: bool) -> None:
    ways = ways_of("my-agent", initialized)
    assert (ways.steer.method if ways.steer else None, ways.queues) == (method, queues)


@pytest.mark.parametrize(
    "initialized",
    [
        {"_meta": {"steering": {"supported": "yes"}}},
        {"_meta": {"steering": {"supported": 1}}},
        {"_meta": {"steering": True}},
        {"agentCapabilities": {"_meta": {"steering": {"supported": True}}}},
        {"agentCapabilities": {"_meta": {"claudeCode": {"promptQueueing": "true"}}}},
        {"agentCapabilities": {"_meta": {"reasonix.io": {"sessionSteer": {"method": "session/steer"}}}}},
        {"agentCapabilities": {"_meta": {"reasonix.io": {"sessionSteer": {}}}}},
    ],
)
def test_what_is_not_announced_as_agreed_is_not_announced(initialized: Any) -> None:
    """Nobody probes for it: some agents answer a method that they don't know with a plain result."""
    assert ways_of("my-agent", initialized) == ways_of("my-agent", None)


def test_an_agent_may_name_its_method() -> None:
    renamed = {"agentCapabilities": {"_meta": {"reasonix.io": {"sessionSteer": {"method": "_reasonix.io/v2/steer"}}}}}
    assert way(renamed).method == "_reasonix.io/v2/steer"


def test_an_idle_agent_is_asked_to_leave_the_words_to_the_relay() -> None:
    assert way(CLAUDE).params("s1", WORDS) == {
        "sessionId": "s1",
        "prompt": WORDS,
        "_meta": {"steering": {"idleBehavior": "promptRequired"}},
    }
    assert way(REASONIX).params("s1", WORDS) == {"sessionId": "s1", "prompt": WORDS}


@pytest.mark.parametrize(
    ("initialized", "answer", "is_error", "outcome"),
    [
        (CLAUDE, {"outcome": "injected"}, False, "injected"),
        (CLAUDE, {"outcome": "startedNewTurn"}, False, "injected"),
        (CLAUDE, {"outcome": "promptRequired", "reason": "noRunningTurn"}, False, "idle"),
        (CLAUDE, {"outcome": "failed"}, False, "refused"),
        (CLAUDE, {"outcome": ["injected"]}, False, "refused"),
        (CLAUDE, {}, False, "refused"),
        (CLAUDE, None, False, "refused"),
        (CLAUDE, {"code": -32601, "message": "Method not found"}, True, "refused"),
        (CLAUDE, {"outcome": "injected"}, True, "refused"),
        (REASONIX, {"itemId": "i1", "disposition": "steer_accepted"}, False, "injected"),
        (REASONIX, {"itemId": "i1", "disposition": "queued_followup"}, False, "injected"),
        (REASONIX, {}, False, "injected"),
        (REASONIX, {"disposition": "dropped"}, False, "refused"),
        (REASONIX, {"code": -32600, "message": "no active prompt"}, True, "idle"),
        (REASONIX, {"code": -32602, "message": "no such session"}, True, "refused"),
        (REASONIX, {"code": {}}, True, "refused"),
    ],
)
def test_an_answer_says_whether_the_agent_has_the_words(
    initialized: Any, answer: Any, is_error: bool, outcome: str
) -> None:
    assert way(initialized).outcome(answer, is_error) == outcome


KEYS = st.sampled_from(("_meta", "agentCapabilities", "steering", "supported", "outcome", "disposition", "code"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_nothing_that_an_agent_says_is_too_odd(value: Any, is_error: bool) -> None:
    ways_of("my-agent", value)
    for initialized in (CLAUDE, REASONIX):
        assert way(initialized).outcome(value, is_error) in ("injected", "idle", "refused")
