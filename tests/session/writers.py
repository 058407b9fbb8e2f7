"""Every way to write an act, in one process: `python writers.py JOURNAL`. Each has a session that bears its name."""

import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import httpx

from planwire.cli import main
from planwire.cli.acting_person import steering_person
from planwire.hooks.happenings import Decided, HookCall, Proposed
from planwire.hooks.recording import HookedSession, record
from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.journal.session_file import export_lines
from planwire.model.events import ACP, APPROVED, PlanReviewed, PlanSet, ReviewAsked, SessionOpened
from planwire.model.plan import Entry, ItemsPlan
from planwire.relay.actions import BY_CLIENT, Record
from planwire.relay.journalled import _record
from planwire.session.blocking import BlockingPlanSession
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests import deciding
from tests.web.board import TOKEN, Running, running_board

NAME = ("--as", "Ann", "--yes")
COMMENT = Wanted("comment", text="go", seen=2)


def begin(journal: Journal, session: str) -> None:
    """A session as an agent leaves it, which asks about its plan."""
    listed = PlanSet(
        ItemsPlan("main", (Entry("read", "medium", "pending"), Entry("write", "medium", "pending"))), via=ACP
    )
    events = SessionOpened(cwd="/project"), listed, ReviewAsked("main", (), "q")
    deciding.write(journal, session, *(Stamped(1, "agent", event) for event in events))


def command(*words: str) -> Callable[[Journal, str, Path], None]:
    def write(_: Journal, session: str, path: Path) -> None:
        code = main([*words, "--session", session, "--journal", str(path), *NAME])
        assert code == 0, (words, code)

    return write


def steered(journal: Journal, session: str, _: Path) -> None:
    steer(journal, session, "main", COMMENT, "Ann")


def plan_session(journal: Journal, session: str, _: Path) -> None:
    BlockingPlanSession(journal, session, by="Ann").change("main", note="go")


def watched(journal: Journal, session: str, path: Path) -> None:
    """What the screen does with a key: it has asked once, when it started, as whom."""
    by = steering_person(Namespace(as_name="Ann", yes=True, journal=str(path)))
    assert by is not None
    steer(journal, session, "main", COMMENT, by)


def on_board(*, by_token: bool) -> Callable[[Journal, str, Path], None]:
    """A board that this process serves, and a click on it, or a program with its token."""

    def write(_: Journal, session: str, path: Path) -> None:
        by = steering_person(Namespace(as_name="Ann", yes=True, journal=str(path)))
        with running_board(str(path), by=by) as board:
            answer = posted(board, session, by_token=by_token)
        assert answer.status_code == 200, answer.text

    return write


def posted(board: Running, session: str, *, by_token: bool) -> httpx.Response:
    address = f"/sessions/{session}/plans/main/acts"
    body = {"act": "comment", "text": "go", "seen": 2}
    headers = {"origin": board.base}
    if by_token:
        return httpx.post(board.base + address, json=body, headers={**headers, "authorization": f"Bearer {TOKEN}"})
    return board.client.post(address, json=body, headers=headers)


def relayed(journal: Journal, session: str, _: Path) -> None:
    """The client's answer, as the relay records it."""
    reviewed = _record(Record(session, PlanReviewed("main", 2, APPROVED, question="q"), BY_CLIENT))
    assert reviewed is not None
    deciding.write(journal, session, Stamped(3, reviewed.by, reviewed.event))


def hooked(journal: Journal, session: str, _: Path) -> None:
    """An answer in the agent's own terminal, as its hook tells it."""
    before = HookedSession(load_state(journal, session))
    call = HookCall(
        "claude-code",
        session,
        "Event",
        what=(Proposed("main", "# Ship it"), Decided("main", approved=True)),
        folder="/project",
    )
    for by, event in record(before, call, "Claude Code", 3)[1]:
        journal.append(session, [Stamped(3, by, event)])


def imported(journal: Journal, session: str, path: Path) -> None:
    """A file that says who did what: it may be an export of a journal, or anybody's work."""
    begin(journal, "exported")
    deciding.write(journal, "exported", Stamped(3, "Ann", PlanReviewed("main", 2, APPROVED, question="q")))
    file = path.with_name("exported.json")
    file.write_text("".join(export_lines("exported", journal.read("exported"))))
    assert main(["import", str(file), "--as", session, "--journal", str(path)]) == 0


def imported_document(_journal: Journal, session: str, path: Path) -> None:
    file = path.with_name("plan.md")
    file.write_text("# ◈ Plans\n\n◈ session x\n\n## ◈ Ship\n\n- [ ] ship it\n")
    assert main(["import", str(file), "--as", session, "--journal", str(path)]) == 0


#: Those that write an act of a person, each with what writes it.
WRITERS: dict[str, Callable[[Journal, str, Path], None]] = {
    "comment": command("comment", "go"),
    "approve": command("approve"),
    "select": command("select", "1"),
    "tick": command("tick", "1"),
    "board": on_board(by_token=False),
    "token": on_board(by_token=True),
    "watch": watched,
    "PlanSession": plan_session,
    "steer": steered,
    "relay": relayed,
    "hook": hooked,
    "import": imported,
    "import of a document": imported_document,
}


def write_all(path: Path) -> None:
    with open_journal(path) as journal:
        for name, write in WRITERS.items():
            if write not in (imported, imported_document):
                begin(journal, name)
            write(journal, name, path)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
