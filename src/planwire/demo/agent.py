"""A small ACP agent on standard input and output, which proposes a plan, asks for a yes, and works through it.

On the way it forgets half of it, and its next prompt tells it what people said.

    python -m planwire.demo.agent --speed 4

It speaks the dialect that its client asked for, like any agent made with planwire.
"""

import argparse
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from queue import Queue
from threading import Event, Lock, Thread
from typing import Any, Final
from uuid import uuid4

import msgspec

from planwire.acp import AGENT, V1, Translator, negotiate
from planwire.acp.permissions import Option, allows, rejects, selected
from planwire.acp.words import SWITCH_MODE
from planwire.acp.write import write_update
from planwire.demo.heard import heard_in
from planwire.demo.story import PROPOSAL, Beat, Story
from planwire.model.plan import Fields
from planwire.model.stop_reasons import STOP_CANCELLED, STOP_END_TURN

_QUESTION: Final = "May I fix the export this way?"
_OPTIONS: Final = {
    "yes": Option("Yes, and keep asking", "allow_once"),
    "always": Option("Yes, don't ask again", "allow_always"),
    "no": Option("No, change the plan", "reject_once"),
}
_CHECKLIST: Final = "# Before the release\n\n- [x] tell the data team\n- [ ] write the release note\n"


class DemoAgent:
    """Answers a client's requests. A thread works on each prompt, so that the client can cancel it meanwhile."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._writing = Lock()
        self._cancelled = Event()
        self._translator = Translator(V1)
        self._version = 1
        self._folder = Path()
        self._tells_of_compaction = False
        self._prompts = 0
        self._story = Story()
        self._forgot = False
        self._answers: Queue[Any] = Queue()
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
                self._cancel()
            case None if "id" in message:
                self._answers.put(message.get("result"))
            case str(method) if "id" in message:
                error = {"code": -32601, "message": f"the demo agent has no method {method}"}
                self._write(msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], "error": error}))

    def finish(self) -> None:
        """Stop working: the client is gone."""
        self._cancel()
        if self._work is not None:
            self._work.join()

    def _cancel(self) -> None:
        self._cancelled.set()
        if self._work is not None:  # or else its first question would have this answer
            self._answers.put(None)

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
            self._begin(session)
        else:
            said = heard_in(params.get("prompt"))
            reminded = any(each.kind == "step" for each in said)
            forgot, self._forgot = self._forgot, False
            self._play(session, self._story.going_on(said, reminded=reminded, forgot=forgot))
            self._tick_checklist()
        reason = {"stopReason": STOP_CANCELLED if self._cancelled.is_set() else STOP_END_TURN}
        if self._version == 2:
            self._update(session, {"sessionUpdate": "state_update", "state": "idle", **reason})
        else:
            self._answer(message_id, reason)

    def _begin(self, session: str) -> None:
        """Propose a plan, ask about it, and work on it. Without a yes or a no, nothing happens."""
        story = self._story
        self._play(session, story.proposing())
        answer = self._ask(session, story.proposal)
        if rejects(answer):
            self._play(session, story.revising())
        if rejects(answer) or allows(answer):
            self._play(session, story.working(self._checklist()))
            self._forgot = not self._cancelled.is_set()

    def _ask(self, session: str, proposal: str) -> Option | None:
        """Ask a person to approve the proposal, and wait for the answer. None if there is none."""
        if self._cancelled.is_set():
            return None
        call = {
            "toolCallId": f"plan-review:{PROPOSAL}",
            "title": _QUESTION,
            "kind": SWITCH_MODE,
            "content": [{"type": "content", "content": {"type": "text", "text": proposal}}],
        }
        subject = {"type": "tool_call", "toolCall": call}
        about = {"title": _QUESTION, "subject": subject} if self._version == 2 else {"toolCall": call}
        options = [{"optionId": key, "name": each.name, "kind": each.kind} for key, each in _OPTIONS.items()]
        request = {"sessionId": session, **about, "options": options}
        method = "session/request_permission"
        self._write(msgspec.json.encode({"jsonrpc": "2.0", "id": "review", "method": method, "params": request}))
        return selected(_OPTIONS, self._answers.get())[1]

    @property
    def _file(self) -> Path:
        return self._folder.absolute() / "planwire-demo-checklist.md"

    def _checklist(self) -> str:
        """The URI of a plan in a file of the project. Makes a new file unless a person changed the last one."""
        with suppress(OSError, UnicodeError):
            if not self._file.exists() or self._file.read_text("utf-8") == _ticked(_CHECKLIST):
                self._file.write_text(_CHECKLIST, "utf-8")
        return self._file.as_uri()

    def _tick_checklist(self) -> None:
        """Tick the rest in the file, as agents edit theirs."""
        with suppress(OSError, UnicodeError):
            if not self._cancelled.is_set():
                self._file.write_text(_ticked(self._file.read_text("utf-8")), "utf-8")

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


def _ticked(checklist: str) -> str:
    return checklist.replace("- [ ]", "- [x]")


def main() -> None:
    parser = argparse.ArgumentParser(description="A small ACP agent that works off a plan.")
    parser.add_argument("--speed", type=float, default=1.0, help="how many times as fast")
    agent = DemoAgent(parser.parse_args().speed)
    for line in sys.stdin.buffer:
        agent.hear(line)
    agent.finish()


if __name__ == "__main__":
    main()
