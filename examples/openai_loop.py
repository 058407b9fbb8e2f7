"""An agent loop on the `openai` package that keeps its own list of messages: `pip install planwire openai`.

    OPENAI_API_KEY=… python examples/openai_loop.py "Which file here is the longest, and what is it for?"

planwire says what to append (`pending`), and what to put first after the messages were dropped (`recap`). So the plan
outlives the context, and the process too: with `--session` and the same id the plan is back, though the messages are
not.
"""

import argparse
import asyncio
import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI, OpenAIError
from openai.types.chat import ChatCompletionToolParam

from planwire import PlanSession, PlanwireError

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5.5")
SYSTEM = "You work in a folder of files. Make a plan if there are several steps, and keep it up to date."
PATH: dict[str, object] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
READ_FILE: ChatCompletionToolParam = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a text file of the folder, or the names in it with the path `.`.",
        "parameters": PATH,
    },
}


async def work(client: AsyncOpenAI, plans: PlanSession, task: str, window: int) -> str:
    """Ask the model and run its tool calls until it answers."""
    system = {"role": "system", "content": SYSTEM}
    messages: list[Any] = [system, *await plans.pending(), {"role": "user", "content": task}]
    while True:
        tools = [READ_FILE, *plans.tools()]
        reply = await client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
        message = reply.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        if message.content:
            await plans.think(message.content)  # why the plan changes, for people to read
        for call in message.tool_calls:
            assert call.type == "function", "no other kind was offered"
            content = await answer(plans, call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        messages += await plans.pending()  # no call is open here
        if reply.usage and reply.usage.total_tokens > window:
            said = await summary(client, messages)
            messages = [system, *await plans.recap(), {"role": "user", "content": f"{task}\n\nSo far: {said}"}]
            print("(compacted)", file=sys.stderr)


async def answer(plans: PlanSession, name: str, arguments: str) -> str:
    """Run a call: our own tool here, the plan tools by planwire."""
    if name != "read_file":
        return str(await plans.call(name, arguments))
    try:
        return read_file(json.loads(arguments)["path"])
    except (ValueError, LookupError, TypeError):
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


async def summary(client: AsyncOpenAI, messages: list[Any]) -> str:
    """Summarise messages that are about to go. The plan need not be in it: `recap` has it."""
    question = f"Sum up what was done and found here, briefly:\n\n{json.dumps(messages)}"
    reply = await client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": question}])
    return reply.choices[0].message.content or ""


async def main(task: str, journal: str | None, session: str, window: int) -> None:
    async with AsyncOpenAI() as client, PlanSession.open(journal, session, format="openai-chat") as plans:
        print(await work(client, plans, task, window))
        await plans.end_turn()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An agent with a plan, on OpenAI's API.")
    parser.add_argument("task", help="what to do in this folder")
    parser.add_argument("--journal", help="where the plan is kept (default: the user's journal)")
    parser.add_argument("--session", default=str(uuid.uuid4()), help="the session to continue")
    parser.add_argument("--window", type=int, default=100_000, help="tokens above which the messages are summed up")
    given = parser.parse_args()
    try:
        asyncio.run(main(given.task, given.journal, given.session, given.window))
    except (PlanwireError, OpenAIError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
