"""`planwire replay`: the plans of a recorded connection."""

import argparse
import sys
from typing import Any

from planwire.acp import Report
from planwire.acp.board import Board, SessionBoard
from planwire.cli.input_output import print_json
from planwire.cli.recording import read_recording
from planwire.readmodel.as_json import plan_json
from planwire.readmodel.cards import cards_of

DESCRIPTION = "Read the recorded lines of an ACP connection and show its plans."

EXAMPLES = """\
examples:
  planwire replay session.jsonl              the plans as they ended up
  planwire replay session.jsonl --step       every change (on a terminal: Enter for the next one, q to stop)
  planwire replay session.jsonl --live       watch it happen, at the recorded speed
  planwire replay session.jsonl --json       the same for a program
  my-agent | planwire replay -               straight from a pipe

FILE has one message per line: the JSON-RPC text itself, or {"from": "agent", "t": 1.5, "line": "..."} around it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="recorded lines; - for standard input")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--step", action="store_true", help="show the changes one by one")
    how.add_argument("--live", action="store_true", help="show the changes at the recorded speed")
    how.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    lines = read_recording(arguments.file)
    if arguments.json:
        _print_json(lines)
        return 0
    from planwire.terminal.play import play, show, walk

    if arguments.live:
        play(lines)
    elif arguments.step:
        walk(lines, interactive=arguments.file != "-" and sys.stdin.isatty() and sys.stdout.isatty())
    else:
        show(lines)
    return 0


def _print_json(lines: Any) -> None:
    board = Board(keep=0)
    reports: list[dict[str, Any]] = []
    number = 0
    for recorded in lines:
        number = recorded.number
        change = board.apply(recorded.line, recorded.sender, recorded.at)
        reports += [_report(number, change.session, report) for report in change.reports]
    reports += [_report(number, None, report) for report in board.close().reports]
    sessions = {session.id: _session(session) for session in board.sessions.values() if session.updates}
    print_json({"sessions": sessions, "reports": reports})


def _report(number: int, session: str | None, report: Report) -> dict[str, Any]:
    told = {"code": report.code, "where": report.where, "message": report.message, "rule": report.rule}
    return {"line": number, "session": session, **told}


def _session(session: SessionBoard) -> dict[str, Any]:
    plans = [plan_json(card) for card in cards_of(session)]
    return {"plans": plans, "updates": session.updates, "states": session.states}
