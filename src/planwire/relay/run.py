"""The relay's entry: the agent first, then everything else.

Loading the relay takes some 60 ms, in which the agent can start up as well. So this module imports little, starts the
agent, and only then loads the rest.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from planwire.errors import PlanwireError
from planwire.relay.process import ended_after_us, name_of, start_agent

if TYPE_CHECKING:
    from planwire.journal.protocol import Journal
    from planwire.relay.handoffs import Handoffs

__all__ = ["relay", "say"]


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
    if not command:
        return _relay_in_chain(open_journal, context=context, steers=steers, grace=grace, hand_over=hand_over)
    agent = start_agent(command)
    from planwire.session.known_agents import known_agent  # noqa: PLC0415  (the agent starts up meanwhile: see above)

    with known_agent(agent.pid), ended_after_us(agent, grace):  # before the 60 ms of the next import
        from planwire.relay.traffic import Traffic  # noqa: PLC0415

        handoffs, name = _handoffs(hand_over), name_of(command)
        return Traffic(agent, name, open_journal, context=context, steers=steers, grace=grace, handoffs=handoffs).run()


def _relay_in_chain(
    open_journal: "Callable[[], Journal]",
    *,
    context: bool,
    steers: bool,
    grace: float,
    hand_over: "Callable[[], Handoffs] | None",
) -> int:
    from planwire.relay.successor import Successor  # noqa: PLC0415  (these load the rest: see above)
    from planwire.relay.traffic import Traffic  # noqa: PLC0415

    successor = Successor()
    traffic = Traffic(
        successor,
        "agent",
        open_journal,
        context=context,
        steers=steers,
        grace=grace,
        handoffs=_handoffs(hand_over),
        client=successor.client,
    )
    successor.start()
    code = traffic.run()
    successor.finish(grace)
    return code


def say(text: str) -> None:
    """Write a line to stderr, which editors show in the agent's log."""
    if sys.stderr is not None:  # if it is closed: `print` would take the client's stream instead
        with suppress(OSError, ValueError):
            print(f"planwire: {text}", file=sys.stderr, flush=True)


def _handoffs(hand_over: "Callable[[], Handoffs] | None") -> "Handoffs | None":
    try:
        return hand_over() if hand_over else None
    except PlanwireError as error:
        say(f"the agent runs without the plan tools: {error}")
        return None
