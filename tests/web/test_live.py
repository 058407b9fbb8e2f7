"""Live pages: everyone is sent what they do not have, once, and nobody holds up the others."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from planwire.errors import JournalUnavailable
from planwire.journal import Stamped, open_journal
from planwire.model.events import MessageAdded, PlanRemoved, TurnEnded
from planwire.readmodel.followed_files import FilePlans
from planwire.web.hub import KEPT_TOPICS, Hub
from planwire.web.live import KEPT_PAGES
from planwire.web.live_app import LiveStreams
from tests import deciding
from tests.waiting import eventually, until
from tests.web.board import Running, items, running_board


class Events:
    """A stream as EventSource reads it: messages, and the id of the last one."""

    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.iter_lines()
        self.id = ""

    def next(self) -> list[list[Any]]:
        for line in self._lines:
            if line.startswith("id: "):
                self.id = line.removeprefix("id: ")
            if line.startswith("data: "):
                changes: list[list[Any]] = json.loads(line.removeprefix("data: "))
                return changes
        raise EOFError


@contextmanager
def watching(board: Running, address: str, last_event_id: str | None = None) -> Iterator[Events]:
    headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
    with board.client.stream("GET", f"/live{address}", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Events(answer)


def ids(changes: list[list[Any]]) -> list[str]:
    return [f"{change[0]} {change[1]}" for change in changes]


def test_a_watcher_gets_the_page_and_then_only_what_changes(board: Running) -> None:
    board.write("s1", items("completed", "in_progress", "pending"))
    with watching(board, "/sessions/s1") as events:
        assert ids(events.next()) == ["set content"]
        board.write("s1", items("completed", "completed", "in_progress"))
        assert ids(events.next()) == [
            "set session-progress",
            "set session-now",
            "set p0-progress",
            "set p0-s2",
            "set p0-s3",
            "set p0-at",
        ]


def test_of_an_update_that_looks_the_same_only_the_revision_is_sent(board: Running) -> None:
    board.write("s1", items("in_progress"))
    with watching(board, "/sessions/s1") as events:
        events.next()
        board.write("s1", items("in_progress"))
        assert ids(events.next()) == ["set p0-at"]


def test_what_does_not_change_a_page_is_sent_to_nobody(board: Running) -> None:
    board.write("s1", items("in_progress"))
    with watching(board, "/sessions/s1") as events:
        events.next()
        before = events.id
        board.write("s1", MessageAdded({"role": "user", "content": "hello"}))
        board.write("s1", items("completed"))
        assert "set p0-s1" in ids(events.next())
        position, version, _ = events.id.split(".")
        assert int(version) == int(before.split(".")[1]) + 1
        assert int(position) in {2, 3}  # a page may hold more than the position in its id promises


def test_steps_that_come_go_and_move_are_a_new_order_with_only_the_new_ones_in_it(board: Running) -> None:
    board.write("s1", items("pending", "pending", "pending"))
    with watching(board, "/sessions/s1") as events:
        events.next()
        board.write("s1", items("pending", "pending", "pending", "pending"))
        [[_, _, order, new]] = [change for change in events.next() if change[0] == "list"]
        assert order == ["p0-s1", "p0-s2", "p0-s3", "p0-s4"]
        assert list(new) == ["p0-s4"]


def test_a_lost_connection_goes_on_where_it_ended(board: Running) -> None:
    board.write("s1", items("in_progress", "pending"))
    with watching(board, "/sessions/s1") as events:
        events.next()
        last = events.id
    board.write("s1", items("completed", "pending"))
    board.write("s1", items("completed", "in_progress"))
    with watching(board, "/sessions/s1", last) as events:
        assert "set content" not in ids(events.next())
        assert events.id.startswith("3.")
    with watching(board, "/sessions/s1", events.id) as again:
        board.write("s1", items("completed", "completed"))
        assert "set p0-s2" in ids(again.next())


@pytest.mark.parametrize("known", ["1.1.other", "garbage", "1.999999.x", "..", "9" * 400, "1.-1.x"])
def test_who_knows_a_page_that_nobody_else_knows_gets_the_whole_one(board: Running, known: str) -> None:
    board.write("s1", items("in_progress"))
    with watching(board, "/sessions/s1", known) as events:
        assert ids(events.next()) == ["set content"]


def test_who_names_a_version_with_more_digits_than_a_number_may_have_gets_the_whole_page(board: Running) -> None:
    board.write("s1", items("in_progress"))
    with watching(board, "/sessions/s1") as events:
        events.next()
    name = events.id.rpartition(".")[2]
    with watching(board, "/sessions/s1", f"1.{'9' * 5_000}.{name}") as events:
        assert ids(events.next()) == ["set content"]


def test_a_page_says_what_it_holds_so_that_its_stream_begins_there(board: Running) -> None:
    board.write("s1", items("in_progress"))
    page = board.page("/sessions/s1")
    version = page.partition('data-version="')[2].partition('"')[0]
    with watching(board, f"/sessions/s1?since={version}") as events:
        board.write("s1", items("completed"))
        assert "set content" not in ids(events.next())


def test_the_overview_is_live_and_keeps_to_what_was_looked_for(board: Running) -> None:
    board.write("one", items("in_progress"))
    with watching(board, "/sessions?state=done") as events:
        assert "step 1" not in str(events.next())
        board.write("one", items("completed"), TurnEnded("end_turn"))
        changes = events.next()
        [[_, _, [day], new]] = [change for change in changes if change[0] == "list"]
        assert day.startswith("found-")
        assert 'id="o-one"' in new[day]


def test_the_overview_tells_of_trouble_with_the_journal_and_of_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planwire.readmodel.sessions.LOOK", 0.01)
    with running_board() as board:
        until(lambda: not board.server.app.hub.sessions.loading)
        with watching(board, "/sessions") as events:
            events.next()
            with monkeypatch.context() as trouble:
                trouble.setattr(board.journal, "sessions", unreadable)
                assert "it is locked" in str(events.next())
            [[_, _, html]] = events.next()
            assert "it is locked" not in html


def test_a_plan_that_goes_leaves_the_page_and_the_session_stays(board: Running) -> None:
    board.write("s1", items("in_progress"), items("pending", plan_id="other"))
    with watching(board, "/sessions/s1") as events:
        events.next()
        board.write("s1", PlanRemoved("other"))
        [[_, _, order, _]] = [change for change in events.next() if change[:2] == ["list", "plans"]]
        assert order == ["p0"]


def test_the_watchers_of_a_forgotten_session_are_told(board: Running) -> None:
    board.write("s1", items("in_progress"))
    with watching(board, "/sessions/s1") as events:
        events.next()
        board.journal.forget("s1")
        assert "no longer in the journal" in str(events.next())


@pytest.mark.parametrize(
    "address", ["/live/sessions/nobody", "/live/sessions/s1/plans/none", "/live/x", "/live/sessions/s1/x/y"]
)
def test_what_is_not_there_has_no_stream(board: Running, address: str) -> None:
    board.write("s1", items("pending"))
    assert board.get(address).status_code == 404


def test_a_watcher_who_leaves_is_forgotten(board: Running) -> None:
    board.write("s1", items("pending"))
    with watching(board, "/sessions/s1") as events:
        events.next()
        assert board.json("/about.json")["watchers"] == 1
    until(lambda: board.json("/about.json")["watchers"] == 0)


def test_the_board_ends_although_someone_watches(board: Running) -> None:
    """The fixture checks that the board ends."""
    board.write("s1", items("pending"))
    with watching(board, "/sessions/s1") as events:
        events.next()
        board.server.stop()
        with pytest.raises((EOFError, httpx.HTTPError)):
            events.next()


# ------------------------------------------------------------------ the hub alone, with watchers that can be held up


class Client:
    """The other end of a stream, which can stop taking what it is sent."""

    def __init__(self) -> None:
        self.got: list[list[Any]] = []
        self.takes = asyncio.Event()
        self.takes.set()
        self.leaves = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def watch(self, hub: Hub, session: str, event_id: str = "") -> None:
        scope = {"type": "http", "method": "GET", "path": f"/live/sessions/{session}", "query_string": b""}
        request = {**scope, "headers": [(b"last-event-id", event_id.encode())]}
        self.task = asyncio.create_task(LiveStreams(hub)(request, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if not self.takes.is_set():
            await self.takes.wait()
        for line in message.get("body", b"").decode().splitlines():
            if line.startswith("data: "):
                self.got.append(json.loads(line.removeprefix("data: ")))


def with_hub(test: Callable[[Hub, Callable[..., None]], Awaitable[None]]) -> None:
    async def run() -> None:
        with open_journal("memory:") as journal:

            def write(*statuses: str) -> None:
                deciding.write(journal, "s1", Stamped(1, "agent", items(*statuses)))

            write("pending", "pending")
            hub = Hub(journal, FilePlans(), None)
            await hub.start()
            try:
                await test(hub, write)
            finally:
                await hub.close()

    asyncio.run(run())


def test_a_page_is_rendered_once_for_a_thousand_watchers() -> None:
    async def test(hub: Hub, write: Callable[..., None]) -> None:
        topic = await hub.topic("s1")
        clients = [Client() for _ in range(1_000)]
        for client in clients:
            client.watch(hub, "s1", topic.id)
        await eventually(lambda: hub.watchers == 1_000)
        renders = topic.renders
        for number, statuses in enumerate([("completed", "pending"), ("completed", "completed")], 1):
            write(*statuses)
            await eventually(lambda number=number: all(len(client.got) == number for client in clients))  # type: ignore[misc]
        assert topic.renders - renders == 2

    with_hub(test)


def test_a_slow_watcher_holds_up_nobody_and_ends_on_the_newest_page_in_one_step() -> None:
    async def test(hub: Hub, write: Callable[..., None]) -> None:
        topic = await hub.topic("s1")
        slow, quick = Client(), Client()
        for client in (slow, quick):
            client.watch(hub, "s1", topic.id)
        await eventually(lambda: hub.watchers == 2)
        slow.takes.clear()
        for number in range(6):
            write(*["completed"] * (number % 2 + 1))
            await eventually(lambda number=number: len(quick.got) == number + 1)  # type: ignore[misc]
        assert slow.got == []
        slow.takes.set()
        await eventually(lambda: len(slow.got) == 2)  # what it was being sent, and the difference to the newest
        assert slow.got[0] == quick.got[0]
        assert "step 2" in str(slow.got[1])

    with_hub(test)


def test_a_watcher_who_was_away_for_too_long_gets_the_whole_page() -> None:
    async def test(hub: Hub, write: Callable[..., None]) -> None:
        topic = await hub.topic("s1")
        slow, quick = Client(), Client()
        slow.takes.clear()
        for client in (slow, quick):
            client.watch(hub, "s1", topic.id)
        slow.takes.set()
        await eventually(lambda: hub.watchers == 2)
        slow.takes.clear()
        for number in range(KEPT_PAGES + 5):
            write(*["completed"] * (number % 3 + 1))
            await eventually(lambda number=number: len(quick.got) == number + 1)  # type: ignore[misc]
        slow.takes.set()
        await eventually(lambda: len(slow.got) == 2)
        assert ids(slow.got[1]) == ["set content"]

    with_hub(test)


def test_a_watcher_who_leaves_while_it_is_sent_something_is_let_go() -> None:
    async def test(hub: Hub, write: Callable[..., None]) -> None:
        topic = await hub.topic("s1")
        client = Client()
        client.watch(hub, "s1", topic.id)
        await eventually(lambda: hub.watchers == 1)
        client.takes.clear()
        write("completed")
        await eventually(lambda: topic.version == 2)
        client.leaves.set()
        await eventually(lambda: hub.watchers == 0)
        client.takes.set()
        assert client.task is not None
        await client.task

    with_hub(test)


def test_of_many_who_come_at_once_nobody_is_left_behind() -> None:
    """More pages than the hub keeps without watchers, and each of a session of its own."""

    async def test(hub: Hub, _write: Callable[..., None]) -> None:
        journal = hub.sessions.journal
        names = [f"many-{number}" for number in range(2 * KEPT_TOPICS)]
        for name in names:
            deciding.write(journal, name, Stamped(1, "agent", items("pending")))
        clients = [Client() for _ in names]
        for client, name in zip(clients, names, strict=True):
            client.watch(hub, name)
        await eventually(lambda: all(len(client.got) == 1 for client in clients))
        assert {change for client in clients for change in ids(client.got[0])} == {"set content"}
        for name in names:
            deciding.write(journal, name, Stamped(2, "agent", items("completed")))
        await eventually(lambda: all(len(client.got) == 2 for client in clients))

    with_hub(test)


def unreadable(*_values: Any) -> Any:
    raise JournalUnavailable("it is locked")


def test_a_page_that_could_not_be_rendered_comes_once_the_journal_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(hub: Hub, write: Callable[..., None]) -> None:
        topic = await hub.topic("s1")
        client = Client()
        client.watch(hub, "s1", topic.id)
        await eventually(lambda: hub.watchers == 1)
        renders = topic.renders
        with monkeypatch.context() as trouble:
            trouble.setattr("planwire.web.hub.RETRY", 0.01)
            trouble.setattr(hub.sessions.journal, "last_seq", unreadable)
            write("completed")
            await eventually(lambda: topic.renders > renders + 1)
        await eventually(lambda: len(client.got) == 1)
        assert "set p0-s1" in ids(client.got[0])

    with_hub(test)


def test_after_a_visitor_for_whom_the_journal_could_not_be_read_the_next_one_gets_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(hub: Hub, _write: Callable[..., None]) -> None:
        with monkeypatch.context() as trouble:
            trouble.setattr(hub.sessions.journal, "last_seq", unreadable)
            with pytest.raises(JournalUnavailable):
                await hub.topic("s1")
        assert (await hub.topic("s1")).page

    with_hub(test)


def test_there_is_room_for_so_many_watchers_and_no_more(monkeypatch: pytest.MonkeyPatch, board: Running) -> None:
    board.write("s1", items("pending"))
    monkeypatch.setattr("planwire.web.hub.MOST_WATCHERS", 1)
    with watching(board, "/sessions/s1") as events:
        events.next()
        answer = board.get("/live/sessions/s1")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "10"
