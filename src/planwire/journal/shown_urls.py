"""URLs of journals as people may see them: in errors, checks and lists, without their secrets.

A server's URL can hold a password or a token before each of its hosts, and in its settings. If a secret was not
encoded, so that it is not clear where it ends, too much is hidden rather than too little.
"""

import re
from collections.abc import Callable
from typing import Final

HIDDEN: Final = "***"
_HIDING: Final = rf"\1{HIDDEN}"
#: A scheme of two letters or more: a single one before a colon is a drive.
_SERVER: Final = re.compile(r"(?!sqlite:)([A-Za-z][A-Za-z0-9+.-]+:/*)(.*)", re.DOTALL | re.IGNORECASE)
#: A login in a text with no scheme, or with that of a file: the scheme was forgotten, or mistyped. (`sqlite` is no
#: user's name, and a single letter before a slash is a drive.)
_STRAY: Final = re.compile(
    r"(?<![A-Za-z0-9._+-])(?!sqlite:)([A-Za-z0-9._+-]{2,}:(?!//)|[A-Za-z0-9._+-]:(?![\\/])).*(?=@)",
    re.DOTALL | re.IGNORECASE,
)
#: A name with a password after it.
_NAMED: Final = re.compile(r"([A-Za-z0-9._+-]*):")
#: A setting whose name says that it is secret, or leads to a secret. Text after an & that is no setting belongs to it.
_SECRET: Final = re.compile(
    r"(\b[\w.%-]*(?:pass|pwd|secret|token|cred|seed|key|auth|jwt|sig)[\w.%-]*=)"
    r"('[^']*'|[^&#\s]*(?:&[^=&#\s]*(?![^&#\s]))*)",
    re.IGNORECASE,
)
#: Settings that are no secret, whatever they say. The value of any other may be one, above all of an unknown setting.
_PLAIN: Final = frozenset(
    """
    schema host hostaddr port dbname user sslmode sslrootcert sslcert sslkey sslcrl channel_binding connect_timeout
    application_name target_session_attrs load_balance_hosts keepalives gssencmode ssl passfile service servicefile
    replicas context domain tls_ca tls_cert tls_key creds nkey
    """.split()  # noqa: SIM905  (twenty lines otherwise)
)
_SETTING: Final = re.compile(r"([?&])([\w.%-]*)=([^&#]*)")
#: Of these, the settings that name an account, or the file with its keys.
_OF_ACCOUNT: Final = re.compile(r"cred|key|seed", re.IGNORECASE)
#: With these schemes, a lone word before a host is a user. With others it may be a token.
_WITH_USERS: Final = ("postgres:", "postgresql:")
#: The beginning of a path: then the secret is in that file, and not in the URL itself.
_PATH: Final = re.compile(r"(?:[~.]{0,2}/|%2F|[A-Za-z]:\\)", re.IGNORECASE)


def shown_url(url: str) -> str:
    """A URL as people may see it: without its secrets."""
    shown = _without(url, lambda setting: f"{setting[1]}{HIDDEN}")
    return _SETTING.sub(_plain, shown) if _SERVER.fullmatch(url) else shown


def lasting_url(url: str) -> str:
    """A URL without passwords and tokens, which change while the journal stays the same. Keys stay in it: with those of
    another account it names another journal. So it is not for people to see."""
    return _without(url, lambda setting: setting[0] if _OF_ACCOUNT.search(setting[1]) else f"{setting[1]}{HIDDEN}")


def has_secret(url: str) -> bool:
    """Whether a URL reveals a secret. A setting that is the path of a file does not."""
    found = _SERVER.fullmatch(url)
    scheme, rest = found.groups() if found else ("", url)
    login, _, place = rest.rpartition("@") if found else ("", "", url)
    settings = [setting for _, setting in _SECRET.findall(place) if setting and not _PATH.match(setting)]
    settings += [value for _, name, value in _SETTING.findall(place) if found and name.lower() not in _PLAIN]
    return _login(scheme, login) != login or any(settings) or (found is None and _has_login(url))


def has_raw_login(url: str) -> bool:
    """Whether a server's URL seems to have a password that was not encoded: it has a second @, or one after a slash. An
    engine would take a part of the password for a host or a name, and show it in errors."""
    found = _SERVER.fullmatch(url)
    place = found[2].partition("?")[0] if found else ""
    host, _, rest = place.partition("/")
    return host.count("@") > 1 or "@" in rest


def _without(url: str, setting: Callable[[re.Match[str]], str]) -> str:
    """A URL without the secrets in its login, and with `setting` applied to each setting that may be secret."""
    found = _SERVER.fullmatch(url)
    if found is None:
        return _SECRET.sub(setting, _STRAY.sub(_HIDING, url, count=1))
    scheme, rest = found.groups()
    login, at, place = rest.rpartition("@")
    place, mark, _ = place.partition("#")
    return "".join((scheme, _login(scheme, login), at, _SECRET.sub(setting, place), mark and mark + HIDDEN))


def _plain(setting: re.Match[str]) -> str:
    is_plain = setting[2].lower() in _PLAIN
    return setting[0] if is_plain or not setting[3] else f"{setting[1]}{setting[2]}={HIDDEN}"


def _has_login(url: str) -> bool:
    """Whether a login stands at the beginning of a text with no scheme, or after a mistyped scheme. Elsewhere it is
    more likely part of a path."""
    stray = _STRAY.search(url)
    return stray is not None and re.fullmatch(r"(?:sqlite:)?/*|.*//", url[: stray.start()], re.IGNORECASE) is not None


def _login(scheme: str, login: str) -> str:
    """What may be shown of the part before a host: the name of a user."""
    if not login or (scheme.lower().startswith(_WITH_USERS) and re.fullmatch(r"[A-Za-z0-9._+-]*", login)):
        return login
    named = _NAMED.match(login)
    return f"{named[0] if named else ''}{HIDDEN}"
