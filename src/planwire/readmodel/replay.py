"""A recorded connection, line by line: the plans after each line, what it changed, and what was wrong with it."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec
from msgspec import Struct

from planwire.acp.board import Board, Change, SessionBoard
from planwire.model.titles import plan_title, plan_titles
from planwire.readmodel.differences import PlanDifference, differences
from planwire.readmodel.plain_text import one_line


class RecordedMessage(Protocol):
    """One line of a connection: its number in its file, its bytes, and its sender and time where they are known."""

    @property
    def number(self) -> int: ...
    @property
    def line(self) -> bytes: ...
    @property
    def sender(self) -> str | None: ...
    @property
    def at(self) -> float | None: ...


class Frame(Struct, frozen=True):
    """The plans right after a line. `reports` are pairs of a place and a sentence, `said` are the agent's words to the
    person, if the line has any. The `sessions` are live objects that later frames change."""

    number: int
    at: float | None
    change: Change
    reports: tuple[tuple[str, str], ...]
    sessions: tuple[SessionBoard, ...]
    said: str = ""

    @property
    def differences(self) -> tuple[PlanDifference, ...]:
        """What the line changed. A plan that it removed goes by its own title."""
        gone = {each.id: plan_title(each.before.plan) for each in self.change.plans if each.before is not None}
        session = next((each for each in self.sessions if each.id == self.change.session), None)
        titles = plan_titles(state.plan for state in session.plans.values()) if session and self.change.plans else {}
        return differences(self.change.plans, {**gone, **titles})


def replayed(lines: Iterable[RecordedMessage]) -> Iterator[Frame]:
    """One frame per line, and one for the end of the connection."""
    board = Board(keep=0)
    number = 0
    for line in lines:
        number = line.number
        yield _frame(board, number, line.at, board.apply(line.line, line.sender, line.at), _said(line.line))
    yield _frame(board, number, None, board.close())


def _frame(board: Board, number: int, at: float | None, change: Change, said: str = "") -> Frame:
    reports = tuple(
        (report.where, f"{report.message}  [{report.rule}]" if report.rule else report.message)
        for report in change.reports
    )
    sessions = tuple(session for session in board.sessions.values() if session.updates)
    return Frame(number, at, change, reports, sessions, said)


def _said(line: bytes) -> str:
    if b'"agent_message_chunk"' not in line:
        return ""
    try:
        text = msgspec.json.decode(line)["params"]["update"]["content"]["text"]
    except (msgspec.DecodeError, LookupError, TypeError):
        return ""
    return one_line(text) if isinstance(text, str) else ""
