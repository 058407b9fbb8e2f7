"""The relay at work: two directions, the policy between them, the journal beside them.

The agent is started before anything else is loaded, so that it starts up while the relay does.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from planwire.relay.agent import GRACE, end_when_silent, name_of, start_agent

if TYPE_CHECKING:
    from planwire.journal.protocol import Journal
    from planwire.relay.actions import Action

__all__ = ["relay"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: Seconds that the agent's output may be silent after its end: somebody else may still hold the pipe.
_LEFT_OPEN: Final = 1.0
#: Seconds that the journal has for what is left when all is over.
_JOURNAL_PATIENCE: Final = 2.0
#: The journal's thread makes way for the traffic after so many seconds.
_SWITCH_INTERVAL: Final = 0.0005


def relay(
    command: Sequence[str],
    open_journal: "Callable[[], Journal]",
    *,
    context: bool = True,
    grace: float = GRACE,
) -> int:
    """Run an agent behind our own standard input and output until it ends. Returns its exit code, or the number of the
    signal that ended it, negative."""
    agent = start_agent(command)

    from planwire.relay.actions import Meet, Record, RecordLine, Warn  # noqa: PLC0415  (see above)
    from planwire.relay.direction import Direction  # noqa: PLC0415
    from planwire.relay.framing import Sieve  # noqa: PLC0415
    from planwire.relay.policy import WORDS_OF_AGENT, WORDS_OF_CLIENT, Policy  # noqa: PLC0415
    from planwire.relay.recorder import Recorder  # noqa: PLC0415

    assert agent.stdin is not None
    assert agent.stdout is not None
    sys.setswitchinterval(_SWITCH_INTERVAL)
    lock = Lock()
    policy = Policy(name_of(command), _new_word, context=context)
    recorder = Recorder(open_journal, _guarded(policy.learn, lock), lambda: to_agent.heard_at + to_client.heard_at)

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

    def at_end_of_input() -> None:
        end_when_silent(agent, to_client.silence, grace)

    hear_client, hear_agent = noting(policy.from_client), noting(policy.from_agent)
    to_agent = Direction(0, agent.stdin.fileno(), Sieve(WORDS_OF_CLIENT), hear_client, afterwards, at_end_of_input)
    to_client = Direction(agent.stdout.fileno(), 1, Sieve(WORDS_OF_AGENT), hear_agent, afterwards, _nothing)
    recorder.start()
    to_client.start()
    to_agent.start()
    code = agent.wait()
    ended = monotonic()
    while not to_client.join(0.02):
        if min(to_client.silence(), monotonic() - ended) > _LEFT_OPEN:
            break
    with lock:
        note(policy.close(), 0)
    lost = recorder.close(_JOURNAL_PATIENCE)
    if lost is not None:
        _say(lost)
    return code


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
    with suppress(OSError, ValueError):
        print(f"planwire: {text}", file=sys.stderr, flush=True)
