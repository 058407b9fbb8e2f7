"""A board on a real port for tests, and the agent's side of it: what is written into its journal."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import time
from typing import Any

import httpx
from playwright.sync_api import BrowserContext

from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import ACP, Event, PlanSet, SessionOpened, TurnEnded
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.web import BoardServer
from planwire.web.cookie_path import browser_key
from tests import deciding
from tests.waiting import until

__all__ = ["TOKEN", "Running", "items", "markdown", "running_board"]

TOKEN = "a-token-for-tests-only"


class Running:
    """A board that runs, and its journal."""

    def __init__(self, server: BoardServer, journal: Journal) -> None:
        self.server = server
        self.journal = journal
        self.base = server.base
        self.cookie = f"planwire-{server.port}"
        self.key = browser_key(TOKEN, self.cookie)
        #: Where browsers see the board.
        self.pages = server.base + self.key.path
        self.client = httpx.Client(
            base_url=self.base,
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=20,
            event_hooks={"request": [self._by_hand]},
        )

    def _by_hand(self, request: httpx.Request) -> None:
        """An act comes from a browser: a program's would be shown as a script's."""
        if request.url.path.endswith("/acts") and request.headers.get("authorization") == f"Bearer {TOKEN}":
            del request.headers["authorization"]
            request.headers["cookie"] = f"{self.cookie}={self.key.value}"
            request.url = request.url.copy_with(raw_path=self.key.path.encode() + request.url.raw_path)

    def write(self, session: str, *events: Event, by: str = "agent", at: int | None = None) -> int:
        """Write events, and return the number of the last one once the board has seen it."""
        stamp = int(time() * 1_000) if at is None else at
        last = deciding.write(self.journal, session, *(Stamped(stamp, by, event) for event in events))[-1].seq
        position = self.journal.last_position()
        until(lambda: self.server.app.hub.sessions.position >= position)
        return last

    def cut(self, session: str = "s1") -> None:
        """Cut the streams of a session at the board's end, on its own thread: nothing else would wake its loop."""
        hub = self.server.app.hub
        assert hub._loop is not None
        hub._loop.call_soon_threadsafe(hub._topics[session].end)

    def let_in(self, context: BrowserContext) -> None:
        """Give a browser the cookie, as the printed address does."""
        path = self.key.path
        context.add_cookies([{"name": self.cookie, "value": self.key.value, "domain": "127.0.0.1", "path": path}])

    def open(self, session: str = "s1", title: str | None = "A title", cwd: str = "/project") -> None:
        self.write(session, SessionOpened("agent 1.0", "client 2.0", cwd, title))

    def get(self, address: str, **values: Any) -> httpx.Response:
        return self.client.get(address, **values)

    def page(self, address: str) -> str:
        answer = self.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
        return answer.text

    def json(self, address: str) -> Any:
        answer = self.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
        return answer.json()


def items(*statuses: str, plan_id: str | None = "main", via: str = ACP, summary: str | None = None) -> PlanSet:
    """A list whose steps are called `step 1`, `step 2`, … and have these statuses."""
    entries = tuple(Entry(f"step {number}", "medium", status) for number, status in enumerate(statuses, 1))
    return PlanSet(ItemsPlan(plan_id, entries), summary, via=via)


def markdown(text: str, plan_id: str | None = "text") -> PlanSet:
    return PlanSet(MarkdownPlan(plan_id, text))


def stopped(reason: str = "cancelled") -> TurnEnded:
    return TurnEnded(reason)


@contextmanager
def running_board(url: str = "memory:", **options: Any) -> Iterator[Running]:
    """A board in a thread of its own."""
    with open_journal(url) as journal:
        server = BoardServer(journal, token=TOKEN, **options)
        thread = threading.Thread(target=server.run, name="board", daemon=True)
        thread.start()
        until(lambda: server.is_up or not thread.is_alive())
        running = Running(server, journal)
        try:
            yield running
        finally:
            running.client.close()
            server.stop()
            thread.join(20)
            assert not thread.is_alive(), "the board did not end"
