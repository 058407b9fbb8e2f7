"""The hub: turns changes in the journal and on disk into pages, and sends them to everyone who watches."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic, time
from typing import Final, TypeAlias

from planwire.errors import JournalError
from planwire.journal import Journal
from planwire.readmodel.card import PlanId
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.rationale import Earlier, Reasons
from planwire.readmodel.sessions import Sessions
from planwire.web.live import PageWatcher, Sender, Topic
from planwire.web.overview_page import Query, overview_page
from planwire.web.page_tree import Part
from planwire.web.session_page import PlanContext, gone_page, plan_page, session_page
from planwire.web.session_rows import Asking

#: A topic is the overview with a query, a session, or a plan of a session.
Key: TypeAlias = Query | str | tuple[str, PlanId]

#: Topics without watchers that the hub keeps, for browsers that lost their connection.
KEPT_TOPICS: Final = 64
MOST_WATCHERS: Final = 4_000
#: The fewest seconds between two versions of a topic: a person can't read faster, and a burst counts as one change.
PACE: Final = 0.01
OVERVIEW_PACE: Final = 0.25
FILES_PACE: Final = 0.4
HEARTBEAT_PACE: Final = 15.0
#: Seconds until the hub tries again to read what a page needs.
RETRY: Final = 1.0


class Hub:
    """The state behind all pages of the board: the sessions, and the topics with their watchers."""

    def __init__(self, journal: Journal, files: FilePlans, editor: str | None, *, thoughts: bool = True) -> None:
        self.sessions = Sessions(journal, files, self._noticed)
        self.reasons = Reasons(journal, thoughts=thoughts)
        self._thoughts = self.reasons.glance()
        self.changes = 0
        self._editor = editor
        self._earlier = Earlier(journal)
        self._topics: OrderedDict[Key, Topic] = OrderedDict()
        self._renderer = ThreadPoolExecutor(1, "planwire-board-render")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._dirty: deque[str] = deque()
        self._tasks: list[asyncio.Task[None]] = []
        self._overview_at = 0.0
        self._closed = False

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.sessions.start()
        self._tasks = [asyncio.create_task(work()) for work in (self._publish, self._watch_files, self._beat)]

    def end_streams(self) -> None:
        """Send every watcher away, for good."""
        self._closed = True
        for topic in self._topics.values():
            topic.end()

    async def close(self) -> None:
        self.end_streams()
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.to_thread(self.sessions.close)
        self._renderer.shutdown(wait=True, cancel_futures=True)

    async def topic(self, key: Key) -> Topic:
        """The topic of a page, with its newest page."""
        self._mark_stale()
        self._look_at_thoughts()
        topic = self._topic(key)
        await self._render(topic)
        return topic

    async def wait_until_loaded(self, seconds: float) -> None:
        """Wait until the sessions that existed at the start are loaded, but no longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.sessions.loading:
                    await asyncio.sleep(PACE)

    @contextmanager
    def watching(self, key: Key, event_id: str | None, send: Sender) -> Iterator[PageWatcher]:
        """A watcher of a page, for as long as the block lasts. It already has the version with the id `event_id`.

        Nothing may wait between finding the topic and watching it: the hub could let go of the topic meanwhile.
        """
        topic = self._topic(key)
        watcher = PageWatcher(topic, topic.known_version(event_id), send)
        topic.watchers.add(watcher)
        if topic.stale:
            self._wake.set()
        try:
            yield watcher
        finally:
            topic.watchers.discard(watcher)
            watcher.leave()

    @property
    def has_room(self) -> bool:
        """Whether there is room for one more watcher."""
        return not self._closed and self.watchers < MOST_WATCHERS

    @property
    def watchers(self) -> int:
        return sum(len(topic.watchers) for topic in self._topics.values())

    @property
    def renders(self) -> int:
        return sum(topic.renders for topic in self._topics.values())

    def _noticed(self, session: str) -> None:
        """Note that a session changed. Other threads call this, maybe before the loop runs."""
        self._dirty.append(session)
        self.changes += 1
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._wake.set)

    async def _publish(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._mark_stale()
            for key, topic in list(self._topics.items()):
                if topic.watchers and not isinstance(key, Query):
                    await self._refresh(topic)
            await self._publish_overviews()
            await asyncio.sleep(PACE)

    def _mark_stale(self) -> None:
        """Mark the topics of changed sessions as stale; all topics, if the news is about no session in particular."""
        dirty = {self._dirty.popleft() for _ in range(len(self._dirty))}
        for key, topic in self._topics.items() if dirty else ():
            if isinstance(key, Query) or "" in dirty or (key if isinstance(key, str) else key[0]) in dirty:
                topic.stale = True

    async def _publish_overviews(self) -> None:
        stale = [
            topic for key, topic in self._topics.items() if isinstance(key, Query) and topic.stale and topic.watchers
        ]
        if not stale:
            return
        wait = self._overview_at + OVERVIEW_PACE - monotonic()
        if wait > 0:
            assert self._loop is not None
            self._loop.call_later(wait, self._wake.set)
            return
        self._overview_at = monotonic()
        for topic in stale:
            await self._refresh(topic)

    async def _refresh(self, topic: Topic) -> None:
        """Bring a topic up to date for its watchers. While the journal can't be read, they keep the page they have."""
        try:
            await self._render(topic)
        except JournalError:
            asyncio.get_running_loop().call_later(RETRY, self._wake.set)

    async def _render(self, topic: Topic) -> None:
        """Bring a stale topic up to date. A change meanwhile makes it stale again."""
        async with topic.rendering:
            if topic.stale:
                topic.stale = False
                position = self.sessions.position
                try:
                    page = await asyncio.get_running_loop().run_in_executor(self._renderer, topic.render)
                except BaseException:
                    topic.stale = True
                    raise
                topic.publish(page, position)

    async def _watch_files(self) -> None:
        while True:
            await asyncio.sleep(FILES_PACE)
            watched = [key for key, topic in self._topics.items() if topic.watchers]
            overview = any(isinstance(key, Query) for key in watched)
            named = {key if isinstance(key, str) else key[0] for key in watched if not isinstance(key, Query)}
            for session in self.sessions.with_files():
                if overview or session in named:
                    await asyncio.to_thread(self.sessions.look_at_files, session)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_PACE)
            for key, topic in list(self._topics.items()):
                topic.beat()
                topic.stale |= isinstance(key, Query)  # its order follows the clock
            self._look_at_thoughts()
            self._wake.set()

    def _look_at_thoughts(self) -> None:
        """Have pages rendered again after a person had thoughts forgotten: no event tells of that."""
        before, self._thoughts = self._thoughts, self.reasons.glance()
        for key, topic in self._topics.items() if self._thoughts != before else ():
            topic.stale |= not isinstance(key, Query)

    def _topic(self, key: Key) -> Topic:
        topic = self._topics.get(key)
        if topic is None:
            topic = self._topics[key] = Topic(partial(self._build, key))
            self._let_go()
        self._topics.move_to_end(key)
        return topic

    def _let_go(self) -> None:
        idle = [key for key, topic in self._topics.items() if not topic.watchers]
        for key in idle[: max(0, len(idle) - KEPT_TOPICS)]:
            del self._topics[key]

    def _build(self, key: Key) -> Part:
        if isinstance(key, Query):
            sessions = self.sessions
            now = int(time() * 1_000)
            return overview_page(sessions.glances(), key, sessions.loading, sessions.problem, now, self._asking)
        session = self.sessions.get(key if isinstance(key, str) else key[0])
        if session is None:
            return gone_page()
        state = session.journalled
        context = PlanContext(self._editor, self.reasons.of(state), self._earlier.of(state), self.sessions.away)
        return session_page(session, context) if isinstance(key, str) else plan_page(session, key[1], context)

    def _asking(self, session_id: str) -> tuple[Asking, ...]:
        """The plans of a session that need a person, each with the plan that people knew before."""
        session = self.sessions.get(session_id)
        if session is None:
            return ()
        before = self._earlier.of(session.journalled)
        return tuple(Asking(card, before.get(card.id)) for card in session.cards() if card.needs_you)
