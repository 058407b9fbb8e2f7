"""A session of a test's own on a board that several tests share: what is written to it, and what people post to it."""

from typing import Any

import httpx

from planwire.journal import load_state
from planwire.model.events import Event, Recorded
from planwire.model.records import PlanRecord
from tests.web.board import Running

__all__ = ["TICK", "Here"]

TICK: dict[str, Any] = {"act": "tick", "target": "s1"}


class Here:
    """A session, and the requests to steer it."""

    def __init__(self, board: Running, session: str) -> None:
        self.board = board
        self.session = session
        self.address = f"/sessions/{session}"
        self.journal = board.journal

    def write(self, *events: Event, by: str = "agent") -> int:
        return self.board.write(self.session, *events, by=by)

    def act(self, name: str, plan: str = "main", *, key: str | None = None, **body: Any) -> httpx.Response:
        address = f"{self.address}/plans/{plan}/acts"
        headers = {"Origin": self.board.base, **({"Idempotency-Key": key} if key else {})}
        return self.board.client.post(address, json={"act": name, **body}, headers=headers)

    def send(self, content: Any, kind: str = "application/json") -> httpx.Response:
        headers = {"Origin": self.board.base, "Content-Type": kind}
        return self.board.client.post(f"{self.address}/plans/main/acts", content=content, headers=headers)

    def page(self, below: str = "") -> str:
        return self.board.page(self.address + below)

    def record(self, plan_id: str = "main") -> PlanRecord:
        return load_state(self.journal, self.session).plans[plan_id]

    def contents(self) -> list[str]:
        return [step.content for step in self.record().state.steps]

    def events(self) -> list[Recorded]:
        return list(self.journal.read(self.session))
