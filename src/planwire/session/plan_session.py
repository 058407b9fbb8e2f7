"""PlanSession: one agent session on an event loop, with its journal, plan tools, model context and clients.

    async with PlanSession.open("plans.db", "session-1", format="anthropic") as plans:
        reply = await ask(messages + await plans.pending(), tools=plans.tools())
        result = await plans.call(name, arguments)

`BlockingPlanSession` does the work, in the threads of a pool that all sessions share: the event loop never waits for a
disk. A session has no thread of its own; one follower per journal wakes it when others write.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, Generic, Never, ParamSpec, Self, TypeVar, Unpack

from planwire.chat import Compaction, about_tokens
from planwire.chat.compaction import TAIL, Compacting, Counter
from planwire.chat.roles import KEPT_RECENT
from planwire.errors import JournalError
from planwire.journal import Terms
from planwire.model.plan import Fields
from planwire.model.records import SessionState
from planwire.session.blocking import Answer, BlockingPlanSession
from planwire.session.briefing import as_text
from planwire.session.change import SessionChange
from planwire.session.client_sync import Peer
from planwire.session.delivery import handed_over
from planwire.session.live_history import JournalLike
from planwire.session.loop_listener import call_on_loop
from planwire.session.options import ProviderMessage, ProviderTool, SessionOptions, check_options
from planwire.session.peer_connection import PeerConnection, next_state
from planwire.session.pool import in_pool, start_in_pool

#: Seconds that closing a session waits for clients to take their last lines.
PARTING_SECONDS: Final = 2.0

Summarise = Callable[[Sequence[Fields]], str | Awaitable[str]]

_log = logging.getLogger("planwire")
_P = ParamSpec("_P")
_R = TypeVar("_R")


def _in_pool(
    method: Callable[Concatenate[BlockingPlanSession, _P], _R],
) -> Callable[Concatenate["PlanSession", _P], Coroutine[Any, Any, _R]]:
    """The same method on an event loop."""

    @wraps(method)
    async def call(self: "PlanSession", /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return await in_pool(method, self._blocking, *args, **kwargs)

    return call


class PlanSession:
    """An agent session. Open it with `PlanSession.open`; several tasks may await its methods at once."""

    def __init__(self, blocking: BlockingPlanSession, *_: Never, **__: Never) -> None:
        if not isinstance(blocking, BlockingPlanSession):
            raise TypeError(f"a PlanSession is opened, not constructed: use PlanSession.open({blocking!r}, …)")
        self._blocking = blocking
        self._connections: list[PeerConnection] = []
        self._settling: set[Future[None]] = set()

    @classmethod
    def open(cls, journal: JournalLike, session_id: str, **options: Unpack[SessionOptions]) -> "Opening[Self]":
        """A session in a journal, which may be given by URL or path: `async with` it, or `await` it and `close` it
        later."""
        check_options(options)

        async def opened() -> Self:
            return cls(await in_pool(BlockingPlanSession.open, journal, session_id, **options))

        return Opening(opened)

    async def close(self) -> None:
        """Tell the clients what they don't know yet, disconnect them, record what the last calls told, and close the
        journal if `open` opened it. A second call does nothing."""
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.flush(), PARTING_SECONDS)
            for connection in self._connections:
                await connection.close()
            await asyncio.gather(*map(asyncio.wrap_future, self._settling))
        finally:
            await in_pool(self._blocking.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def id(self) -> str:
        return self._blocking.id

    @property
    def state(self) -> SessionState:
        """The session as of the last event that it read. The value itself never changes; a new event makes a new
        one."""
        return self._blocking.state

    @property
    def has_clients(self) -> bool:
        """Whether a client is connected."""
        return self._blocking.has_clients or any(not each.is_over for each in self._connections)

    @property
    def plan_id(self) -> str:
        """The plan of a call that names none."""
        return self._blocking.plan_id

    @property
    def folders(self) -> tuple[str | Path, ...]:
        """The folders that plan files may be read from, besides the session's own."""
        return self._blocking.folders

    async def hold(self, holder: str) -> None:
        """Record in the journal that the program `holder` serves the session, until the journal closes or the process
        dies."""
        await in_pool(self._blocking.journal.lease, self.id, Terms(holder))

    def tools(self, *, strict: bool = False) -> list[ProviderTool]:
        """The plan tools, as the provider's API takes them; for OpenAI's strict mode, if `strict`."""
        return self._blocking.tools(strict=strict)

    async def call(self, name: str, arguments: Any = None, call_id: str | None = None) -> Answer:
        """Run a call of a plan tool. Errors are part of the answer, so that the model can act on them. With a
        `call_id`, repeating the call after a crash or a lost answer changes nothing and gets the same answer."""
        now = asyncio.get_running_loop().time
        deadline = now() + self._blocking.wait_seconds
        since = self.state.seq
        while True:
            seq = self.state.seq
            with handed_over() as handing:
                answer = await in_pool(self._blocking.call_now, name, arguments, since, handing, call_id)
            if not answer.is_waiting:
                if handing.told:
                    self._settling = {each for each in self._settling if not each.done()}
                    self._settling.add(start_in_pool(self._settle))
                return answer
            if (left := deadline - now()) <= 0:
                return answer
            with suppress(TimeoutError):
                async with asyncio.timeout(self._blocking.until_news(left)):
                    await self.changed(seq)

    introduce = _in_pool(BlockingPlanSession.introduce)
    describe = _in_pool(BlockingPlanSession.describe)

    async def pending(self, *, again: bool = False) -> list[ProviderMessage]:
        """For authors who keep their own history: the messages to append now, at a point where no tool call is open.
        They count as told with the next call; `again` returns the same ones once more, after a request that failed. A
        cancelled call has told nothing."""
        with handed_over() as handing:
            return self._blocking.as_messages(await in_pool(self._blocking.hand_pending, handing, again=again))

    async def pending_text(self, *, again: bool = False) -> str:
        """`pending` as one text; empty if there is nothing to tell."""
        with handed_over() as handing:
            return as_text(await in_pool(self._blocking.hand_pending, handing, again=again))

    async def recap(self) -> list[ProviderMessage]:
        """For authors who keep their own history: what to put first after compacting it."""
        with handed_over() as handing:
            return self._blocking.as_messages(await in_pool(self._blocking.hand_recap, handing))

    async def recap_text(self) -> str:
        """`recap` as one text; empty if there is nothing to tell."""
        with handed_over() as handing:
            return as_text(await in_pool(self._blocking.hand_recap, handing))

    add = _in_pool(BlockingPlanSession.add)
    context = _in_pool(BlockingPlanSession.context)
    export = _in_pool(BlockingPlanSession.export)
    rebase = _in_pool(BlockingPlanSession.rebase)
    set = _in_pool(BlockingPlanSession.set)
    change = _in_pool(BlockingPlanSession.change)
    note = _in_pool(BlockingPlanSession.note)
    remove = _in_pool(BlockingPlanSession.remove)
    file = _in_pool(BlockingPlanSession.file)
    event = _in_pool(BlockingPlanSession.event)
    pin = _in_pool(BlockingPlanSession.pin)
    think = _in_pool(BlockingPlanSession.think)
    switch_mode = _in_pool(BlockingPlanSession.switch_mode)
    end_turn = _in_pool(BlockingPlanSession.end_turn)
    refresh = _in_pool(BlockingPlanSession.refresh)

    async def compact(
        self,
        budget: int | None = None,
        *,
        tail: int = TAIL,
        count: Counter = about_tokens,
        summarise: Summarise | None = None,
        recent: int = KEPT_RECENT,
        rebase: bool = False,
    ) -> Compaction:
        """Make the context fit a budget of tokens. `recent` events of a source and subkind stay where only the newest
        do. `summarise` may be a coroutine function: it runs on this loop, and
        no thread waits for it. With `rebase`, each plan is retold at the end, in one message."""
        work = self._blocking.compacting(
            budget, tail, count, summarised=summarise is not None, recent=recent, rebase=rebase
        )
        made = await in_pool(_go_on, work, None)
        while not isinstance(made, Compaction):
            assert summarise is not None, "a compaction asks for summaries only if it has `summarise`"
            made = await in_pool(_go_on, work, await _text(summarise, made))
        return made

    async def changed(self, seq: int) -> SessionState:
        """Wait until the session has moved past its event number `seq`."""
        self._blocking.follow()
        return await next_state(self._blocking, lambda state: state.seq == seq)

    def connect(self, peer: Peer, session_id: str | None = None) -> PeerConnection:
        """Send a client the current plans and every change from now on, in order. A slow client skips states, but
        always gets the newest. `session_id` is the client's id for the session, if it is another one."""
        self._blocking.follow()
        connection = PeerConnection(self._blocking, peer, session_id or self.id)
        self._connections.append(connection)
        return connection

    def child(self, step: str, plan_id: str | None = None, **options: Unpack[SessionOptions]) -> "Opening[Self]":
        """A session for a sub-agent that works for a step (`s2`, or `other-plan#s2`), with a chat and a plan of its own
        and tools for that plan. `async with` it, or `await` it."""
        check_options(options)

        async def opened() -> Self:
            return type(self)(await in_pool(self._blocking.child, step, plan_id, **options))

        return Opening(opened)

    def fork(
        self, session_id: str | None = None, *, at: int | None = None, **options: Unpack[SessionOptions]
    ) -> "Opening[Self]":
        """A session that begins with this one's past, up to its event `at` or the last, and then goes its own way. It
        has the same plans, step ids, open remarks and chat. `async with` it, or `await` it."""
        check_options(options)

        async def opened() -> Self:
            return type(self)(await in_pool(self._blocking.fork, session_id, at=at, **options))

        return Opening(opened)

    def on_change(self, listener: Callable[[SessionChange], object]) -> Callable[[], None]:
        """Call a function or coroutine function on this event loop with every change by any writer: the states around
        it, its events, and the plans that differ. Returns a function that ends this."""
        return call_on_loop(self._blocking, listener)

    async def flush(self) -> None:
        """Wait until every client is gone or knows the newest state, with what others wrote."""
        if self._connections:
            with suppress(JournalError):
                await self.refresh()
        for connection in self._connections:
            await connection.flush()

    def _settle(self) -> None:
        """Record what a caller got. If that fails, the next call tries again."""
        with suppress(JournalError):
            self._blocking.settle()


_S = TypeVar("_S", bound=PlanSession)


class Opening(Generic[_S]):
    """A session about to open: `async with` closes it again, `await` leaves that to its `close`."""

    def __init__(self, opened: Callable[[], Coroutine[Any, Any, _S]]) -> None:
        self._open = opened
        self._session: _S | None = None

    def __await__(self) -> Generator[Any, None, _S]:
        return self._open().__await__()

    async def __aenter__(self) -> _S:
        self._session = await self._open()
        return self._session

    async def __aexit__(self, *error: object) -> None:
        if self._session is not None:
            await self._session.close()


def _go_on(work: Compacting, summary: str | None) -> Sequence[Fields] | Compaction:
    """The next messages that a compaction wants summarised, or its result."""
    try:
        return next(work) if summary is None else work.send(summary)
    except StopIteration as end:
        made: Compaction = end.value
        return made


async def _text(summarise: Summarise, messages: Sequence[Fields]) -> str:
    text = summarise(messages)
    return await text if inspect.isawaitable(text) else text
