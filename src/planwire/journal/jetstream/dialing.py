"""Connecting to a NATS server, or finding out soon why that fails. nats-py itself would go on trying."""

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from planwire.errors import EngineAway, LoginRefused
from planwire.journal.jetstream.logins import wire_options
from planwire.journal.jetstream.settings import JetStreamSettings
from planwire.journal.jetstream.wire import WireClient

#: Seconds to wait for a server when a journal is opened.
CONNECT: Final = 4.0
_SILENT: Final = "it does not answer"
#: Matches the words of a server, or of nats-py, for a refused login.
_REFUSED: Final = re.compile("authoriz|authentic", re.IGNORECASE)
#: How Python's errors of TLS begin, and how most of them end.
_TLS: Final = re.compile(r"\[SSL[^]]*\] |\.? \(_ssl\.c:\d+\)$")


class Dialer:
    """Connects to the server of a journal. `trouble` says what went wrong last."""

    def __init__(self, settings: JetStreamSettings) -> None:
        self._settings = settings
        self._options = wire_options(settings)
        self.trouble = ""

    def find_server(self) -> None:
        """Raise `EngineAway` unless something listens at one of the addresses."""
        for server in self._settings.servers:
            host, _, port = server.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), CONNECT / 2).close()
            except OSError as error:
                self.trouble = error.strerror or str(error)
            except UnicodeError:
                self.trouble = "no host can have that name"
            else:
                return
        raise self.away()

    async def dial(
        self, client: WireClient, heard: Callable[[str], bool], callbacks: Mapping[str, Callable[[], Awaitable[None]]]
    ) -> None:
        """Connect a client, or raise `EngineAway`. `heard` gets every trouble; True means it dealt with it."""
        refused: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

        async def troubled(error: Exception) -> None:
            said = str(error) or (_SILENT if isinstance(error, TimeoutError) else type(error).__name__)
            if heard(said):
                return
            self.trouble = said
            if not refused.done() and (isinstance(error, ssl.SSLError) or _REFUSED.search(said)):
                refused.set_result(error)  # nats-py would try again, in vain

        options: dict[str, Any] = {**self._options, **callbacks, "error_cb": troubled}
        task: asyncio.Future[Any] = asyncio.ensure_future(client.connect(**options))
        waited: set[asyncio.Future[Any]] = {task, refused}
        done, _ = await asyncio.wait(waited, timeout=CONNECT, return_when=asyncio.FIRST_COMPLETED)
        if task in done:
            task.result()
            self.trouble = ""
            return
        task.cancel()
        with suppress(Exception, asyncio.CancelledError):
            await task
        raise self.away(str(refused.result()) if refused.done() else "")  # not the errors of cancelling

    def away(self, reason: str = "") -> EngineAway:
        said = reason or self.trouble or _SILENT
        if _REFUSED.search(f"{said} {self.trouble}"):
            return LoginRefused(
                f"the NATS server at {self._settings.where} refuses this login: correct the user, the password, the "
                "token or the credentials that the journal's URL or its context names"
            )
        if said.startswith("[SSL"):
            return EngineAway(
                f"the NATS server at {self._settings.where} is away (TLS: {_TLS.sub('', said)}): look at tls_ca, "
                "tls_cert and tls_key in the journal's URL or its context"
            )
        return EngineAway(
            f"the NATS server at {self._settings.where} is away ({said}): start it, or look for an error in the name "
            "of the journal (--journal or PLANWIRE_JOURNAL)"
        )
