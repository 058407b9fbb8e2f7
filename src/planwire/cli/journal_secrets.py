"""Secrets in a journal's URL on command lines: a warning, and the alternatives. Imports nothing unless there may be
one, because an agent behind the relay waits for this."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Final

from planwire.errors import InputError
from planwire.own_process import PYTHON
from planwire.readmodel.plain_text import printable

#: Commands that end at once, and that an agent waits for. Any other may last: a server, a pager, an editor, a copy.
_BRIEF: Final = {"hook"}
#: The commands that end with another program's words.
_WITH_AGENT: Final = {"check", "relay", "setup"}
#: The arguments that are URLs of journals: an option, and the places of `planwire journal copy`.
_OPTION: Final = "journal"
_PLACES: Final = ("source", "to")
#: The prefix of the variables with the URLs from a command line, followed by the name of the argument.
_HIDDEN: Final = "PLANWIRE_HIDDEN_"


def _looks_secret(journal: str) -> bool:
    """Whether it is possible that there is a secret in a URL. The name of a file may begin with an @."""
    return "@" in journal[1:] or "=" in journal


def _may_have_secret(journal: str) -> bool:
    if not _looks_secret(journal):
        return False
    from planwire.journal.shown_urls import has_secret  # noqa: PLC0415

    return has_secret(journal)


def hide_at_once(words: Sequence[str]) -> None:
    """Hide the URL in `--journal` before anything else is imported, even to find out whether it has a secret. Do so
    only where it is clear which words are planwire's own."""
    end = words.index("--") if "--" in words else len(words)
    if end == len(words) and words[:1] and words[0] in _WITH_AGENT:
        return  # the agent's words may begin anywhere
    urls: list[str] = []
    for word, following in pairwise((*words[:end], "")):
        name, has_value, value = word.partition("=")
        if _is_journal(name):
            urls.append(value if has_value else following)
    if urls:  # the last one counts
        hide_secret(Namespace(journal=urls[-1], agent=list(words[end:])), words[0], _looks_secret)


def hide_secret(arguments: Namespace, command: str, is_secret: Callable[[str], bool] = _may_have_secret) -> None:
    """Restart with the URLs in the environment, which only the user can read, if others could otherwise read them in
    the process list for long."""
    urls = {name: url for name in (_OPTION, *_PLACES) if isinstance(url := vars(arguments).get(name), str)}
    secret = {name: url for name, url in urls.items() if is_secret(url)}
    if not secret or command in _BRIEF or os.name != "posix":
        return
    agent = vars(arguments).get("agent")
    end = len(sys.orig_argv) - (len(agent) if isinstance(agent, list) else 0)
    ours = _without_places(sys.orig_argv[:end], {url for name, url in secret.items() if name in _PLACES})
    command_line = [*(_without_journal(ours) if _OPTION in secret else ours), *sys.orig_argv[end:]]
    if command_line != sys.orig_argv:  # equal if the caller made up our arguments
        hidden = {f"{_HIDDEN}{name.upper()}": url for name, url in secret.items()}
        with suppress(OSError):  # then it goes on as it is
            os.execve(PYTHON, command_line, {**os.environ, **hidden})  # noqa: S606  (the same program)


def take_hidden(arguments: Namespace) -> bool:
    """Take the URLs that `hide_secret` put into the environment, and remove them there, so that no agent inherits
    them."""
    names = (_OPTION, *_PLACES)
    hidden = {name: url for name in names if (url := os.environ.pop(f"{_HIDDEN}{name.upper()}", None)) is not None}
    taken = {name: url for name, url in hidden.items() if name in arguments}
    if hidden.keys() != taken.keys():
        raise InputError("this command takes no --journal")
    vars(arguments).update(taken)
    return bool(taken)


def _without_places(words: Sequence[str], urls: Container[str]) -> list[str]:
    """A command line with these URLs in the form that people may see."""
    return [shown_journal(word) if word in urls else word for word in words]


def _without_journal(arguments: Sequence[str]) -> Iterator[str]:
    """A command line without the option `--journal`, however abbreviated and however often it occurs."""
    rest = iter(arguments)
    for argument in rest:
        name, has_value, _ = argument.partition("=")
        if not _is_journal(name):
            yield argument
        elif not has_value:
            next(rest, None)


def _is_journal(option: str) -> bool:
    return option.startswith("--j") and "--journal".startswith(option)


def warn_of_secret(journal: str | None, name: str = "--journal") -> None:
    """Warn that others can see a secret on a command line."""
    if journal and _may_have_secret(journal):
        hint = f"use PLANWIRE_JOURNAL, a file ({name} @FILE), ~/.pgpass or a NATS context"
        words = f"planwire: others on this machine see the secret in {name} {shown_journal(journal)}: {hint}"
        print(printable(words), file=sys.stderr)


def shown_journal(journal: str) -> str:
    """A journal's URL in the form that people may see."""
    from planwire.journal.shown_urls import shown_url  # noqa: PLC0415

    return shown_url(journal)


def with_journal(journal: str | None) -> dict[str, str]:
    """The environment of a planwire process that uses a journal. On its command line, everyone could see the URL."""
    if not journal:
        return {**os.environ}
    from planwire.journal.user_files import VARIABLE  # noqa: PLC0415

    return {**os.environ, VARIABLE: journal}
