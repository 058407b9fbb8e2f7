"""What planwire answers a hook, as values. Each agent's file says them in its own dialect (`speak`).

An agent may throw away an answer with one key too many, and take any text for a veto or for context. So an answer is
never a union of dialects, and what an agent can't hear is not said at all.
"""

from typing import TypeAlias

from msgspec import Struct


class Tell(Struct, frozen=True):
    """A text for the model."""

    text: str


class AllowCall(Struct, frozen=True):
    """A call of planwire's own tools needs no dialog."""


class Approve(Struct, frozen=True):
    """A person approves the plan that this hook holds back; `text` is the plan as they edited it, if the agent takes an
    edited plan."""

    text: str | None = None


class SendBack(Struct, frozen=True):
    """A person asks for changes to the plan that this hook holds back."""

    words: str


Answer: TypeAlias = Tell | AllowCall | Approve | SendBack
