"""A real agent with the relay in front of it and without, in the same conversation, side by side.

Behind the relay the agent's own lines are kept too, so that what the relay made of them can be told exactly.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planwire.acp.board import Board
from planwire.journal import open_journal
from planwire.model.events import Event
from planwire.model.plan import Plan, PlanId
from planwire.own_process import own_command
from tests.peers.agents import Agent
from tests.peers.client import Client, Hello, Policy, allow_once
from tests.peers.model_server import ScriptedModel
from tests.peers.script import Step

__all__ = [
    "TEE",
    "Behind",
    "Story",
    "Talk",
    "board_of",
    "loses_nothing",
    "person_sees",
    "relay_command",
    "side_by_side",
]

Json = dict[str, Any]
Story = Callable[[Client], str]
"""What a client does with an agent; the id of the session."""
Make = Callable[[str, Path], Agent]
"""An agent on the model at an address, with a home."""

_OF_THIS_RUN = re.compile(r"127\.0\.0\.1:\d+|with(out)?-relay")
TEE = Path(__file__).parents[1] / "agents" / "tee.py"


def relay_command(journal: Path, *options: str) -> tuple[str, ...]:
    return (*own_command(), "relay", "--journal", str(journal), *options, "--")


@dataclass
class Talk:
    """One conversation that is over, and what the model was asked for in it."""

    client: Client
    session: str
    model: ScriptedModel

    @property
    def lines(self) -> list[str]:
        """What the client got."""
        return [line.text for line in self.client.lines if line.sender == "agent"]

    @property
    def sent(self) -> list[str]:
        """What the client said."""
        return [line.text for line in self.client.lines if line.sender == "client"]


class Behind:
    """An agent behind the relay, for one conversation after the other: the same home, the same journal."""

    def __init__(self, make: Make, home: Path, *options: str) -> None:
        self._make = make
        self._options = options
        self.home = home
        self.journal = home / "journal.db"
        self.kept = home / "kept"
        home.mkdir(parents=True, exist_ok=True)

    def talk(self, story: Story, script: Iterable[Step], hello: Hello, policy: Policy = allow_once) -> Talk:
        self.kept.mkdir(exist_ok=True)
        for each in self.kept.iterdir():
            each.unlink()
        with ScriptedModel(script) as model:
            agent = self._make(model.url, self.home).behind(sys.executable, str(TEE), str(self.kept))
            return _talk(agent.behind(*relay_command(self.journal, *self._options)), story, model, hello, policy)

    @property
    def said(self) -> list[str]:
        """What the agent said in the last conversation."""
        return (self.kept / "out").read_text(encoding="utf-8").splitlines()

    @property
    def heard(self) -> list[str]:
        """What the agent was told in the last conversation."""
        return (self.kept / "in").read_text(encoding="utf-8").splitlines()

    def events(self, session: str) -> list[Event]:
        with open_journal(self.journal) as journal:
            return [recorded.event for recorded in journal.read(session)]


def side_by_side(
    make: Make,
    home: Path,
    story: Story,
    script: Sequence[Step],
    hello: Hello = Hello(),
    policy: Callable[[], Policy] = lambda: allow_once,
) -> tuple[Talk, Talk, Behind]:
    """The same conversation without the relay and with it, both at once."""
    behind = Behind(make, home / "with-relay")

    def directly() -> Talk:
        with ScriptedModel(script) as model:
            return _talk(make(model.url, home / "without-relay"), story, model, hello, policy())

    with ThreadPoolExecutor(2) as both:
        direct = both.submit(directly)
        relayed = both.submit(behind.talk, story, script, hello, policy())
        return direct.result(), relayed.result(), behind


def _talk(agent: Agent, story: Story, model: ScriptedModel, hello: Hello, policy: Policy) -> Talk:
    with agent.start(hello, policy) as client:
        session = story(client)
    assert "planwire:" not in client.stderr, client.stderr
    assert client.process.returncode == 0, client.stderr
    return Talk(client, session, model)


def board_of(talk: Talk) -> dict[PlanId, Plan]:
    """The plans on a board that is shown what the client got."""
    board = Board()
    for line in talk.client.lines:
        board.apply(line.text.encode(), line.sender)
    return {plan_id: state.plan for plan_id, state in board.sessions[talk.session].plans.items()}


# -- what a person sees


@dataclass
class Seen:
    """What a client shows to a person: what happened in order, and how each tool call ended."""

    flow: list[tuple[object, ...]] = field(default_factory=list)
    calls: dict[str, Json] = field(default_factory=dict)


def person_sees(talk: Talk) -> Seen:
    """The conversation as a plain version 1 client shows it, without what differs from one run to the next."""
    seen = Seen()
    for text in talk.lines:
        message = json.loads(_OF_THIS_RUN.sub("", text.replace(talk.session, "")))
        params = message.get("params") or {}
        if message.get("method") == "session/request_permission":
            options = tuple(option["name"] for option in params["options"])
            seen.flow.append(("asked", params["toolCall"]["title"], options))
        elif message.get("method") == "session/update":
            _show(params["update"], seen)
        elif "stopReason" in (message.get("result") or {}):
            seen.flow.append(("end", message["result"]["stopReason"]))
    return seen


def _show(update: Json, seen: Seen) -> None:
    match update:
        case {"_meta": {"claudeCode": {"kind": "informational"}}}:  # it comes at any time
            return
        case {"sessionUpdate": ("agent_message_chunk" | "user_message_chunk") as who, "content": {"text": str(text)}}:
            message = update.get("messageId")
            if seen.flow and seen.flow[-1][0] == (who, message):
                text = str(seen.flow.pop()[1]) + text
            seen.flow.append(((who, message), text))
        case {"sessionUpdate": "plan", "entries": list(entries)}:
            seen.flow.append(("plan", *((entry["status"], entry["content"]) for entry in entries)))
        case {"sessionUpdate": "current_mode_update", "currentModeId": mode}:
            seen.flow.append(("mode", mode))
        case {"sessionUpdate": "tool_call" | "tool_call_update", "toolCallId": str(call)}:
            if call not in seen.calls:
                seen.flow.append(("call", update.get("title")))
            shown: Json = {key: update[key] for key in ("title", "kind", "status", "content") if key in update}
            seen.calls[call] = {**seen.calls.get(call, {}), **shown}


#: What an agent sends on paths of their own: on a busy machine they overtake each other, relay or not.
_UNORDERED = ("mode", "asked", "call")


def loses_nothing(direct: Talk, behind: Talk) -> bool:
    """Whether a person sees with the relay all that they see without it, in the same words: plans, messages and ends of
    turns in the same order, and as many calls, questions and changes of mode, whose order is the agent's to choose."""
    without, within = person_sees(direct), person_sees(behind)
    ordered, free = (
        [_anonymous(s for s in seen.flow if _is_free(s) is wanted) for seen in (without, within)]
        for wanted in (False, True)
    )
    remaining = iter(ordered[1])
    assert all(any(shown == other for other in remaining) for shown in ordered[0]), (without.flow, within.flow)
    assert not Counter(free[0]) - Counter(free[1]), (without.flow, within.flow)
    for before, after in zip(_by_title(without), _by_title(within), strict=True):
        kept = {key: after.get(key) for key, value in before.items() if value not in ([], None)}
        assert kept == {key: value for key, value in before.items() if value not in ([], None)}
    return True


def _is_free(shown: tuple[object, ...]) -> bool:
    return shown[0] in _UNORDERED


def _by_title(seen: Seen) -> list[Json]:
    return sorted(seen.calls.values(), key=lambda call: (str(call.get("title")), str(call.get("content"))))


def _anonymous(flow: Iterable[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Ids of messages are other ones each time."""
    return [(shown[0][0], *shown[1:]) if isinstance(shown[0], tuple) else shown for shown in flow]
