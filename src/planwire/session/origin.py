"""Where a session runs: the machine, the account, and the repository.

A team has one journal for many machines: a folder says little without its host, and a repository has the same name in
every clone. They are looked up when a session opens. Git's files are read, but no program is run, and if anything is
wrong with them, the session begins without a repository.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from planwire.model.events import SessionOpened
from planwire.session.named_folders import note_folders

#: The bytes that are read of a Git file at most, and the longest name.
_LARGEST: Final = 1024 * 1024
_LONGEST: Final = 200
#: The address of a remote: with a scheme, or as `user@host:path`. Anything else is a path on this machine.
_WITH_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?P<place>[^/?#]*)(?P<path>[^?#]*)", re.DOTALL)
_OF_SSH: Final = re.compile(r"(?:[^/]*@)?(?P<place>\[[^]]*\]|[^/\\:@]{2,}):(?P<path>[^?#]*)", re.DOTALL)
#: A password with a slash in it: that slash does not end the host.
_SLASHES: Final = re.compile(r"//[^/@]*:(?!\d*(?:/|$))[^@]*/.*@", re.DOTALL)
#: A section of Git's settings, and a setting in one.
_SECTION: Final = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*?)\s*$")


def placed(about: SessionOpened) -> SessionOpened:
    """What is known about a session that runs here, with where it runs. Fields that are already set stay. Its folder
    was named here, so plan files in it may be read."""
    if about.cwd and Path(about.cwd).is_absolute():
        note_folders(about.cwd)
    return replace(
        about,
        host=about.host or this_host(),
        user=about.user or this_user(),
        repository=about.repository or (repository_of(about.cwd) if about.cwd else None),
    )


def is_ours(about: SessionOpened) -> bool:
    """Whether a session runs on this machine, under this account, as far as it says where."""
    return about.host in (None, this_host()) and about.user in (None, this_user())


@cache
def this_host() -> str | None:
    """The name of this machine, without its domain."""
    name = os.uname().nodename if sys.platform != "win32" else os.environ.get("COMPUTERNAME", "")
    first = name.partition(".")[0]
    return _text(name if first.isdecimal() else first)  # an IP address has no domain to cut off


@cache
def this_user() -> str | None:
    """The name of the account that this process belongs to; None if it has none, as in some containers."""
    name = ""
    if sys.platform != "win32":
        import pwd  # noqa: PLC0415  (there is none on Windows)

        with suppress(KeyError, OSError):
            name = pwd.getpwuid(os.getuid()).pw_name
    variables = ("LOGNAME", "USER", "USERNAME")
    return _text(name or next(filter(None, map(os.environ.get, variables)), ""))


@lru_cache(maxsize=256)
def repository_of(folder: str) -> str | None:
    """The name of the repository that a folder is in, from its remote or else its top folder; None if it is in none."""
    with suppress(OSError, ValueError, RuntimeError):  # a client may name anything
        if Path(folder).is_absolute():
            for each in (Path(folder), *Path(folder).parents):
                if (settings := _settings_of(each / ".git")) is not None:
                    address = _address(settings)
                    return (repository_name(address) if address else None) or _text(each.name)
    return None


def repository_name(address: str) -> str | None:
    """The name that all clones of a repository share, from the address of a remote: host and path, without scheme,
    port, user and password (`github.com/acme/tool`). A repository at a local path has the name of its folder."""
    found = _WITH_SCHEME.match(_SLASHES.sub("//", address)) or _OF_SSH.match(address)
    place, path = (found["place"].rpartition("@")[2], found["path"]) if found else ("", address)
    host = place.partition("]")[0].lstrip("[") if place.startswith("[") else place.partition(":")[0]
    parts = [part for part in re.split(r"[/\\]+", path) if part not in ("", ".", "..")]
    if parts:
        parts[-1] = parts[-1].removesuffix(".git")
    if not host:
        return _text(next((part for part in reversed(parts) if part), ""))
    return _text("/".join(filter(None, (host.lower(), *parts))))


def _settings_of(git: Path) -> str | None:
    """The settings of a repository, found from the `.git` in its folder; None if there is none. In a linked worktree
    `.git` is a file that names a folder, which names the main one in turn; in a submodule it names a folder, too."""
    try:
        mode = git.stat().st_mode
    except OSError:
        return None
    if stat.S_ISREG(mode):
        leads = _read(git).strip()
        if not leads.startswith("gitdir:"):
            return None
        git = git.parent / leads.removeprefix("gitdir:").strip()
        common = _read(git / "commondir").strip()
        git = git / common if common else git
    elif not stat.S_ISDIR(mode) or not (git / "HEAD").exists():
        return None
    return _read(git / "config")


def _read(path: Path) -> str:
    """The text of a file; "" if it is missing or not a regular file."""
    with suppress(OSError):
        if stat.S_ISREG(path.stat().st_mode):
            with path.open("rb") as file:
                return file.read(_LARGEST).decode(errors="replace")
    return ""


def _address(settings: str) -> str:
    """The address of the remote `origin`, or else of the first one; "" if there is none."""
    remotes: dict[str, str] = {}
    for remote, address in _remotes(settings):
        remotes.setdefault(remote, address)
    return remotes.get("origin") or next(iter(remotes.values()), "")


def _remotes(settings: str) -> Iterator[tuple[str, str]]:
    remote = None
    for line in settings.splitlines():
        rest = line
        if found := _SECTION.match(line):
            remote = found[2] if found[1].lower() == "remote" else None
            rest = line[found.end() :]
        setting = _SETTING.fullmatch(rest)
        if remote is not None and setting and setting[1].lower() == "url" and setting[2]:
            yield remote, _value(setting[2])


def _value(text: str) -> str:
    """A value in Git's settings, which may be quoted and followed by a comment."""
    if text.startswith('"'):
        end = re.match(r'"((?:[^"\\]|\\.)*)"', text)
        return re.sub(r"\\(.)", r"\1", end[1]) if end else ""
    return re.split(r"\s+[#;]", text, maxsplit=1)[0].strip()


def _text(name: str) -> str | None:
    """A name that any journal can store; None if it is empty."""
    return name.encode(errors="replace").decode()[:_LONGEST] or None
