"""Authors: a name, and the way that an act came, unless it was by the person's own hand: `Ann (below claude-code)`.

An event keeps the two apart. Everywhere else they are one text, so that nothing shows, compares or tells a name without
its way. A name has no brackets (`readmodel.authors`), so it can't imitate a way.
"""

import re
from typing import Final

from planwire.model.plan import Fields

LONGEST_NAME: Final = 64
#: No person was at a terminal.
BY_SCRIPT: Final = "by a script"
_UNNAMED: Final = "an agent"
_AUTHOR: Final = re.compile(r"(.*) \((below [^()]+|by a script|as [^()]+ reports)\)", re.DOTALL)


def authored(name: str, way: str) -> str:
    return f"{name} ({way})" if way else name


def name_and_way(author: str) -> tuple[str, str]:
    found = _AUTHOR.fullmatch(author) if author.endswith(")") else None
    return (found[1], found[2]) if found else (author, "")


def name_of(author: str) -> str:
    return name_and_way(author)[0]


def below(agent: str) -> str:
    """The way of an act by a process that descends from an agent."""
    return f"below {program_name(agent) or _UNNAMED}"


def reported_by(agent: str) -> str:
    """The way of an answer that an agent's hook says a person gave in its terminal."""
    return f"as {program_name(agent) or _UNNAMED} reports"


def by_fields(author: str) -> Fields:
    """The fields of an author in JSON: `by`, and `way` if there is one."""
    name, way = name_and_way(author)
    return {"by": name, "way": way} if way else {"by": name}


def program_name(name: str) -> str:
    """The name that an agent or a client gives itself, without what a person's name can't have either; "" if nothing
    is left."""
    return re.sub(r"[^\w.@/+-]+", " ", name)[:LONGEST_NAME].strip()
