"""A board for a team: its users, the proxy that may name them, and the person who sent a request."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from planwire.session.users_file import UsersFile
from planwire.steering.roles import APPROVE, LOOK, ROLES, barred_acts


class TrustedProxy(Struct, frozen=True):
    """A reverse proxy that names the person behind a request in a `header`. It is believed only if the request comes
    from `address`, or through a Unix socket (""). A person who is not a user has the role `others`, or none if that is
    None."""

    header: str
    address: str
    others: str | None = None


class Team(Struct, frozen=True):
    """The users of a board and the way to them. `insecure`: people may sign in over plain HTTP from other machines."""

    users: UsersFile
    proxy: TrustedProxy | None = None
    insecure: bool = False


class SignedIn(Struct, frozen=True):
    """The person behind a request: their name and role, and the key that they came with ("" from a proxy). A browser
    can sign out."""

    name: str
    role: str
    key: str = ""
    is_browser: bool = False

    @property
    def may_steer(self) -> bool:
        return self.role != LOOK

    @property
    def words(self) -> str:
        """What the person can do here."""
        return ROLES[self.role]

    @property
    def barred(self) -> str:
        """The acts that this person may not do, as pages list them."""
        return "" if self.role == APPROVE else " ".join(barred_acts(self.role))


def signed_in(scope: Mapping[str, Any]) -> SignedIn | None:
    """The person behind a request to a team's board; None on a personal one."""
    person: SignedIn | None = scope.get("planwire.person")
    return person


def role_now(scope: Mapping[str, Any]) -> Callable[[], str]:
    """A function that returns the current role of the person behind a request. It is asked again at the moment of
    writing: an act may take seconds to arrive and wait in a queue, and its person may be removed meanwhile. It raises
    `NotAllowed` if they are out."""
    role: Callable[[], str] = scope.get("planwire.role", lambda: APPROVE)
    return role
