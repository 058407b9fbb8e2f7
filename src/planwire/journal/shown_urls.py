"""URLs of journals as people may see them: in errors, checks and lists, without what is secret in them.

A server's URL can hold a password or a token in front of a host, of each of several hosts, and in its settings. Where
it is not clear what belongs to a secret, since that was not encoded, too much is hidden rather than too little.
"""

import re
from typing import Final

__all__ = ["has_secret", "shown_url"]

HIDDEN: Final = "***"
_HIDING: Final = rf"\1{HIDDEN}"
#: A scheme of two letters or more: a single one before a colon is a drive.
_SERVER: Final = re.compile(r"(?!sqlite:)([A-Za-z][A-Za-z0-9+.-]+:/*)(.*)", re.DOTALL | re.IGNORECASE)
#: A name with a password behind it.
_NAMED: Final = re.compile(r"([A-Za-z0-9._+-]*):")
#: A setting whose name says that it is secret, or leads to what is.
_SECRET: Final = re.compile(
    r"(\b[\w.%-]*(?:pass|pwd|secret|token|cred|seed|key|auth|jwt|sig)[\w.%-]*=)([^&#\s]*)", re.IGNORECASE
)
#: Schemes of which a lone word in front of a host is a user. Of the others it may be a token.
_WITH_USERS: Final = ("postgres:", "postgresql:")
#: How a path begins, to a file with something secret that is not in the URL itself.
_PATH: Final = re.compile(r"(?:[~.]{0,2}/|%2F|[A-Za-z]:\\)", re.IGNORECASE)


def shown_url(url: str) -> str:
    """A URL as people may see it: without what is secret in it."""
    found = _SERVER.fullmatch(url)
    if found is None:
        return _SECRET.sub(_HIDING, url)
    scheme, rest = found.groups()
    login, at, place = rest.rpartition("@")
    place, mark, _ = place.partition("#")
    return "".join((scheme, _login(scheme, login), at, _SECRET.sub(_HIDING, place), mark and mark + HIDDEN))


def has_secret(url: str) -> bool:
    """Whether whoever sees a URL knows a secret. A setting that is the path of a file is none."""
    found = _SERVER.fullmatch(url)
    scheme, rest = found.groups() if found else ("", url)
    login, _, place = rest.rpartition("@") if found else ("", "", url)
    settings = (setting for _, setting in _SECRET.findall(place) if setting and not _PATH.match(setting))
    return _login(scheme, login) != login or any(settings)


def _login(scheme: str, login: str) -> str:
    """What may be seen of what stands before a host: the name of a user."""
    if not login or (scheme.lower().startswith(_WITH_USERS) and re.fullmatch(r"[A-Za-z0-9._+-]*", login)):
        return login
    named = _NAMED.match(login)
    return f"{named[0] if named else ''}{HIDDEN}"
