"""Live pages: the board renders each once per change, and sends every watcher the part that it lacks.

A topic is a page with watchers. It keeps its last few versions. All watchers that are up to date share one message, the
difference to the page before; one that was slow, or lost its connection, gets a single difference from its own version
to the newest page. Pages that look the same are one version, and send nothing.

Sending to many watchers needs no task for each: almost every send ends at once, since the system takes the bytes. Only
for a slow reader does the rest become a task. A thousand sends that end at once take 0.2 ms this way, 3.5 ms as tasks.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from secrets import token_hex
from types import coroutine as coroutine_from_generator
from typing import Any, Final, TypeAlias

import msgspec

from planwire.web.page_tree import Part, difference, whole

#: Earlier versions from which a watcher can still get a difference.
KEPT_PAGES: Final = 48
HEARTBEAT: Final = b": \n\n"

Sender: TypeAlias = Callable[[bytes], Coroutine[Any, Any, None]]

_encode = msgspec.json.Encoder().encode


class PageWatcher:
    """A browser that watches a topic. While `send` waits for the browser, nothing more is sent."""

    __slots__ = ("_send", "_task", "_topic", "gone", "version")

    def __init__(self, topic: "Topic", version: int, send: Sender) -> None:
        self.version = version
        self.gone = asyncio.Event()
        self._topic = topic
        self._send = send
        self._task: asyncio.Task[None] | None = None

    def tell(self, otherwise: bytes = b"") -> None:
        """Send the difference to the newest page, or `otherwise` if there is none, unless a message is still on its
        way."""
        if self._task is not None:
            return
        body = self._topic.message(self.version) or otherwise
        self.version = self._topic.version
        if body:
            try:
                rest = _begin(self._send(body))
            except OSError:
                self.gone.set()
            else:
                if rest is not None:
                    self._task = asyncio.get_running_loop().create_task(self._finish(rest))

    async def _finish(self, rest: Awaitable[None]) -> None:
        try:
            await rest
        except OSError:
            self.gone.set()
            return
        self._task = None
        self.tell()

    def leave(self) -> None:
        if self._task is not None:
            self._task.cancel()


class Topic:
    """A page with watchers. Only `render` may run outside of the event loop."""

    def __init__(self, build: Callable[[], Part]) -> None:
        self.version = 0
        self.renders = 0
        self.stale = True
        self.rendering = asyncio.Lock()
        self.watchers: set[PageWatcher] = set()
        self._build = build
        self._name = token_hex(4)
        self._position = 0
        self._pages: OrderedDict[int, Part] = OrderedDict()
        self._messages: dict[int, bytes] = {}

    @property
    def page(self) -> Part:
        return self._pages[self.version]

    @property
    def id(self) -> str:
        """The id of the newest page: the position of the journal, the version, and the name of the topic."""
        return f"{self._position}.{self.version}.{self._name}"

    def render(self) -> Part:
        """Build the page again."""
        self.renders += 1
        return self._build()

    def publish(self, page: Part, position: int) -> bool:
        """Make this the newest page and tell the watchers, unless it looks like the one before."""
        if self.version and not difference(self.page, page):
            self._pages[self.version] = page  # the next one shares more with this
            self._position = position
            return False
        self.version += 1
        self._position = position
        self._pages[self.version] = page
        self._messages.clear()
        if len(self._pages) > KEPT_PAGES:
            self._pages.popitem(last=False)
        for watcher in self.watchers:
            watcher.tell()
        return True

    def known_version(self, event_id: str | None) -> int:
        """The version in an id; 0 if it is too old, or of another topic."""
        _, version, name = (*(event_id or "").split("."), "", "", "")[:3]
        return next((known for known in self._pages if name == self._name and version == str(known)), 0)

    def message(self, version: int) -> bytes:
        """The event of the stream that takes a watcher from a version to the newest page."""
        if version == self.version:
            return b""
        known = self._messages.get(version)
        if known is None:
            before = self._pages.get(version)
            changes = difference(before, self.page) if before else whole(self.page)
            known = b"id: %s\ndata: %s\n\n" % (self.id.encode(), _encode(changes))
            self._messages[version] = known
        return known

    def beat(self) -> None:
        """Send a sign of life, so that both ends notice a lost connection."""
        for watcher in self.watchers:
            watcher.tell(HEARTBEAT)

    def end(self) -> None:
        """Send the watchers away."""
        for watcher in self.watchers:
            watcher.gone.set()


def _begin(coroutine: Coroutine[Any, Any, None]) -> Awaitable[None] | None:
    """Run a coroutine as far as it goes without waiting. Returns the rest of it; None if it has ended."""
    try:
        return _rest(coroutine, coroutine.send(None))
    except StopIteration:
        return None


@coroutine_from_generator
def _rest(coroutine: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    while True:
        try:
            value = yield waits_for
        except BaseException as error:
            go_on = partial(coroutine.throw, error)
        else:
            go_on = partial(coroutine.send, value)
        try:
            waits_for = go_on()
        except StopIteration:
            return
