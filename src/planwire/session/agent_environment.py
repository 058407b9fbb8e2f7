"""The environment of an agent that planwire starts. Imports are kept to a minimum, because the agent waits for them."""

import os
from typing import Final

#: The environment variable that marks an agent and its processes.
VARIABLE: Final = "PLANWIRE_AGENT"


def agent_environment() -> dict[str, str]:
    """Our own environment, with the variable that marks an agent, without planwire's secrets such as the board's
    token."""
    own = {name: value for name, value in os.environ.items() if not _is_secret(name)}
    return {**own, VARIABLE: "1"}


def _is_secret(name: str) -> bool:
    return name.startswith("PLANWIRE_") and name.endswith("_TOKEN")
