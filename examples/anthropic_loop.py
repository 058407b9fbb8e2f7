"""An agent loop on the `anthropic` package that keeps its chat with planwire: `pip install planwire anthropic`.

    ANTHROPIC_API_KEY=… python examples/anthropic_loop.py "Which file here is the longest, and what is it for?"

The journal holds the chat and the plan: run it again with `--session` and the same id, and it continues. When a request
exceeds `--window` tokens, the chat is compacted: old messages become a summary, and the plan stays as it is.
"""

import argparse
import asyncio
import json
import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anthropic import AnthropicError, AsyncAnthropic
from anthropic.types import ToolParam

from planwire import PlanSession, PlanwireError

MODEL = os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-5-5")
SYSTEM = "You work in a folder of files. Make a plan if there are several steps, and keep it up to date."
READ_FILE: ToolParam = {
    "name": "read_file",
    "description": "Read a text file of the folder, or the names in it with the path `.`.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}


async def work(client: AsyncAnthropic, plans: PlanSession, task: str, window: int) -> str:
    """Ask the model and run its tool calls until it answers."""
    await plans.add({"role": "user", "content": task})
    while True:
        reply = await client.messages.create(
            model=MODEL,
            max_tokens=8192,
            system=SYSTEM,
            messages=await plans.context(),
            tools=[READ_FILE, *plans.tools()],
            cache_control={"type": "ephemeral"},  # what was sent before is sent again as it was
        )
        await plans.add({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": await answer(plans, call.name, call.input)}
            for call in calls
        ]
        await plans.add({"role": "user", "content": results})
        read, written = reply.usage.cache_read_input_tokens or 0, reply.usage.cache_creation_input_tokens or 0
        if reply.usage.input_tokens + read + written > window:
            made = await plans.compact(window // 2, tail=4, summarise=lambda old: summary(client, old))
            print(f"(compacted: about {made.tokens_before} tokens are {made.tokens_after})", file=sys.stderr)


async def answer(plans: PlanSession, name: str, arguments: Any) -> str:
    """Run a call: our own tool here, the plan tools by planwire."""
    if name != "read_file":
        return str(await plans.call(name, arguments))
    try:
        return read_file(arguments["path"])
    except (LookupError, TypeError):
        return 'error: the arguments are {"path": "…"}'


def read_file(path: str) -> str:
    found = Path(path).resolve()
    try:
        if not found.is_relative_to(Path.cwd()):
            return "error: only files of this folder can be read"
        if found.is_dir():
            return "\n".join(sorted(each.name for each in found.iterdir()))
        return found.read_text(errors="replace")[:50_000]
    except OSError as error:
        return f"error: {error}"


async def summary(client: AsyncAnthropic, messages: Sequence[dict[str, Any]]) -> str:
    """Summarise messages that are about to go. The plan is not among them: it stays."""
    question = f"Sum up what was asked, done and found here, briefly:\n\n{json.dumps(messages)}"
    reply = await client.messages.create(model=MODEL, max_tokens=1024, messages=[{"role": "user", "content": question}])
    return "".join(block.text for block in reply.content if block.type == "text")


async def main(task: str, journal: str | None, session: str, window: int) -> None:
    async with AsyncAnthropic() as client, PlanSession.open(journal, session, format="anthropic") as plans:
        print(await work(client, plans, task, window))
        await plans.end_turn()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An agent with a plan, on Anthropic's API.")
    parser.add_argument("task", help="what to do in this folder")
    parser.add_argument("--journal", help="where chat and plan are kept (default: the user's journal)")
    parser.add_argument("--session", default=str(uuid.uuid4()), help="the session to continue")
    parser.add_argument("--window", type=int, default=100_000, help="tokens above which the chat is compacted")
    given = parser.parse_args()
    try:
        asyncio.run(main(given.task, given.journal, given.session, given.window))
    except (PlanwireError, AnthropicError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
