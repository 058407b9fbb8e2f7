"""The reach of people: what a session's agent can be given at this moment, and by whom."""

from typing import Final

from msgspec import Struct

#: What the process that runs an agent can do for people: give it the answer to its question (ANSWER), tell it something
#: now (TELL), even in a running turn (STEER), and stop the turn (STOP). HEAR: the agent is told with the result of its
#: next tool call. WORDS: a request for changes carries the person's words to it.
ANSWER: Final = "answer"
TELL: Final = "tell"
STEER: Final = "steer"
STOP: Final = "stop"
HEAR: Final = "hear"
WORDS: Final = "words"


class Reach(Struct, frozen=True):
    """What the process that runs the agent can do; nothing if there is none. `is_working`: a turn is running."""

    can: frozenset[str] = frozenset()
    is_working: bool = False

    @property
    def needs_interrupt(self) -> bool:
        """Whether the agent can't be told anything now unless its turn is cancelled."""
        return self.is_working and TELL in self.can and STEER not in self.can


#: No process runs the agent, or none is known.
NOBODY: Final = Reach()
