"""One agent session, for scripts, notebooks and threads: `PlanSession` without an event loop.

All of a session's logic is here. Its state is only a view of the journal (see `live_history`).
"""

import inspect
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Event as Flag
from time import monotonic
from typing import Any, Final, Self, Unpack
from weakref import finalize

from planwire.chat import Compaction, about_tokens, chat_format, write_stream
from planwire.chat.compaction import TAIL, Compacting, Counter, Summarise, driven
from planwire.chat.messages import in_one_form
from planwire.chat.roles import KEPT_RECENT
from planwire.errors import JournalError, PlanwireError, ToolError
from planwire.journal import Journal, follower_of, open_journal
from planwire.journal.protocol import require_journal
from planwire.model.additions import addition
from planwire.model.events import Event, SessionOpened, TurnEnded
from planwire.model.plan import MAIN
from planwire.model.readers import LEAD, plans_of
from planwire.model.records import AGENT, SessionState
from planwire.session.authoring import Authoring
from planwire.session.blocking_connection import BlockingConnection
from planwire.session.briefing import Briefing
from planwire.session.change import SessionChange
from planwire.session.chat_compactor import ChatCompactor
from planwire.session.chat_export import exported
from planwire.session.chat_messages import ChatMessages
from planwire.session.child_plan import ChildPlan, child_plan, introduce_child
from planwire.session.client_sync import Peer
from planwire.session.delivery import Delivery, Handing
from planwire.session.following import Following
from planwire.session.forks import fork_session
from planwire.session.known_agents import with_own_way
from planwire.session.known_plans import KnownPlans
from planwire.session.live_history import JournalLike, LiveHistory
from planwire.session.named_folders import folders_above, note_folders
from planwire.session.options import (
    Oversize,
    ProviderFormat,
    ProviderMessage,
    ProviderTool,
    SessionOptions,
    check_options,
    with_options,
)
from planwire.session.origin import is_ours, placed
from planwire.session.tool_calls import ToolCalls
from planwire.tools.answers import Answer, failure
from planwire.tools.plan_files import plan_file_reader
from planwire.tools.schemas import tool_schemas
from planwire.tools.size_limits import OVERSIZE

__all__ = ["Answer", "BlockingPlanSession"]

#: Seconds that a call waits for a review before it answers `still_waiting`: clients give up after 60 or so.
WAIT_SECONDS: Final = 25.0


class BlockingPlanSession(Authoring, Briefing):
    """A session: journal, tools and context. Several threads may use one.

    Give it an open journal, or let `open` open one. `format` is the provider format of the messages, `by` the name that
    the session writes under, `folders` where plan files may be read. `oversize="truncate"` cuts a plan's text or a note
    that is too large instead of refusing it. `wait_seconds` is how long a call may wait for a review.
    """

    def __init__(
        self,
        journal: Journal,
        session_id: str,
        *,
        format: ProviderFormat = "openai-chat",
        by: str = AGENT,
        folders: Iterable[str | Path] | str | Path = (),
        oversize: Oversize = "error",
        mode: str = "",
        about: SessionOpened | None = None,
        wait_seconds: float = WAIT_SECONDS,
        child: ChildPlan | None = None,
    ) -> None:
        require_journal(journal, f"{type(self).__name__}.open({journal!r}, …)")
        self.wait_seconds = wait_seconds
        by = with_own_way(by)
        self.id = session_id
        self.journal = journal
        self._let_go: Callable[[], object] = lambda: None
        self._connections: list[BlockingConnection] = []
        self._format = chat_format(format)
        self.folders = (folders,) if isinstance(folders, str | os.PathLike) else tuple(folders)
        note_folders(*self.folders)
        if oversize not in OVERSIZE:
            known = ", ".join(OVERSIZE)
            raise ToolError("unknown_option", f"oversize can't be {oversize!r}: use one of {known}", f"use {known}")
        self._child = child
        self._options = SessionOptions(
            format=format, by=by, folders=self.folders, oversize=oversize, mode=mode, wait_seconds=wait_seconds
        )
        self._view = LiveHistory(journal, session_id, self._format, by, self.reader)
        self._following = Following(journal, self._view)
        self._is_new_here = bool(plans_of(self.state, self.reader))
        self._delivery = Delivery(self._view, by)
        self._messages = ChatMessages(self._view, self._format)
        self._known = KnownPlans(by, self.state, self._view.stream)
        self._calls = ToolCalls(
            *(journal, self._view, self._delivery, self._known, self._settle),
            options=self._options,
            folders=self.folders,
            child=child,
            read=self.read_file,
        )
        self._compactor = ChatCompactor(self._view, self._delivery, self._format, self.read_file)
        if about is not None:
            self.describe(about)
        if child is not None:
            introduce_child(self._view, child)
        elif mode and self.state.mode not in ("", mode):
            self.switch_mode(mode)

    @classmethod
    def open(cls, journal: JournalLike, session_id: str, **options: Unpack[SessionOptions]) -> Self:
        """A session in a journal, which may be given by URL or path. `with` or `close` then closes that journal; if
        you forget both, it closes once nothing uses the session."""
        check_options(options)
        if not (journal is None or isinstance(journal, str | os.PathLike)):
            return cls(journal, session_id, **options)
        opened = open_journal(journal)
        try:
            session = cls(opened, session_id, **options)
        except BaseException:
            opened.close()
            raise
        session._let_go = finalize(session, opened.close)
        return session

    def close(self) -> None:
        """Tell the clients what they don't know yet, disconnect them, and close the journal if `open` opened it. A
        second call does nothing."""
        self._catch_up()
        for connection in self._connections:
            connection.close()
        self._following.end()
        self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def state(self) -> SessionState:
        """The session as of the last event that it read. The value itself never changes; a new event makes a new
        one."""
        return self._view.state

    @property
    def reader(self) -> str:
        """The reader whose chat this is: the agent that leads the session, or a child."""
        return self._child.plan_id if self._child else LEAD

    @property
    def plan_id(self) -> str:
        """The plan of a call that names none."""
        return self._child.plan_id if self._child else MAIN

    @property
    def has_clients(self) -> bool:
        """Whether a client is connected."""
        return any(not each.is_over for each in self._connections)

    @property
    def plan_folders(self) -> tuple[str | Path, ...]:
        """The folders whose plan files may be read: the session's own, and its `folders`."""
        opened = self.state.opened
        cwd = opened.cwd if opened and is_ours(opened) else None
        return (*([cwd] if cwd and folders_above(cwd, itself=True) else []), *self.folders)

    def tools(self, *, strict: bool = False) -> list[ProviderTool]:
        """The plan tools, as the provider's API takes them; for OpenAI's strict mode, if `strict`."""
        return tool_schemas(self._format.name, strict=strict)

    def call(self, name: str, arguments: Any = None, call_id: str | None = None) -> Answer:
        """Run a call of a plan tool. Errors are part of the answer, so that the model can act on them. With a
        `call_id`, repeating the call after a crash or a lost answer changes nothing and gets the same answer."""
        since = self.state.seq
        answer = self.call_now(name, arguments, since, call_id=call_id)
        if not answer.is_waiting:
            return answer
        deadline, news = monotonic() + self.wait_seconds, Flag()
        try:
            unsubscribe = follower_of(self.journal).subscribe(lambda _: news.set(), self.id, lambda _: news.set())
        except PlanwireError as error:
            return Answer(failure(error))
        try:
            while True:
                news.clear()
                answer = self.call_now(name, arguments, since)
                if not answer.is_waiting or (left := deadline - monotonic()) <= 0:
                    return answer
                news.wait(self.until_news(left))
        finally:
            unsubscribe()

    def call_now(
        self,
        name: str,
        arguments: Any = None,
        since: int | None = None,
        handing: Handing | None = None,
        call_id: str | None = None,
    ) -> Answer:
        """Answer a call without waiting; a call that would have to wait gets `still_waiting`. `since` is the event at
        which the waiting began. `handing` says whether the answer arrives; without it, it counts as arrived."""
        with self._view.lock:
            self._look_at_files()
        return self._calls.run(name, arguments, since, handing, call_id)

    def until_news(self, most: float) -> float:
        """How many seconds to wait for news: until a verdict is due that can still be taken back, `most` at most."""
        return self._view.pending_reviews.pause(self.state, most)

    def settle(self) -> None:
        """Record what the caller got, without waiting for the next call."""
        with self._view.lock:
            self._settle()

    def _settle(self) -> None:
        messages, recap = self._delivery.settle()
        self._is_new_here = self._is_new_here or recap
        self._view.give_back(messages)

    def introduce(self, agent: str | None, cwd: str | None) -> None:
        """Record the session's agent and folder, unless they are recorded already."""
        known = self.refresh().opened or SessionOpened()
        about = SessionOpened(agent=None if known.agent else agent, cwd=None if known.cwd else cwd)
        if about != SessionOpened():
            self.describe(about)

    def describe(self, about: SessionOpened) -> None:
        """Record what is known about the session, and where it runs, as far as it is new."""
        here = placed(about)

        def prepare(state: SessionState) -> tuple[Event, ...]:
            new = addition(state, here)
            return () if new is None else (new,)

        self._view.write(prepare)

    def add(self, *messages: Any) -> list[str]:
        """Put messages into the chat, in the provider's format or as another chat stored them. Returns their ids. A
        message with a `message_id` of its own is added once, however often this is called."""
        self.settle()
        with self._view.lock:
            return [self._messages.add(message) for message in messages]

    def context(self) -> list[ProviderMessage]:
        """The messages to send to the provider. Tool calls without an answer are cancelled for good."""
        with self._view.lock:
            self._settle()
            self._read_on()
            self._messages.check_format(self.state)
            self._messages.cancel_open_calls()
            self._delivery.take_back_lost_answers(self._format)
            handing = Handing()
            self._delivery.offer_context(handing)
            handing.hand_over()  # even if it gets lost: the block has its place in the chat
            self._known.shown(self.state, plans_of(self.state, self.reader))
            return self._view.stream.context()

    def export(self) -> bytes:
        """The chat as a JSON list of stored messages, with the remarks that still hold. Added to another session, it
        goes on there as it would have here."""
        self.settle()
        return write_stream(in_one_form(exported(self.journal, self._view, self._format)))

    def compact(
        self,
        budget: int | None = None,
        *,
        tail: int = TAIL,
        count: Counter = about_tokens,
        summarise: Summarise | None = None,
        recent: int = KEPT_RECENT,
        rebase: bool = False,
    ) -> Compaction:
        """Make the context fit a budget of tokens. Plans and their changes stay as they are; with `rebase`, each plan
        is retold at the end, with its changes, in one message. Of events of which the newest stay, `recent` of each
        source and subkind do.

        `summarise` blocks nothing else: messages that arrive meanwhile come after the compacted ones.
        """
        summarised = summarise is not None
        work = self.compacting(budget, tail, count, summarised=summarised, recent=recent, rebase=rebase)
        return driven(work, summarise)

    def compacting(
        self, budget: int | None, tail: int, count: Counter, *, summarised: bool, recent: int, rebase: bool
    ) -> Compacting:
        """`compact` as a generator: it yields the messages to summarise, and the caller sends the summaries."""
        self.settle()
        work = self._compactor.compacting(budget, tail, count, summarised=summarised, recent=recent, rebase=rebase)
        return (yield from work)

    def rebase(self) -> None:
        """Fold each plan and all its changes into one message at the end of the context, and what people said into
        another."""
        self.settle()
        self._compactor.rebase()

    def end_turn(self, stop_reason: str = "end_turn") -> None:
        """Record that the agent stopped: steps still in progress then show as stopped, not as running."""
        self.settle()
        self._view.write(lambda state: () if state.stopped == stop_reason else (TurnEnded(stop_reason),))

    def refresh(self) -> SessionState:
        """The session as it is now, with what others wrote."""
        return self._view.read_on()

    def read_file(self, uri: str) -> str | None:
        """The text of a plan file of this session, if planwire may read it: a .md file in the session's own folder or
        its `folders`."""
        return plan_file_reader(self.plan_folders)(uri)

    def on_change(self, listener: Callable[[SessionChange], object]) -> Callable[[], None]:
        """Call a function with every change by any writer: the states around it, its events, and the plans that differ.
        It runs in the thread that brings the change and must not block. Returns a function that ends this."""
        if inspect.iscoroutinefunction(listener):
            raise TypeError("a BlockingPlanSession calls a plain function: a PlanSession awaits one")
        self.follow()
        return self._view.on_change(listener)

    def follow(self) -> None:
        """Take in what others write from now on, without being asked to."""
        self._following.begin()

    def connect(self, peer: Peer, session_id: str | None = None) -> BlockingConnection:
        """Send a client the current plans and every change from now on, in order. A slow client skips states, but
        always gets the newest. `session_id` is the client's id for the session, if it is another one."""
        connection = BlockingConnection(self, peer, session_id or self.id)
        self._connections.append(connection)
        return connection

    def flush(self) -> None:
        """Wait until every client is gone or knows the newest state, with what others wrote."""
        self._catch_up()
        for connection in self._connections:
            connection.flush()

    def _catch_up(self) -> None:
        """Take in what others wrote, if there are clients. If the journal can't be read, they get what is known."""
        if self._connections:
            with suppress(JournalError):
                self.refresh()

    def child(self, step: str, plan_id: str | None = None, **options: Unpack[SessionOptions]) -> Self:
        """A session for a sub-agent that works for a step (`s2`, or `other-plan#s2`), with a chat and a plan of its own
        and tools for that plan. The same step and plan give the same child again."""
        check_options(options)
        child = child_plan(self.refresh(), self.plan_id, step, plan_id)
        return type(self)(self.journal, self.id, **with_options(self._options, options), child=child)

    def fork(self, session_id: str | None = None, *, at: int | None = None, **options: Unpack[SessionOptions]) -> Self:
        """A session that begins with this one's past, up to its event `at` or the last, and then goes its own way. It
        has the same plans, step ids, open remarks and chat, and uses the same journal."""
        check_options(options)
        self.settle()
        name = fork_session(self.journal, self.id, session_id, at, self._options["by"])
        return type(self)(self.journal, name, **with_options(self._options, options))
