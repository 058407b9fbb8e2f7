"""What drives the agents: a policy with its history, in memory; and a relay as a real process, at a client's end."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any, Self

from planwire.journal import load_state
from planwire.journal.protocol import Journal, Stamped, Terms
from planwire.model.decide import undecided
from planwire.model.events import ACP, Event, PlanSet, Told
from planwire.model.plan import PlanId
from planwire.model.records import USER, SessionState
from planwire.own_process import PYTHON, own_command
from planwire.relay.actions import Action, ForJournal, Meet, Record, RecordLine, SessionMemory, ToAgent, ToClient
from planwire.relay.dedupe import PendingHistory, begin
from planwire.relay.envelope import list_on
from planwire.relay.journalled import JournalledSessions
from planwire.relay.policy import Policy
from planwire.relay.tools import ToolServer
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.wire import JSON, answer, request

AGENTS = Path(__file__).parent
SOON = 20.0


class Talk:
    """A policy and a history, without pipes and without a journal."""

    def __init__(
        self,
        capabilities: JSON | None = None,
        version: int = 1,
        *,
        context: bool = True,
        steers: bool = True,
        begun: bool = True,
        server: ToolServer | None = None,
        announced: JSON | None = None,
    ) -> None:
        numbers = count(1)
        self.policy = Policy(
            "some-agent",
            lambda: f"word{next(numbers)}",
            context=context,
            steers=steers,
            server=server,
            read_file=self._read,
        )
        self.actions: list[Action] = []
        self.files: dict[tuple[str, str | None], str] = {}  # the texts of plan files, by URI and folder
        self._histories: dict[str, PendingHistory] = {}
        self._written: dict[str, list[Event]] = {}
        if begun:
            self.begin(capabilities, version, announced=announced)

    def begin(
        self,
        capabilities: JSON | None = None,
        version: int = 1,
        session: str = "s1",
        announced: JSON | None = None,
    ) -> None:
        """Initialise the agent, which may announce more than it must, and open a session."""
        hello: JSON = {"protocolVersion": version, "clientInfo": {"name": "client", "version": "2"}}
        if capabilities is not None:
            hello["clientCapabilities"] = capabilities
        self.client(request("initialize", "i", **hello))
        named = {"protocolVersion": version, "agentInfo": {"name": "agent", "version": "1"}}
        self.agent(answer("i", {**named, **(announced or {})}))
        self.client(request("session/new", "n", cwd="/project", mcpServers=[]))
        self.agent(answer("n", {"sessionId": session}))

    def client(self, line: bytes) -> list[bytes]:
        """What the agent gets for a line of the client's."""
        return self._sent(self.policy.from_client(line + b"\n"), ToAgent)

    def agent(self, line: bytes) -> list[bytes]:
        """What the client gets for a line of the agent's."""
        return self._sent(self.policy.from_agent(line + b"\n"), ToClient)

    def prompt(self, text: str = "Go on.", session: str = "s1", message_id: str = "p") -> JSON:
        """Send a prompt, and what the agent gets of it."""
        (line,) = self.client(
            request("session/prompt", message_id, sessionId=session, prompt=[{"type": "text", "text": text}])
        )
        value: JSON = json.loads(line)
        return value

    def end_turn(self, message_id: str = "p") -> None:
        self.agent(answer(message_id, {"stopReason": "end_turn"}))

    def events(self, session: str = "s1") -> list[Event]:
        """What the journal holds, in the end."""
        for action in self.policy.close():
            self._take(action)
        self._write(session, self._history(session).finish_stream())
        return self._written.get(session, [])

    def plan_events(self, session: str = "s1") -> list[Event]:
        """The events of its plans, as their authors made them."""
        kinds = ("SessionOpened", "TurnEnded", "MessageAdded")
        return [undecided(event) for event in self.events(session) if type(event).__name__ not in kinds]

    def state(self, session: str = "s1") -> SessionState:
        """What is true by now, once a text that streams in is taken for whole."""
        self._write(session, self._history(session).finish_stream())
        return self._history(session).memory.state

    def know(self, known: SessionMemory) -> None:
        """The journal was asked about a session."""
        self._histories[known.id] = PendingHistory(known)
        self.policy.learn(known.id, known)

    def learn(self, session: str = "s1") -> None:
        """The journal has caught up, and the policy is told."""
        history = self._history(session)
        self._write(session, history.finish_stream())
        self.policy.learn(session, history.memory)

    def _sent(self, actions: list[Action], to: type[ToAgent] | type[ToClient]) -> list[bytes]:
        self.actions += actions
        for action in actions:
            self._take(action)
        assert all(isinstance(action, to) for action in actions if isinstance(action, (ToAgent, ToClient)))
        return [action.data.removesuffix(b"\n") for action in actions if isinstance(action, to)]

    def _take(self, action: Action) -> None:
        if isinstance(action, RecordLine):
            plan = list_on(action.line)
            assert plan is not None
            action = Record(action.session, PlanSet(plan, via=ACP))
        if isinstance(action, Record):
            self._write(action.session, self._history(action.session).take(action, 0))

    def _write(self, session: str, news: list[Stamped]) -> None:
        self._written.setdefault(session, []).extend(each.event for each in news)

    def _read(self, uri: str, folder: str | None) -> str | None:
        return self.files.get((uri, folder))

    def _history(self, session: str) -> PendingHistory:
        return self._histories.setdefault(session, PendingHistory(begin(session)))


class JournalledTalk(Talk):
    """A policy with a journal that others write to as well: the relay without its pipes and threads.

    With `lags`, what the policy wants recorded waits for `catch_up`. A prompt has a look at the journal before it goes,
    as in the relay.
    """

    def __init__(self, journal: Journal, version: int = 1, **options: Any) -> None:
        self.journal = journal
        self.lags = False
        self._waiting: list[ForJournal] = []
        self._sessions = JournalledSessions(self._learn, self._terms)
        super().__init__(version=version, **options)

    def look(self) -> None:
        """Let the policy know what others wrote, as the relay does all the time, and others what it can do for them."""
        self.catch_up()
        self._sessions.look(self.journal)

    def for_agent(self) -> list[JSON]:
        """The relay's own lines for the agent, as they leave."""
        return [json.loads(each) for each in self._sent(self.policy.for_agent(), ToAgent)]

    def for_client(self) -> list[JSON]:
        """The relay's own lines for the client, as they leave."""
        return [json.loads(each) for each in self._sent(self.policy.for_client(), ToClient)]

    def steer(
        self, act: str, plan_id: PlanId = None, by: str = USER, **arguments: Any
    ) -> tuple[list[JSON], list[JSON]]:
        """A person's act, and what both sides get for it."""
        self.look()
        self.say(act, plan_id, by, **arguments)
        self.look()
        return self.for_agent(), self.for_client()

    def recorded(self, *kinds: type[Event]) -> list[tuple[str, Event]]:
        """The events of some kinds in the journal, with their authors."""
        self.catch_up()
        return [(each.by, each.event) for each in self.journal.read("s1") if isinstance(each.event, kinds)]

    def now(self) -> SessionState:
        """What the journal says."""
        self.catch_up()
        return load_state(self.journal, "s1")

    def say(self, act: str, plan_id: PlanId = None, by: str = USER, **arguments: Any) -> None:
        """A person's act."""
        steer(self.journal, "s1", plan_id, Wanted(act, **arguments), by)

    def told(self) -> str:
        """Prompt the agent, and end its turn: what was added to the prompt."""
        parts = self.prompt()["params"]["prompt"]
        self.end_turn()
        return parts[1]["text"] if len(parts) > 1 else ""

    def prompt(self, text: str = "Go on.", session: str = "s1", message_id: str = "p") -> JSON:
        self._sessions.look(self.journal)
        return super().prompt(text, session, message_id)

    def catch_up(self) -> None:
        """Record what waits."""
        for each in self._waiting:
            self._sessions.take(self.journal, each, 0)
        self._waiting.clear()
        self._sessions.write(self.journal, all_streams=True)

    def tellings(self) -> list[Told]:
        """The tellings in the journal."""
        events = (recorded.event for recorded in self.journal.read("s1"))
        return [event for event in events if isinstance(event, Told)]

    def _terms(self, session: str) -> Terms:
        return self.policy.terms(session)

    def _learn(self, session: str, memory: SessionMemory) -> None:
        self.policy.learn(session, memory)

    def _take(self, action: Action) -> None:
        if isinstance(action, ForJournal):
            self._waiting.append(action)
        if isinstance(action, Meet) or not self.lags:
            self.catch_up()


class Relayed:
    """An agent behind `planwire relay`, as a client has it. Every wait has an end."""

    def __init__(
        self,
        *agent: str,
        options: tuple[str, ...] = (),
        journal: Path | str | None = None,
        planwire: tuple[str, ...] = tuple(own_command()[1:]),
        machine: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        environment = {
            **os.environ,
            "PLANWIRE_JOURNAL": "memory:" if journal is None else str(journal),
            **(machine or {}),
        }
        program = [sys.executable, str(AGENTS / agent[0]), *agent[1:]]
        self.process = subprocess.Popen(
            [PYTHON, *planwire, "relay", *options, "--", *program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            start_new_session=True,
            **more,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._to, self._from, self._errors = self.process.stdin, self.process.stdout, self.process.stderr
        self._held = b""
        self._ids = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        for stream in (self._to, self._from, self._errors):
            stream.close()
        self.process.wait(SOON)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._to.fileno(), view) :]

    def read(self, size: int = 1 << 16) -> bytes:
        """What comes next; nothing at the end."""
        if not select.select([self._from], [], [], SOON)[0]:
            raise TimeoutError("the relay says nothing")
        return os.read(self._from.fileno(), size)

    def peak_kilobytes(self) -> int:
        """The most memory that the relay has had so far; 0 if it has ended."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) if "VmHWM:" in status else 0

    def line(self) -> bytes:
        while b"\n" not in self._held:
            chunk = self.read()
            if not chunk:
                raise EOFError(f"the relay ended: {self._held!r}")
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line

    def ask(self, method: str, **params: Any) -> tuple[Any, list[JSON]]:
        """The result of a request, and the updates that came before it."""
        number = next(self._ids)
        self.write(request(method, number, **params) + b"\n")
        updates: list[JSON] = []
        while True:
            message = json.loads(self.line())
            if message.get("id") == number:
                return message.get("result"), updates
            updates.append(message["params"]["update"])

    def prompt(self, session: str, *updates: JSON) -> list[JSON]:
        """Have a scripted agent send updates. What the client gets of them."""
        text = json.dumps(updates) if updates else "Go on."
        return self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])[1]

    def begin(self, **capabilities: Any) -> str:
        self.ask("initialize", protocolVersion=1, clientCapabilities=capabilities)
        session: str = self.ask("session/new", cwd="/project", mcpServers=[])[0]["sessionId"]
        return session

    def rest(self) -> bytes:
        """All that is still to come, up to the end."""
        chunks, self._held = [self._held], b""
        while chunk := self.read():
            chunks.append(chunk)
        return b"".join(chunks)

    def end(self) -> tuple[int, str]:
        """End the input. The exit code, and what was said on the error stream."""
        self.close_input()
        while self.read():
            pass
        return self.process.wait(SOON), self._errors.read().decode()

    def close_input(self) -> None:
        self._to.close()

    def close_output(self) -> None:
        self._from.close()

    def write_all_and_close(self, data: bytes) -> Thread:
        """Write without waiting for it."""

        def write() -> None:
            self.write(data)
            self.close_input()

        writer = Thread(target=write)
        writer.start()
        return writer
