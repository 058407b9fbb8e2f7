"""The relay's entry: the agent first, then everything else.

Loading the relay takes some 60 ms, in which the agent can start up as well. So this module imports little, starts the
agent, and only then loads the rest.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from planwire.errors import PlanwireError
from planwire.relay.process import ended_after_us, name_of, start_agent

if TYPE_CHECKING:
    from planwire.journal.protocol import Journal
    from planwire.relay.handoffs import Handoffs


def relay(
    command: Sequence[str],
    open_journal: "Callable[[], Journal]",
    *,
    context: bool,
    steers: bool,
    grace: float,
    hand_over: "Callable[[], Handoffs] | None",
) -> int:
    """Run an agent behind our own standard input and output until it ends.

    Returns its exit code, or the number of the signal that ended it, negative. With `context` the agent is told its
    plans again when it needs that; with `steers`, what people decide elsewhere reaches it at once; with `hand_over` it
    gets the plan tools. Without a command the relay is a component of a proxy chain, whose conductor has the agent.
    """
    successor = None
    with ExitStack() as around:
        if command:
            process = start_agent(command)
            from planwire.session.known_agents import known_agent  # noqa: PLC0415  (it starts up meanwhile: see above)

            # before the 60 ms of the next import: it may run commands
            around.enter_context(known_agent(process.pid, name_of(command)))
            around.enter_context(ended_after_us(process, grace))
        else:
            from planwire.relay.successor import Successor  # noqa: PLC0415

            successor = Successor()
        from planwire.relay.traffic import Traffic  # noqa: PLC0415

        return Traffic(
            successor or process,
            name_of(command) if command else "agent",
            open_journal,
            context=context,
            steers=steers,
            grace=grace,
            handoffs=_handoffs(hand_over),
            client=around.enter_context(successor.carried(grace)) if successor else (0, 1),
        ).run()


def say(text: str) -> None:
    """Write a line to stderr, which editors show in the agent's log."""
    if sys.stderr is not None:  # None if it is closed: `print` would take the client's stream instead
        with suppress(OSError, ValueError):
            print(f"planwire: {text}", file=sys.stderr, flush=True)


def _handoffs(hand_over: "Callable[[], Handoffs] | None") -> "Handoffs | None":
    try:
        return hand_over() if hand_over else None
    except PlanwireError as error:
        say(f"the agent runs without the plan tools: {error}")
        return None
