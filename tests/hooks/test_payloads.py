"""Every payload of a real agent is known for what it is, and none that is hostile, truncated or from the future raises
anything."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.hooks.agents import HOOKED_AGENTS, read_hook
from planwire.hooks.answers import AllowCall, Answer, Approve, SendBack, Tell
from tests.hooks.payloads import Payload, payloads

AGENTS = ("claude-code", "codex", "copilot", "gemini", "opencode", "qwen")
REAL = [(agent, payload, names) for agent in AGENTS for payload, names in payloads(agent)]
#: What an agent finds in its environment if it was started in another one's shell.
INHERITED = ["CLAUDECODE", "COPILOT_CLI", "GEMINI_SESSION_ID", "QWEN_CODE_CLI"]
ANSWERS: tuple[Answer, ...] = (Tell("Hello"), AllowCall(), Approve(), Approve("# Plan"), SendBack("Smaller steps"))

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def ids(case: Any) -> str | None:
    return case.get("hook_event_name") if isinstance(case, dict) else case if isinstance(case, str) else ""


@pytest.mark.parametrize(("agent", "payload", "names"), REAL, ids=ids)
@pytest.mark.parametrize("inherited", [[], INHERITED], ids=["alone", "in another agent's shell"])
def test_a_payload_is_known_for_that_of_its_agent(
    agent: str, payload: Payload, names: list[str], inherited: list[str]
) -> None:
    environment = {*names, *inherited}
    assert [row.name for row in HOOKED_AGENTS.values() if row.is_caller(payload, environment)] == [agent]


@pytest.mark.parametrize(("agent", "payload", "names"), REAL, ids=ids)
def test_a_payload_says_which_session_and_folder_it_is_about(agent: str, payload: Payload, names: list[str]) -> None:
    read = read_hook(json.dumps(payload).encode(), None, names)
    if read is not None:
        assert read.heard.agent == agent
        own = [payload.get(name) for name in ("parent_agent_id", "parentAgentId", "session_id", "sessionId")]
        assert read.heard.session == next(filter(None, own))
        assert read.heard.folder == payload["cwd"]
        assert read.heard.event == payload.get("hook_event_name", payload.get("event", read.heard.event))


@st.composite
def damaged(draw: st.DrawFn) -> Payload:
    """A real payload, with anything at all in place of some fields, deep ones too, and others gone."""
    payload: Payload = json.loads(json.dumps(draw(st.sampled_from(REAL))[1]))
    for _ in range(draw(st.integers(1, 3))):
        inner = payload
        while True:
            key = draw(st.sampled_from(sorted(inner)))
            if not (isinstance(inner[key], dict) and inner[key] and draw(st.booleans())):
                break
            inner = inner[key]
        if draw(st.booleans()) and len(inner) > 1:
            del inner[key]
        else:
            inner[key] = draw(anything)
    return payload


def hear(payload: Any) -> None:
    """Read a payload as each agent's, and answer it in every way."""
    body = msgspec.json.encode(payload)
    for agent in (None, *HOOKED_AGENTS):
        read = read_hook(body, agent, INHERITED)
        if read is not None:
            assert msgspec.json.decode(msgspec.json.encode(read.heard.what)) is not None
            assert all(isinstance(read.spoken(answer), bytes) for answer in ANSWERS)


@given(damaged())
def test_a_damaged_payload_raises_nothing(payload: Payload) -> None:
    hear(payload)


@given(anything | st.dictionaries(st.sampled_from(sorted(REAL[0][1])), anything))
def test_any_json_raises_nothing(payload: Any) -> None:
    hear(payload)


@given(st.sampled_from(REAL), st.integers(0, 300))
def test_half_a_payload_is_none(real: tuple[str, Payload, list[str]], length: int) -> None:
    body = json.dumps(real[1]).encode()
    assert read_hook(body[: min(length, len(body) - 1)], real[0]) is None


def test_what_is_no_object_is_no_payload() -> None:
    assert read_hook(b"[" * 100_000) is None
    assert read_hook(b"\xff{}") is None
    assert read_hook(b"7", "claude-code") is None
