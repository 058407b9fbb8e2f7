"""The settings in the URL of a JetStream journal, and in the context file of the `nats` command that it may name.

    nats://[USER:PASSWORD@|TOKEN@]HOST[:4222][,HOST2…]/NAME?replicas=3&creds=PATH&tls_ca=PATH…

NAME is the name of the stream. `tls://` is the same, and demands TLS. The URL takes precedence over the context, so one
context can serve many journals.
"""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote

import msgspec

from planwire.errors import UnknownJournal
from planwire.journal.shown_urls import shown_url

DEFAULT_NAME: Final = "PLANWIRE"
#: The API prefix of the JetStream domain that the connection is in.
OWN_API: Final = "$JS.API"
PARAMETERS: Final = ("context", "creds", "domain", "nkey", "replicas", "tls_ca", "tls_cert", "tls_key")
_URL: Final = re.compile(r"(nats|tls)://([^/?#]*)(?:/([^?#]*))?(?:\?([^#]*))?")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[^\s:,@\[\]]+)(?::\d{1,5})?")


class _Context(msgspec.Struct, frozen=True):
    """The fields of a context file that planwire reads."""

    url: str = ""
    user: str = ""
    password: str = ""
    token: str = ""
    creds: str = ""
    nkey: str = ""
    ca: str = ""
    cert: str = ""
    key: str = ""
    inbox_prefix: str = ""
    jetstream_domain: str = ""
    jetstream_api_prefix: str = ""


class JetStreamSettings(NamedTuple):
    """Where the journal is, and how to log in. `where` is shown to people and holds no secrets."""

    where: str
    name: str
    servers: tuple[str, ...]
    is_tls: bool
    replicas: int | None
    user: str
    password: str
    token: str
    creds: str
    nkey: str
    ca: str
    cert: str
    key: str
    inbox_prefix: str
    api_prefix: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.where!r})"


def read_settings(url: str) -> JetStreamSettings:
    """The settings in a URL. Raises `UnknownJournal`, which says what is wrong with it."""
    found = _URL.fullmatch(url)
    if found is None:
        raise UnknownJournal(f"{shown_url(url)!r} is not the URL of a journal on NATS: write nats://HOST/NAME")
    scheme, authority, path, query = found.groups("")
    given = _parameters(url, query)
    context = _context(given["context"]) if "context" in given else _Context()
    if not authority and context.url:
        scheme, authority = _of_context(context.url, scheme)
    login, _, hosts = authority.rpartition("@")
    user, has_password, password = (unquote(part) for part in login.partition(":"))
    name = unquote(path).strip("/") or DEFAULT_NAME
    if not _NAME.fullmatch(name):
        raise UnknownJournal(
            f"{name!r} can't be the name of a journal's stream: take up to 64 letters, digits, - and _ after the host"
        )
    servers = tuple(_server(host, url) for host in (hosts or "127.0.0.1").split(","))
    certificates = given.get("tls_ca") or context.ca, given.get("tls_cert") or context.cert
    own_login = bool(login or "creds" in given or "nkey" in given)  # then the context's login doesn't apply
    api_prefix = _api_prefix(given.get("domain"), context)
    elsewhere = f" ({api_prefix})" if api_prefix != OWN_API else ""
    return JetStreamSettings(
        where=f"{scheme}://{','.join(servers)}/{name}{elsewhere}",
        name=name,
        servers=servers,
        is_tls=scheme == "tls" or any(certificates),
        replicas=_replicas(given.get("replicas")),
        user=user if has_password else ("" if own_login else context.user),
        password=password if has_password else ("" if own_login else context.password),
        token=user if login and not has_password else ("" if own_login else context.token),
        creds=_path(given.get("creds") or ("" if own_login else context.creds)),
        nkey=_path(given.get("nkey") or ("" if own_login else context.nkey)),
        ca=_path(certificates[0]),
        cert=_path(certificates[1]),
        key=_path(given.get("tls_key") or context.key),
        inbox_prefix=context.inbox_prefix or "_INBOX",
        api_prefix=api_prefix,
    )


def _parameters(url: str, query: str) -> dict[str, str]:
    given = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(given.keys() - set(PARAMETERS))
    if unknown:
        raise UnknownJournal(
            f"the journal {shown_url(url)!r} has the unknown setting {', '.join(unknown)}: known are "
            f"{', '.join(PARAMETERS)}"
        )
    return given


def _replicas(text: str | None) -> int | None:
    if text is None:
        return None
    if text not in {"1", "2", "3", "4", "5"}:
        raise UnknownJournal(f"replicas={text} is not a number of replicas: NATS keeps 1 to 5, and 3 suits most")
    return int(text)


def _api_prefix(domain: str | None, context: _Context) -> str:
    """The prefix of requests to the journal's JetStream, which may be in another domain (beyond a leaf node) or in
    another account."""
    domain = context.jetstream_domain if domain is None else domain
    if domain and not _NAME.fullmatch(domain):
        raise UnknownJournal(f"{domain!r} can't be a JetStream domain: take the one in the server's configuration")
    return f"$JS.{domain}.API" if domain else context.jetstream_api_prefix.rstrip(".") or OWN_API


def _server(host: str, url: str) -> str:
    port = re.search(r":(\d+)$", host)
    if not _HOST.fullmatch(host) or (port and int(port[1]) > 65_535):
        raise UnknownJournal(
            f"the journal {shown_url(url)!r} names no host, or a port that is no number up to 65535: write "
            "nats://HOST:PORT/NAME"
        )
    return host if port else f"{host}:4222"


def _context(name: str) -> _Context:
    """The context with a path, or with a name that the `nats` command knows."""
    if "/" in name or name.endswith(".json"):
        path = Path(_path(name))
    else:
        folder = os.environ.get("XDG_CONFIG_HOME") or _path("~/.config")
        path = Path(folder) / "nats" / "context" / f"{name}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Context)
    except OSError as error:
        raise UnknownJournal(
            f"the NATS context {name!r} can't be read: {error.strerror}: {path}. `nats context ls` lists yours"
        ) from None
    except (ValueError, msgspec.MsgspecError):
        raise UnknownJournal(f"{path} is not a context of the nats command: save one with `nats context`") from None


def _of_context(url: str, scheme: str) -> tuple[str, str]:
    """The scheme and the authority from a context's list of servers. The login is that of the first server."""
    parts = [part.strip() for part in url.split(",")]
    schemes = {part.partition("://")[0] for part in parts if "://" in part}
    return "tls" if "tls" in schemes else scheme, ",".join(
        part.partition("://")[2] or part if number == 0 else (part.partition("://")[2] or part).rpartition("@")[2]
        for number, part in enumerate(parts)
    ).rstrip("/")


def _path(name: str) -> str:
    try:
        return str(Path(name).expanduser()) if name else ""
    except RuntimeError:
        raise UnknownJournal(f"there is no home folder for {name!r}: give the full path") from None
