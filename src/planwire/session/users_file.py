"""The file of a team's users: private to its owner, read again whenever it has changed, and changed by one writer at a
time.

A board looks at it with every request, so a user who is removed is out at once. It is replaced as a whole: a reader
sees the users before a change or after it, and notices a change by the file's identity.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from time import time_ns
from typing import Final

import msgspec

from planwire.errors import InputError, reason
from planwire.journal.spool_append import HAS_FLOCK, locked, make_folder, put
from planwire.journal.user_files import default_path
from planwire.session.team_secrets import (
    code_digest,
    new_code,
    new_id,
    new_salt,
    new_secret,
    same_digest,
    secret_digest,
)
from planwire.session.team_users import CODE_LIFE, AccessKey, PairingCode, TeamUser, Users

#: The environment variable that names the file.
USERS_VARIABLE: Final = "PLANWIRE_USERS"
#: Seconds to wait for another writer. On systems without such locks, the swap alone keeps the file whole.
PATIENCE: Final = 10.0
#: The permissions that nobody but the owner may have.
_OTHERS: Final = 0o077
_MEND: Final = "Repair the file or restore a copy of it; without a copy, delete it and add all users again"


def default_users_path() -> Path:
    """The file that the environment names, or the one in the folder of the user's data."""
    given = os.environ.get(USERS_VARIABLE)
    return _expanded(given) if given else default_path().parent / "users.json"


def _expanded(given: str | os.PathLike[str]) -> Path:
    try:
        return Path(given).expanduser()
    except RuntimeError:
        raise InputError(
            f"there is no home folder for {str(given)!r}: name the file of users by its full path"
        ) from None


class UsersFile:
    """The users in a file. One that does not exist has none."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = _expanded(path) if path else default_users_path()
        self._known: tuple[Users, tuple[int, int, int] | None] | None = None

    @property
    def how_to_add(self) -> str:
        """The command that adds a user to this file."""
        where = "" if self.path == default_users_path() else f" --users {quote(str(self.path))}"
        return f"planwire user add NAME{where}"

    @property
    def version(self) -> tuple[int, int, int] | None:
        """A value that differs after every change of the file; None while there is no file."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"the users in {self.path} can't be read: {reason(error)}") from None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def read(self) -> Users:
        """The users as they are now."""
        version, known = self.version, self._known
        if known is None or known[1] != version:
            known = self._known = self._load(), version  # one value: threads read, too
        return known[0]

    def change(self, change: Callable[[Users], Users]) -> Users:
        """Write the users as `change` returns them, if they differ. No other change comes in between."""
        with self._lock(target := self._target()):
            before = self._load()
            after = change(before)
            if after != before:
                self._write(target, after)
            return after

    def add(self, name: str, role: str, by: str) -> None:
        self.change(lambda users: users.added(name, role, by, _now()))

    def pairing_code(self, name: str) -> str:
        """A code that pairs one browser of a user. It ends the user's earlier code."""
        code, until = new_code(), _now() + CODE_LIFE

        def with_code(users: Users) -> Users:
            made = PairingCode(code_digest(users.salt, code), until)
            return users.changed(name, lambda user: msgspec.structs.replace(user, code=made))

        self.change(with_code)
        return code

    def token(self, name: str) -> str:
        """A token for the programs of a user."""
        secret = new_secret()
        self.change(lambda users: users.changed(name, lambda user: user.with_key(_key(users, secret))))
        return secret

    def pair(self, code: str, about: str) -> tuple[str, str] | None:
        """The name of the user whose code this is, and the new secret of their browser; None if it is no valid code."""
        paired: tuple[str, str] | None = None

        def with_browser(users: Users) -> Users:
            nonlocal paired
            digest, now = code_digest(users.salt, code), _now()
            found = [each for each in users.users if each.code and same_digest(each.code.digest, digest)]
            if not found or found[0].code is None or found[0].code.until <= now:
                return users
            name, secret = found[0].name, new_secret()
            paired = name, secret
            key = _key(users, secret, about)
            return users.changed(name, lambda user: msgspec.structs.replace(user.with_key(key), code=None))

        self.change(with_browser)
        return paired

    def sign_out(self, name: str, key: str | None = None) -> int:
        """End one key of a user, or all of them with their code. Returns how many ended."""
        ended = 0

        def without(user: TeamUser) -> TeamUser:
            nonlocal ended
            kept = tuple(each for each in user.keys if key is not None and each.id != key)
            ended = len(user.keys) - len(kept)
            return msgspec.structs.replace(user, keys=kept, code=user.code if key is not None else None)

        self.change(lambda users: users.changed(name, without))
        return ended

    def owner(self, secret: str) -> tuple[TeamUser, AccessKey] | None:
        """The user who has this token or this browser's secret, with its key; None if nobody does."""
        users = self.read()
        digest, now = secret_digest(users.salt, secret), _now()
        owned = [(user, key) for user in users.users for key in user.keys if same_digest(key.digest, digest)]
        return owned[0] if owned and owned[0][1].is_alive(now) else None

    def _load(self) -> Users:
        try:
            with self.path.open("rb") as file:
                content, mode = file.read(), os.fstat(file.fileno()).st_mode
        except FileNotFoundError:
            return Users(new_salt())
        except OSError as error:
            raise InputError(f"the users in {self.path} can't be read: {reason(error)}") from None
        if os.name == "posix" and mode & _OTHERS:
            raise InputError(f"others may read or change the users in {self.path}: chmod 600 it, then try again")
        try:
            users = msgspec.json.decode(content, type=Users)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the users in {self.path} can't be read: {error}. {_MEND}") from None
        if users.version != 1:
            raise InputError(f"a newer planwire wrote the users in {self.path}: install a newer planwire")
        try:
            return users.checked()
        except InputError as error:
            raise InputError(f"the users in {self.path} can't be used: {error}. {_MEND}") from None

    def _target(self) -> Path:
        """The file to replace: not a link to it, through which others would go on to read the users as they were."""
        try:
            return self.path.resolve(strict=self.path.is_symlink())
        except (FileNotFoundError, RuntimeError):
            what = "it is a link to a file that does not exist. Remove the link"
        except OSError as error:
            what = reason(error)
        raise InputError(f"the users in {self.path} can't be changed: {what}")

    def _write(self, target: Path, users: Users) -> None:
        try:
            put(str(target.parent), target.name, msgspec.json.format(msgspec.json.encode(users)) + b"\n", durable=True)
        except OSError as error:
            raise InputError(f"the users in {self.path} can't be written: {reason(error)}") from None

    @contextmanager
    def _lock(self, target: Path) -> Iterator[None]:
        lock = target.with_name(f".{target.name}.lock")
        try:
            make_folder(str(target.parent))
            handle = locked(str(lock), os.O_CREAT, PATIENCE) if HAS_FLOCK else os.open(os.devnull, os.O_RDONLY)
        except OSError as error:
            raise InputError(f"the users in {self.path} can't be changed: {reason(error)}") from None
        if handle is None:
            raise InputError(
                f"the users in {self.path} can't be changed: another process has kept {lock.name} for {PATIENCE:g} "
                "seconds. End it, and try again"
            )
        try:
            yield
        finally:
            os.close(handle)


def _key(users: Users, secret: str, about: str = "") -> AccessKey:
    now = _now()
    return AccessKey(new_id(), secret_digest(users.salt, secret), now, now, about)


def _now() -> int:
    return time_ns() // 1_000_000
