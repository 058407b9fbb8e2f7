"""A client on PyPI's official SDK: starts the agent in its arguments, prompts it once, prints what it gets, ends."""

import asyncio
import sys
from importlib.metadata import version
from typing import Any

import acp
from acp import schema

PATIENCE = 5.0


class Printer:
    """Prints every update, and allows what it is asked."""

    def __init__(self) -> None:
        self.said = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        print(update.model_dump_json(), flush=True)
        if update.session_update == "agent_message_chunk":
            self.said.set()

    async def request_permission(
        self, options: list[schema.PermissionOption], session_id: str, tool_call: schema.ToolCallUpdate, **more: Any
    ) -> schema.RequestPermissionResponse:
        chosen = schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return schema.RequestPermissionResponse(outcome=chosen)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """The SDK hands over what it does not know; nothing is to be done about it."""


async def main() -> None:
    client: Any = Printer()
    about = schema.Implementation(name="python-sdk", title="Python SDK", version=version("agent-client-protocol"))
    async with acp.spawn_agent_process(client, *sys.argv[1:]) as (agent, _):
        announced = schema.ClientCapabilities(plan=schema.PlanCapabilities())
        await agent.initialize(protocol_version=1, client_capabilities=announced, client_info=about)
        session = await agent.new_session(cwd="/", mcp_servers=[])
        await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("Plan.")])
        await asyncio.wait_for(client.said.wait(), PATIENCE)  # each message is handled by a task of its own


if __name__ == "__main__":
    asyncio.run(main())
