"""The reach of people: what a session's agent can be given at this moment, and by whom."""

from typing import Final

from msgspec import Struct

__all__ = ["ANSWER", "HEAR", "NOBODY", "STEER", "STOP", "TELL", "WORDS", "Reach"]

#: What the process in front of an agent can do for people: give it the answer to its question, tell it something now,
#: put that into a turn that runs, and stop the turn. An agent that hears is told with the result of its next tool call.
#: One that takes words gets those that a person says when they send its plan back, with that.
ANSWER: Final = "answer"
TELL: Final = "tell"
STEER: Final = "steer"
STOP: Final = "stop"
HEAR: Final = "hear"
WORDS: Final = "words"


class Reach(Struct, frozen=True):
    """The abilities of whoever runs the agent; none if nobody does. `is_working`: a turn is on."""

    can: frozenset[str] = frozenset()
    is_working: bool = False

    @property
    def needs_interrupt(self) -> bool:
        """Whether the agent can't be told anything now unless its turn is cancelled."""
        return self.is_working and TELL in self.can and STEER not in self.can


#: Nobody runs the agent, or nobody knows.
NOBODY: Final = Reach()
