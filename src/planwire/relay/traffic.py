"""The relay at work: a pipe in each direction, the policy between them, the journal beside them.

Five threads share one policy, so each call of it holds the lock: the two pipes, the recorder, the looker, and the one
that waits for the agent to end. A line is noted for the journal before it leaves, under the same lock; so the journal
never has an answer before what it answers.
"""

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING, Final

from planwire.journal.protocol import Journal, Terms
from planwire.relay.actions import Action, Bind, HoldBack, Leave, Meet, Record, RecordLine, SessionMemory, Warn
from planwire.relay.envelope import WORDS_OF_AGENT, WORDS_OF_CLIENT
from planwire.relay.framing import Sieve
from planwire.relay.injector import Injector
from planwire.relay.learned_agents import learned_rows
from planwire.relay.pipe import Pipe
from planwire.relay.policy import Policy
from planwire.relay.process import AgentProcess, end_when_silent
from planwire.relay.recorder import LOOK, Recorder
from planwire.relay.run import say
from planwire.tools.plan_files import plan_file_reader

if TYPE_CHECKING:
    from planwire.relay.handoffs import Handoffs

#: Seconds that the output may be silent after the agent's end: a child of the agent may still hold the pipe.
_LEFT_OPEN: Final = 1.0
#: Seconds that an agent may think about a prompt without a word, after the end of its input.
_THINKING: Final = 300.0
#: Seconds that the journal has at the end for what is left.
_JOURNAL_PATIENCE: Final = 2.0
#: Seconds after which the recorder's thread makes way for the traffic.
_SWITCH_INTERVAL: Final = 0.0005
#: Seconds between two looks for what the plan tools wrote, while the agent works: they wait until the client knows.
_LOOK_FOR_TOOLS: Final = 0.02
#: Seconds between two looks for a person's answer, while the agent waits for one.
_LOOK_FOR_ANSWER: Final = 0.01
#: Seconds that a prompt waits for a look at what others wrote, in a journal that answers.
_LOOK_PATIENCE: Final = 0.1
_PROMPT: Final = b'"session/prompt"'


class Traffic:
    """One agent and its client, until the agent ends. `name` is for an agent that has none of its own, `client` are the
    ends of the pipes from and to the client."""

    def __init__(
        self,
        agent: AgentProcess,
        name: str,
        open_journal: Callable[[], Journal],
        *,
        context: bool,
        steers: bool,
        grace: float,
        handoffs: "Handoffs | None",
        client: tuple[int, int] = (0, 1),
    ) -> None:
        assert agent.stdin is not None
        assert agent.stdout is not None
        self._agent = agent
        self._context = context
        self._grace = grace
        self._handoffs = handoffs
        self._lock = Lock()
        server = handoffs.server if handoffs else None
        self._policy = Policy(
            name,
            _new_word,
            context=context,
            steers=steers,
            server=server,
            read_file=_file_text,
            learned=learned_rows(say),
        )
        self._for_agent = Injector(self._ask(self._policy.for_agent), self._sent)
        self._for_client = Injector(self._ask(self._policy.for_client), self._sent)
        on_unavailable = self._on_unavailable if handoffs else None
        mark = handoffs.mark() if handoffs else None
        self._recorder = Recorder(
            open_journal, self._learn, self._traffic, self._look, on_unavailable, self._terms, mark, say
        )
        self._to_agent = Pipe(
            client[0],
            agent.stdin.fileno(),
            Sieve(WORDS_OF_CLIENT),
            self._from_client,
            self._afterwards,
            self._at_end_of_input,
            self._for_agent,
            self._at_last,
        )
        self._to_client = Pipe(
            agent.stdout.fileno(),
            client[1],
            Sieve(WORDS_OF_AGENT, self._policy.words_of_agent),
            self._from_agent,
            self._afterwards,
            injector=self._for_client,
            overhear=self._policy.overhear,
            hear_beginning=self._beginning,
        )

    def run(self) -> int:
        """Carry the traffic. Returns the agent's exit code."""
        sys.setswitchinterval(_SWITCH_INTERVAL)
        gc.freeze()  # all that is loaded now will stay: the collector need not look through it
        self._recorder.start()
        self._to_client.start()
        self._to_agent.start()
        code = self._agent.wait()
        self._drain()
        self._close()
        return code

    def _drain(self) -> None:
        """Pass on what the agent said before it ended."""
        ended = monotonic()
        while not self._to_client.join(0.02):
            if min(self._to_client.silence(), monotonic() - ended) > _LEFT_OPEN:
                break

    def _close(self) -> None:
        with self._lock:
            last = self._note(self._policy.close(), 0)
        lost = self._recorder.close(_JOURNAL_PATIENCE)
        if self._handoffs:
            self._handoffs.close()
        for text in (*(action.text for action in last if isinstance(action, Warn)), *([lost] if lost else [])):
            say(text)

    # -- what the pipes ask

    def _from_client(self, line: bytes) -> list[Action]:
        """A prompt may have to tell the agent what a person said about its plan just now."""
        if self._context and _PROMPT in line:
            self._recorder.look_now(_LOOK_PATIENCE)
        with self._lock:
            actions = self._note(self._policy.from_client(line), len(line))
        self._ring()
        return actions

    def _from_agent(self, line: bytes) -> list[Action]:
        with self._lock:
            actions = self._note(self._policy.from_agent(line), len(line))
        self._ring()
        return actions

    def _beginning(self, line: bytes) -> list[Action]:
        with self._lock:
            return self._note(self._policy.hear_beginning(line), 0)

    def _note(self, actions: list[Action], size: int) -> list[Action]:
        for action in actions:
            if isinstance(action, (RecordLine, Record, Meet, Leave)):
                self._recorder.put(action, size)
        return actions

    def _afterwards(self, actions: list[Action]) -> None:
        self._recorder.wake()
        for action in actions:
            if isinstance(action, Warn):
                say(action.text)
            elif isinstance(action, Bind) and self._handoffs:
                self._handoffs.write(action)
            elif isinstance(action, HoldBack):
                patience = Timer(action.seconds, self._overdue, (action,))
                patience.daemon = True
                patience.start()

    def _at_last(self) -> None:
        with self._lock:
            self._policy.end_input()

    def _at_end_of_input(self) -> None:
        with self._lock:
            self._note(self._policy.lose_client(), 0)
        self._recorder.wake()
        end_when_silent(self._agent, self._silence, self._grace)

    def _silence(self) -> float:
        """Seconds that the agent has been silent without a reason: one that works on a prompt may think for long."""
        return self._to_client.silence() - (_THINKING if self._is_working() else 0.0)

    # -- the relay's own lines

    def _ask(self, take: Callable[[], list[Action]]) -> Callable[[], list[Action]]:
        def asked() -> list[Action]:
            with self._lock:
                return take()

        return asked

    def _sent(self, actions: list[Action]) -> None:
        """The lines have left: now the journal may say so."""
        with self._lock:
            self._note(actions, 0)
        self._afterwards(actions)

    def _ring(self) -> None:
        if self._policy.has_lines:
            self._for_agent.ring()
            self._for_client.ring()

    def _overdue(self, hold: HoldBack) -> None:
        with self._lock:
            self._policy.overdue(hold)
        self._ring()

    # -- what the recorder asks

    def _learn(self, session: str, memory: SessionMemory) -> None:
        with self._lock:
            self._policy.learn(session, memory)
        self._ring()
        if self._handoffs:
            self._for_client.ring()

    def _on_unavailable(self, error: Exception) -> None:
        with self._lock:
            self._policy.lack_journal(str(error))
        if self._handoffs:
            self._for_client.ring()
            say(f"the agent runs without the plan tools: {error}")

    def _terms(self, session: str) -> Terms:
        with self._lock:
            return self._policy.terms(session)

    def _traffic(self) -> float:
        return self._to_agent.heard_at + self._to_client.heard_at

    def _look(self) -> float:
        with self._lock:
            if self._policy.is_asking():
                return _LOOK_FOR_ANSWER
            return _LOOK_FOR_TOOLS if self._handoffs and self._policy.is_working() else LOOK

    def _is_working(self) -> bool:
        with self._lock:
            return self._policy.is_working()


def _file_text(uri: str, folder: str | None) -> str | None:
    return plan_file_reader([folder] if folder and Path(folder).is_absolute() else ())(uri)


def _new_word() -> str:
    return os.urandom(8).hex()
