"""The board as a server: its port, its token, the address that opens it, and the limits of a connection."""

import asyncio
import errno
import os
import re
import secrets
import socket
import sys
from asyncio import TimerHandle, Transport
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from planwire.errors import InputError, reason
from planwire.journal import Journal
from planwire.readmodel.audience import shown_to_several
from planwire.session.steering import USER
from planwire.web.admission import Admission, guarded
from planwire.web.app import BoardApp
from planwire.web.guard import LARGEST_BODY, WELCOME
from planwire.web.hub import MOST_WATCHERS
from planwire.web.listening import BACKLOG, LOOPBACK, addresses_of, listen, listen_on_path, refuse_unsafe
from planwire.web.team import Team
from planwire.web.tls_files import TlsFiles, check_tls

#: The environment variable that holds the token; an argument would show in the list of processes.
TOKEN_VARIABLE: Final = "PLANWIRE_BOARD_TOKEN"  # noqa: S105

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{16,200}")

#: The most bytes of a request's head. The body has a limit of its own, which the guard refuses to exceed in words.
LARGEST_HEAD: Final = 256 * 1024
#: Seconds until the head of a request must be complete, and before that, if it is encrypted, the handshake. Browsers
#: open connections before they need them.
HEAD_SECONDS: Final = 20.0
#: Seconds from there until its body must be complete.
BODY_SECONDS: Final = 20.0
_FULL: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
#: The call by which asyncio starts to accept again, some time after it could not take a connection.
_ACCEPT_AGAIN: Final = "_start_serving"
#: Connections that are taken at once, before the first of them is looked at and may be hung up on.
_AT_ONCE: Final = 16
#: Seconds until the same trouble is reported again.
_SAY_PACE: Final = 60.0


def new_token() -> str:
    """The token of the environment, or a new one."""
    given = os.environ.get(TOKEN_VARIABLE)
    if not given:
        return secrets.token_urlsafe(24)
    if not _TOKEN.fullmatch(given):
        raise InputError(
            f"{TOKEN_VARIABLE} must have at least 16 letters, digits, - or _: make a longer one, or unset it"
        )
    return given


class BoardServer:
    """A board that listens. `address` opens it, and contains the token. `by` is the author of all that people do there;
    a board without one only shows. Without `thoughts` it shows none of what agents thought.

    With a `team`, its people sign in instead, and `address` is without a token. Then `host` may be one that other
    machines reach, encrypted with `tls` (a certificate and its key). With `uds` it listens on a Unix socket instead.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        allow_hosts: Iterable[str] = (),
        editor: str | None = None,
        folders: Iterable[str] = (),
        by: str | None = USER,
        thoughts: bool = True,
        team: Team | None = None,
        tls: TlsFiles | None = None,
        uds: str | None = None,
    ) -> None:
        refuse_unsafe(host, port, team, tls)
        if tls is not None:
            check_tls(tls)
        self.token = token or new_token()
        self._uds = uds
        admission = Admission()
        self._socket = guarded(listen(host, port) if uds is None else listen_on_path(uds), admission)
        self._place = None if uds is None else _file_at(uds)
        self.port: int = port if uds else self._socket.getsockname()[1]
        self._team = team
        names = addresses_of(host) if team else [host]
        own = [f"[{name}]" if ":" in name else name for name in names]
        #: The addresses of the board, the first of them for programs on this machine.
        self.bases = [f"{'https' if tls else 'http'}://{name}:{self.port}" for name in own]
        self.base = self.bases[0]
        cookie = f"planwire-{self.port}" if team is None else f"planwire-team-{self.port}"
        self.app = BoardApp(
            journal,
            self.token,
            {*LOOPBACK, *allow_hosts, *own},
            cookie=cookie,
            editor=editor,
            folders=folders,
            by=by,
            thoughts=thoughts,
            team=team,
        )
        config = uvicorn.Config(
            self.app,
            http=partial(_LimitedConnection, admission),  # type: ignore[arg-type]
            loop="asyncio",
            log_level="error",  # its warnings are about what strangers send, a line for each request
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=3,
            backlog=_AT_ONCE,
            ssl_certfile=tls[0] if tls else None,
            ssl_keyfile=tls[1] if tls else None,
        )
        self._server = _Server(config, self.app.hub.end_streams)

    @property
    def address(self) -> str:
        return f"{self.base}/" if self._team else f"{self.base}/?{urlencode({'token': self.token})}"

    def run(self) -> None:
        """Serve until `stop`, or a signal."""
        _allow_many_watchers()
        try:
            with shown_to_several() if self._team else nullcontext():
                self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def stop(self) -> None:
        """End `run`, from any thread."""
        self._server.should_exit = True

    def close(self) -> None:
        """Let go of the port, for a board that never ran."""
        self._socket.close()
        if self._uds is not None:
            with suppress(OSError):
                if _file_at(self._uds) == self._place:  # while this board ended, another one may have taken its place
                    Path(self._uds).unlink()

    @property
    def is_up(self) -> bool:
        return self._server.started


def _file_at(path: str) -> tuple[int, int]:
    """What tells a file from another that comes to have its name, and perhaps its number."""
    found = Path(path).stat()
    return found.st_ino, found.st_mtime_ns


class _Server(uvicorn.Server):
    """A server that ends all streams before it waits for them, since they never end by themselves."""

    def __init__(self, config: uvicorn.Config, before_shutdown: Callable[[], None]) -> None:
        super().__init__(config)
        self._before_shutdown = before_shutdown

    async def startup(self, sockets: Any = None) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_LoopErrors())
        if self.config.is_ssl:  # uvicorn has no option for this, and asyncio lets a silent peer wait for a minute
            loop.create_server = partial(  # type: ignore[method-assign]
                loop.create_server, ssl_handshake_timeout=HEAD_SECONDS
            )
        await super().startup(sockets)
        for each in sockets or ():  # asyncio has one number for how many may wait and how many it accepts at once
            each.listen(BACKLOG)

    async def shutdown(self, sockets: Any = None) -> None:
        self._before_shutdown()
        await super().shutdown(sockets)


class _LoopErrors:
    """Handles the loop's own errors. That this process is out of connections is reported in words, once a minute:
    asyncio would print a traceback for each of thousands."""

    def __init__(self) -> None:
        self._said = -_SAY_PACE

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if _ACCEPT_AGAIN in context.get("message", "") and isinstance(error, ValueError):
            return  # it waited until there is room, and the board ended meanwhile
        if not (isinstance(error, OSError) and error.errno in _FULL):
            loop.default_exception_handler(context)
        elif loop.time() - self._said >= _SAY_PACE:
            self._said = loop.time()
            words = f"{reason(error)}. Very many connections are open, or the limit is low: see ulimit -n"
            print(f"planwire: the board can't take more connections now: {words}", file=sys.stderr, flush=True)


def _allow_many_watchers() -> None:
    """Raise the limit of open files as far as needed and allowed: every watcher holds a connection, which is a file."""
    try:
        import resource  # noqa: PLC0415  (Windows has neither the module nor the limit)
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_WATCHERS + 200 if hard == resource.RLIM_INFINITY else min(hard, MOST_WATCHERS + 200)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class _LimitedConnection(HttpToolsProtocol):
    """uvicorn's connection, which hangs up on a peer that sends too much or takes too long to ask.

    The guard sees a request only once its head is complete. Until then, a peer could send endless headers, which fill
    the memory, or hold a silent connection, of which a process has only so many. A body that never comes does the same.
    """

    def __init__(self, admission: Admission, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._admission = admission
        self._received = 0
        self._most = LARGEST_HEAD
        self._in_head = True
        self._deadline: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        # An answer is a head and a body. Without this, the body waits for the other end to confirm the head: 40 ms.
        with suppress(OSError):  # a Unix socket has no such option
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._wait_for_a_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._received += len(data)
        if self._received > self._most:
            self.transport.close()
        elif self.cycle is None or self.cycle.response_complete:
            self._wait_for_a_head()

    def on_message_begin(self) -> None:
        self._received = 0
        self._most = LARGEST_HEAD
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Leave out the headers that follow a body: a proxy that overwrites a header may pass these on as they are."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._most = LARGEST_HEAD + LARGEST_BODY
        self._in_head = False
        self._stop_waiting()
        peer = self.transport.get_extra_info("peername")
        self.scope[WELCOME] = partial(self._admission.welcome, peer)  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()
        self._wait(BODY_SECONDS)

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def _wait_for_a_head(self) -> None:
        self._wait(HEAD_SECONDS)

    def _wait(self, seconds: float) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
