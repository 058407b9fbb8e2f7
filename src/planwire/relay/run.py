"""The relay at work: two directions, the policy between them, the journal beside them.

The agent is started before anything else is loaded, so that it starts up while the relay does.
"""

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from planwire.errors import PlanwireError
from planwire.relay.process import GRACE, end_when_silent, ended_after_us, name_of, start_agent

if TYPE_CHECKING:
    from planwire.journal.protocol import Journal
    from planwire.relay.actions import Action, Known
    from planwire.relay.handoffs import Handoffs
    from planwire.relay.injector import Aside

__all__ = ["relay"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: Seconds that the agent's output may be silent after its end: somebody else may still hold the pipe.
_LEFT_OPEN: Final = 1.0
#: Seconds that an agent may think about a prompt without a word, though nobody will ask for more.
_THINKING: Final = 300.0
#: Seconds that the journal has for what is left when all is over.
_JOURNAL_PATIENCE: Final = 2.0
#: The journal's thread makes way for the traffic after so many seconds.
_SWITCH_INTERVAL: Final = 0.0005
#: Seconds between two looks for what the plan tools wrote, while they may: they wait until the client was told.
_LOOK_FOR_TOOLS: Final = 0.02
#: Seconds that a prompt waits for a look at what others wrote, in a journal that answers.
_LOOK_PATIENCE: Final = 0.1
_PROMPT: Final = b'"session/prompt"'


def relay(
    command: Sequence[str],
    open_journal: "Callable[[], Journal]",
    *,
    context: bool = True,
    grace: float = GRACE,
    bind: "Callable[[], Handoffs] | None" = None,
) -> int:
    """Run an agent behind our own standard input and output until it ends. Returns its exit code, or the number of the
    signal that ended it, negative. `bind` gives what it takes to give the agent the plan tools, if it shall have them.
    """
    agent = start_agent(command)

    from planwire.relay.actions import Bind, Meet, Record, RecordLine, Warn  # noqa: PLC0415  (see above)
    from planwire.relay.framing import Sieve  # noqa: PLC0415
    from planwire.relay.pipe import Direction  # noqa: PLC0415
    from planwire.relay.policy import WORDS_OF_AGENT, WORDS_OF_CLIENT, Policy  # noqa: PLC0415
    from planwire.relay.recorder import LOOK, Recorder  # noqa: PLC0415

    assert agent.stdin is not None
    assert agent.stdout is not None
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.freeze()  # all that is loaded now will stay: there is no need to look through it for what can go
    lock = Lock()
    bindings = _bindings(bind)
    policy = Policy(name_of(command), _new_word, context=context, server=bindings.server if bindings else None)
    aside = _aside(_guarded(policy.news, lock)) if bindings else None

    def learn(session: str, known: "Known") -> None:
        with lock:
            policy.learn(session, known)
        if aside:
            aside.ring()

    def at_loss(error: Exception) -> None:
        with lock:
            policy.lack_journal(str(error))
        if aside:
            aside.ring()
            _say(f"the plan tools are left out: {error}")

    def traffic() -> float:
        return to_agent.heard_at + to_client.heard_at

    is_working = _guarded(policy.is_working, lock)

    def look() -> float:
        return _LOOK_FOR_TOOLS if is_working() else LOOK

    recorder = Recorder(open_journal, learn, traffic, *((look, at_loss) if bindings else ()))

    def note(actions: "list[Action]", size: int) -> None:
        for action in actions:
            if isinstance(action, (RecordLine, Record, Meet)):
                recorder.put(action, size)

    def noting(hear: "Callable[[bytes], list[Action]]") -> "Callable[[bytes], list[Action]]":
        """One line at a time, noted before it leaves: so an answer is never noted before what it answers."""

        def hear_and_note(line: bytes) -> "list[Action]":
            with lock:
                actions = hear(line)
                note(actions, len(line))
            return actions

        return hear_and_note

    def afterwards(actions: "list[Action]") -> None:
        recorder.wake()
        for action in actions:
            if isinstance(action, Warn):
                _say(action.text)
            elif isinstance(action, Bind) and bindings:
                bindings.write(action)

    def silence() -> float:
        """Seconds that the agent has been silent without a reason: one that works on a prompt may think for long."""
        return to_client.silence() - (_THINKING if policy.is_working() else 0.0)

    def at_end_of_input() -> None:
        end_when_silent(agent, silence, grace)

    def from_client(line: bytes) -> "list[Action]":
        """A prompt may have to tell the agent what somebody said of its plan just now."""
        if context and _PROMPT in line:
            recorder.look_now(_LOOK_PATIENCE)
        return hear_client(line)

    hear_client, hear_agent = noting(policy.from_client), noting(policy.from_agent)
    to_agent = Direction(0, agent.stdin.fileno(), Sieve(WORDS_OF_CLIENT), from_client, afterwards, at_end_of_input)
    to_client = Direction(agent.stdout.fileno(), 1, Sieve(WORDS_OF_AGENT), hear_agent, afterwards, _nothing, aside)
    recorder.start()
    to_client.start()
    to_agent.start()
    with ended_after_us(agent, grace):
        code = agent.wait()
    ended = monotonic()
    while not to_client.join(0.02):
        if min(to_client.silence(), monotonic() - ended) > _LEFT_OPEN:
            break
    with lock:
        note(policy.close(), 0)
    lost = recorder.close(_JOURNAL_PATIENCE)
    if bindings:
        bindings.close()
    if lost is not None:
        _say(lost)
    return code


def _bindings(bind: "Callable[[], Handoffs] | None") -> "Handoffs | None":
    try:
        return bind() if bind else None
    except PlanwireError as error:
        _say(f"the plan tools are left out: {error}")
        return None


def _aside(ask: "Callable[[], list[Action]]") -> "Aside":
    from planwire.relay.injector import Aside  # noqa: PLC0415

    return Aside(ask)


def _guarded(call: Callable[_P, _T], lock: Lock) -> Callable[_P, _T]:
    """The call, by one thread at a time."""

    def locked(*arguments: _P.args, **names: _P.kwargs) -> _T:
        with lock:
            return call(*arguments, **names)

    return locked


def _new_word() -> str:
    return os.urandom(8).hex()


def _nothing() -> None:
    pass


def _say(text: str) -> None:
    if sys.stderr is not None:  # if it is closed: `print` would take the client's stream instead
        with suppress(OSError, ValueError):
            print(f"planwire: {text}", file=sys.stderr, flush=True)
