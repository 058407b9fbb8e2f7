"""The options with which nats-py connects and logs in: addresses, a password, a token, keys, certificates."""

import re
import ssl
from pathlib import Path
from typing import Any, Final

from planwire.errors import UnknownJournal
from planwire.journal.jetstream.settings import JetStreamSettings

_RECONNECT_WAIT: Final = 0.2
#: Seconds between nats-py's pings, and how many may stay unanswered before it drops the connection.
_PING: Final = 5
_PINGS: Final = 2
#: The seed of a user's NKey: a line of its own, in a credentials file among others.
_SEED: Final = re.compile(rb"^\s*SU[A-Z2-7]{56}\s*$", re.MULTILINE)

_BARE_SEED: Final = re.compile(r"\bS[A-Z][A-Z2-7]{56}\b")


def wire_options(settings: JetStreamSettings) -> dict[str, Any]:
    """The options for nats-py's `connect`. The addresses hold no secrets, because nats-py may show them.
    `UnknownJournal` if a file that the settings name is not what it should be."""
    _refuse_bad_files(settings)
    options: dict[str, Any] = {
        "servers": [f"{'tls' if settings.is_tls else 'nats'}://{server}" for server in settings.servers],
        "name": "planwire",
        "connect_timeout": 2,
        "reconnect_time_wait": _RECONNECT_WAIT,
        "max_reconnect_attempts": -1,
        "ping_interval": _PING,
        "max_outstanding_pings": _PINGS,
        "pending_size": 0,  # send nothing late, when its caller may have given up on it
        "tls": _tls_context(settings),
        "user": settings.user or None,
        "password": settings.password or None,
        "token": settings.token or None,
        "user_credentials": settings.creds or None,
        "nkeys_seed": settings.nkey or None,
    }
    return {name: value for name, value in options.items() if value is not None}


def _refuse_bad_files(settings: JetStreamSettings) -> None:
    """Check the files with secrets. nats-py would look at them only when it logs in, and say little."""
    for name, path in (("creds", settings.creds), ("nkey", settings.nkey)):
        if _BARE_SEED.search(path):  # no message may show it
            raise UnknownJournal(
                f"{name} of the journal {settings.where} is itself a seed, which everybody can use who sees the URL or "
                "the context: put it into a file that only you can read, and name that file"
            )
        try:
            has_seed = not path or _SEED.search(Path(path).read_bytes())
        except OSError as error:
            raise UnknownJournal(
                f"the login of the journal {settings.where} can't be read: {error.strerror}: {path}. Look at {name} in "
                "its URL or its context"
            ) from None
        if not has_seed:
            raise UnknownJournal(
                f"{path} has no user NKey seed: look at {name} in the URL of the journal {settings.where} or in its "
                "context"
            )


def _tls_context(settings: JetStreamSettings) -> ssl.SSLContext | None:
    if not settings.is_tls:
        return None
    try:
        context = ssl.create_default_context(cafile=settings.ca or None)
        if settings.cert:
            context.load_cert_chain(settings.cert, settings.key or None)
    except (OSError, ssl.SSLError) as error:
        raise UnknownJournal(
            f"the certificates of the journal {settings.where} can't be read: {error.strerror or error}. Look at "
            "tls_ca, tls_cert and tls_key in its URL or its context"
        ) from None
    return context
