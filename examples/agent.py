"""A whole ACP agent with a plan, on the official SDK: `pip install 'planwire[acp]'`.

Tell your editor to run it as an agent, or try it with a client for the terminal:

    npx acpx --agent "python examples/agent.py" exec "read the config, write the parser, run the tests"

Each part of your request becomes a step. The model is a script, so that the example runs anywhere: replace
`scripted_model` with yours. The plans are kept: stop the agent, load the session again, and they are back.
"""

import argparse
import asyncio
import json
import sys
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, cast

from acp import (
    PROTOCOL_VERSION,
    Agent,
    Client,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
    RequestError,
    run_agent,
    update_agent_message_text,
    update_user_message_text,
)
from acp.schema import AgentCapabilities, ClientCapabilities, Implementation, StopReason

from planwire import Journal, Peer, PlanSession, PlanwireError, SessionOpened, open_journal
from planwire.adapters.acp_sdk import sdk_peer
from planwire.session.peer_connection import PeerConnection

Message = dict[str, Any]


@dataclass
class Session:
    """An open session: its plans and chat, the connected client, and the running turn."""

    plans: PlanSession
    told: PeerConnection
    turn: asyncio.Task[None] | None = field(default=None)


class ExampleAgent:
    """The methods that a client may call. Everything about plans is in the lines with `plans`."""

    def __init__(self, journal: Journal, sessions: AsyncExitStack, pace: float) -> None:
        self._journal = journal
        self._exit = sessions
        self._pace = pace
        self._client: Client
        self._peer: Peer
        self._sessions: dict[str, Session] = {}

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: ClientCapabilities | None = None, **more: Any
    ) -> InitializeResponse:
        self._peer = sdk_peer(self._client, client_capabilities, PROTOCOL_VERSION)
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(load_session=True),
            agent_info=Implementation(name="planwire-example", title="planwire's example agent", version="1"),
        )

    async def new_session(self, cwd: str, **more: Any) -> NewSessionResponse:
        session_id = uuid.uuid4().hex
        await self._open(session_id, cwd)
        return NewSessionResponse(session_id=session_id)

    async def load_session(self, cwd: str, session_id: str, **more: Any) -> LoadSessionResponse:
        """Replay the session before the answer: the messages, and the plans as they are now."""
        if not self._journal.last_seq(session_id):
            raise RequestError.resource_not_found(session_id)
        plans = await self._open(session_id, cwd)
        for message in json.loads(await plans.export()):
            if message["role"] == "user":
                await self._client.session_update(session_id, update_user_message_text(message["content"]))
            elif message["role"] == "assistant" and message.get("content"):
                await self._client.session_update(session_id, update_agent_message_text(message["content"]))
        await plans.flush()
        return LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> PromptResponse:
        session = self._sessions.get(session_id)
        if session is None:
            raise RequestError.resource_not_found(session_id)
        if session.turn is not None and not session.turn.done():
            raise RequestError.invalid_request({"details": "the turn before this one still runs: cancel it first"})
        text = "\n".join(block.text for block in prompt if block.type == "text")
        turn = session.turn = asyncio.create_task(self._work(session_id, session.plans, text))
        try:
            await asyncio.wait([turn])
        finally:  # if the client is gone, the turn is over too
            turn.cancel()
            await asyncio.wait([turn])
            reason: StopReason = "cancelled" if turn.cancelled() else "end_turn"
            await session.plans.end_turn(reason)
        await session.plans.flush()  # the client knows it all before it hears that the turn is over
        if not turn.cancelled():
            turn.result()  # raises what went wrong: the SDK tells the client
        return PromptResponse(stop_reason=reason)

    async def cancel(self, session_id: str, **more: Any) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.turn is not None:
            session.turn.cancel()

    async def _open(self, session_id: str, cwd: str) -> PlanSession:
        """Open a session and connect the client to its plans, in place of an earlier connection."""
        if session_id in self._sessions:
            session = self._sessions[session_id]
            await session.told.close()
            session.told = session.plans.connect(self._peer)
            return session.plans
        about = SessionOpened(agent="planwire-example", cwd=cwd)
        plans = await self._exit.enter_async_context(PlanSession.open(self._journal, session_id, about=about))
        self._sessions[session_id] = Session(plans, plans.connect(self._peer))
        return plans

    async def _work(self, session_id: str, plans: PlanSession, text: str) -> None:
        """The loop of every agent: ask the model and run its tool calls until it makes no more."""
        await plans.add({"role": "user", "content": text})
        while True:
            reply = scripted_model(await plans.context(), plans.tools())
            await plans.add(reply)
            for call in reply.get("tool_calls", ()):
                answer = await plans.call(call["function"]["name"], call["function"]["arguments"])
                await plans.add({"role": "tool", "tool_call_id": call["id"], "content": str(answer)})
            if "tool_calls" not in reply:
                await self._client.session_update(session_id, update_agent_message_text(reply["content"]))
                return
            await asyncio.sleep(self._pace)


def scripted_model(messages: list[Message], tools: list[Message]) -> Message:
    """A stand-in for a model: makes a plan of the request, and works through it."""
    prompts = [n for n, each in enumerate(messages) if each["role"] == "user" and not each["content"].startswith("<")]
    turn = messages[max(prompts, default=0) :]
    answers = [json.loads(each["content"]) for each in turn if each["role"] == "tool"]
    if not answers:
        parts = [part.strip() for part in turn[0]["content"].replace("\n", ",").split(",")]
        first, *others = [part for part in parts if part] or ["answer"]
        entries = [{"content": first, "priority": "high"}, *others]  # without the first the others make no sense
        return _call("set_plan", {"entries": entries})
    if "error" in answers[-1]:
        return {"role": "assistant", "content": f"That did not work: {answers[-1]['error']['message']}"}
    steps = [None, *answers[0].get("kept_steps", ()), *answers[0]["new_steps"], None, None]
    done, begun = steps[len(answers) - 1 : len(answers) + 1]
    changes = {step: status for step, status in ((done, "completed"), (begun, "in_progress")) if step}
    return _call("update_plan", {"steps": changes}) if changes else {"role": "assistant", "content": "All done."}


def _call(name: str, arguments: Message) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call-{uuid.uuid4().hex}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


async def main(journal: str | None, pace: float) -> None:
    with open_journal(journal) as kept:
        async with AsyncExitStack() as sessions:
            await run_agent(cast(Agent, ExampleAgent(kept, sessions, pace)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An ACP agent with a plan, on a scripted model. It talks on stdio.")
    parser.add_argument("--journal", help="where plans are kept (default: the user's journal)")
    parser.add_argument("--pace", type=float, default=0.5, help="seconds that each step takes (default: 0.5)")
    given = parser.parse_args()
    if sys.stdin.isatty():
        parser.error("this is an agent: have an ACP client run it, such as your editor")
    try:
        asyncio.run(main(given.journal, given.pace))
    except PlanwireError as error:
        sys.exit(f"agent: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
