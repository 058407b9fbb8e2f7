"""The packages behind planwire's extras: their names, the oldest versions that work, and messages for missing ones.

Frameworks pin such packages too, so one may well be installed but too old. Saying that it is missing would send its
user to an installation that changes nothing.
"""

import re
from importlib.util import find_spec
from typing import Final, NamedTuple

from planwire.errors import MissingExtra


class Package(NamedTuple):
    """A package as people call it and as pip does, the extra that brings it, and the oldest version that works.

    `is_for_programs`: only programs need it. They can have an environment of their own, away from whatever pins another
    version; a library can't.
    """

    title: str
    distribution: str
    extra: str
    oldest: str
    is_for_programs: bool = True


#: The packages by the module that is imported. `pyproject.toml` has the same versions.
PACKAGES: Final = {
    "acp": Package("the ACP SDK", "agent-client-protocol", "acp", "0.9", is_for_programs=False),
    "httptools": Package("httptools", "httptools", "web", "0.7"),
    "mcp": Package("the MCP SDK", "mcp", "mcp", "2.0"),
    "psycopg": Package("psycopg", "psycopg", "postgres", "3.2"),
    "nats": Package("nats-py", "nats-py", "nats", "2.10"),
    "rich": Package("Rich", "rich", "terminal", "14.2"),
    "shtab": Package("shtab", "shtab", "terminal", "1.13"),
    "starlette": Package("Starlette", "starlette", "web", "1.0"),
    "textual": Package("Textual", "textual", "terminal", "8.0"),
    "uvicorn": Package("uvicorn", "uvicorn", "web", "0.40"),
}


def missing_extra(what: str, module: str, error: ImportError, hint: str = "") -> MissingExtra:
    """The error that says why something can't run, after an import for it failed."""
    failed = (error.name or "").partition(".")[0]
    module = failed if failed in PACKAGES else module
    need = _absent(module) if error.name == module and isinstance(error, ModuleNotFoundError) else need_of(module)
    package = PACKAGES[module]
    fails = f"needs {package.title}, which can't be imported ({error}): pip install 'planwire[{package.extra}]'"
    return MissingExtra(f"{what} {need or fails}{hint}")


def need_of(module: str) -> str | None:
    """What is wrong with a package, as the end of a sentence; None if it is there and new enough. Imports nothing."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  (10 ms that only trouble costs)

    package = PACKAGES[module]
    if find_spec(module) is None:
        return _absent(module)
    try:
        found = version(package.distribution)
    except PackageNotFoundError:
        return None  # a copy without metadata: its imports will tell
    if _numbers(found) >= _numbers(package.oldest):
        return None
    own = f", or uv tool install 'planwire[{package.extra}]' if another package here needs the old one"
    return (
        f"needs {package.title} {package.oldest} or newer, and {found} is installed: "
        f"pip install 'planwire[{package.extra}]'{own if package.is_for_programs else ''}"
    )


def _absent(module: str) -> str:
    package = PACKAGES[module]
    return f"needs {package.title}: pip install 'planwire[{package.extra}]'"


def _numbers(version: str) -> tuple[int, ...]:
    """The release of a version, without what follows it: `2.0` of `2.0.0rc1`."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(each) for each in release[0].split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
