"""The open streams of a team's people: each ends as soon as its person may no longer see it.

A request is checked when it comes, but a stream lasts for hours. So a task looks at the file of the users twice a
second. A stream that it ends says so with the event `over`, since its page has not lost the connection. The times at
which people were last here go into the file once a minute.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import time_ns
from typing import Final

from planwire.errors import InputError
from planwire.session.users_file import UsersFile
from planwire.web.cookie_path import Message
from planwire.web.guard import App, Receive, Scope, Send
from planwire.web.team import SignedIn

LOOK_PACE: Final = 0.5
#: Seconds between two writes of when people were last here.
USES_PACE: Final = 60.0
_DISCONNECT: Final = "http.disconnect"
_OVER: Final = b"event: over\ndata: over\n\n"


class TeamStreams:
    """The streams, each with its person. `may_see` says whether a person may still see it."""

    def __init__(self, users: UsersFile, may_see: Callable[[SignedIn], bool]) -> None:
        self._users = users
        self._may_see = may_see
        self._open: dict[asyncio.Event, SignedIn] = {}
        self._uses: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(work()) for work in (self._watch, self._keep_uses)]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._write_uses()

    def note_use(self, key: str) -> None:
        self._uses[key] = time_ns() // 1_000_000

    async def run(self, app: App, person: SignedIn, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request until one of the two ends goes away, or the person may no longer see it."""
        ended = asyncio.Event()
        self._open[ended] = person
        try:
            await app(scope, _until(ended, receive), _with_end(ended, send))
        finally:
            del self._open[ended]

    def look(self) -> None:
        """End the streams of those who may not see them any more."""
        for ended, person in list(self._open.items()):
            try:
                may = self._may_see(person)
            except InputError:
                may = False
            if not may:
                ended.set()

    async def _watch(self) -> None:
        seen: object = None
        while True:
            await asyncio.sleep(LOOK_PACE)
            try:
                version: object = self._users.version
            except InputError as error:
                version = str(error)
            if version != seen:
                seen = version
                self.look()

    async def _keep_uses(self) -> None:
        while True:
            await asyncio.sleep(USES_PACE)
            await self._write_uses()

    async def _write_uses(self) -> None:
        uses, self._uses = self._uses, {}
        if uses:
            with suppress(InputError):
                await asyncio.to_thread(self._users.change, lambda users: users.used(uses))


def _until(ended: asyncio.Event, receive: Receive) -> Receive:
    """A `receive` that reports a disconnect once the event is set."""

    async def receive_or_end() -> Message:
        if ended.is_set():
            return {"type": _DISCONNECT}
        message = asyncio.ensure_future(receive())
        end = asyncio.ensure_future(ended.wait())
        try:
            await asyncio.wait({message, end}, return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else {"type": _DISCONNECT}
        finally:
            message.cancel()
            end.cancel()

    return receive_or_end


def _with_end(ended: asyncio.Event, send: Send) -> Send:
    """A `send` whose last message says that the stream is over, if the event is set."""

    async def send_or_end(message: Message) -> None:
        is_end = message["type"] == "http.response.body" and not message.get("more_body") and not message.get("body")
        await send({**message, "body": _OVER} if is_end and ended.is_set() else message)

    return send_or_end
