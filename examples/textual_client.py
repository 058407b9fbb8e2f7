"""A small ACP client with the plan beside the chat, on Textual: `pip install 'planwire[terminal]'`.

    python examples/textual_client.py recorded.jsonl                      a recorded conversation
    python examples/textual_client.py "read it, fix it" -- AGENT …       a real agent: examples/agent.py, for one

Two lines handle the plans: a `Board` reads the connection, and a `PlanPanel` shows what changed.
"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.widgets import Footer, RichLog

from planwire import Board
from planwire.terminal.panel import PlanPanel

CAPABILITIES = {"plan": {}, "fs": {"readTextFile": False, "writeTextFile": False}}


class TextualClient(App[None]):
    """The chat on the left, the plan on the right."""

    CSS = """
    RichLog { width: 2fr; padding: 0 1; background: $background; overflow-x: hidden; }
    PlanPanel { width: 3fr; border-left: solid $primary; }
    """
    BINDINGS = [("q", "quit", "Quit")]  # noqa: RUF012

    def __init__(self, lines: AsyncIterator[tuple[str, str]]) -> None:
        super().__init__()
        self.board = Board()
        self.lines = lines

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield RichLog(wrap=True, min_width=20)
            yield PlanPanel()
        yield Footer()

    def on_mount(self) -> None:
        self.run_worker(self.talk(), exit_on_error=True)

    async def talk(self) -> None:
        async for sender, line in self.lines:
            self.query_one(PlanPanel).apply(self.board.apply(line, sender))
            for words in said(json.loads(line)):
                self.query_one(RichLog).write(words)
        self.query_one(PlanPanel).apply(self.board.close())
        self.query_one(PlanPanel).stopped = True


def said(message: Any) -> list[str]:
    """The text of a line for a person, without the plan."""
    match message:
        case {"method": "session/prompt", "params": {"prompt": [*blocks]}}:
            return [f"> {text}" for block in blocks for text in text_of(block)]
        case {"params": {"update": {"sessionUpdate": "agent_message_chunk", "content": block}}}:
            return text_of(block)
        case {"error": {"message": str(words)}}:
            return [f"! {printable(words)}"]
    return []


def text_of(block: Any) -> list[str]:
    match block:
        case {"type": "text", "text": str(text)}:
            return [printable(text)]
    return []


def printable(text: str) -> str:
    """The text without terminal control characters: it comes from a model."""
    return "".join(sign for sign in text if sign.isprintable() or sign == "\n")


async def recorded(path: Path) -> AsyncIterator[tuple[str, str]]:
    """Replay a conversation as in `tests/conversations`, with a short pause before each line."""
    for line in path.read_text().splitlines():
        wrapped = json.loads(line)
        await asyncio.sleep(0.02)
        yield wrapped["from"], wrapped["line"]


async def talked(prompt: str, command: list[str]) -> AsyncIterator[tuple[str, str]]:
    """A turn with a real agent: every line of both sides."""
    agent = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=64 * 1024 * 1024)
    assert agent.stdout is not None
    initialize = {"protocolVersion": 1, "clientCapabilities": CAPABILITIES}
    yield "client", tell(agent, 1, "initialize", initialize)
    async for raw in agent.stdout:
        line = raw.decode()
        yield "agent", line
        match json.loads(line):
            case {"method": _}:
                pass
            case {"id": 1, "result": _}:
                yield "client", tell(agent, 2, "session/new", {"cwd": str(Path.cwd()), "mcpServers": []})
            case {"id": 2, "result": {"sessionId": session}}:
                words = {"sessionId": session, "prompt": [{"type": "text", "text": prompt}]}
                yield "client", tell(agent, 3, "session/prompt", words)
            case {"id": 1 | 2 | 3}:  # the end of the turn, or an error
                break
    agent.terminate()
    await agent.wait()


def tell(agent: Process, number: int, method: str, params: dict[str, Any]) -> str:
    line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    assert agent.stdin is not None
    agent.stdin.write(f"{line}\n".encode())
    return line


if __name__ == "__main__":
    match sys.argv[1:]:
        case [path]:
            TextualClient(recorded(Path(path))).run()
        case [prompt, "--", *command] if command:
            TextualClient(talked(prompt, command)).run()
        case _:
            sys.exit(__doc__)
