"""An agent's offers beyond a prompt: to load, resume and fork a session, to plan in a mode of its own, to compact."""

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from planwire.acp.dialects import V1, V2, has_object
from planwire.model.plan import Fields

#: What an agent can be driven to do. These words are also the names of the parts of a script.
PROMPT: Final = "prompt"
LOAD: Final = "load"
RESUME: Final = "resume"
FORK: Final = "fork"
PLAN_MODE: Final = "plan mode"
COMPACT: Final = "compact"

_FROM_THE_START: Final[Fields] = {"replayFrom": {"type": "start"}}
#: Names of modes in which an agent proposes before it works. Models may have such names too, but are not modes.
_PLANS: Final = re.compile(r"\bplan(s|ning)?\b", re.IGNORECASE)
#: Names of commands that compact the context, alone or beside another word: `/compact`, `/chat-compress`.
_COMPACTS: Final = re.compile(r"(?<![a-z])(compact|compress|summari[sz]e)(?![a-z])", re.IGNORECASE)
_NO_MODES: Final = {"model", "model_config", "thought_level", "thinking"}


class AgentOffer(Struct, frozen=True):
    """One thing that an agent offers, and the request for it, without the session's id."""

    what: str
    method: str
    params: Fields = {}


def offers_of(initialized: Any) -> tuple[AgentOffer, ...]:
    """The offers about sessions in the result of `initialize`. Agents of version 2 can resume without saying so."""
    if _version(initialized) >= V2.version:
        path = (V2.agent_capabilities, "session")
        loads = resumes = has_object(initialized, *path)
        load = AgentOffer(LOAD, "session/resume", _FROM_THE_START)
    else:
        path = (V1.agent_capabilities, "sessionCapabilities")
        loads = _at(initialized, V1.agent_capabilities, "loadSession") is True
        resumes = has_object(initialized, *path, "resume")
        load = AgentOffer(LOAD, "session/load")
    forks = has_object(initialized, *path, "fork")
    rows = ((loads, load), (resumes, AgentOffer(RESUME, "session/resume")), (forks, AgentOffer(FORK, "session/fork")))
    return tuple(offer for is_offered, offer in rows if is_offered)


def plan_mode_of(initialized: Any, begun: Any) -> AgentOffer | None:
    """The way into plan mode, from the results of `initialize` and `session/new`: a mode, or an option's value."""
    for mode in _dicts(_at(begun, "modes", "availableModes")):
        if isinstance(mode.get("id"), str) and _is_planning(mode, "id"):
            return AgentOffer(PLAN_MODE, "session/set_mode", {"modeId": mode["id"]})
    for option in _dicts(_at(begun, "configOptions")):
        config = option.get("configId") or option.get("id")
        if not isinstance(config, str) or option.get("category") in _NO_MODES or config in _NO_MODES:
            continue
        for value in _values(option):
            if isinstance(value.get("value"), str) and _is_planning(value, "value"):
                typed = {"type": "id"} if _version(initialized) >= V2.version else {}
                params = {"configId": config, **typed, "value": value["value"]}
                return AgentOffer(PLAN_MODE, "session/set_config_option", params)
    return None


def compact_command(update: Any) -> str | None:
    """The command that compacts the context, if an `available_commands_update` has one: the shortest of several."""
    commands = _dicts(_at(update, "availableCommands") or _at(update, "commands"))
    names = (name for each in commands if isinstance(name := each.get("name"), str) and _COMPACTS.search(name))
    return min((name.removeprefix("/") for name in names), key=len, default=None)


def drives(method: str, params: Any) -> str | None:
    """What a client's request drives the agent to do, in the words above; None for any other request."""
    match method:
        case "session/prompt":
            return PROMPT
        case "session/load":
            return LOAD
        case "session/resume":
            return LOAD if has_object(params, "replayFrom") else RESUME
        case "session/fork":
            return FORK
        case "session/set_mode" | "session/set_config_option":
            word = _at(params, "modeId") or _at(params, "value")
            return PLAN_MODE if isinstance(word, str) and _PLANS.search(word) else None
    return None


def _is_planning(named: Fields, key: str) -> bool:
    return any(isinstance(word := named.get(each), str) and _PLANS.search(word) for each in (key, "name"))


def _values(option: Fields) -> Iterator[Fields]:
    """The values of an option, in groups or not."""
    for value in _dicts(option.get("options")):
        yield from _dicts(value["options"]) if "options" in value else [value]


def _version(initialized: Any) -> int:
    version = _at(initialized, "protocolVersion")
    return version if isinstance(version, int) else V1.version


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _dicts(value: Any) -> list[Fields]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
