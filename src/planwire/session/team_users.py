"""The users of team boards: who they are, what they may do, and how they are recognised.

All users are one value, and every change makes another. A person is recognised by a browser that was paired with a
code, or by a token that a program sends. Codes, browsers' secrets and tokens are kept as digests.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import InputError, NotFound
from planwire.readmodel.authors import person_name, read_as
from planwire.readmodel.plain_text import one_line
from planwire.steering.roles import ROLES

#: Milliseconds for which a code can be used, and for which a browser stays paired without a visit.
CODE_LIFE: Final = 10 * 60_000
KEY_LIFE: Final = 30 * 86_400_000
#: Browsers and tokens of one person. The least recently used makes room for another.
MOST_KEYS: Final = 24


class AccessKey(Struct, frozen=True, omit_defaults=True):
    """A browser or a token: its digest, when it was made and last used, and for a browser what it is, in words."""

    id: str
    digest: str
    made: int
    used: int
    about: str = ""

    def is_alive(self, now: int) -> bool:
        """Whether it still opens anything. Tokens don't expire: a program may sleep for long."""
        return not self.about or now - self.used < KEY_LIFE


class PairingCode(Struct, frozen=True):
    """A code that pairs one browser, until a certain time."""

    digest: str
    until: int


class TeamUser(Struct, frozen=True, omit_defaults=True):
    """A person. `by` is who added them. A browser is a key with words about it; a token has none."""

    name: str
    role: str
    added: int
    by: str = ""
    keys: tuple[AccessKey, ...] = ()
    code: PairingCode | None = None

    @property
    def browsers(self) -> tuple[AccessKey, ...]:
        return tuple(each for each in self.keys if each.about)

    @property
    def tokens(self) -> tuple[AccessKey, ...]:
        return tuple(each for each in self.keys if not each.about)

    def with_key(self, key: AccessKey) -> "TeamUser":
        kept = sorted(self.keys, key=lambda each: each.used)[-(MOST_KEYS - 1) :]
        return replace(self, keys=(*kept, key))


class Users(Struct, frozen=True, omit_defaults=True):
    """All users, and the salt of their digests. `version` is that of the file."""

    salt: str
    users: tuple[TeamUser, ...] = ()
    version: int = 1

    def checked(self) -> "Users":
        """The users, if all of their names and roles are valid, and no two are called alike. Raises `InputError` for
        those that planwire never writes."""
        names: set[str] = set()
        for each in self.users:
            person_name(each.name)
            checked_role(each.role)
            if (name := read_as(each.name)) in names:
                raise InputError(f"there are two users whose names read like {each.name!r}")
            names.add(name)
        return self

    def find(self, name: str) -> TeamUser | None:
        return next((each for each in self.users if read_as(each.name) == read_as(name)), None)

    def named(self, name: str) -> TeamUser:
        """The user of that name. Raises `NotFound` if there is none."""
        found = self.find(name)
        if found is None:
            known = ", ".join(each.name for each in self.users) or "nobody yet"
            raise NotFound(f"there is no user {one_line(name)!r}; users are: {known}. planwire user add NAME adds one")
        return found

    def added(self, name: str, role: str, by: str, now: int) -> "Users":
        person_name(name)
        if (known := self.find(name)) is not None:
            raise InputError(f"there is a user {known.name!r} already: choose another name")
        return replace(self, users=(*self.users, TeamUser(name, checked_role(role), now, by)))

    def removed(self, name: str) -> "Users":
        gone = self.named(name)
        return replace(self, users=tuple(each for each in self.users if each is not gone))

    def changed(self, name: str, change: Callable[[TeamUser], TeamUser]) -> "Users":
        """The users with one of them as `change` makes them."""
        found = self.named(name)
        return replace(self, users=tuple(change(each) if each is found else each for each in self.users))

    def used(self, uses: dict[str, int]) -> "Users":
        """The users with the times at which their keys were last used, given by key id."""

        def later(key: AccessKey) -> AccessKey:
            return replace(key, used=max(key.used, uses.get(key.id, 0)))

        return replace(self, users=tuple(replace(each, keys=tuple(map(later, each.keys))) for each in self.users))


def checked_role(role: str) -> str:
    if role not in ROLES:
        raise InputError(f"there is no role {one_line(role)!r}: choose one of {', '.join(ROLES)}")
    return role
