"""A small ACP agent on standard input and output, which works off a plan and forgets half of it on the way.

    python -m planwire.demo.agent --speed 4

It speaks the dialect that its client asked for, like any agent made with planwire.
"""

import argparse
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

import msgspec

from planwire.acp import AGENT, V1, Translator, negotiate
from planwire.acp.words import STOP_CANCELLED, STOP_END_TURN
from planwire.acp.write import write_update
from planwire.demo.story import Beat, first_part, second_part
from planwire.model.plan import Fields

__all__ = ["main"]

_CHECKLIST = "# Before the release\n\n- [x] tell the data team\n- [ ] watch the first nightly run\n"


class DemoAgent:
    """Answers a client's requests. A thread works a prompt off, so that the client can cancel it meanwhile."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._writing = Lock()
        self._cancelled = Event()
        self._translator = Translator(V1)
        self._version = 1
        self._folder = Path()
        self._tells_of_compaction = False
        self._prompts = 0
        self._work: Thread | None = None

    def hear(self, line: bytes) -> None:
        try:
            message = msgspec.json.decode(line)
        except msgspec.DecodeError:
            return
        if not isinstance(message, dict):
            return
        params = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                self._initialize(message["id"], params)
            case "session/new":
                self._folder = Path(str(params.get("cwd") or "."))
                self._answer(message["id"], {"sessionId": f"demo-{uuid4().hex[:8]}"})
            case "session/prompt":
                self._prompts += 1
                self._cancelled.clear()
                self._work = Thread(target=self._prompt, args=(message["id"], params), daemon=True)
                self._work.start()
            case "session/cancel":
                self._cancelled.set()
            case str(method) if "id" in message:
                error = {"code": -32601, "message": f"the demo agent has no method {method}"}
                self._write(msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], "error": error}))

    def finish(self) -> None:
        """Stop working: the client is gone."""
        self._cancelled.set()
        if self._work is not None:
            self._work.join()

    def _initialize(self, message_id: Any, params: Fields) -> None:
        about = {"name": "planwire-demo-agent", "title": "Demo agent", "version": "1.0"}
        self._version = 2 if params.get("protocolVersion") == 2 else 1
        result: Fields = {"protocolVersion": self._version}
        result |= {"info": about, "capabilities": {}} if self._version == 2 else {"agentInfo": about}
        dialect = negotiate(params, result)
        self._translator = Translator(dialect)
        self._tells_of_compaction = dialect.may_report_compactions(params)
        self._answer(message_id, result)

    def _prompt(self, message_id: Any, params: Fields) -> None:
        """Version 2 answers a prompt at once and reports the end of the turn, version 1 answers at the end."""
        session = params["sessionId"]
        if self._version == 2:
            self._answer(message_id, {"messageId": f"prompt-{self._prompts}"})
            self._update(session, {"sessionUpdate": "state_update", "state": "running"})
        if self._prompts == 1:
            self._play(session, first_part(self._checklist()))
        else:
            reminded = any("<plan" in str(part.get("text")) for part in params.get("prompt") or [])
            self._play(session, second_part(reminded=reminded))
        reason = {"stopReason": STOP_CANCELLED if self._cancelled.is_set() else STOP_END_TURN}
        if self._version == 2:
            self._update(session, {"sessionUpdate": "state_update", "state": "idle", **reason})
        else:
            self._answer(message_id, reason)

    def _checklist(self) -> str:
        """The URI of a plan in a file of the project. Makes the file if there is none."""
        path = self._folder.absolute() / "planwire-demo-checklist.md"
        with suppress(OSError), path.open("x", encoding="utf-8") as file:
            file.write(_CHECKLIST)
        return path.as_uri()

    def _play(self, session: str, beats: Iterable[Beat]) -> None:
        for seconds, update in beats:
            if self._cancelled.wait(seconds / self._speed):
                return
            if self._tells_of_compaction or not update["sessionUpdate"].startswith("compaction"):
                self._update(session, update)

    def _update(self, session: str, update: Fields) -> None:
        for line in self._translator.translate(write_update(session, update), AGENT):
            self._write(line)

    def _answer(self, message_id: Any, result: Fields) -> None:
        self._write(msgspec.json.encode({"jsonrpc": "2.0", "id": message_id, "result": result}))

    def _write(self, line: bytes) -> None:
        with self._writing:
            sys.stdout.buffer.write(line.rstrip(b"\n") + b"\n")
            sys.stdout.buffer.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description="A small ACP agent that works off a plan.")
    parser.add_argument("--speed", type=float, default=1.0, help="how many times as fast")
    agent = DemoAgent(parser.parse_args().speed)
    for line in sys.stdin.buffer:
        agent.hear(line)
    agent.finish()


if __name__ == "__main__":
    main()
